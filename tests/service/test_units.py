"""The unit files: what systemd itself says of them, and what they promise."""

import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

import pytest

from engine import service
from engine.errors import Refused
from engine.node import network
from engine.paths import Home
from engine.service import Service

# Keys that only a systemd from 254 on knows; an older one says so and goes on.
NEWER = re.compile(r".*Unknown key.* '(RestartSteps|RestartMaxDelaySec)' in section .*")


@pytest.fixture(params=["user", "system"])
def laid(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    """A service whose units lie in a folder of ours, with a home that is hard to spell."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/usr/bin/python3")
    home = Home(tmp_path / 'a home, 100% "ours"')
    units = tmp_path / "units"
    units.mkdir()
    made = Service(request.param == "system", home, units, python, "/usr/bin:/opt/a b/bin")
    for name, text in service.units(made).items():
        (units / name).write_text(text, encoding="utf-8")
    return made


def read(path: Path) -> dict[str, list[str]]:
    """Return what a unit says, `Section.Key` to its values."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(f"{section}.{key}", []).append(value)
    return found


def test_systemd_finds_no_fault_with_them(laid: Service, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        assert not os.environ.get("CI"), "CI has to install systemd for this test"
        pytest.skip("no systemd-analyze here")
    # Other units of the system put sockets there, whose paths must be short.
    runtime = Path(tempfile.mkdtemp(prefix="qd-", dir="/tmp"))
    # The alarm's unit is a template: as one of it that systemd would start.
    alarm = laid.units / "quarterdeck-alarm@engine.service"
    shutil.copy(laid.units / "quarterdeck-alarm@.service", alarm)
    done = subprocess.run(
        [
            "systemd-analyze",
            *("verify", "--man=no", "--system" if laid.system else "--user"),
            *(str(laid.units / name) for name in service.MAIN),
            str(alarm),
        ],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    shutil.rmtree(runtime, ignore_errors=True)
    faults = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if line.startswith((str(laid.units), "quarterdeck-")) and not NEWER.fullmatch(line)
    ]
    assert (done.returncode, faults) == (0, []), done.stderr


@pytest.mark.parametrize("name", service.MAIN)
def test_each_is_started_again_for_ever_ever_later_and_watched(laid: Service, name: str) -> None:
    unit = read(laid.units / name)
    assert unit["Unit.StartLimitIntervalSec"] == ["0"]
    assert unit["Service.Restart"] == ["always"]
    assert unit["Service.RestartSec"] == ["5"]  # BR-44: back within ten seconds
    assert unit["Service.RestartMaxDelaySec"] == ["300"]
    assert unit["Service.Type"] == ["notify"]
    assert unit["Service.WatchdogSec"] == ["120"]


def test_ending_the_engine_ends_no_agent_and_an_agent_out_of_memory_not_the_engine(
    laid: Service,
) -> None:
    """BR-44: kill mode and OOM policy."""
    engine = read(laid.units / "quarterdeck-engine.service")
    assert engine["Service.KillMode"] == ["process"]
    assert engine["Service.OOMPolicy"] == ["continue"]
    # What follows would give agents that outlive an engine other mounts than the next engine's.
    assert not [key for key in engine if re.search(r"\.(Private|Protect|ReadWrite|Restrict)", key)]


def test_a_clouds_metadata_is_shut_to_all_that_the_systems_engine_starts(laid: Service) -> None:
    """By the system's own manager alone: that of a user may not."""
    unit = read(laid.units / "quarterdeck-engine.service")
    if not laid.system:
        assert "Service.IPAddressDeny" not in unit
        return
    (shut,) = unit["Service.IPAddressDeny"]
    assert {"fd00:ec2::254/128", "100.100.100.200/32"} <= set(shut.split())
    assert shut.split() == network.shuttable()


@pytest.mark.parametrize(
    ("resolver", "left"),
    [
        ("9.9.9.9", set()),
        ("169.254.169.254", {"169.254.0.0/16"}),
        ("168.63.129.16", {"168.63.129.16/32"}),
        ("fd20:ce::254", {"fd20:ce::254/128"}),
    ],
)
def test_a_resolver_that_is_where_metadata_is_stays_open(
    tmp_path: Path, resolver: str, left: set[str]
) -> None:
    """Some clouds answer for names there as well: without it the machine would find no host."""
    path = tmp_path / "resolv.conf"
    path.write_text(f"search example\nnameserver {resolver}\n")
    every = {f"{address}/{bits}" for address, bits in network.METADATA}
    assert every - set(network.shuttable(str(path))) == left


def test_bot_and_engine_need_nothing_of_each_other(laid: Service) -> None:
    for name in service.MAIN:
        other = service.MAIN[name == service.MAIN[0]]
        assert other not in (laid.units / name).read_text(encoding="utf-8")


def test_after_every_end_the_alarm_is_called(laid: Service) -> None:
    for name in service.MAIN:
        part = name.removesuffix(".service").removeprefix("quarterdeck-")
        unit = read(laid.units / name)
        assert unit["Unit.OnFailure"] == [f"quarterdeck-alarm@{part}.service"]
        (command,) = unit["Service.ExecStopPost"]
        assert command.startswith("-")
        words = f'alarm.py" {part}{" --system" if laid.system else ""}'
        assert command.endswith(words)
        # In memory that no full disk takes away, and that outlives the unit.
        assert unit["Service.RuntimeDirectory"] == ["quarterdeck"]
        assert unit["Service.RuntimeDirectoryPreserve"] == ["yes"]


def test_only_the_systems_service_changes_the_user_and_waits_for_the_network(
    laid: Service,
) -> None:
    for path in laid.units.glob("*.service"):
        unit = read(path)
        assert unit.get("Service.User") == (["quarterdeck"] if laid.system else None)
        if path.name in service.MAIN:
            assert ("Unit.After" in unit) == laid.system
            (target,) = unit["Install.WantedBy"]
            assert target == ("multi-user.target" if laid.system else "default.target")


def test_no_template_word_is_left(laid: Service) -> None:
    for path in laid.units.glob("*.service"):
        assert not re.search(r"@\w+@|\[system\]", path.read_text(encoding="utf-8"))


def test_a_home_no_unit_can_name_is_refused(laid: Service) -> None:
    odd = Service(laid.system, Home(Path("/a\nUser=root")), laid.units, laid.python, laid.path)
    with pytest.raises(Refused, match="takes no such path"):
        service.units(odd)


def test_the_templates_are_packed_with_the_code() -> None:
    text = (service.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    packed = tomllib.loads(text)["tool"]["setuptools"]
    assert "systemd" in packed["packages"]["find"]["include"]
    assert "*.service" in packed["package-data"]["*"]
