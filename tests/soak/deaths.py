"""One death a play, at boundaries of the engine: `python -m tests.soak.deaths --minutes 4 --seed 1`.

A share of the time with real nodes and agents; the rest with the machine of tests/fakes.py, which is fast.
In an order of the seed's own, until the time is up or all boundaries were died at alone.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.crash import boundaries, play_until_death
from tests.engine.scenario import World, judge, lay, play
from tests.soak.part import run, say

REAL_SHARE = 0.4


class Deaths:
    """A folder of worlds, each died in once."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._lots = random.Random(seed)
        self._made = 0
        (folder / "laid").mkdir()
        lay(folder / "laid")

    def _world(self, *, real: bool) -> World:
        self._made += 1
        return World(self._folder / str(self._made), self._folder / "laid", real=real)

    async def die(self, minutes: float, *, real: bool) -> str:
        """Die at one boundary after the other; return how many of how many."""
        until = time.monotonic() + minutes * 60.0
        count = await self._count(real=real)
        tried = 0
        for point in self._order(count):
            if tried and time.monotonic() > until:
                break
            await self._die_at(point, real=real)
            tried += 1
        return f"{tried} of {count} boundaries {'with real processes' if real else 'in process'}"

    async def _count(self, *, real: bool) -> int:
        world = self._world(real=real)
        with boundaries() as clean:
            await play(world)
        judge(world)
        shutil.rmtree(world.folder)
        return len(clean.names)

    def _order(self, count: int) -> Iterator[int]:
        points = list(range(1, count + 1))
        self._lots.shuffle(points)
        yield from points

    async def _die_at(self, point: int, *, real: bool) -> None:
        world = self._world(real=real)
        passed = await play_until_death(play(world), point)
        say(f"death at {point}: {passed.names[-1] if passed.dead else 'nowhere'}")
        await play(world)
        judge(world)
        shutil.rmtree(world.folder)


async def die(folder: Path, minutes: float, seed: int) -> str:
    deaths = Deaths(folder, seed)
    real = await deaths.die(minutes * REAL_SHARE, real=True)
    fake = await deaths.die(minutes * (1 - REAL_SHARE), real=False)
    return f"{real}, {fake}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.deaths", description=__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    return run("deaths", lambda folder: die(folder, asked.minutes, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
