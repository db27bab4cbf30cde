"""Looks at the memory and the disks of machines, and tells the fleet what it finds.

    a run starts, or waits for memory ─> the node is asked ─> MachineLoad ─> who may start now
    a disk is nearly full ─> the node frees what it can ─> MachineLoad ─> what waits; the owner is told

Memory counts while something starts, and so is asked for only then; a disk fills at any time, and is
looked at once a minute besides. A machine that does not answer is told as unknown, so that no run
waits for a number nobody brings. Neighbours: rules/starts.py and rules/disks.py decide by it,
node/load.py and node/tidy.py read it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from engine.adapters.machines import Machine, NodeRefused
from engine.errors import Unavailable
from engine.loop import Loop
from engine.rules import disks
from engine.rules.events import MachineLoad
from engine.rules.fleet import Fleet, looked_at, short_of_room
from engine.rules.fleet import Machine as Known
from engine.rules.starts import FRESH_S, UNKNOWN

log = logging.getLogger(__name__)

LOOK_S = 3.0
DISKS_S = 60.0
TIDY_S = 600.0  # between two tidyings of a machine that stays short of room
ANSWER_S = 30.0
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
        *,
        disks_s: float = DISKS_S,
        uptime: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop = loop
        self._machines = machines
        self._clock = clock
        self._born = born  # tells this engine's own news from an earlier one's
        self._look_s = look_s
        self._disks_s = disks_s
        self._uptime = uptime
        self._told = 0
        self._disks_at = 0.0
        self._changed = asyncio.Event()
        self._tidied: dict[str, float] = {}  # machines short of room, and when they were tidied

    def look_now(self) -> None:
        """Look at all disks at once: something found no room."""
        self._disks_at = 0.0
        self._changed.set()

    async def run(self) -> None:
        changed = self._changed
        self._loop.watch(lambda stream: changed.set() if stream == "fleet" else None)
        self._disks_at = self._uptime() + self._disks_s
        while True:
            changed.clear()
            names = {*looked_at(self._fleet()), *short_of_room(self._fleet())}
            told = {one.name for one in self._fleet().machines if one.disk.free_mb != UNKNOWN}
            if told and self._uptime() >= self._disks_at:
                self._disks_at = self._uptime() + self._disks_s
                names |= told
            if names:
                await asyncio.gather(*(self._look(name) for name in names))
                await asyncio.sleep(self._look_s)
                continue
            try:
                left_s = self._disks_at - self._uptime()
                async with asyncio.timeout(left_s if told else None):
                    await changed.wait()
            except TimeoutError:
                pass

    def _fleet(self) -> Fleet:
        found = self._loop.state("fleet")
        return found if isinstance(found, Fleet) else Fleet()

    async def _look(self, name: str) -> None:
        found = await self._ask(name, "load")
        load = _load(name, found)
        if self._is_to_be_tidied(load):
            found.update(await self._ask(name, "disk.tidy"))
            self._tidied[name] = self._uptime()
            load = _load(name, found)
            log.warning("disk low machine=%s free_mb=%d", name, load.disk_free_mb)
        known = self._fleet().machine(name)
        if known is not None and self._is_news(known, load):
            self._told += 1
            await self._loop.tell("fleet", load, f"load:{name}:{self._born}.{self._told}")

    def _is_to_be_tidied(self, load: MachineLoad) -> bool:
        """Whether a machine is short of room, and all that can be freed there may not have been."""
        if not UNKNOWN < load.disk_free_mb < load.disk_needs_mb:
            self._tidied.pop(load.machine, None)
            return False
        at = self._tidied.get(load.machine)
        return at is None or self._uptime() - at >= TIDY_S

    def _is_news(self, known: Known, load: MachineLoad) -> bool:
        if (known.free_mb == UNKNOWN) != (load.free_mb == UNKNOWN):
            return True
        told = disks.Disk(load.disk_free_mb, load.disk_needs_mb)
        disk, _ = disks.noted(known.disk, known.name, told)
        if disk.low != known.disk.low or (load.tidied and not known.disk.said):
            return True
        if disk.low and abs(known.disk.free_mb - load.disk_free_mb) >= WORTH_MB:
            return True
        if known.name not in looked_at(self._fleet()):
            return False
        stale = self._clock() - known.told_at > FRESH_S / 2
        changed = abs(known.free_mb - load.free_mb) >= WORTH_MB
        return changed or (stale and load.free_mb != UNKNOWN)

    async def _ask(self, name: str, what: str) -> dict[str, Any]:
        machine = self._machines.get(name)
        if machine is None:
            return {}
        try:
            async with asyncio.timeout(ANSWER_S):
                return dict(await machine.call(what))
        except (TimeoutError, Unavailable, NodeRefused) as no:
            log.info("%s not told machine=%s: %s", what, name, no)
            return {}


def _load(name: str, found: Mapping[str, Any]) -> MachineLoad:
    ours = found.get("ours")
    return MachineLoad(
        machine=name,
        free_mb=int(found.get("free_mb", UNKNOWN)),
        disk_free_mb=int(found.get("disk_free_mb", UNKNOWN)),
        disk_needs_mb=int(found.get("disk_needs_mb", 0)),
        tidied=ours is not None,
        ours=tuple((str(what), int(mb)) for what, mb in ours or ()),
    )
