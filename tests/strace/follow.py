"""A run's output is read to its end: each line becomes one event, stored with how far that was."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from engine.adapters.following import Followed, Following
from engine.adapters.machines import Chunk
from engine.loop import Loop
from engine.rules.events import RetryDue
from tests.engine import toy
from tests.history import judge_history
from tests.strace.accept import rows, scene
from tests.strace.walk import Story

RUN = "s-1-t1"
STREAM = "goal/g-1"
LINES = tuple(f"line {number}" for number in range(1, 8))
AT_ONCE = 3


class Spool:
    """A machine that has one run's output in a file."""

    name = "here"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        with self._path.open("rb") as file:
            file.seek(offset)
            while lines := [line for _ in range(AT_ONCE) if (line := file.readline())]:
                yield Chunk([line.rstrip(b"\n") for line in lines], file.tell())


class Reader:
    """Makes one event of each line, known again by the line's own number."""

    began = True

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        line = raw.decode()
        event = RetryDue(piece=line)
        await self._loop.post(STREAM, event, f"{RUN}:{line}", position=position)
        return line == LINES[-1]

    async def lose(self) -> None:
        raise AssertionError("nobody takes this run away")


def lay(folder: Path) -> None:
    (folder / "out").write_text("".join(f"{line}\n" for line in LINES), encoding="ascii")


async def play(folder: Path) -> None:
    machine: Any = Spool(folder / "out")
    async with toy.engine(toy.World(folder)) as engine:
        following = Following(
            engine.ledger,
            machine=lambda name: machine,
            reader=lambda followed: Reader(engine.loop),
            on_doing=lambda run: None,
        )
        await following.open()
        if LINES[-1] in _heard(engine.loop):
            return  # its turn is over: nobody waits for it any more
        reading = asyncio.create_task(following.run([Followed(run=RUN, stream=STREAM)]))
        await engine.loop.settle(until=lambda: LINES[-1] in _heard(engine.loop))
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading


def _heard(loop: Loop) -> tuple[str, ...]:
    state = loop.state(STREAM)
    return tuple(state.heard) if state else ()


def left(folder: Path) -> None:
    """Assert that no line that counts as read is missing from what is stored."""
    if not (folder / "engine.sqlite3").exists():
        return
    if not rows(folder, "SELECT 1 FROM sqlite_master WHERE name = 'positions'"):
        return
    positions = rows(folder, "SELECT position FROM positions")
    stored = rows(folder, "SELECT cause FROM events")
    for (position,) in positions:
        read = (folder / "out").read_bytes()[: int(str(position))].decode().splitlines()
        assert {f"{RUN}:{line}" for line in read} <= {str(cause) for (cause,) in stored}


def judge(folder: Path) -> None:
    judge_history(scene(folder))
    causes = [str(cause) for (cause,) in rows(folder, "SELECT cause FROM events ORDER BY n")]
    assert causes == [f"{RUN}:{line}" for line in LINES]
    (state,) = rows(folder, f"SELECT body FROM states WHERE stream = '{STREAM}'")
    assert all(bytes(state[0]).count(f'"{line}"'.encode()) == 1 for line in LINES)


STORY = Story("follow", lay, play, judge, left)
