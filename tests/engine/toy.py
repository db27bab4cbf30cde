"""A small harbour for the loop's tests: two toy rules in the real vocabulary, and a world of files.

goal/<id>      GoalOpened sends two pieces to its landing, tells the owner of each one landed, and
               pushes when both are in.
landing/<id>   lands one piece after the other: merge, land.

The world does real things that show when they are done twice: `main` has a line for each landing,
`remote` one for each push.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.loop import Loop, Rule
from engine.rules.effects import AnyEffect, Land, Merge, Push, Say, Tell
from engine.rules.events import (
    AnyEvent,
    GaveUp,
    GoalDropped,
    GoalOpened,
    GoalStopped,
    Landed,
    LandingCalled,
    Merged,
    PieceLanded,
    PushDone,
    RetryDue,
)
from engine.rules.words import Account
from stores.database import Database
from stores.ledger import Ledger

PIECES = ("p-1", "p-2")


class Goal(Struct, frozen=True, tag=True):
    """Where a toy goal stands."""

    id: str
    landed: tuple[str, ...] = ()
    shipped: int = 0
    heard: tuple[str, ...] = ()


class Landing(Struct, frozen=True, tag=True):
    """Where a toy landing stands."""

    id: str
    waiting: tuple[str, ...] = ()
    current: str = ""


def decide_goal(now: Goal, event: AnyEvent) -> tuple[Goal, tuple[AnyEffect, ...]]:
    match event:
        case GoalOpened():
            return now, tuple(
                Tell(stream=f"landing/{now.id}", event=called(piece)) for piece in PIECES
            )
        case PieceLanded(piece=piece):
            now = replace(now, landed=(*now.landed, piece))
            said = Say(goal=now.id, kind="news", text=f"{piece} landed")
            if len(now.landed) < len(PIECES):
                return now, (said,)
            push = Push(goal=now.id, project="shop", base="main", commit="end", expected="")
            return now, (said, push)
        case PushDone():
            return replace(now, shipped=now.shipped + 1), ()
        case GoalStopped():
            raise Refused("This goal was never started.")
        case GoalDropped():
            raise ZeroDivisionError("a mistake in the rule")
        case RetryDue(piece=piece):
            return replace(now, heard=(*now.heard, piece)), ()
        case GaveUp(effect=effect, why=why, about=about):
            return replace(now, heard=(*now.heard, f"{effect} {about}: {why}")), ()
        case _:
            return now, ()


def decide_landing(now: Landing, event: AnyEvent) -> tuple[Landing, tuple[AnyEffect, ...]]:
    match event:
        case LandingCalled(piece=piece) if now.current:
            return replace(now, waiting=(*now.waiting, piece)), ()
        case LandingCalled(piece=piece):
            return _merge(replace(now, current=piece))
        case Merged(piece=piece, commit=commit) if piece == now.current:
            land = Land(goal=now.id, project="shop", piece=piece, commit=commit, onto="")
            return now, (land,)
        case Landed(piece=piece, commit=commit) if piece == now.current:
            news = Tell(
                stream=f"goal/{now.id}", event=PieceLanded(piece=piece, head=commit, commit=commit)
            )
            if not now.waiting:
                return replace(now, current=""), (news,)
            now, effects = _merge(replace(now, current=now.waiting[0], waiting=now.waiting[1:]))
            return now, (news, *effects)
        case _:
            return now, ()


def _merge(now: Landing) -> tuple[Landing, tuple[AnyEffect, ...]]:
    piece = now.current
    return now, (Merge(goal=now.id, project="shop", piece=piece, commit=f"c-{piece}", title=piece),)


RULES = {
    "goal": Rule("goal", Goal, decide_goal, Goal),
    "landing": Rule("landing", Landing, decide_landing, Landing),
}


def called(piece: str) -> LandingCalled:
    return LandingCalled(
        project="shop",
        piece=piece,
        session="s-1",
        branch="b",
        commit=f"c-{piece}",
        title=piece,
    )


def opened() -> GoalOpened:
    return GoalOpened(
        project="shop",
        text="a goal",
        session="s-1",
        base="main",
        account=Account(name="a", agent="rehearsal"),
    )


class Clock:
    """A clock that is set, and never goes by itself."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class World:
    """The files of one play: the ledger, and what stands for the outside."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.ledger = folder / "engine.sqlite3"
        self.main = folder / "main"
        self.remote = folder / "remote"
        self.performed: list[str] = []

    def lines(self, path: Path) -> list[str]:
        return path.read_text().splitlines() if path.exists() else []

    def add_once(self, path: Path, line: str) -> None:
        """Add a line that is not there yet, as a compare-and-swap would."""
        if line not in self.lines(path):
            with path.open("a") as file:
                file.write(f"{line}\n")

    async def perform(
        self, effect_id: int, stream: str, effect: AnyEffect
    ) -> Sequence[tuple[str, AnyEvent]]:
        self.performed.append(f"{type(effect).__name__} {effect_id}")
        await asyncio.sleep(0)
        match effect:
            case Merge(piece=piece, commit=commit):
                return [(stream, Merged(piece=piece, commit=commit, onto=""))]
            case Land(piece=piece, commit=commit):
                self.add_once(self.main, piece)
                return [(stream, Landed(piece=piece, commit=commit, head=commit))]
            case Push(commit=commit):
                self.add_once(self.remote, commit)
                return [(stream, PushDone(commit=commit, where="remote", landed=True))]
            case _:
                return []


class Engine:
    """An open loop over a world's files, for the length of a block."""

    def __init__(self, loop: Loop, ledger: Ledger, clock: Callable[[], float]) -> None:
        self.loop = loop
        self.ledger = ledger
        self._clock = clock

    @property
    def clock(self) -> Clock:
        assert isinstance(self._clock, Clock)
        return self._clock

    async def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds
        self.loop.wake()
        await self.loop.settle()


@asynccontextmanager
async def engine(
    world: World,
    *,
    perform: Any = None,
    rules: dict[str, Rule] | None = None,
    clock: Callable[[], float] | None = None,
    luck: Callable[[], float] = lambda: 0.5,
    max_parallel: int = 16,
    running: bool = True,
) -> AsyncIterator[Engine]:
    clock = clock or Clock()
    async with Database(world.ledger, "ledger") as file, Ledger(file) as ledger:
        loop = Loop(
            ledger,
            rules or RULES,
            perform or world.perform,
            clock=clock,
            luck=luck,
            max_parallel=max_parallel,
        )
        await loop.open()
        if not running:
            yield Engine(loop, ledger, clock)
            return
        async with asyncio.TaskGroup() as group:
            task = group.create_task(loop.run())
            yield Engine(loop, ledger, clock)
            task.cancel()
