"""Who works at what, one line a worker, for the card of the whole goal.

Pure; made from the workers' own cards, so that both say the same. Neighbours:
board/session_card.py (that card), bot/text_live.py (its words).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.rules import plan
from engine.rules.goal_state import Goal, PlanStage
from engine.rules.plan import Piece
from engine.views import INTERRUPTED, STOPPED, WorkerCard, WorkLine

SHOWN = 8
LANDS = " (starts once landed)"


def work_lines(
    goal: Goal, workers: Iterable[WorkerCard], not_begun: Callable[[Goal], str]
) -> tuple[tuple[WorkLine, ...], int]:
    """Return the lines of what is not over, those at work first, and how many more there are.

    not_begun   why a piece has not started that waits for no other
    """
    if not goal.live or goal.plan_stage is not PlanStage.STARTED:
        return (), 0
    cards = {card.id: card for card in workers}
    left = [piece for piece in goal.pieces if piece.stage not in plan.OVER]
    left.sort(key=lambda piece: (piece.id not in cards, piece.number))
    lines = tuple(
        _at_work(cards[piece.id]) if piece.id in cards else _to_come(goal, piece, not_begun)
        for piece in left[:SHOWN]
    )
    return lines, max(0, len(left) - SHOWN)


def _at_work(card: WorkerCard) -> WorkLine:
    doing = card.doing or card.stage
    if card.asks:
        doing = "failed: it needs you"
    elif card.waits:
        wait = card.waits[0]
        doing = wait.said if wait.what not in (INTERRUPTED, STOPPED) else f"{wait.said}: {wait.why}"
    machine = card.where.partition(":")[0] if ":" in card.where else ""
    shown = None if card.asks or card.waits else card.silence
    return WorkLine(card.number, card.title, doing, machine, shown)


def _to_come(goal: Goal, piece: Piece, not_begun: Callable[[Goal], str]) -> WorkLine:
    why = plan.waits_for(piece, goal.pieces)
    if not why:
        return WorkLine(piece.number, piece.title, not_begun(goal))
    after = f"starts after {why.removesuffix(LANDS)}" if why.endswith(LANDS) else f"waits for {why}"
    return WorkLine(piece.number, piece.title, after)
