"""A decision comes in, is stored with what follows from it, and is answered: then it is done, once.

The loop and the ledger are the real ones; what is decided and the outside are toys (tests/engine/toy.py).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.engine import toy
from tests.strace.walk import Story

CAUSE = "telegram:1"


def lay(folder: Path) -> None:
    toy.World(folder)


async def play(folder: Path) -> None:
    async with toy.engine(toy.World(folder)) as engine:
        await engine.loop.post("goal/g-1", toy.opened(), CAUSE)
        (folder / "answered").touch()
        await engine.loop.settle()


def left(folder: Path) -> None:
    if (folder / "answered").exists():
        assert rows(folder, "SELECT cause FROM events WHERE cause = 'telegram:1'") == [(CAUSE,)]


def judge(folder: Path) -> None:
    world = toy.World(folder)
    sound(folder)
    assert world.lines(world.main) == list(toy.PIECES)
    assert world.lines(world.remote) == ["end"]
    assert len(rows(folder, "SELECT 1 FROM events WHERE cause = 'telegram:1'")) == 1
    assert len(rows(folder, "SELECT 1 FROM notes")) == len(toy.PIECES)
    (state,) = rows(folder, "SELECT body FROM states WHERE stream = 'goal/g-1'")
    assert b'"shipped":1' in bytes(state[0])


def sound(folder: Path) -> None:
    """Assert that a ledger is whole, and nothing in it is owed, doubled or set aside."""
    assert rows(folder, "PRAGMA integrity_check") == [("ok",)]
    assert rows(folder, "SELECT id FROM effects WHERE done_at IS NULL") == []
    assert rows(folder, "SELECT * FROM broken") == []
    assert rows(folder, "SELECT cause FROM events GROUP BY cause HAVING count(*) > 1") == []


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    # Not made by looking: an empty file would be none of the play's.
    file = f"file:{folder / 'engine.sqlite3'}?mode=rw"
    with closing(sqlite3.connect(file, uri=True)) as connection:
        return connection.execute(sql).fetchall()


STORY = Story("accept", lay, play, judge, left)
