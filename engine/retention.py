"""What is kept, and for how long: the ledger's past, and what runs left on their machines.

Once a day, beside everything else: nothing waits for it, and what could not be done today is done
tomorrow. Neighbours: stores/ledger.py and engine/node/retain.py let go of what is old.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from engine import board
from engine.adapters.machines import Machine, NodeRefused
from engine.errors import Unavailable
from engine.nightly import KEPT
from engine.node.trees import POOLED
from engine.perform import waited_for
from engine.rules.ask import Ask, Stage
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session
from stores.attached import Attached
from stores.ledger import Ledger

log = logging.getLogger(__name__)

DAY_S: Final = 86_400.0
FIRST_S: Final = 60.0  # after a start, which has enough to do
PACKED_DAYS: Final = 7
GONE_DAYS: Final = 90
PAST_DAYS: Final = 180
DECIDED_DAYS: Final = 730

# As /health tells them.
LIMITS: Final = {
    "output of runs compressed after": f"{PACKED_DAYS} days",
    "gone after": f"{GONE_DAYS} days",
    "folders of sessions that are over after": f"{PACKED_DAYS} days",
    "events after": f"{PAST_DAYS} days",
    "decisions, with what was shown, after": f"{DECIDED_DAYS} days",
    "files you sent, once their goal is over, after": f"{GONE_DAYS} days",
    "backups of the last": f"{KEPT} nights",
    "idle trees of a project at most": str(POOLED),
}


class Retention:
    """Lets go of what is old."""

    def __init__(
        self,
        ledger: Ledger,
        machines: Mapping[str, Machine],
        world: Callable[[], board.World],
        clock: Callable[[], float],
        attached: Attached,
    ) -> None:
        self._ledger = ledger
        self._machines = machines
        self._world = world
        self._clock = clock
        self._attached = attached

    async def run(self) -> None:
        """Do so daily until cancelled."""
        await asyncio.sleep(FIRST_S)
        while True:
            await self.once()
            await asyncio.sleep(DAY_S)

    async def once(self) -> None:
        now = self._clock()
        await self._ledger.retain(now - PAST_DAYS * DAY_S, now - DECIDED_DAYS * DAY_S)
        live, ended = files_of(self._world())
        gone = await asyncio.to_thread(
            self._attached.retain, live, ended, self._clock(), GONE_DAYS * DAY_S
        )
        log.info("tidied files removed=%d", gone)
        for name, machine in list(self._machines.items()):
            try:
                await self._on(name, machine)
            except (Unavailable, NodeRefused) as no:
                log.info("not tidied machine=%s: %s", name, no)

    async def _on(self, name: str, machine: Machine) -> None:
        more = True
        while more:
            done = await machine.call(
                "runs.retain",
                kept=needed(self._world()),
                packed_days=PACKED_DAYS,
                gone_days=GONE_DAYS,
            )
            more = bool(done["more"])
            log.info(
                "tidied machine=%s packed=%s removed=%s", name, done["packed"], done["removed"]
            )


def files_of(world: board.World) -> tuple[set[str], set[str]]:
    """Return the hashes of files that goals, sessions and asks name: those still needed, the others."""
    live: set[str] = set()
    ended: set[str] = set()
    for state in world.values():
        match state:
            case Goal(live=goes_on, files=files):
                (live if goes_on else ended).update(file.sha256 for file in files)
            case Session(final=final, files=files):
                (ended if final else live).update(file.sha256 for file in files)
            case Ask(stage=stage, files=files):
                waits = stage is Stage.OPEN
                (live if waits else ended).update(file.sha256 for file in files)
            case _:
                pass
    return live, ended


def needed(world: board.World) -> list[str]:
    """Return every session of a goal that is not over, and every run somebody waits for."""
    found = {followed.run for followed in waited_for(world)}
    for goal in board.goals(world):
        if goal.live:
            found.add(goal.session)
            found.update(piece.session for piece in (*goal.pieces, *goal.earlier))
    return sorted(found)
