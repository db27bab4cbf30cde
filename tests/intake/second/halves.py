"""Which part of the corpus may be looked at while the rules are mended, and which is only counted.

Kinds are parted as kinds, and families of made messages as families: so the unseen part tells how
the rules do with what nobody had in mind when they were written.

    looked at   half of it, while the rules were mended first
    opened      a quarter: only counted until then, looked at in a second mending
    last        a quarter: only counted until all figures were taken, then looked at as well
"""

import hashlib
from enum import StrEnum

from tests.intake.second.forms import Planted
from tests.intake.second.ordinary import Ordinary

_SEED = "second hand: halves, 1"
_SEED_AGAIN = "second hand: quarters, 1"


class Part(StrEnum):
    """Of the corpus."""

    LOOKED_AT = "the half looked at"
    OPENED = "the quarter opened later"
    LAST = "the quarter opened last"


def _low(seed: str, name: str) -> bool:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()[0] < 128


def part(item: Planted | Ordinary) -> Part:
    """Return the part an item is in."""
    made = isinstance(item, Ordinary) and item.made
    name = item.kind if isinstance(item, Planted) else item.source if made else item.text
    if _low(_SEED, name):
        return Part.LOOKED_AT
    return Part.OPENED if _low(_SEED_AGAIN, name) else Part.LAST
