"""The card of a review: what was built, and whether the check passed on the whole.

Pure. Neighbours: engine/rules/review.py (what its buttons do), ship_card.py (what comes after Ship).
"""

from __future__ import annotations

from engine.board.looking import World, cost_of
from engine.rules.goal_state import Goal, ReviewStage
from engine.rules.review import landed
from engine.views import ReviewCard

REVIEW_WORDS = {
    ReviewStage.CORRECTED: "Corrected by you: the lead has it fixed",
    ReviewStage.SHIPPING: "Shipping",
    ReviewStage.SHIPPED: "Shipped",
    ReviewStage.DROPPED: "Dropped by you",
}


def review_card(world: World, goal: Goal) -> ReviewCard:
    review = goal.review
    is_open = review.stage is ReviewStage.OPEN and goal.live
    verdict = review.verdict
    if verdict.failure:
        check = f"check could not run: {verdict.failure}"
    elif not verdict.ran:
        check = "no check"
    else:
        check = f"check {verdict.summary}" if verdict.passed else f"check failed: {verdict.summary}"
    buttons = ("ship", "correct", "diff", "drop") if verdict.passed else ("correct", "diff", "drop")
    decided = REVIEW_WORDS.get(review.stage, "" if goal.live else "The goal is over")
    return ReviewCard(
        id=review.id,
        goal=goal.id,
        at=review.put_at,
        title=goal.title,
        summary=review.summary,
        commits=review.stats.commits,
        files=review.stats.files,
        added=review.stats.added,
        removed=review.stats.removed,
        check=check,
        check_passed=verdict.passed,
        report="" if verdict.passed else verdict.report,
        risks=review.risks,
        cost_usd=cost_of(world, goal) if is_open else 0.0,
        # The one that was sent back is not the corrected one yet.
        corrected=goal.corrected - (review.stage is ReviewStage.CORRECTED),
        pieces=review.pieces or landed(goal),
        buttons=buttons if is_open else ("diff",),
        asks=is_open,
        decided=decided,
        decided_at=review.decided_at,
    )
