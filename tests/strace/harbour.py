"""What land and ship begin with: the hub, the owner's repository and its origin, all on disk.

The rules of landing and shipping, the performer and the hub are the real ones; the goal above them is a toy
that only counts what it is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.adapters.hub import Hub
from engine.loop import Loop, Rule
from engine.perform import Performer
from engine.rules import landing, ship
from engine.rules.effects import AnyEffect
from engine.rules.events import AnyEvent, GoalShipped, PieceLanded, PieceReturned, ShipFailed
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from stores.database import Database
from stores.ledger import Ledger
from tests.adapters import repositories
from tests.adapters.repositories import commit, git

PIECES = ("p-1", "p-2")


class Told(Struct, frozen=True, tag=True):
    """What a goal was told, in order."""

    heard: tuple[str, ...] = ()


def told(now: Told, event: AnyEvent) -> tuple[Told, tuple[AnyEffect, ...]]:
    match event:
        case PieceLanded(piece=piece):
            return replace(now, heard=(*now.heard, f"{piece} landed")), ()
        case PieceReturned(piece=piece, why=why):
            return replace(now, heard=(*now.heard, f"{piece} returned: {why}")), ()
        case GoalShipped(commit=commit):
            return replace(now, heard=(*now.heard, f"shipped {commit}")), ()
        case ShipFailed(why=why):
            return replace(now, heard=(*now.heard, f"not shipped: {why}")), ()
        case _:
            return now, ()


RULES = {
    "goal": Rule("goal", lambda name: Told(), told, Told),
    "landing": Rule("landing", landing.begin, landing.decide, landing.Landing),
    "ship": Rule("ship", ship.begin, ship.decide, ship.Ship),
}


def lay(folder: Path) -> None:
    """Make the repositories, two pieces side by side in the hub, and their commits' ids in files."""
    source = repositories.repository(folder / "source")
    git(folder, "clone", "-q", "--bare", str(source), "origin.git")
    git(folder / "origin.git", "config", "core.logAllRefUpdates", "true")
    for piece in PIECES:
        git(source, "checkout", "-q", "-b", piece, "main")
        made = commit(source, f"Add {piece}", {f"{piece}.txt": f"{piece}\n"})
        (folder / piece).write_text(made, encoding="ascii")
    git(source, "checkout", "-q", "main")
    asyncio.run(_take_in(folder, source))


async def _take_in(folder: Path, source: Path) -> None:
    hub = Hub(folder / "hub")
    base = await hub.bring("shop", str(source), "main")
    branch = await hub.begin("shop", "g-1", base, "a goal")
    for piece in PIECES:
        await hub._fetch(
            hub.path("shop"), str(source), f"+refs/heads/{piece}:refs/quarantine/{piece}"
        )
    (folder / "base").write_text(base, encoding="ascii")
    (folder / "branch").write_text(branch, encoding="ascii")


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="ascii")


@asynccontextmanager
async def open_on(folder: Path) -> AsyncIterator[Loop]:
    """Run a loop over the folder's ledger and hub."""
    world: dict[str, Any] = {
        "project/shop": Project(
            name="shop",
            source=str(folder / "source"),
            push_url=str(folder / "origin.git"),
            base="main",
        ),
        "goal/g-1": Goal(
            id="g-1", project="shop", base="main", branch=read(folder, "branch"), title="a goal"
        ),
    }
    # `runs` starts agents and checks: here are none.
    performer = Performer(Hub(folder / "hub"), None, {}, lambda: world)  # type: ignore[arg-type]
    async with Database(folder / "engine.sqlite3", "ledger") as file, Ledger(file) as ledger:
        loop = Loop(ledger, RULES, performer)
        await loop.open()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(loop.run())
            yield loop
            task.cancel()
