"""What is found of the second hand's corpus, and what is taken for a key in it, part by part.

python -m tests.intake.second          the figures
python -m tests.intake.second --show   and, each fault
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from bot import keys
from tests.intake.second.forms import Planted, planted
from tests.intake.second.halves import Part, part
from tests.intake.second.ordinary import Ordinary, ordinary


class Figures(Struct, frozen=True):
    """One part's: what was looked through, and what went wrong in it."""

    planted: int
    kinds: int
    missed: tuple[tuple[Planted, str], ...]
    ordinary: int
    alarms: tuple[tuple[Ordinary, str], ...]

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.planted

    def said(self) -> str:
        """Return the figures in a line."""
        return (
            f"{self.kinds} kinds, {self.planted} planted, found {self.recall:.2%}; "
            f"{self.ordinary} ordinary messages, {len(self.alarms)} false alarms"
        )


def cleaned(text: str) -> str:
    """Return a message as it would be passed on."""
    return keys.replaced(text, keys.find(text), lambda key: "KEY")


def _missed(items: Iterable[Planted]) -> Iterable[tuple[Planted, str]]:
    for item in items:
        if left := item.left(cleaned(item.text)):
            yield item, left


def _alarms(items: Iterable[Ordinary]) -> Iterable[tuple[Ordinary, str]]:
    for item in items:
        if found := keys.find(item.text):
            yield item, f"{found[0].name}={found[0].value}"


def measured(secret: Sequence[Planted], plain: Sequence[Ordinary]) -> Figures:
    """Look through both; the third hand's is measured with it too."""
    return Figures(
        len(secret),
        len({one.kind for one in secret}),
        tuple(_missed(secret)),
        len(plain),
        tuple(_alarms(plain)),
    )


def figures(of: Part, *, every: int = 1) -> Figures:
    """Measure one part of the corpus; of what is planted and of what is ordinary, one in `every`."""
    secret = [one for one in planted() if part(one) is of][::every]
    plain = [one for one in ordinary() if part(one) is of][::every]
    return measured(secret, plain)
