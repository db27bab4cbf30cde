"""Has trees made ready ahead: when a plan is proposed, and while its workers wait to start.

    goal, fleet change ─> what is wanted ─> nothing starts there just now ─> tree.ready, one at a time

A worker's start then finds a tree whose files only have to be looked over. Nothing depends on it: what
cannot be made ready is made when it is needed, so nothing of it is an event, and after a restart it is
simply looked at again. Neighbours: node/ahead.py does the work, adapters/runs.py makes use of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from engine.adapters.machines import Machine, NodeRefused
from engine.board import World
from engine.errors import Refused, Unavailable
from engine.loop import Loop
from engine.rules import plan
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, PlanStage
from engine.rules.plan import Piece
from engine.rules.session_state import Session
from engine.rules.words import HERE

log = logging.getLogger(__name__)

MOST = 4  # free trees of one project on one machine

Bring = Callable[[Machine, str, str, str], Awaitable[None]]  # project, commit, goal


class Wanted(NamedTuple):
    """Free trees that somebody will need soon."""

    machine: str
    project: str
    goal: str
    commit: str
    trees: int


class Ahead:
    """Sees to it that there are some."""

    def __init__(self, loop: Loop, machines: Mapping[str, Machine], bring: Bring) -> None:
        self._loop = loop
        self._machines = machines
        self._bring = bring
        self._done: set[Wanted] = set()

    async def run(self) -> None:
        changed = asyncio.Event()
        self._loop.watch(
            lambda stream: changed.set() if stream.startswith(("goal/", "fleet")) else None
        )
        while True:
            changed.clear()
            now = wanted(self._loop.world())
            self._done &= set(now)
            order = next((one for one in now if one not in self._done and self._idle(one)), None)
            if order is None:
                await changed.wait()
            elif not await self._make(order):
                self._done.add(order)

    def _idle(self, order: Wanted) -> bool:
        fleet = self._loop.state("fleet")
        known = fleet.machine(order.machine) if isinstance(fleet, Fleet) else None
        if known is None or not known.up or not isinstance(fleet, Fleet):
            return False
        return not any(slot.starting and slot.machine == known.name for slot in fleet.running)

    async def _make(self, order: Wanted) -> bool:
        """Make one tree; return whether there may be need of another."""
        machine = self._machines.get(order.machine)
        if machine is None:
            return False
        try:
            await self._bring(machine, order.project, order.commit, order.goal)
            made = await machine.call(
                "tree.ready", project=order.project, commit=order.commit, count=order.trees
            )
        except (Unavailable, NodeRefused, Refused) as no:
            log.info("not made ready project=%s machine=%s: %s", order.project, order.machine, no)
            return False
        return bool(made["made"]) and int(made["free"]) < order.trees


def wanted(world: World) -> tuple[Wanted, ...]:
    """Return how many trees are going to be needed where, plan by plan."""
    found: list[Wanted] = []
    for goal in world.values():
        if not isinstance(goal, Goal) or not goal.live or goal.held:
            continue
        if goal.plan_stage not in (PlanStage.PROPOSED, PlanStage.STARTED):
            continue
        counts = Counter(_where(goal, piece) for piece in goal.pieces if _has_none(world, piece))
        found.extend(
            Wanted(machine, goal.project, goal.id, goal.head, min(count, MOST))
            for machine, count in counts.items()
        )
    return tuple(found)


def _has_none(world: World, piece: Piece) -> bool:
    """Whether a piece's worker has never been anywhere, and so has no tree."""
    session = world.get(f"session/{piece.session}")
    placed = isinstance(session, Session) and session.machine
    return piece.stage in (plan.Stage.PROPOSED, *plan.OPEN) and not placed


def _where(goal: Goal, piece: Piece) -> str:
    """Where its worker will most likely run."""
    if piece.machine or HERE in (goal.machines or (HERE,)):
        return piece.machine or HERE
    return goal.machines[0]
