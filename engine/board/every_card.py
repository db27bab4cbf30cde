"""All cards: of one goal, of what belongs to none, of everything.

Pure. Neighbours: a file of this room for each kind of card, engine/door.py (keeps them as shown).
"""

from __future__ import annotations

import hashlib

import msgspec
from msgspec.structs import replace

from engine.board.ask_card import ask_card
from engine.board.failure_card import failure_card
from engine.board.guarded import guarded
from engine.board.login_card import login_cards
from engine.board.looking import Doing, World, all_of, each_goal, state_of
from engine.board.plan_card import plan_card
from engine.board.project_card import project_card
from engine.board.review_card import review_card
from engine.board.session_card import session_card
from engine.board.ship_card import ship_card
from engine.board.waits import commands_wait
from engine.board.worker_card import worker_card
from engine.progress import work_lines
from engine.rules.ask import Ask
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, ReviewStage
from engine.rules.project import Project
from engine.rules.ship import Ship
from engine.views import (
    AnyCard,
    CommandCard,
    LoginCard,
    PlanCard,
    ReviewCard,
    SessionCard,
    TrustCard,
    WorkerCard,
)


def sealed(card: AnyCard) -> AnyCard:
    """Give the card its revision: a hash of what a decision on it would rest on.

    A session's and a worker's buttons act on the session as it is, whatever its card shows.
    """
    if isinstance(card, SessionCard | WorkerCard):
        body = card.id.encode()
    else:
        bare = replace(
            card, revision="", at=0.0, decided="", decided_at=0.0, buttons=(), asks=False
        )
        body = msgspec.json.encode(_alone(bare))
    return guarded(replace(card, revision=hashlib.sha256(body).hexdigest()[:8]))


def _alone(card: AnyCard) -> AnyCard:
    """Leave out what changes while a card waits and is no matter of its own decision."""
    match card:
        case ReviewCard():
            return replace(card, cost_usd=0.0)  # the turn that put it ends, and is paid, later
        case PlanCard():
            return replace(card, first="", first_elsewhere=False, edits=0)
        case CommandCard():
            return replace(card, held_since=0.0)
        case LoginCard():  # pressed is a try, whatever has come of it meanwhile
            return LoginCard(id=card.id, account=card.account, agent="", stage="", login=card.login)
        case TrustCard():
            return replace(card, unfenced=(), changed=False)
        case _:
            return card


def cards(world: World, goal_id: str, doing: Doing) -> list[AnyCard]:
    """Every card of one goal, in the order they came up."""
    goal = state_of(world, f"goal/{goal_id}", Goal)
    if goal is None or goal.stage is None:
        return []
    workers = [
        worker_card(world, goal, piece, doing)
        for piece in (*goal.earlier, *goal.pieces)
        if piece.opened
    ]
    work, more = work_lines(goal, workers, commands_wait)
    found: list[AnyCard] = [replace(session_card(world, goal, doing), work=work, more=more)]
    if goal.plan:
        found.append(plan_card(world, goal))
    found.extend(workers)
    if goal.review.id and goal.review.stage not in (ReviewStage.JUDGING, ReviewStage.HANDED_BACK):
        found.append(review_card(world, goal))
    ship = state_of(world, f"ship/{goal_id}", Ship)
    if ship and ship.id:
        found.append(ship_card(world, goal, ship))
    if goal.failure:
        found.append(failure_card(goal))
    found.extend(
        ask_card(world, ask)
        for ask in all_of(world, "ask/", Ask)
        if ask.goal == goal_id and ask.stage
    )
    return [sealed(card) for card in found]


def general(world: World) -> list[AnyCard]:
    """Cards that belong to no goal."""
    fleet = state_of(world, "fleet", Fleet) or Fleet()
    found: list[AnyCard] = [*login_cards(fleet)]
    found.extend(
        project_card(project, project.adding)
        for project in all_of(world, "project/", Project)
        if project.adding
    )
    found.extend(
        ask_card(world, ask)
        for ask in all_of(world, "ask/", Ask)
        if not ask.goal and ask.stage is not None
    )
    return [sealed(card) for card in found]


def everything(world: World, doing: Doing) -> list[AnyCard]:
    """All cards there are, goal by goal."""
    found = general(world)
    for goal, own in each_goal(world):
        found.extend(cards(own, goal.id, doing))
    return found
