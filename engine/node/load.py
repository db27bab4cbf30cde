"""What a machine has for runs: its cores, and the memory that can be had at this moment.

The engine lets no more runs start at once than there are cores, and none while memory is nearly full
(engine/rules/starts.py). Told in a node's hello and, while runs start, whenever it is asked.
"""

from __future__ import annotations

import os
import re

UNKNOWN = -1
GIVEN_UP_FIRST = 500  # of 1000: what the kernel ends first when memory is gone; 0 is usual

_AVAILABLE = re.compile(r"^MemAvailable:\s*(\d+) kB$", re.MULTILINE)


def cores() -> int:
    """Return how many cores we may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_mb(path: str = "/proc/meminfo") -> int:
    """Return the memory that can be had without swapping, in MB; UNKNOWN where nothing tells."""
    try:
        with open(path, encoding="ascii") as file:
            found = _AVAILABLE.search(file.read())
    except OSError:
        return UNKNOWN
    return int(found.group(1)) * 1024 // 1_000_000 if found else UNKNOWN


def give_up_first() -> None:
    """Have this process, and what it starts, ended before the engine and the bot are."""
    try:
        with open("/proc/self/oom_score_adj", "r+", encoding="ascii") as file:
            if int(file.read()) < GIVEN_UP_FIRST:
                file.seek(0)
                file.write(str(GIVEN_UP_FIRST))
    except (OSError, ValueError):
        return  # no Linux, or not ours to say
