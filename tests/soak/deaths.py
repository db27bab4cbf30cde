"""One death a play, at boundaries of engine and bot: `python -m tests.soak.deaths --minutes 4 --seed 1`.

A share of the time the engine with real nodes and agents, one the bot (tests/walk), and the rest the engine
with the machine of tests/fakes.py, which is fast. Each in an order of the seed's own, until its time is up or
all its boundaries were died at alone.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.crash import Label, Reaper, boundaries, play_until_death
from tests.engine.scenario import World, judge, lay, play
from tests.soak.part import run, say
from tests.walk.with_bot import Named, play_and_judge

REAL_SHARE, BOT_SHARE = 0.35, 0.3

T = TypeVar("T")


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
        for point in self._shuffled(range(1, count + 1)):
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

    def _shuffled(self, points: Iterable[T]) -> Sequence[T]:
        order = list(points)
        self._lots.shuffle(order)
        return order

    async def _die_at(self, point: int, *, real: bool) -> None:
        world = self._world(real=real)
        passed = await play_until_death(play(world), point)
        say(f"death at {point}: {passed.names[-1] if passed.dead else 'nowhere'}")
        await play(world)
        judge(world)
        shutil.rmtree(world.folder)

    async def die_as_bot(self, minutes: float) -> str:
        """Die at one boundary of the bot after the other; return how many of how many."""
        until = time.monotonic() + minutes * 60.0
        labels = (await self._aboard(set())).seen
        tried = 0
        for label in self._shuffled(sorted(labels)):
            if tried and time.monotonic() > until:
                break
            say(f"the bot's death at {label[0]}, time {label[1]}")
            await self._aboard({label})
            tried += 1
        return f"{tried} of {len(labels)} boundaries of the bot"

    async def _aboard(self, left: set[Label]) -> Reaper:
        """Play it all from the phone, the bot dying there."""
        world, reaper = self._world(real=False), Reaper(left, labels=Named())
        await play_and_judge(world, reaper)
        shutil.rmtree(world.folder)
        return reaper


async def die(folder: Path, minutes: float, seed: int) -> str:
    deaths = Deaths(folder, seed)
    real = await deaths.die(minutes * REAL_SHARE, real=True)
    bot = await deaths.die_as_bot(minutes * BOT_SHARE)
    fake = await deaths.die(minutes * (1 - REAL_SHARE - BOT_SHARE), real=False)
    return f"{real}, {bot}, {fake}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.deaths", description=__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    return run("deaths", lambda folder: die(folder, asked.minutes, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
