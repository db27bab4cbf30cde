"""All that takes long: `python -m tests.soak [--minutes 20] [--seed 1]`, its parts three at a time.

    one core    the simulated stories (tests/simulation), system calls (tests/strace), deaths at boundaries
                alone (deaths.py), hostile texts (tests/hostile), what grows (growth.py)
    the other   the points of node and runner, spoiled spools (tests/nodepoints), kills (voyages.py)
    beside      a week (week.py), which mostly waits

With a bound each part gets its share of the time (the week: as many sessions), covers evenly as much as fits
into it, and says how much that was; 20 minutes hold the week whole, and 2,000 stories. Without one nothing is
left out, and all of it goes on with other seeds until it is stopped. The first end that is not as it should be
ends it all: what happened where is said, and the world is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.soak.part import STOPPED, say

SEEDS = 2000
SESSIONS = 300
LEAST_SESSIONS = 30
A_MINUTE = 15  # sessions of the week
NOT_HERE = 3  # the exit code of tests.strace where nothing can be traced
END_S = 40.0
LEAST = 1.0  # minutes of a lane, however late it is
LINE_MOST = 8 * 1024 * 1024


@dataclass(frozen=True)
class Part:
    """One kind of trouble, as a process of its own.

    words   its module and what it is told: its minutes (0: no bound) and its seed
    share   of its lane's minutes
    """

    name: str
    words: Callable[[float, int], list[str]]
    share: float


def seeds(minutes: float, seed: int) -> list[str]:
    words = ["tests.simulation", "--jobs", "1"]
    words += ["--seeds", str(SEEDS), "--first", str((seed - 1) * SEEDS)]
    return [*words, *_bound(minutes)]


def calls(minutes: float, seed: int) -> list[str]:
    return ["tests.strace", "--keep", *_bound(minutes)]


def no_room(minutes: float, seed: int) -> list[str]:
    return ["tests.strace", "--keep", "--full", *_bound(minutes)]


def points(minutes: float, seed: int) -> list[str]:
    return ["tests.nodepoints", *_bound(minutes)]


def spools(minutes: float, seed: int) -> list[str]:
    return ["tests.nodepoints.spools", *_bound(minutes)]


def voyages(minutes: float, seed: int) -> list[str]:
    return ["tests.soak.voyages", "--minutes", f"{minutes or 60:.2f}", "--seed", str(seed * 100)]


def deaths(minutes: float, seed: int) -> list[str]:
    return ["tests.soak.deaths", "--minutes", f"{minutes or 600:.2f}", "--seed", str(seed)]


def hostile(minutes: float, seed: int) -> list[str]:
    return ["tests.hostile", "--seed", str(seed), *_bound(minutes)]


def growth(minutes: float, seed: int) -> list[str]:
    return ["tests.soak.growth", "--minutes", f"{minutes or 20:.2f}"]


def week(minutes: float, seed: int) -> list[str]:
    sessions = min(SESSIONS, max(LEAST_SESSIONS, int(minutes * A_MINUTE))) if minutes else SESSIONS
    return ["tests.soak.week", "--sessions", str(sessions), "--seed", str(seed)]


Lanes = tuple[tuple[Part, ...], ...]

LANES: Lanes = (
    (
        Part("stories", seeds, 0.45),
        Part("system calls", calls, 0.2),
        Part("deaths", deaths, 0.2),
        Part("hostile texts", hostile, 0.05),
        Part("growth", growth, 0.1),
    ),
    (
        Part("kills", voyages, 0.4),
        Part("spools", spools, 0.1),
        Part("node and runner", points, 0.5),
    ),
    (Part("week", week, 1.0),),
)
UNBOUNDED: Lanes = (LANES[0], LANES[1], (*LANES[2], Part("no room", no_room, 1.0)))


def _bound(minutes: float) -> list[str]:
    return ["--minutes", f"{minutes:.2f}"] if minutes else []


class Wrong(Exception):
    """A part found what should not be."""


class Soak:
    """The parts under way and what each said last."""

    def __init__(self, lanes: Lanes, minutes: float, seed: int) -> None:
        self._lanes = lanes
        self._minutes = minutes
        self._seed = seed
        self._began = time.monotonic()
        self.figures: list[str] = []

    def sum_up(self) -> None:
        say(f"after {(time.monotonic() - self._began) / 60:.1f} min")
        for line in self.figures:
            sys.stdout.write(f"    {line}\n")
        sys.stdout.flush()

    async def round(self) -> None:
        """Play every part once, the lanes beside each other."""
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes:
                group.create_task(self._sail(lane))
        self._seed += 1

    async def _sail(self, lane: tuple[Part, ...]) -> None:
        end = time.monotonic() + self._minutes * 60.0
        for number, part in enumerate(lane):
            left = max(LEAST, (end - time.monotonic()) / 60.0)  # what others took too much of
            share = part.share / sum(later.share for later in lane[number:])
            await self._play(part, left * share if self._minutes else 0.0)

    async def _play(self, part: Part, minutes: float) -> None:
        words = part.words(minutes, self._seed)
        say(f"{part.name}: python -m {' '.join(words)}")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *words, stdout=asyncio.subprocess.PIPE, limit=LINE_MOST
        )
        try:
            last = await self._told(part, process)
            code = await process.wait()
        finally:
            await _ended(process)
        if code not in (0, NOT_HERE):
            raise Wrong(f"{part.name} ended with {code}")
        self.figures.append(f"{part.name}: {last}")

    async def _told(self, part: Part, process: asyncio.subprocess.Process) -> str:
        """Pass on what it says; return its last line."""
        last = ""
        assert process.stdout is not None
        async for raw in process.stdout:
            last = raw.decode(errors="replace").rstrip("\n")
            sys.stdout.write(f"{part.name} | {last}\n")
            sys.stdout.flush()
        return last


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Have it end in order, so that it leaves no process behind."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def soak(whole: Soak, *, once: bool) -> int:
    wrong = await _wrong_in(whole)
    while not once and not wrong:
        whole.sum_up()
        wrong = await _wrong_in(whole)
    whole.sum_up()
    if wrong:
        say(wrong)
        return 1
    say("nothing was lost, and nothing done twice")
    return 0


async def _wrong_in(whole: Soak) -> str:
    """Play a round; return what was wrong, "" if nothing was."""
    wrong = ""
    try:
        await whole.round()
    except* Wrong as group:
        wrong = "; ".join(str(fault) for fault in group.exceptions)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="0: until it is stopped")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    whole = Soak(LANES if asked.minutes else UNBOUNDED, asked.minutes, asked.seed)
    try:
        return asyncio.run(soak(whole, once=bool(asked.minutes)))
    except KeyboardInterrupt:
        whole.sum_up()
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
