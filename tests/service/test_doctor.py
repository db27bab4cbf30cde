"""The doctor on a service: the bot and its topics, each account's own agent, the units, the clock."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.emulator import Emulator
from engine import doctor, service, setup
from engine.config import Config
from engine.doctor import Finding
from engine.engine import Engine
from engine.paths import Home
from stores.sealing import seal

TOKEN = "7000000001:AAtest-token-that-must-never-be-in-a-log-x"
OWNER = 42


@pytest.fixture
def home(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Home:
    """A home set up without Telegram, and nothing of this machine's own user in sight."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = Home(tmp_path_factory.mktemp("d") / "a home, 100%?#")  # sockets bear no long path
    setup.write(made, Config(owner_ids=(OWNER,), api_url="http://127.0.0.1:9"), TOKEN)
    return made


def seen(home: Home, *, offline: bool = True) -> dict[str, Finding]:
    found = {finding.name: finding for finding in doctor.examine(home, offline=offline)}
    lacks = [finding.name for finding in found.values() if not finding.good and not finding.mend]
    assert lacks == [], "a lack without a way out"
    return found


def a_command(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def add(home: Home, *accounts: dict[str, object], secrets: Sequence[str] = ()) -> None:
    engine = Engine(home)
    async with engine.unlocked():
        for number, account in enumerate(accounts):
            await engine.door.add_account(**account, cause=f"cli:{number}")  # type: ignore[arg-type]
        for name in secrets:
            sealed = seal(home.vault_pub.read_bytes(), b"the value itself")
            await engine.door.keep_secret(name, sealed, cause=f"cli:{name}")


# ---------------------------------------------------------------- the bot


async def asked(home: Home, token: str, *, threaded: bool = False) -> dict[str, Finding]:
    """Have the command look, beside an emulated Telegram."""
    async with Emulator(token=TOKEN, owner_id=OWNER, threaded=threaded) as telegram:
        setup.write(home, Config(owner_ids=(OWNER,), api_url=telegram.url), token)
        command = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "engine.cli", "doctor", "--json"),
            env=dict(os.environ) | {"QUARTERDECK_HOME": str(home.root)},
            stdout=asyncio.subprocess.PIPE,
        )
        said, _ = await command.communicate()
    return {finding["name"]: Finding(**finding) for finding in json.loads(said)}


async def test_it_asks_telegram_whether_topics_are_on(home: Home) -> None:
    found = await asked(home, TOKEN, threaded=True)
    assert found["bot"].good
    assert found["topics"].good
    found = await asked(home, TOKEN)
    assert found["bot"].good
    assert (found["topics"].good, found["topics"].needed) == (False, False)
    assert "Threaded Mode" in found["topics"].mend


async def test_a_token_telegram_refuses_is_a_needed_lack(home: Home) -> None:
    found = await asked(home, "987654321:another")
    assert (found["bot"].good, found["bot"].needed) == (False, True)
    assert "another" not in found["bot"].says + found["bot"].mend


def test_no_network_is_said_and_stops_nothing(home: Home) -> None:
    found = seen(home, offline=False)
    assert (found["bot"].good, found["bot"].needed) == (False, False)
    assert "topics" not in found


# ---------------------------------------------------------------- accounts


async def test_each_account_is_looked_at_by_its_own_command(home: Home, tmp_path: Path) -> None:
    command = a_command(tmp_path / "tools", "my claude", 'echo "9.9.9 (Claude Code)"')
    signed_in = tmp_path / "signed-in"
    signed_in.mkdir()
    (signed_in / ".credentials.json").touch()
    agent = {"agent": "claude", "command": str(command)}
    await add(
        home,
        {"name": "token", **agent, "secret_env": ["CLAUDE_CODE_OAUTH_TOKEN"]},
        {"name": "no-token", **agent, "secret_env": ["CLAUDE_CODE_OAUTH_TOKEN"]},
        {"name": "folder", **agent, "config_dir": str(signed_in)},
        {"name": "empty", **agent, "config_dir": str(tmp_path)},
        {"name": "bare", **agent},
        {"name": "gone", "agent": "claude", "command": str(tmp_path / "gone")},
        {"name": "play", "agent": "rehearsal"},
        secrets=["account/token/CLAUDE_CODE_OAUTH_TOKEN"],
    )
    found = seen(home)
    said = {
        name.removeprefix("account ").rstrip(":"): (finding.good, finding.says)
        for name, finding in found.items()
        if name.startswith("account ")
    }
    at = f"9.9.9 (Claude Code) at {command}"
    assert said == {
        "token": (True, f"{at}, signed in"),
        "no-token": (False, f"{at}, without its CLAUDE_CODE_OAUTH_TOKEN"),
        "folder": (True, f"{at}, signed in"),
        "empty": (False, f"{at}, no login in {tmp_path}"),
        "bare": (False, f"{at}, not signed in"),
        "gone": (False, f"{tmp_path / 'gone'} does not run"),
        "play": (True, "the rehearsal agent, which is ours"),
    }
    assert "claude" not in found
    assert "the value itself" not in str(found)


async def test_looking_changes_no_file_of_ours(home: Home) -> None:
    await add(home, {"name": "play", "agent": "rehearsal"})
    before = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
    seen(home)
    after = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
    assert after == before


def test_a_ledger_nobody_can_read_is_said(home: Home) -> None:
    home.engine_db.write_bytes(b"no database at all, but longer than its header would be" * 20)
    assert "cannot be read" in seen(home)["accounts"].says


# ---------------------------------------------------------------- the service


def test_without_a_service_it_says_how_to_have_one(home: Home) -> None:
    if (service.SYSTEM_UNITS / service.MAIN[0]).exists():
        pytest.skip("this machine has a system service of its own")
    found = seen(home)
    assert "quarterdeck service install" in found["service"].mend
    assert not found["service"].needed


def test_a_users_service_must_run_be_of_this_release_and_linger(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    a_command(tools, "systemctl", 'test -e "$RUNS"')
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    mine = service.of_user(home)
    mine.units.mkdir(parents=True)
    home.alarm.write_bytes(service.ALARM.read_bytes())
    for name, text in service.units(mine).items():
        (mine.units / name).write_text(text, encoding="utf-8")

    found = seen(home)
    assert found["service"].says == "quarterdeck-engine does not run"
    assert found["service"].mend == "journalctl --user -u quarterdeck-engine -n 50"
    assert found["linger"].good == service.lingers()
    (tmp_path / "runs").touch()
    assert seen(home)["service"].good
    home.alarm.write_text("# of an older release\n")
    assert seen(home)["service"].mend == "quarterdeck service install renews it."


def test_it_says_whether_something_keeps_the_clock(home: Home) -> None:
    assert seen(home)["clock"].says in ("kept by the network's time", "nothing keeps it right")
