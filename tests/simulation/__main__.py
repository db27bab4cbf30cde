"""Tell stories: `python -m tests.simulation --seeds 2000`, or one again: `--seed N [--steps]`."""

from __future__ import annotations

import argparse
import sys
import time

from tests.simulation.story import Told, tell

SHOWN = 40


def report(told: Told, *, whole: bool = False) -> str:
    """What is to be known of a story, above all of one that failed."""
    lines = told.lines if whole else told.lines[-SHOWN:]
    if not told.faults:
        return "\n".join([*lines, f"seed {told.seed} holds: {told.events} events, {told.hash}"])
    faults = "\n".join(f"  {fault}" for fault in told.faults)
    again = f"python -m tests.simulation --seed {told.seed} --steps"
    return "\n".join([*lines, f"seed {told.seed} breaks a promise:", faults, f"again: {again}"])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many stories")
    parser.add_argument("--first", type=int, default=0, help="the first seed of them")
    parser.add_argument("--seed", type=int, help="this story alone")
    parser.add_argument("--steps", action="store_true", help="show all of it")
    asked = parser.parse_args()
    seeds = (
        [asked.seed] if asked.seed is not None else range(asked.first, asked.first + asked.seeds)
    )
    began, failed, events = time.monotonic(), [], 0
    for seed in seeds:
        told = tell(seed)
        events += told.events
        if asked.steps or told.faults:
            print(report(told, whole=asked.steps))
        if told.faults:
            failed.append(seed)
    took = time.monotonic() - began
    print(
        f"{len(seeds)} stories, {events} events, {took:.0f} s; {len(failed)} failed: {failed[:20]}"
    )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
