"""Spoils spools by the thousand: `python -m tests.nodepoints.spools [--minutes M]`.

The property of tests/node/test_spools.py, again and again with other examples; without a bound 20 000 of
them. Says in one line how many there were; the first that does not come out right ends it, and is shown.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.node import test_spools

ALL = 20_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nodepoints.spools", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="as many as fit")
    asked = parser.parse_args()
    began, count = time.monotonic(), 0
    until = began + asked.minutes * 60 if asked.minutes else float("inf")
    while count < ALL and time.monotonic() < until:
        test_spools.test_whatever_happens_to_a_spool_all_sound_lines_are_read_and_the_run_ends()
        count += test_spools.SPOOLS
    took_s = time.monotonic() - began
    sys.stdout.write(f"spools: {count} spoiled, 0 wrong ({took_s:.0f} s)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
