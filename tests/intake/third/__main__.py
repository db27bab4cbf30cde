"""Prints the third hand's figures: `python -m tests.intake.third`."""

import sys

from tests.intake.second.__main__ import faults
from tests.intake.third.figures import Half, figures


def said() -> str:
    """Return the figures of each half, a line each."""
    return "".join(f"third hand, {half}: {figures(half).said()}\n" for half in Half)


if __name__ == "__main__":
    sys.stdout.write(said())
    if "--show" in sys.argv:
        sys.stdout.write(faults(figures(Half.SHOWN)))
