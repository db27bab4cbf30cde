"""A full disk: the bot stays up, says so once, says nothing twice and loses nothing."""

import errno
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

import bot.full_disk
import stores.database
from stores.attached import Attached
from stores.database import Database
from tests.bot.stage import Stage, permission, session


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """Return a function that fills the disk under the bot's file, or makes room again."""
    monkeypatch.setattr(bot.full_disk, "AGAIN_S", 0.01)
    calm = stores.database.boundary

    def full(what: str) -> None:
        # Calls of Telegram's and of the engine's pass boundaries too, and need no room.
        is_write = what.islower() and not what.startswith(("before secret", "before asking"))
        if what.startswith("before ") and is_write:
            fault = sqlite3.OperationalError("database or disk is full")
            fault.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise fault

    def fills(is_full: bool) -> None:
        stores.database.boundary = full if is_full else calm

    yield fills
    stores.database.boundary = calm


async def test_the_bot_stays_up_and_says_so_and_then_does_what_waited(
    stage: Stage, disk: Callable[[bool], None]
) -> None:
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    disk(True)
    stage.phone.send("/new shop one")
    told = await stage.phone.wait_for(lambda m: "disk is full" in m.text)
    assert not told.silent
    stage.phone.send("/new shop two")
    stage.door.show(permission())
    stage.door.note("said while it was full")
    assert stage.door.asked == []
    assert stage.emulator.updates.count() > 0  # still Telegram's: nothing is confirmed
    disk(False)
    await stage.phone.wait_for(lambda m: "room on the box's disk again" in m.text)
    asked = await stage.asked(2)
    assert [args["text"] for _, args in asked] == ["one", "two"]
    await stage.phone.wait_for(lambda m: "said while it was full" in m.text)
    await stage.stop_bot()
    texts = [m.text for m in stage.phone.from_bot()]
    assert len([one for one in texts if "disk is full" in one]) == 1
    assert len([one for one in texts if "said while" in one]) == 1
    assert len([m for m in stage.phone.from_bot() if "Allow" in m.labels]) == 1


async def test_told_to_stop_on_a_full_disk_it_ends(
    stage: Stage, disk: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.app.DRAIN_S", 0.1)
    await stage.start_bot()
    disk(True)
    stage.phone.send("/new shop one")
    await stage.phone.wait_for(lambda m: "disk is full" in m.text)
    await stage.stop_bot()
    disk(False)
    await stage.start_bot()
    assert await stage.asked() == [("new_goal", {"project": "shop", "text": "one"})]


class _Room:
    """Makes room once it is asked: a bigger file is allowed from then on."""

    def __init__(self) -> None:
        self.database: Database
        self.asked: list[str] = []
        self.short = False

    async def none(self, read_only: bool) -> None:
        assert not read_only
        self.short = True
        self.asked.append("none")
        if len(self.asked) == 3:
            await self.database.fetch("PRAGMA max_page_count = 100000")

    async def again(self) -> None:
        self.asked.append("again")


async def test_what_sqlite_itself_calls_full_is_tried_again_until_there_is_room(
    tmp_path: Path,
) -> None:
    room = _Room()
    async with Database(tmp_path / "bot.sqlite3", "bot", room=room) as database:
        room.database = database
        await database.fetch("PRAGMA max_page_count = 1")  # as many as there are already
        await database.write(
            lambda c: c.execute("INSERT INTO facts VALUES ('big', ?)", ("x" * 100_000,))
        )
        assert len(await database.fetch("SELECT name FROM facts")) == 1
    assert room.asked == ["none", "none", "none", "again"]


def test_half_a_file_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        Attached(tmp_path / "attached").keep(b"data")
    assert list((tmp_path / "attached").iterdir()) == []
    monkeypatch.undo()


async def test_a_document_waits_for_room_with_a_sentence(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Attached.keep

    def full(_: Attached, __: bytes) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bot.inbox.BACK_OFF_S", (0.01, 0.01, 0.01, 0.01))
    monkeypatch.setattr(Attached, "keep", full)
    await stage.start_bot()
    stage.phone.document("logo.png", b"\x89PNG\0", caption="use this", mime="image/png")
    told = await stage.phone.wait_for(lambda m: "disk is full" in m.text)
    assert told.text == "The box's disk is full. What you sent is kept, and tried again by itself."
    monkeypatch.setattr(Attached, "keep", keep)
    ((_, args),) = await stage.asked()
    assert args["files"][0].name == "logo.png"
