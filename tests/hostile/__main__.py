"""Every hostile text from everywhere, the whole way: `python -m tests.hostile [--minutes 5] [--seed 1]`.

Eight rounds, in each of which a text is said in another place, by a goal for each eight. With a bound as many as fit,
from another round on with each seed. Part of the soak. Neighbours: way.py, test_whole_way.py (one round).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.hostile.texts import TEXTS
from tests.hostile.way import CARRIED, EACH, ENDS, opened
from tests.soak.part import run, say

ROUNDS = 2 * EACH  # marked both ways


async def rounds(folder: Path, minutes: float, seed: int) -> str:
    end, goals = time.monotonic() + minutes * 60.0, 0
    async with opened(folder) as way:
        for number in range(seed, seed + ROUNDS):
            for at, names in enumerate(CARRIED):
                if minutes and goals and time.monotonic() > end:
                    return f"{goals} goals with {EACH} texts each"
                await way.carry(names, ENDS[(at + number) % len(ENDS)], round=number)
                goals += 1
            say(f"round {number}: {len(TEXTS)} texts, nothing got")
    return f"{goals} goals with {EACH} texts each"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="0: every round")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    return run("hostile", lambda folder: rounds(folder, asked.minutes, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
