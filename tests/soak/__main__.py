"""Die and be killed for as long as there is time: `python -m tests.soak --minutes 10 --seed 1`.

For a third of it goals come and go, and what grows is looked for (growth.py). Then in turn: a voyage of real processes with ten kills, every time by another seed; then as many deaths in
one process, with real nodes and agents, one a play, at boundaries in an order of the seed's own; then
the same with the machine of tests/fakes.py, which is fast, until all its boundaries were died at alone;
then one of the paths of tests/strace, at every system call of it.
The first end that is not as it should be ends it: what died where is said, and the world is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.crash import boundaries, play_until_death
from tests.engine.scenario import World, judge, lay, play
from tests.soak import growth
from tests.soak.crew import crew
from tests.soak.kills import EVENTS, kills
from tests.strace.__main__ import NOT_HERE, STORIES

REAL_AT_ONCE = 3
FAKE_AT_ONCE = 60


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


async def voyage(world: World, seed: int) -> None:
    """One goal to its push with ten kills."""
    async with crew(world) as hands:
        await hands.voyage(kills(seed, EVENTS))
        waiting = hands.waiting()
    say(f"voyage seed={seed}: {', '.join(hands.killed)}")
    assert waiting == []
    judge(world)


async def death(world: World, point: int) -> None:
    """One goal to its push with a death at one boundary."""
    passed = await play_until_death(play(world), point)
    say(f"death at {point}: {passed.names[-1] if passed.dead else 'nowhere'}")
    await play(world)
    judge(world)


class Soak:
    """A folder of worlds, and how far each kind of walk has come."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._seed = seed
        self._lots = random.Random(seed)
        self._made = 0
        self._points: dict[bool, Iterator[int]] = {}
        lay(folder / "laid")

    async def _walk(self) -> None:
        """Die at every system call of one path, another one each round."""
        names = list(STORIES)
        name = names[self._seed % len(names)]
        command = (sys.executable, "-m", "tests.strace", "--path", name, "--keep")
        walking = await asyncio.create_subprocess_exec(*command)
        assert await walking.wait() in (0, NOT_HERE), name

    def _world(self, *, real: bool) -> World:
        self._made += 1
        return World(self._folder / str(self._made), self._folder / "laid", real=real)

    async def go_on(self, until: float) -> None:
        """One round, or as much of it as there is time for."""
        self._seed += 1
        world = self._world(real=True)
        await voyage(world, self._seed)
        shutil.rmtree(world.folder)
        for real, count in ((True, REAL_AT_ONCE), (False, FAKE_AT_ONCE)):
            for _ in range(count):
                if time.monotonic() < until:
                    await self._die(real=real)
        if time.monotonic() < until:
            await self._walk()

    async def _die(self, *, real: bool) -> None:
        if real not in self._points:
            world = self._world(real=real)
            with boundaries() as clean:
                await play(world)
            judge(world)
            shutil.rmtree(world.folder)
            points = list(range(1, len(clean.names) + 1))
            self._lots.shuffle(points)
            self._points[real] = iter(points)
            say(f"{len(points)} boundaries {'really' if real else 'in process'}")
        point = next(self._points[real], 0)
        if point:
            world = self._world(real=real)
            await death(world, point)
            shutil.rmtree(world.folder)


async def soak(minutes: float, seed: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-soak-"))
    (folder / "laid").mkdir()
    until = time.monotonic() + minutes * 60.0
    rounds = Soak(folder, seed)
    watched = False
    while time.monotonic() < until:
        try:
            if not watched:
                watched = True
                await growth.watch(minutes / 3, say)
            await rounds.go_on(until)
        except Exception:  # noqa: BLE001 - whatever it is, the world it happened in is kept
            say(f"{traceback.format_exc()}\nkept: {folder}")
            return 1
    shutil.rmtree(folder)
    say("nothing was lost, and nothing done twice")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no process of ours behind
    return asyncio.run(soak(arguments.minutes, arguments.seed))


if __name__ == "__main__":
    sys.exit(main())
