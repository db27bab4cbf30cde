"""Voyages of real processes with many kills each: `python -m tests.soak.voyages --minutes 4 --seed 1`."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from tests.engine.scenario import World, judge, lay
from tests.soak.crew import crew
from tests.soak.kills import counted, kills
from tests.soak.part import run, say


async def sail(folder: Path, minutes: float, seed: int) -> str:
    """Sail with one seed after the other while there is time; return what was killed."""
    (folder / "laid").mkdir()
    lay(folder / "laid")
    until = time.monotonic() + minutes * 60.0
    killed: list[str] = []
    number = 0
    while not number or time.monotonic() < until:
        world = World(folder / str(seed + number), folder / "laid", real=True)
        async with crew(world) as hands:
            await hands.voyage(kills(seed + number))
            chat = hands.chat()
        say(f"voyage seed={seed + number}: {', '.join(hands.killed)}")
        judge(world, chat)
        shutil.rmtree(world.folder)
        killed += hands.killed
        number += 1
    return f"{number} voyages, {counted(killed)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.voyages", description=__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    return run("voyages", lambda folder: sail(folder, asked.minutes, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
