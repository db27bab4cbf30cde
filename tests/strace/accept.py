"""A decision comes in, is stored with what follows from it, and is answered: then it is done, once.

The loop and the ledger are the real ones; what is decided and the outside are toys (tests/engine/toy.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.asker import Asker, on_behalf_of
from engine.loop import Rule
from tests.engine import toy
from tests.history import Scene, judge_history
from tests.history.scene import rows_of
from tests.strace.walk import Story

CAUSE = "telegram:1"
OWNER = Asker(who="42", through="tap 42:1", verb="start")


def lay(folder: Path) -> None:
    toy.World(folder)


async def play(folder: Path) -> None:
    async with toy.engine(toy.World(folder)) as engine:
        with on_behalf_of(OWNER):
            await engine.loop.post("goal/g-1", toy.opened(), CAUSE)
        (folder / "answered").touch()
        await engine.loop.settle()


def left(folder: Path) -> None:
    if (folder / "answered").exists():
        assert rows(folder, "SELECT cause FROM events WHERE cause = 'telegram:1'") == [(CAUSE,)]


def judge(folder: Path) -> None:
    world = toy.World(folder)
    judge_history(scene(folder))
    assert world.lines(world.main) == list(toy.PIECES)
    assert world.lines(world.remote) == ["end"]
    assert len(rows(folder, "SELECT 1 FROM events WHERE cause = 'telegram:1'")) == 1
    assert len(rows(folder, "SELECT 1 FROM notes")) == len(toy.PIECES)
    (state,) = rows(folder, "SELECT body FROM states WHERE stream = 'goal/g-1'")
    assert b'"shipped":1' in bytes(state[0])


def scene(folder: Path, rules: Mapping[str, Rule] = toy.RULES) -> Scene:
    """Return a path's ledger, as it is to be judged."""
    return Scene(ledger=folder / "engine.sqlite3", rules=rules)


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    return rows_of(folder / "engine.sqlite3", sql)


STORY = Story("accept", lay, play, judge, left)
