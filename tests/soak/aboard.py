"""Engine or bot as a process whose time another one sets: `python -m tests.soak.aboard CLOCK engine`.

CLOCK is a file of one number, by how many seconds this process is ahead of the machine. When it grows, the
time of day is later and every timer that would have run out by then has: nights pass in a moment, and what
production does daily is done by production's own code. Files get their times from the kernel all the same,
and the node with its runs lives in the machine's time. Neighbour: week.py sets the clock.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import mmap
import struct
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

LOOK_S = 0.02
SECONDS = struct.Struct("d")


class Clock:
    """The number that several processes share."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it with nobody ahead."""
        if not path.exists():
            path.write_bytes(SECONDS.pack(0.0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), SECONDS.size)

    @property
    def ahead_s(self) -> float:
        (seconds,) = SECONDS.unpack_from(self._shared)
        return float(seconds)

    @ahead_s.setter
    def ahead_s(self, seconds: float) -> None:
        SECONDS.pack_into(self._shared, 0, seconds)


class Loop(asyncio.SelectorEventLoop):
    """Timers run out by the clock that is set."""

    def __init__(self, clock: Clock) -> None:
        self._ahead = clock
        super().__init__()

    def time(self) -> float:
        return super().time() + self._ahead.ahead_s


async def _awake(work: Coroutine[Any, Any, Any]) -> None:
    """Do the work, looking at the clock again every now and then: the kernel only knows its own."""

    async def look() -> None:
        while True:  # noqa: ASYNC110 - another process sets it
            await asyncio.sleep(LOOK_S)

    looking = asyncio.create_task(look())
    try:
        await work
    finally:
        looking.cancel()


def main() -> None:
    path, which = sys.argv[1:]
    clock, now = Clock(Path(path)), time.time
    vars(time)["time"] = lambda: now() + clock.ahead_s  # before anything of ours took the other
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {which} %(levelname)s %(message)s")
    with asyncio.Runner(loop_factory=lambda: Loop(clock)) as runner:
        if which == "engine":
            from engine.__main__ import main as engine

            runner.run(_awake(engine()))
        else:
            from bot.__main__ import run as bot
            from engine.paths import Home

            runner.run(_awake(bot(Home.found().make())))


if __name__ == "__main__":
    main()
