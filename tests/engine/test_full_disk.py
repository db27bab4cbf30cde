"""A full disk under the engine: nothing is lost, nothing is said to be done that is not, and it goes on."""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import engine.room
from engine import config
from engine.adapters.machines import Machine
from engine.api import Client, Missing
from engine.config import Config
from engine.engine import Engine, opened
from engine.errors import NoRoom
from engine.paths import Home
from engine.room import FULL, READ_ONLY, Room
from stores import database
from stores.database import Database
from stores.ledger import Ledger
from stores.sealing import create_keys
from tests.engine.scenario import World, judge, lay, play
from tests.fakes import FakeMachine
from tests.small_disk import PAGE_KIB, SmallDisk, alone, small_disk

WRITES = ("commit", "UPDATE", "DELETE", "note", "take", "position", "spare", "retain", "done")
SIZE_KIB = 4096
SECRET = "sk-" + "a1B2" * 12


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.room, "AGAIN_S", 0.01)
    monkeypatch.setattr(engine.room, "PATIENCE_S", 0.1)


def no_room() -> sqlite3.OperationalError:
    fault = sqlite3.OperationalError("database or disk is full")
    fault.sqlite_errorcode = sqlite3.SQLITE_FULL
    return fault


async def test_a_whole_goal_reaches_its_end_though_every_write_finds_no_room_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write of a goal is refused once, and every seventh for a while."""
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid")
    refused: dict[str, int] = {}
    count = itertools.count(1)

    def fill(name: str) -> None:
        when, what = name.split(" ", 1)
        if when != "before" or what.split()[0] not in WRITES:
            return
        if what not in refused:
            refused[what] = 5 if next(count) % 7 == 0 else 1
        if refused[what] > 0:
            refused[what] -= 1
            raise no_room()

    monkeypatch.setattr(database, "boundary", fill)
    await play(world)
    assert len(refused) > 80
    assert not any(refused.values())
    judge(world)


# ---------------------------------------------------------------- with a disk that really is full


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", SIZE_KIB) as disk:
        yield disk


@asynccontextmanager
async def living(home: Home) -> AsyncIterator[tuple[Engine, Client]]:
    scenario = home.root / "scenario.json"
    if not scenario.exists():
        scenario.write_text('{"parts": []}')
    machines: dict[str, Machine] = {"here": FakeMachine(home.root, scenario)}
    engine = Engine(home, machines=machines)
    async with engine.running(), Client(home.engine_sock) as client:
        yield engine, client


@pytest.fixture
def home(disk: SmallDisk) -> Home:
    home = Home(disk.root / "home").make()
    create_keys(home)
    return home


def stored(home: Home, cause: str) -> bool:
    """Whether an event is in the ledger, as another process finds it."""
    with sqlite3.connect(f"{home.engine_db.as_uri()}?mode=ro", uri=True) as file:
        return bool(file.execute("SELECT 1 FROM events WHERE cause = ?", (cause,)).fetchone())


async def asked_again(client: Client, cause: str, model: str) -> None:
    """Ask as the bot does: until there is an answer."""
    async with asyncio.timeout(20):
        while True:
            try:
                await client.call("change_setting", cause, name="model", value=model)
            except Missing:
                await asyncio.sleep(0.05)
            else:
                return


async def test_wherever_the_disk_is_full_a_yes_is_on_it_and_a_no_says_why(
    home: Home, disk: SmallDisk
) -> None:
    """Ten times and more: less and less room, a request, and the same again once there is some."""
    noes: list[str] = []
    async with living(home) as (engine, client):
        for left in (*range(24), 32, 64):
            disk.fill(left * PAGE_KIB)
            for number in range(4):
                cause, model = f"update:{left}.{number}", f"m{left}-{number}"
                try:
                    await client.call("change_setting", cause, name="model", value=model)
                except Missing as no:
                    noes.append(no.sentence)
                    assert engine.room.why == FULL
                    assert "it is full" in (await client.call("health"))["disk_takes_nothing"]
                    disk.free()
                    await asked_again(client, cause, model)
                    assert engine.room.why == ""
                assert stored(home, cause)
        assert engine.loop.broken() == {}
    assert noes == [FULL] * len(noes)
    assert len(noes) >= 10


async def asked_until_full(client: Client) -> str:
    """Change a setting until there is no room for it; return the cause of that request."""
    for number in itertools.count():
        cause = f"until:{number}"
        try:
            await client.call("change_setting", cause, name="model", value="m")
        except Missing:
            return cause
    raise AssertionError


async def test_a_secret_finds_no_room_and_is_sealed_once_there_is_some(
    home: Home, disk: SmallDisk
) -> None:
    async with living(home) as (engine, _):
        vault = engine.door._vault
        assert vault is not None
        disk.fill()
        sealing = asyncio.create_task(vault.put("account/main/KEY", SECRET, 1.0))
        await asyncio.wait([sealing], timeout=0.2)
        assert engine.room.lacks() == FULL
        disk.free()
        await sealing
        assert await engine.door.secret("account/main/KEY") == SECRET


async def test_a_start_on_a_full_disk_waits_for_room_and_then_is_made(
    home: Home, disk: SmallDisk
) -> None:
    async with living(home) as (_, client):
        await client.call("change_setting", "update:1", name="model", value="before")
    (home.root / "engine.sqlite3-trying").unlink()
    disk.fill()

    async def begin() -> str:
        async with living(home) as (_, client):
            return str((await client.call("settings")).model)

    beginning = asyncio.create_task(begin())
    await asyncio.wait([beginning], timeout=0.5)
    assert (
        not beginning.done() or await beginning == "before"
    )  # what there is room for, it needs none
    disk.free()
    async with asyncio.timeout(20):
        assert await beginning == "before"


async def test_the_command_line_says_why_at_once_while_no_engine_runs(
    home: Home, disk: SmallDisk
) -> None:
    async with living(home):
        pass
    disk.fill()
    with pytest.raises(NoRoom, match="disk is full"):
        async with opened(home) as door:
            await door.change_setting("model", "m", cause="command:1")
    disk.free()
    config.save(home, Config(owner_ids=(42,), api_url="http://127.0.0.1:9"))
    disk.fill()
    words = ("account", "add", "main", "--agent", "rehearsal")
    done = await asyncio.to_thread(
        subprocess.run,
        (sys.executable, "-m", "engine.cli", *words),
        env=os.environ | {"QUARTERDECK_HOME": str(home.root)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, f"quarterdeck: {FULL}\n")
    disk.free()
    async with opened(home) as door:
        await door.change_setting("model", "m", cause="command:1")


async def test_a_disk_that_became_read_only_is_told_from_one_that_breaks(
    tmp_path: Path, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says of both that a write failed."""
    room = Room(disk.root)
    failing = True

    def fail(name: str) -> None:
        if failing and name.startswith("before "):
            fault = sqlite3.OperationalError("disk I/O error")
            fault.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
            raise fault

    async with Database(tmp_path / "engine.sqlite3", "ledger", room=room) as file:
        file.path = disk.root / "engine.sqlite3"  # only looked at from here on
        monkeypatch.setattr(database, "boundary", fail)
        with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
            await Ledger(file).take("g")
        disk.read_only(True)
        taking = asyncio.create_task(Ledger(file).take("g"))
        await asyncio.wait([taking], timeout=0.2)
        assert room.lacks() == READ_ONLY
        with pytest.raises(NoRoom, match="became read-only"):
            async with room.patience():
                await Ledger(file).take("g")
        disk.read_only(False)
        failing = False
        assert await taking == [1]
        assert room.lacks() == ""


async def test_the_watchdog_hears_an_engine_that_waits_for_room(
    home: Home, disk: SmallDisk
) -> None:
    async with living(home) as (engine, client):
        disk.fill()
        await asked_until_full(client)
        async with asyncio.timeout(5):
            await engine.breathe()
        disk.free()


def test_played_in_a_namespace_where_nobody_else_may_mount() -> None:
    alone(__file__)
