"""Tell stories: `python -m tests.simulation --seeds 2000`, or one again: `--seed N [--steps]`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence

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


def told_of(seeds: Sequence[int], jobs: int) -> Iterator[Told]:
    """Tell the stories in their order, several at once."""
    if jobs < 2 or len(seeds) < 2:
        yield from map(tell, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(tell, seeds, chunksize=4)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many stories")
    parser.add_argument("--first", type=int, default=0, help="the first seed of them")
    parser.add_argument("--seed", type=int, help="this story alone")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin none after so long")
    parser.add_argument("--steps", action="store_true", help="show all of it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    asked = parser.parse_args()
    many = range(asked.first, asked.first + asked.seeds)
    seeds = many if asked.seed is None else [asked.seed]
    began, failed, events, stories = time.monotonic(), [], 0, 0
    for told in told_of(seeds, asked.jobs):
        stories += 1
        events += told.events
        if asked.steps or told.faults:
            print(report(told, whole=asked.steps), flush=True)
        if told.faults:
            failed.append(told.seed)
        if asked.minutes and time.monotonic() - began > asked.minutes * 60.0:
            break
    took = time.monotonic() - began
    of_all = "" if stories == len(seeds) else f" of {len(seeds)}"
    print(
        f"{stories}{of_all} stories, {events} events, {took:.0f} s; "
        f"{len(failed)} failed: {failed[:20]}",
        flush=True,
    )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
