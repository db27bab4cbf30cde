"""Prints the second hand's figures: `python -m tests.intake.second`."""

import sys

from tests.intake.second.figures import Figures, figures
from tests.intake.second.halves import Part


def said() -> str:
    """Return the figures of each part, a line each."""
    return "".join(f"second hand, {part}: {figures(part).said()}\n" for part in Part)


def faults(of: Figures) -> str:
    """Return each fault, a line each."""
    missed = (f"missed {p.kind} | {p.form} | {left!r} in {p.text!r}\n" for p, left in of.missed)
    alarms = (f"alarm {one.source} | {key!r} in {one.text!r}\n" for one, key in of.alarms)
    return "".join([*missed, *alarms])


if __name__ == "__main__":
    sys.stdout.write(said())
    if "--show" in sys.argv:
        sys.stdout.write("".join(faults(figures(part)) for part in Part))
