"""Engine or bot as a process whose time another one sets: `python -m tests.soak.aboard CLOCK engine`.

CLOCK is a file of one number, by how many seconds this process is ahead of the machine. When it grows, the
time of day is later and every timer that would have run out by then has: nights pass in a moment, and what
production does daily is done by production's own code. Files get their times from the kernel all the same,
and the node with its runs lives in the machine's time. SIGUSR1 has it print where its threads are, SIGUSR2
what its tasks wait for. Neighbour: week.py sets the clock.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import mmap
import signal
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

LOOK_S = 0.02
SECONDS = 8  # bytes of one double


class Clock:
    """The number that several processes share.

    It is written at one stroke: `struct` would put zeros there first, and who looked just then would
    take the time for days ago, and sleep as long.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or make it with nobody ahead."""
        if not path.exists():
            path.write_bytes(bytes(SECONDS))
        with path.open("r+b") as file:
            self._shared = memoryview(mmap.mmap(file.fileno(), SECONDS)).cast("d")

    @property
    def ahead_s(self) -> float:
        return float(self._shared[0])

    @ahead_s.setter
    def ahead_s(self, seconds: float) -> None:
        self._shared[0] = seconds


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

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, _tell_tasks)
    looking = asyncio.create_task(look())
    try:
        await work
    finally:
        looking.cancel()


def _tell_tasks() -> None:
    """Say what every task waits for: asked of a process that does not go on."""
    for task in asyncio.all_tasks():
        task.print_stack(file=sys.stderr)


def main() -> None:
    path, which = sys.argv[1:]
    clock, now = Clock(Path(path)), time.time
    vars(time)["time"] = lambda: now() + clock.ahead_s  # before anything of ours took the other
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
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
