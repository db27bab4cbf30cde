"""A goal put to the owner: judged by plain code first, then corrected, shipped or dropped.

Part of goal.py's rule. A review whose check is red goes back to its lead before the owner is asked.
Neighbours: ship.py (the way to the push), news.py (what the lead hears).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import news, plan
from engine.rules.effects import Judge, Tell, TidyBranch
from engine.rules.events import (
    GoalShipped,
    ReviewCorrected,
    ReviewJudged,
    ReviewPut,
    ShipCalled,
    ShipFailed,
    ShipOpened,
)
from engine.rules.goal_state import (
    Goal,
    Review,
    ReviewStage,
    Stage,
    Step,
    end_all,
    error,
    reply,
    to_lead,
)

MAX_RED_REVIEWS = 2  # handed back to the lead; the next is put to the owner, without Ship


def of_review(now: Goal, event: ReviewPut | ReviewJudged | ReviewCorrected | ShipCalled) -> Step:
    review = now.review
    match event:
        case ReviewPut():
            return _put(now, event)
        case ReviewJudged(review=review_id) if (
            review.id == review_id and review.stage is ReviewStage.JUDGING
        ):
            return _judged(now, event)
        case ReviewJudged():
            return now, ()
        case ReviewCorrected(review=review_id) | ShipCalled(review=review_id) if (
            review.id != review_id or review.stage is not ReviewStage.OPEN
        ):
            raise Refused(_review_already(now, review_id))
        case ReviewCorrected(text=text, files=()) if not text.strip():
            raise Refused("The correction is empty: write what should be different.")
        case ReviewCorrected(text=text, files=files):
            corrected = replace(
                now,
                review=replace(review, stage=ReviewStage.CORRECTED, decided_at=event.at),
                stage=Stage.BUILDING,
                correcting=True,
                corrected=now.corrected + 1,
                red_reviews=0,
            )
            told = news.corrected(text or news.WORDLESS)
            return corrected, (to_lead(now, told, files=files),)
        case ShipCalled() if not review.verdict.passed:
            raise Refused("Its check failed, so it cannot ship: Correct… or Drop.")
        case ShipCalled() if review.head != now.head:
            raise Refused("More has landed since this review: its lead puts the whole again.")
        case ShipCalled(ship=ship):
            return _ship(now, ship or review.ship, event.at)


def _review_already(now: Goal, review_id: str) -> str:
    if now.review.id != review_id:
        return "That review was replaced by a newer one."
    return f"That review is already {now.review.stage.value}."


def _put(now: Goal, event: ReviewPut) -> Step:
    wrong = ""
    active = tuple(piece.number for piece in now.pieces if piece.stage in plan.ACTIVE)
    waiting = tuple(p.number for p in now.pieces if p.stage is plan.Stage.WAITING)
    if now.head == now.base_commit:
        wrong = "Nothing has landed in your branch yet, so there is nothing to review."
    elif active:
        wrong = f"Not yet: {plan.numbers(active)} still under way. You hear when they landed."
    elif waiting:
        wrong = f"Not yet: {plan.numbers(waiting)} not started. Stop what is not wanted first."
    elif now.review.stage is ReviewStage.SHIPPING:
        wrong = "The owner is shipping your last review just now."
    elif now.review.stage is ReviewStage.JUDGING:
        wrong = "Your review is being checked already; end your turn."
    if wrong:
        return now, error(event.call, wrong)
    review = Review(
        id=event.review,
        ship=event.ship,
        stage=ReviewStage.JUDGING,
        summary=event.summary,
        head=now.head,
        pieces=landed(now),
        put_at=event.at,
    )
    judge = Judge(
        goal=now.id,
        project=now.project,
        review=event.review,
        head=now.head,
        base_commit=now.moved_base or now.base_commit,
        check=now.command("check"),
        setup=now.command("setup"),
    )
    answer = "Kept: the check runs once more on your branch, then it is the owner's. End your turn."
    # What the lead plans from here on is no answer to a correction any more.
    reviewing = replace(now, review=review, stage=Stage.REVIEW, correcting=False)
    return reviewing, (*reply(event.call, answer), judge)


def landed(now: Goal) -> tuple[str, ...]:
    """The titles of all that landed so far."""
    pieces = (*now.earlier, *now.pieces)
    return tuple(piece.title for piece in pieces if piece.stage is plan.Stage.LANDED)


def _judged(now: Goal, event: ReviewJudged) -> Step:
    judged = replace(
        now.review,
        head=event.head,
        stats=event.stats,
        verdict=event.verdict,
        risks=event.risks,
        put_at=event.at,
    )
    if not event.verdict.passed and now.red_reviews < MAX_RED_REVIEWS:
        return hand_back(now, judged)
    return replace(now, review=replace(judged, stage=ReviewStage.OPEN), stage=Stage.REVIEW), ()


def hand_back(now: Goal, review: Review) -> Step:
    """Red on the lead's branch: the lead has it mended before the owner is bothered."""
    back = replace(
        now,
        review=replace(review, stage=ReviewStage.HANDED_BACK),
        stage=Stage.BUILDING,
        red_reviews=now.red_reviews + 1,
    )
    return back, (to_lead(now, news.review_red(review.verdict)),)


def _ship(now: Goal, ship: str, at: float) -> Step:
    review = replace(now.review, stage=ReviewStage.SHIPPING, decided_at=at)
    opened = ShipOpened(
        ship=ship,
        review=review.id,
        project=now.project,
        base=now.base,
        base_commit=now.base_commit,
        head=review.head,
        check=now.command("check"),
        setup=now.command("setup"),
    )
    shipping = replace(now, review=review, stage=Stage.SHIPPING)
    return shipping, (Tell(stream=f"ship/{now.id}", event=opened),)


def of_ship(now: Goal, event: GoalShipped | ShipFailed) -> Step:
    shipping = now.review.stage is ReviewStage.SHIPPING
    match event:
        case GoalShipped(commit=commit, where=where) if shipping:
            review = replace(now.review, stage=ReviewStage.SHIPPED)
            ended, effects = end_all(now, "shipped")
            shipped = replace(
                ended, stage=Stage.SHIPPED, review=review, shipped=commit, where=where
            )
            tidy = TidyBranch(project=now.project, branch=now.branch, landed_in=commit)
            return shipped, (*effects, tidy)
        case ShipFailed(moved_to=moved_to, why=why) if shipping and moved_to:
            review = replace(now.review, stage=ReviewStage.HANDED_BACK)
            back = replace(
                now, stage=Stage.BUILDING, review=review, moved_base=moved_to, correcting=True
            )
            return back, (to_lead(now, news.base_conflicts(why, moved_to)),)
        case ShipFailed() if shipping:
            review = replace(now.review, stage=ReviewStage.OPEN)
            return replace(now, stage=Stage.REVIEW, review=review), ()
        case _:
            return now, ()
