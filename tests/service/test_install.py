"""`quarterdeck service`: what it does to a machine, with a stand-in for systemd's own commands."""

import os
import stat
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine import service
from engine.cli import app
from engine.errors import Refused
from engine.paths import Home
from engine.service import Service

STANDIN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
case " $* " in *" $FAILS "*) echo "Failed to connect to bus" >&2; exit 1;; esac
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was asked of systemd, written down by commands that stand in its place."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("systemctl", "loginctl", "chown", "setpriv", "useradd"):
        path = commands / name
        path.write_text(STANDIN)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    asked = tmp_path / "asked"
    asked.touch()
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(asked))
    monkeypatch.setenv("FAILS", "nothing")
    return asked


def a_service(tmp_path: Path, *, system: bool = False) -> Service:
    home = Home(tmp_path / "home").make()
    return Service(system, home, tmp_path / "units", Path(sys.executable), "/usr/bin")


def install(chosen: Service) -> None:
    for step in service.install(chosen):
        service.perform(step)


def test_installed_the_units_lie_there_the_alarm_beside_our_data_and_both_run(
    tmp_path: Path, log: Path
) -> None:
    chosen = a_service(tmp_path)
    install(chosen)
    for name, text in service.units(chosen).items():
        assert (chosen.units / name).read_text(encoding="utf-8") == text
    assert chosen.home.alarm.read_bytes() == service.ALARM.read_bytes()
    me = service._who()
    assert log.read_text().splitlines() == [
        "systemctl --user daemon-reload",
        "systemctl --user daemon-reload",
        f"loginctl enable-linger {me}",
        "systemctl --user enable quarterdeck-engine.service quarterdeck-bot.service",
        "systemctl --user restart quarterdeck-engine.service quarterdeck-bot.service",
    ]


def test_installed_again_it_is_as_it_was(tmp_path: Path, log: Path) -> None:
    chosen = a_service(tmp_path)
    install(chosen)
    before = {path: path.read_bytes() for path in chosen.units.iterdir()}
    install(chosen)
    assert {path: path.read_bytes() for path in chosen.units.iterdir()} == before


def test_where_systemd_does_not_answer_nothing_is_left_behind(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS", "daemon-reload")
    chosen = a_service(tmp_path)
    with pytest.raises(Refused, match=r"Failed to connect to bus .*`quarterdeck up`"):
        install(chosen)
    assert not chosen.units.exists()
    assert not chosen.home.alarm.exists()


def test_the_systems_service_gets_a_user_that_owns_its_home_and_can_read_the_code(
    tmp_path: Path, log: Path
) -> None:
    install(a_service(tmp_path, system=True))
    asked = log.read_text()
    home = tmp_path / "home"
    assert f"chown --recursive --no-dereference --from=root quarterdeck:quarterdeck {home}" in asked
    assert "setpriv --reuid=quarterdeck" in asked
    assert "--user" not in asked.replace("--user-group", "")
    assert "linger" not in asked


def test_code_that_the_systems_user_cannot_read_is_refused_before_any_unit_is_written(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS", "--clear-groups")
    chosen = a_service(tmp_path, system=True)
    with pytest.raises(Refused, match="such as /opt/quarterdeck"):
        install(chosen)
    assert not chosen.units.exists()


def test_removed_the_units_are_gone_and_the_data_is_not(tmp_path: Path, log: Path) -> None:
    chosen = a_service(tmp_path)
    install(chosen)
    chosen.home.engine_db.touch()
    log.write_text("")
    for step in service.uninstall(chosen):
        service.perform(step)
    assert list(chosen.units.iterdir()) == []
    assert chosen.home.engine_db.exists()
    assert log.read_text().splitlines() == [
        "systemctl --user disable --now quarterdeck-engine.service quarterdeck-bot.service",
        "systemctl --user daemon-reload",
    ]
    with pytest.raises(Refused, match="No service is installed"):
        list(service.uninstall(chosen))


def test_it_sees_units_of_another_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    home = Home(tmp_path / "home").make()
    mine = service.of_user(home)
    if not (service.SYSTEM_UNITS / service.MAIN[0]).exists():
        assert service.installed(home) is None
    mine.units.mkdir(parents=True)
    home.alarm.write_bytes(service.ALARM.read_bytes())
    for name, text in service.units(mine).items():
        (mine.units / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PATH", "/usr/bin")  # another shell's PATH is no other release
    assert service.installed(home) == (service.of_user(home), True)
    (mine.units / service.MAIN[0]).write_text("[Service]\n", encoding="utf-8")
    assert service.installed(home) == (service.of_user(home), False)


# ---------------------------------------------------------------- on the command line


@pytest.mark.parametrize("scope", [(), ("--system",)])
def test_a_dry_run_shows_all_and_does_nothing(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch, scope: tuple[str, ...]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("QUARTERDECK_HOME", str(tmp_path / "home"))
    done = CliRunner().invoke(app, ["service", "install", "--dry-run", *scope])
    assert done.exit_code == 0, done.output
    assert "KillMode=process" in done.output
    assert "would systemctl" in done.output
    assert log.read_text() == ""
    assert not (tmp_path / "config").exists()
    assert not (tmp_path / "home").exists()


def test_an_ordinary_user_is_told_to_use_sudo_and_root_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = os.geteuid() == 0
    chosen = a_service(tmp_path, system=not root)
    with pytest.raises(Refused, match="without a fence" if root else "use sudo"):
        service.check(chosen)
    service.check(a_service(tmp_path, system=root))


def test_without_a_setup_it_says_what_comes_first(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="First: quarterdeck setup"):
        service.check_setup(a_service(tmp_path))
    with pytest.raises(Refused, match=r"First: sudo QUARTERDECK_HOME=.* quarterdeck setup"):
        service.check_setup(a_service(tmp_path, system=True))
