"""What a plan may cost and take, from pieces that landed before: medians, size by size.

They are made when a plan is proposed and kept with it, so that the card says the same for as long as
it waits; what the owner changes of the plan changes the sum. Money adds up over all pieces, time
along the longest chain of pieces that wait for each other. Pure. Neighbours: engine/history.py (finds
what landed), planning.py (keeps them), engine/board/plan_card.py (shows them).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from engine.rules.plan import SIZES, Piece
from engine.rules.words import Estimate, PlanEstimate


class Landed(Struct, frozen=True):
    """One piece that landed: what it was, cost and took."""

    project: str
    size: str
    cost_usd: float
    took_s: float


def by_size(landed: Sequence[Landed], project: str) -> tuple[Estimate, ...]:
    """Estimate each size from the project's own pieces, or else from every project's."""
    found = []
    for size in SIZES:
        alike = [piece for piece in landed if piece.size == size]
        own = [piece for piece in alike if piece.project == project]
        taken = own or alike
        if taken:
            cost_usd = median(piece.cost_usd for piece in taken)
            took_s = median(piece.took_s for piece in taken)
            found.append(Estimate(size, len(taken), cost_usd, took_s, bool(own)))
    return tuple(found)


def of(piece: Piece, estimates: Iterable[Estimate]) -> Estimate | None:
    """The estimate of one piece, as large as it is now."""
    return next((found for found in estimates if found.size == piece.size), None)


def total(pieces: Sequence[Piece], estimates: Sequence[Estimate]) -> PlanEstimate | None:
    """The whole plan's, or None where nothing is known of any piece."""
    known = {piece.number: found for piece in pieces if (found := of(piece, estimates))}
    if not known:
        return None
    used = {found.size: found for found in known.values()}.values()
    return PlanEstimate(
        cost_usd=math.fsum(found.cost_usd for found in known.values()),
        took_s=_longest(pieces, {number: found.took_s for number, found in known.items()}),
        pieces=sum(found.pieces for found in used),
        unknown=len(pieces) - len(known),
        same_project=all(found.same_project for found in used),
    )


def _longest(pieces: Sequence[Piece], took_s: dict[int, float]) -> float:
    """The time along the longest chain; `pieces` hold no circle."""
    after = {piece.number: piece.after for piece in pieces}
    ends: dict[int, float] = {}

    def end(number: int) -> float:
        if number not in ends:
            before = max((end(other) for other in after[number]), default=0.0)
            ends[number] = before + took_s.get(number, 0.0)
        return ends[number]

    return max(end(number) for number in after)
