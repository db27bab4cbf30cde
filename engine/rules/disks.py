"""Room on the disks of machines: work begins only where there is some, and the owner hears once why not.

    told of little room ──> LOW: no run starts there ──> all was freed that can be ──> said, once
                             └──────────── room again, and some to spare ──> what waits goes on

How little is too little, the node says: it knows its disk (engine/node/room.py). Part of fleet.py's rule.
Pure. Neighbour: engine/load.py brings the reports.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.rules.effects import Say
from engine.rules.words import HERE

SPARE = (
    1.1  # times what is needed: so much is free before work goes on, or it would stop again at once
)
UNKNOWN = -1
MOST_NAMED = 4

Sizes = tuple[tuple[str, int], ...]


class Disk(Struct, frozen=True):
    """The disk of one machine, as its node last told."""

    free_mb: int = UNKNOWN
    needs_mb: int = 0
    low: bool = False
    said: bool = False  # the owner was told that it is
    ours: Sizes = ()  # what they may delete there


def noted(
    now: Disk, name: str, told: Disk, *, tidied: bool = False
) -> tuple[Disk, tuple[Say, ...]]:
    """Return how a disk stands by a new report, and what the owner hears of it.

    tidied   nothing more can be freed there without them: only then they hear that it is low
    """
    if told.free_mb == UNKNOWN:  # no run waits for a number that nobody brings
        return replace(now, free_mb=UNKNOWN, low=False), ()
    needs = told.needs_mb * SPARE if now.low else told.needs_mb
    low = told.free_mb < needs
    after = replace(now, free_mb=told.free_mb, needs_mb=told.needs_mb, low=low)
    if low and tidied:
        after = replace(after, said=True, ours=told.ours)
        return after, () if now.said else (_say(_low(after, name), sounds=True),)
    if low:
        return after, ()
    well = replace(after, said=False, ours=())
    return well, (_say(_well(well, name), sounds=False),) if now.said else ()


def nearly_full(disk: Disk) -> str:
    """Say why a run waits."""
    return f"disk nearly full ({_gb(disk.free_mb)} free)"


def sizes(ours: Sizes) -> str:
    """Say what may be deleted, the largest first."""
    return ", ".join(f"{name} ({_size(mb)})" for name, mb in ours[:MOST_NAMED])


def in_words(disk: Disk) -> str:
    """Say all of it in a line, for /health."""
    may = f"; may be deleted: {sizes(disk.ours)}" if disk.ours else ""
    return f"{_gb(disk.free_mb)} free, new work waits for {_gb(_goes_on(disk))}{may}"


def _low(disk: Disk, name: str) -> str:
    where = "The box's disk" if name == HERE else f"The disk of {name}"
    box = "the box" if name == HERE else name
    ours = (
        f"in Quarterdeck's folder there: {sizes(disk.ours)}"
        if disk.ours
        else "nothing of ours is large"
    )
    return (
        f"{where} is nearly full: {_gb(disk.free_mb)} free. New work waits there, and goes on by itself "
        f"once {_gb(_goes_on(disk))} are free. What may be deleted on {box}: {ours}."
    )


def _well(disk: Disk, name: str) -> str:
    where = "the box's disk" if name == HERE else f"the disk of {name}"
    return f"There is room on {where} again ({_gb(disk.free_mb)} free). What waited goes on."


def _goes_on(disk: Disk) -> int:
    return int(disk.needs_mb * SPARE)


def _size(mb: int) -> str:
    return _gb(mb) if mb >= 1000 else f"{mb} MB"


def _gb(mb: int) -> str:
    return f"{mb / 1000:.1f} GB"


def _say(text: str, *, sounds: bool) -> Say:
    return Say(goal="", kind="warning" if sounds else "news", text=text, sounds=sounds)
