"""Prints the second hand's figures: `python -m tests.intake.second`."""

import sys

from tests.intake.second.figures import Figures, figures


def said() -> str:
    """Return both halves' figures, a line each."""
    return (
        f"second hand, the half looked at: {figures(seen=True).said()}\n"
        f"second hand, the unseen half: {figures(seen=False).said()}\n"
    )


def _faults(half: Figures) -> str:
    missed = (f"missed {p.kind} | {p.form} | {left!r} in {p.text!r}\n" for p, left in half.missed)
    alarms = (f"alarm {one.source} | {key!r} in {one.text!r}\n" for one, key in half.alarms)
    return "".join([*missed, *alarms])


if __name__ == "__main__":
    sys.stdout.write(said())
    if "--show" in sys.argv:
        sys.stdout.write(_faults(figures(seen=True)))
