"""Told to end, engine and bot end within seconds, and no run with them; real processes throughout."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.emulator import Emulator
from engine import setup
from engine.config import Config
from engine.engine import Engine
from engine.node import folder as run_folder
from tests.engine.scenario import PROJECT, World, lay
from tests.history.left import live_runs
from tests.service.systemd_ear import Ear

TOKEN = "7000000001:AAtest-token-that-must-never-be-in-a-log-x"
OWNER = 42
AT_WORK = {
    "parts": [
        {
            "steps": [
                {"say": "At work."},
                {"wait_for": "go-on", "timeout_s": 100},
                {"say": "All done."},
            ]
        }
    ]
}


@pytest.fixture
async def telegram() -> AsyncIterator[Emulator]:
    async with Emulator(token=TOKEN, owner_id=OWNER) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, telegram: Emulator) -> World:
    """A home with one project, one account, and an agent that works until it is let go on."""
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    made = World(tmp_path / "w", tmp_path / "laid", real=True)
    made.scenario.write_text(json.dumps(AT_WORK))
    setup.write(made.home, Config(owner_ids=(OWNER,), api_url=telegram.url), TOKEN)
    return made


@contextmanager
def started(module: str, world: World, ear: Ear) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process as systemd would, with its socket in our hands."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    env |= {
        "QUARTERDECK_HOME": str(world.home.root),
        "QUARTERDECK_SCENARIO": str(world.scenario),
        "NOTIFY_SOCKET": ear.address,
        "WATCHDOG_USEC": "60000000",
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module], env=env, cwd="/", start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def until(fact: Callable[[], bool]) -> None:
    """Return once a file of another process shows it."""
    async with asyncio.timeout(60):
        while not fact():  # noqa: ASYNC110 - no event crosses from there
            await asyncio.sleep(0.02)


def said(run: Path, words: str) -> Callable[[], bool]:
    """Return whether an agent said it."""
    out = run / "out.jsonl"
    return lambda: out.exists() and words in out.read_text(encoding="utf-8")


async def told(ear: Ear, name: str) -> list[str]:
    """Hear a process up to and with `name`, while the emulator goes on."""
    return await asyncio.to_thread(ear.until, name)


async def test_the_engine_ends_and_its_agent_works_on_and_is_found_again(
    world: World, tmp_path: Path
) -> None:
    """BR-44: an ordered end of the service ends no turn."""
    engine = Engine(world.home)
    async with engine.unlocked():
        await engine.door.add_project(PROJECT, str(world.repository), cause="cli:1")
        await engine.door.add_account("main", "rehearsal", cause="cli:2")
        await engine.door.new_goal(PROJECT, "Work for long", cause="cli:3")
    run = world.home.runs / "s-1-t1"
    with Ear(tmp_path / "n1") as ear, started("engine", world, ear) as first:
        assert await told(ear, "WATCHDOG") == ["READY", "WATCHDOG"]
        await until(said(run, "At work."))
        first.send_signal(signal.SIGTERM)
        assert "STOPPING" in await told(ear, "STOPPING")
        assert await asyncio.to_thread(first.wait, 20) == 0
    agents = live_runs(world.home.root)
    assert agents
    assert not (run / "exit.json").exists()

    with Ear(tmp_path / "n2") as ear, started("engine", world, ear) as second:
        await told(ear, "READY")
        assert agents <= live_runs(world.home.root)
        (tree,) = [path for path in (world.home.trees / PROJECT).iterdir() if path.name == "s-1"]
        (tree / "go-on").touch()
        await until(said(run, "All done."))
        await until((run / "exit.json").exists)
        second.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(second.wait, 20) == 0
    over = run_folder.read(str(run / "exit.json"))
    assert over is not None
    assert over["code"] == 0


async def test_an_engine_killed_with_its_number_given_to_another_process_starts_again(
    world: World, tmp_path: Path
) -> None:
    """BR-47: the lock is the kernel's, the number in it is for people."""
    world.home.engine_lock.write_text(f"{os.getpid()}\n")
    with Ear(tmp_path / "n") as ear, started("engine", world, ear):
        assert ear.heard()["READY"] == "1"


async def test_the_bot_ends_when_told_though_telegram_was_never_reached(
    world: World, tmp_path: Path, telegram: Emulator
) -> None:
    await telegram.stop()
    with Ear(tmp_path / "n") as ear, started("bot", world, ear) as bot:
        assert await told(ear, "WATCHDOG") == ["READY", "WATCHDOG"]
        bot.send_signal(signal.SIGTERM)
        assert "STOPPING" in await told(ear, "STOPPING")
        assert await asyncio.to_thread(bot.wait, 20) == 0


async def test_what_the_owner_wrote_as_the_bot_ended_is_heard_once_it_runs_again(
    world: World, tmp_path: Path, telegram: Emulator
) -> None:
    """BR-39: an update that came on the way down is neither lost nor done twice."""
    with Ear(tmp_path / "e") as engine_ear, started("engine", world, engine_ear):
        await told(engine_ear, "READY")
        with Ear(tmp_path / "n1") as ear, started("bot", world, ear) as bot:
            telegram.phone.send("/status")
            await telegram.phone.wait_for(lambda message: message.from_bot)
            bot.send_signal(signal.SIGTERM)
            telegram.phone.send("/help")
            await told(ear, "STOPPING")
            assert await asyncio.to_thread(bot.wait, 20) == 0
        with Ear(tmp_path / "n2") as ear, started("bot", world, ear):
            await telegram.phone.wait_for(lambda m: m.from_bot and "/new" in m.text)
            telegram.phone.send("/status")
            await telegram.phone.until(lambda: len(telegram.phone.from_bot()) >= 3 or None, 60.0)
        helps = [message for message in telegram.phone.from_bot() if "/new" in message.text]
        assert len(helps) == 1
