"""Output of runs that a machine's disk has lost or altered: told once for each machine, and kept in view.

    a run is over ─> SpoolDamaged(machine, lines, size) ─> one silent line in its goal, /health

What can be read is read on past it, so that a turn goes on; but a disk that loses what was written is a
thing its owner must know. Part of fleet.py's rule. Pure. Neighbour: engine/adapters/spool.py counts.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.rules.effects import AnyEffect, Say
from engine.rules.events import SpoolDamaged

KEPT = 20  # machines


class Damage(Struct, frozen=True):
    """What was lost on one machine, of all its runs."""

    machine: str
    lines: int = 0
    size: int = 0  # bytes
    run: str = ""  # the last one


def noted(
    known: tuple[Damage, ...], event: SpoolDamaged
) -> tuple[tuple[Damage, ...], list[AnyEffect]]:
    """Add it up; say so the first time of a machine."""
    before = next((one for one in known if one.machine == event.machine), None)
    others = tuple(one for one in known if one.machine != event.machine)
    found = before or Damage(event.machine)
    found = replace(
        found, lines=found.lines + event.lines, size=found.size + event.size, run=event.run
    )
    said: list[AnyEffect] = []
    if before is None:
        said = [Say(goal=event.goal, kind="news", text=words(found))]
    return (*others, found)[-KEPT:], said


def words(damage: Damage) -> str:
    return (
        f"{damage.machine}: of what {damage.run} printed, {listed(damage)}. All else was read. "
        "Its disk loses what is written, or something there wrote over it: look at it."
    )


def listed(damage: Damage) -> str:
    """Return it without its machine, for /health."""
    lines = "1 line" if damage.lines == 1 else f"{damage.lines} lines"
    return f"{lines} ({_size(damage.size)}) cannot be read"


def _size(count: int) -> str:
    if count < 1000:
        return "1 byte" if count == 1 else f"{count} bytes"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.0f} MB"
