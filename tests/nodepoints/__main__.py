"""Die at every point: `python -m tests.nodepoints [--step NAME]... [--kind NAME]... [--every K]`.

Says in one line how many deaths there were and how many of them did not come out right. Ends with 1
when one did not, with 3 where it cannot be tried.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.nodepoints import story
from tests.nodepoints.machine import KINDS
from tests.nodepoints.walk import Walk, cpu_s, told

NOT_HERE = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nodepoints", description=__doc__)
    names = [step.__name__ for step in story.STEPS]
    parser.add_argument("--step", action="append", choices=names, help="die in this one only")
    parser.add_argument("--kind", action="append", choices=KINDS, help="of this process only")
    parser.add_argument("--every", type=int, default=1, help="only at every K-th point")
    parser.add_argument("--first", type=int, default=1, help="from this point on")
    asked = parser.parse_args()
    if sys.platform != "linux":
        sys.stdout.write("not tried: it takes a kernel that hands orphans on\n")
        return NOT_HERE
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-points-"))
    gc.collect()
    gc.freeze()
    began, cpu = time.monotonic(), cpu_s()
    walk = Walk(folder)
    for step in walk.steps:
        chosen = asked.step is None or step.__name__ in asked.step
        walk.die_in(step, asked.every, asked.first, (asked.kind or KINDS) if chosen else ())
    sys.stdout.write(f"{told(walk, time.monotonic() - began)}\n")
    sys.stderr.write(f"{cpu_s() - cpu:.0f} s of a core\n")
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if walk.faults else 0


if __name__ == "__main__":
    sys.exit(main())
