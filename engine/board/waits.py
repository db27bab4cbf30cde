"""What a session or a goal waits for, and why; every wait says both.

Pure. Neighbours: doing.py (what goes on instead), session_card.py and worker_card.py (which show it).
"""

from __future__ import annotations

from engine.board.doing import goal_doing, holds_for_you
from engine.board.looking import World, holding_asks, state_of
from engine.rules import after_limit, killed, session_state, starts, turn_ends
from engine.rules import goal_state as goal_rule
from engine.rules import plan as plan_rule
from engine.rules import ship as ship_rule
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, PlanStage, ReviewStage
from engine.rules.plan import Piece
from engine.rules.session_state import Session
from engine.rules.ship import Ship
from engine.views import INTERRUPTED, STOPPED, Wait

YOUR_LINE = "a line from you"
GOES_ON = "nothing runs until /resume"
YOUR_ANSWER = "your answer"


def decision_waits(world: World, goal: Goal) -> bool:
    if not goal.live:
        return False
    ship = state_of(world, f"ship/{goal.id}", Ship)
    shipping = ship is not None and ship.stage in (ship_rule.Stage.PROCEED, ship_rule.Stage.READY)
    return (
        goal.plan_stage is PlanStage.PROPOSED
        or goal.review.stage is ReviewStage.OPEN
        or (goal.stage is goal_rule.Stage.SHIPPING and shipping)
        or any(piece.stage is plan_rule.Stage.FAILED for piece in goal.pieces)
        or any(is_paused(world, piece) for piece in goal.pieces)
    )


def is_paused(world: World, piece: Piece) -> bool:
    """Whether a worker rests after an Interrupt: only a line, or Retry, goes on with it."""
    session = state_of(world, f"session/{piece.session}", Session)
    at_rest = session is None or session.stage is session_state.Stage.IDLE
    return piece.stage is plan_rule.Stage.PAUSED and at_rest


def session_waits(world: World, session: Session | None) -> tuple[Wait, ...]:
    if session is None:
        return ()
    match session.stage:
        case session_state.Stage.WANTING:
            where = session.where or "asking for one"
            soon = starts.is_in_line(where)
            return (Wait("a place to run", where, session.waits_until, latest=soon),)
        case session_state.Stage.PARKED if killed.rests(session):
            return (Wait("a pause, and for free memory", session.why, session.parked_until),)
        case session_state.Stage.PARKED:
            account = f"account {session.account.name}"
            return (_after_limit(session.why, account, session.parked_until),)
        case session_state.Stage.HELD if not session.final:
            return (Wait(STOPPED, GOES_ON),)
        case session_state.Stage.FAILED:
            return (Wait("you", session.why),)
        case session_state.Stage.IDLE if session.asks:
            return (Wait(YOUR_ANSWER, "it asked and ended its turn"),)
        case session_state.Stage.IDLE if session.keyed and not session.queue:
            return (Wait("a command with a stored key", _keyed_why(world, session)),)
        case session_state.Stage.RUNNING if holds_for_you(world, session):
            return (Wait(YOUR_ANSWER, "it asked and goes on then"),)
        case session_state.Stage.IDLE if session.wakes and not session.queue:
            first = min(session.wakes, key=lambda wake: wake.due_at)
            return (Wait("a time of its own choice", first.why, first.due_at),)
        case _:
            return ()


def _keyed_why(world: World, session: Session) -> str:
    fleet = state_of(world, "fleet", Fleet)
    machine = fleet.machine(session.machine) if fleet else None
    if machine is not None and not machine.up:
        return f"{machine.name} is away; it begins if that is back within the hour"
    return "for ten minutes at most; Stop ends it"


def _after_limit(why: str, account: str, until: float) -> Wait:
    """What a session waits for that a usage limit stopped: the limit, the morning, its owner."""
    if why == after_limit.TILL_MORNING:
        return Wait("the morning", f"{why}: {account}", until)
    if why == after_limit.WAITS_FOR_YOU:
        return Wait("you", f"{why}: Resume, or Leave it")
    return Wait(turn_ends.LIMIT, account, until)


def may_be_resumed(session: Session | None) -> bool:
    """Whether a session rests past its limit, or after it was killed: then Resume is of use."""
    if session is None or session.stage is not session_state.Stage.PARKED:
        return False
    return killed.rests(session) or session.why in (
        after_limit.TILL_MORNING,
        after_limit.WAITS_FOR_YOU,
    )


def lead_waits(world: World, goal: Goal, lead: Session | None) -> tuple[Wait, ...]:
    """Why a goal does not go on by itself; a lead at rest with nothing under way waits for a line."""
    waits = session_waits(world, lead)
    if waits or not goal.live:
        return waits
    if goal.held:
        return (Wait(STOPPED, GOES_ON),)
    resting = (
        lead is not None
        and lead.stage is session_state.Stage.IDLE
        and (lead.interrupted or not lead.queue)
    )
    under_way = plan_rule.ready(goal.pieces) or any(
        piece.stage in plan_rule.OPEN and piece.stage is not plan_rule.Stage.WAITING
        for piece in goal.pieces
    )
    if resting and lead and lead.interrupted and not goal.failure:
        or_news = ", or its workers' news" if under_way else ""
        return (Wait(INTERRUPTED, f"it waits for a line from you{or_news}"),)
    if not resting or under_way or goal.failure or goal_doing(world, goal):
        return ()
    if goal.plan_stage is PlanStage.PROPOSED and goal.go != "ask":
        return (Wait("Start", "its lead left the plan for you"),)
    if holding_asks(world, goal) or decision_waits(world, goal):
        return ()
    return (Wait(YOUR_LINE, _what_next(goal)),)


def _what_next(goal: Goal) -> str:
    """Why nothing goes on by itself, and what the owner can do about it."""
    if goal.plan_stage is PlanStage.DISCARDED:
        return "the plan was discarded. Write what you want instead, or Drop"
    landed = any(piece.stage is plan_rule.Stage.LANDED for piece in goal.pieces)
    if landed and all(piece.stage in plan_rule.OVER for piece in goal.pieces):
        return "all has landed, and its lead put nothing to you. Write “put it for review”, or Drop"
    return "its lead ended its turn and nothing is under way. Write what is next, or Drop"


def commands_wait(goal: Goal) -> str:
    if goal.held:
        return "stopped: /resume goes on"
    return "waits for your word on the project's commands" if not goal.settled else "starts next"
