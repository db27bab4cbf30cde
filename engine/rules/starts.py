"""How many runs may be starting on a machine at once, and how much memory must be left for them.

A start is what costs: an agent's program is loaded, its tree is laid and set up. It lasts from Placed
until the agent took its turn up (RunUp), the run is over, or START_S passed; no more runs are starting
on a machine than it has cores, the others wait their turn. Memory counts less what those that are
starting have not taken yet; it is held against a run only while another of ours is there, so that
something always goes on, and only while the machine's own report of it is fresh: with an old one
one run starts, and the others wait for the next. A run whose last turn
was killed there is held to it even alone, and waits for a fresh report (killed.py).

Part of fleet.py's rule. Pure. Neighbour: engine/load.py brings the reports (engine/node/load.py).
"""

from __future__ import annotations

from collections.abc import Sequence

START_S = 120.0  # a start that takes longer is counted no more
FRESH_S = 30.0  # how long a report of memory counts
NEEDS_MB = 400  # of an agent in its turn
FLOOR_MB = 800  # what is left to the rest of the machine
UNKNOWN = -1

IN_LINE = "starting"

MEMORY = "memory is nearly full"
LOOKED_AT = "its memory is looked at first"


def may_start(cores: int, starting: int) -> bool:
    """Whether one more run may start beside those that are starting; no cores told: any number."""
    return not cores or starting < max(1, cores)


def left_mb(free_mb: int, starting: int) -> int:
    """What is free once all that are starting have come up."""
    return max(0, free_mb - starting * NEEDS_MB)


def is_short(free_mb: int, age_s: float, starting: int, running: int) -> bool:
    """Whether a machine has too little memory for one more run."""
    if free_mb == UNKNOWN or age_s > FRESH_S or not running:
        return False
    return left_mb(free_mb, starting) < FLOOR_MB


def in_line(place: int, starting: int) -> str:
    """Say which of those that wait for a start one is, from 1, and behind how many."""
    last = (
        "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    )
    who = "1 agent starts" if starting == 1 else f"{starting} agents start"
    return f"{IN_LINE}, {place}{last} in line; {who} just now"


def is_in_line(why: str) -> bool:
    """Whether a wait is for a start alone: then it is known until when, at the latest."""
    return f": {IN_LINE}, " in why


def latest(place: int, placed_at: Sequence[float]) -> float:
    """Return when the one at this place in the line starts at the latest, from when the others began."""
    rounds, turn = divmod(place - 1, len(placed_at))
    return sorted(placed_at)[turn] + (rounds + 1) * START_S


def nearly_full(free_mb: int) -> str:
    return f"{MEMORY} ({free_mb / 1000:.1f} GB free)"
