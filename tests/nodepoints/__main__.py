"""Die at every point: `python -m tests.nodepoints [--step NAME]... [--kind NAME]... [--every K]`.

Says in one line how many deaths there were and how many of them did not come out right. Ends with 1
when one did not, with 3 where it cannot be tried.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.nodepoints import story
from tests.nodepoints.machine import KINDS
from tests.nodepoints.walk import Walk, cpu_s, told

NOT_HERE = 3
# What a minute of one core has room for: each point of node and runner would take more.
SAMPLE = {"node": 2, "runner": 1, "zygote": 6, "script": 6, "git": 6}
ROUNDS = 8  # of --minutes: each dies at every so many points, and begins with another
ORDER = (1, 5, 3, 7, 2, 6, 4, 8)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nodepoints", description=__doc__)
    names = [step.__name__ for step in story.STEPS]
    parser.add_argument("--step", action="append", choices=names, help="die in this one only")
    parser.add_argument("--kind", action="append", choices=KINDS, help="of this process only")
    parser.add_argument("--every", type=int, default=1, help="only at every K-th point")
    parser.add_argument("--first", type=int, default=1, help="from this point on")
    parser.add_argument("--sample", action="store_true", help="as `make test`: all that fits there")
    parser.add_argument("--minutes", type=float, default=0.0, help="as much as fits, evenly spread")
    asked = parser.parse_args()
    if sys.platform != "linux":
        sys.stdout.write("not tried: it takes a kernel that hands orphans on\n")
        return NOT_HERE
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # with all it has forked
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-points-"))
    gc.collect()
    gc.freeze()
    began, cpu = time.monotonic(), cpu_s()
    every = dict.fromkeys(asked.kind or KINDS, asked.every)
    if asked.sample:
        every = SAMPLE
    walk = Walk(folder)
    if asked.minutes:
        walk.until = began + asked.minutes * 60
        every = dict.fromkeys(every, ROUNDS)
    for first in ORDER if asked.minutes else (asked.first,):
        if time.monotonic() < walk.until:
            for step in walk.steps:
                chosen = asked.step is None or step.__name__ in asked.step
                walk.die_in(step, every if chosen else {}, first)
            walk.begin_anew()
    sys.stdout.write(f"{told(walk, time.monotonic() - began)}\n")
    sys.stderr.write(f"{cpu_s() - cpu:.0f} s of a core\n")
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if walk.faults else 0


if __name__ == "__main__":
    sys.exit(main())
