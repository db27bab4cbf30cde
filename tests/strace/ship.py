"""What was reviewed goes to its remote: looked at, put to the owner, pushed, and that once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.asker import on_behalf_of
from engine.loop import Loop
from engine.rules import ship
from engine.rules.events import ShipOpened, ShipProceeded, ShipPushed
from tests.adapters.repositories import git
from tests.history import Expected, Span, judge_history
from tests.strace import harbour
from tests.strace.accept import OWNER, rows, scene
from tests.strace.harbour import read
from tests.strace.walk import Story

STREAM = "ship/g-1"


async def play(folder: Path) -> None:
    async with harbour.open_on(folder) as loop:
        opened = ShipOpened(
            ship="sh-1",
            review="r-1",
            project="shop",
            base="main",
            base_commit=read(folder, "base"),
            head=read(folder, "p-1"),
        )
        await loop.post(STREAM, opened, "opened")
        with on_behalf_of(OWNER):
            await loop.post(STREAM, ShipProceeded(), "telegram:1")
        await loop.settle(until=_past(loop, ship.Stage.TAKING))
        with on_behalf_of(OWNER):
            await loop.post(STREAM, ShipPushed(), "telegram:2")
        (folder / "answered").touch()
        await loop.settle(until=_past(loop, ship.Stage.PUSHING))


def _past(loop: Loop, stage: ship.Stage) -> Callable[[], bool]:
    return lambda: loop.state(STREAM).stage is not stage


def left(folder: Path) -> None:
    """Assert that nothing left without a Push, and that what left is whole."""
    origin = folder / "origin.git"
    git(origin, "fsck", "--connectivity-only")
    pushed = git(origin, "rev-parse", "refs/heads/main")
    assert pushed in (read(folder, "base"), read(folder, "p-1"))
    if pushed != read(folder, "base"):
        assert len(rows(folder, "SELECT 1 FROM events WHERE cause = 'telegram:2'")) == 1
    if (folder / "answered").exists():
        assert len(rows(folder, "SELECT 1 FROM events WHERE cause = 'telegram:2'")) == 1


def judge(folder: Path) -> None:
    origin, base = folder / "origin.git", read(folder, "base")
    pushed = Span(origin, f"{base}..refs/heads/main", ("Add p-1",), first_parent=True)
    judge_history(
        replace(scene(folder, harbour.RULES), hubs=folder / "hub", remote=origin),
        Expected(spans=(pushed,)),
    )
    assert git(origin, "rev-parse", "refs/heads/main") == read(folder, "p-1")
    (state,) = rows(folder, f"SELECT body FROM states WHERE stream = '{STREAM}'")
    assert b'"stage":"shipped"' in bytes(state[0]), state
    told = rows(folder, "SELECT body FROM states WHERE stream = 'goal/g-1'")
    assert b"".join(bytes(body) for (body,) in told).count(b"shipped") == 1


STORY = Story("ship", harbour.lay, play, judge, left)
