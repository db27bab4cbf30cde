"""Looks at the memory of machines while runs start there, and tells the fleet what it finds.

    a run starts, or waits for memory ─> the node is asked ─> MachineLoad ─> who may start now

Nothing is asked while nothing starts. A machine that does not answer is told as unknown, so that no run
waits for a number nobody brings. Neighbours: rules/starts.py decides by it, node/load.py reads it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from engine.adapters.machines import Machine, NodeRefused
from engine.errors import Unavailable
from engine.loop import Loop
from engine.rules.events import MachineLoad
from engine.rules.fleet import Fleet, looked_at
from engine.rules.starts import FRESH_S, UNKNOWN

log = logging.getLogger(__name__)

LOOK_S = 3.0
ANSWER_S = 10.0
WORTH_MB = 100  # a smaller change is no news while the last one is fresh


class Loads:
    """Asks the nodes, for as long as it matters."""

    def __init__(
        self,
        loop: Loop,
        machines: Mapping[str, Machine],
        clock: Callable[[], float],
        born: str,
        look_s: float = LOOK_S,
    ) -> None:
        self._loop = loop
        self._machines = machines
        self._clock = clock
        self._born = born  # tells this engine's own news from an earlier one's
        self._look_s = look_s
        self._told = 0

    async def run(self) -> None:
        changed = asyncio.Event()
        self._loop.watch(lambda stream: changed.set() if stream == "fleet" else None)
        while True:
            changed.clear()
            names = looked_at(self._fleet())
            if not names:
                await changed.wait()
                continue
            await asyncio.gather(*(self._look(name) for name in names))
            await asyncio.sleep(self._look_s)

    def _fleet(self) -> Fleet:
        found = self._loop.state("fleet")
        return found if isinstance(found, Fleet) else Fleet()

    async def _look(self, name: str) -> None:
        free_mb = await self._ask(name)
        known = self._fleet().machine(name)
        if known is None:
            return
        stale = self._clock() - known.told_at > FRESH_S / 2
        if abs(known.free_mb - free_mb) >= WORTH_MB or (stale and free_mb != UNKNOWN):
            self._told += 1
            load = MachineLoad(machine=name, free_mb=free_mb)
            await self._loop.tell("fleet", load, f"load:{name}:{self._born}.{self._told}")

    async def _ask(self, name: str) -> int:
        machine = self._machines.get(name)
        if machine is None:
            return UNKNOWN
        try:
            async with asyncio.timeout(ANSWER_S):
                return int((await machine.call("load"))["free_mb"])
        except (TimeoutError, Unavailable, NodeRefused) as no:
            log.info("load not told machine=%s: %s", name, no)
            return UNKNOWN
