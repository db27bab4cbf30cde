"""What is found of the third hand's corpus, and what is taken for a key in it, by half."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from tests.intake.second.figures import Figures, measured
from tests.intake.second.forms import Planted
from tests.intake.second.ordinary import Ordinary
from tests.intake.third.forms import planted
from tests.intake.third.ordinary import ordinary

_SEED = "third hand: halves, 1"


class Half(StrEnum):
    """Of the corpus."""

    SHOWN = "the half that may be looked at"
    COUNTED = "the half only counted"


def half(item: Planted | Ordinary) -> Half:
    """Return the half an item is in: a kind as a whole, and a family of messages."""
    made = isinstance(item, Ordinary) and item.made
    name = item.kind if isinstance(item, Planted) else item.source if made else item.text
    low = hashlib.sha256(f"{_SEED}/{name}".encode()).digest()[0] < 128
    return Half.SHOWN if low else Half.COUNTED


def figures(of: Half) -> Figures:
    """Measure one half."""
    return measured(
        [one for one in planted() if half(one) is of],
        [one for one in ordinary() if half(one) is of],
    )
