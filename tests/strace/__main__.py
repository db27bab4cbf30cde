"""Walk the paths: `python -m tests.strace [--path NAME]... [--every K] [--full] [--keep]`.

Says for each path how many calls it makes and how many of them it was stopped at. Ends with 1 when
something did not come out right, with 3 when nothing can be traced here.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.strace import accept, follow, keep, land, send, ship
from tests.strace.tracer import possible
from tests.strace.walk import Story, Walk, points

NOT_HERE = 3  # the exit code where nothing can be traced
BY_TURNS = sorted(range(32), key=lambda n: f"{n:05b}"[::-1])
STORIES: dict[str, Story] = {
    path.STORY.name: path.STORY for path in (accept, land, ship, follow, send, keep)
}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def walk(
    story: Story, folder: Path, every: int, first: int, *, full: bool, until: float = math.inf
) -> Counter[str]:
    """Walk one path, evenly as far as there is time; return how many of what there were."""
    began = time.monotonic()
    walking = Walk(story, folder / f"{story.name}{'-full' if full else ''}", full=full)
    count = len(walking.calls())
    tried, faults, ends = 0, 0, Counter[str]()
    order = points(count, every, first)
    for point in order if until == math.inf else spread(order):
        if time.monotonic() > until:
            break
        stopped = walking.stop_at(point)
        tried += stopped.here
        ends[stopped.end] += 1
        if stopped.fault is not None:
            faults += 1
            say(str(stopped.fault))
    how = "no room" if full else "deaths"
    if full:
        for end, times in ends.most_common():
            say(f"{story.name}: {times} times: {end}")
    took = time.monotonic() - began
    say(f"{story.name}: {count} calls, {tried} {how}, {faults} wrong ({took:.1f} s)")
    return Counter(calls=count, tried=tried, wrong=faults)


def spread(order: Sequence[int]) -> list[int]:
    """Return the points so that wherever one stops, those before lie evenly: each 32nd first."""
    return [point for start in BY_TURNS for point in order[start :: len(BY_TURNS)]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.strace", description=__doc__)
    parser.add_argument("--path", action="append", choices=list(STORIES), help="only this one")
    parser.add_argument("--every", type=int, default=1, help="only every K-th call")
    parser.add_argument("--first", type=int, default=1, help="from this call on")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--full", action="store_true", help="no room left, instead of a death")
    parser.add_argument("--keep", action="store_true", help="leave what went wrong on the disk")
    asked = parser.parse_args()
    why_not = possible(full=asked.full)
    if why_not:
        say(f"not walked: {why_not}")
        return NOT_HERE
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-strace-"))
    names = asked.path or list(STORIES)
    end = time.monotonic() + asked.minutes * 60.0 if asked.minutes else math.inf
    found: Counter[str] = Counter()
    for number, name in enumerate(names):
        left = end - time.monotonic()
        until = time.monotonic() + left / (len(names) - number)
        found += walk(STORIES[name], folder, asked.every, asked.first, full=asked.full, until=until)
    how = "had no room" if asked.full else "died at"
    say(
        f"{len(names)} paths: {found['calls']} calls, {found['tried']} {how}, {found['wrong']} wrong"
    )
    if not found["wrong"] or not asked.keep:
        shutil.rmtree(folder)
    else:
        say(f"kept: {folder}")
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
