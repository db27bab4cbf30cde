"""What goes on in a session or a goal: its agent's work, or plain code's while its lead rests.

Pure. Neighbours: waits.py (why nothing does), session_card.py and worker_card.py (which show it).
"""

from __future__ import annotations

from engine.board.looking import Doing, World, state_of
from engine.rules import ask as ask_rule
from engine.rules import goal_state as goal_rule
from engine.rules import own_tasks, session_state, silence, steering
from engine.rules import ship as ship_rule
from engine.rules.ask import Ask
from engine.rules.cut_off import during
from engine.rules.goal_state import Goal, ReviewStage
from engine.rules.session_state import Session
from engine.rules.ship import Ship
from engine.views import Silence, Wait


def holds_for_you(world: World, session: Session) -> bool:
    """Whether its run is held for a card of the owner's; what a kept rule answers shows none."""
    held = (
        state_of(world, f"ask/{ask.ask}", Ask)
        for ask in session.asks
        if ask.request and not ask.parked
    )
    return any(ask is not None and ask.stage is ask_rule.Stage.OPEN for ask in held)


def goal_doing(world: World, goal: Goal) -> str:
    """What plain code does for a goal while its lead rests."""
    if goal.failure or not goal.live:
        return ""
    if goal.stage is goal_rule.Stage.OPENING:
        return "" if goal.held else f"{goal.base} is read"
    if goal.review.stage is ReviewStage.JUDGING:
        return "the check runs on the whole"
    ship = state_of(world, f"ship/{goal.id}", Ship)
    if ship is None or goal.review.stage is not ReviewStage.SHIPPING:
        return ""
    return SHIP_DOING.get(ship.stage, "")


SHIP_DOING = {
    ship_rule.Stage.TAKING: "shipping: the remote is read",
    ship_rule.Stage.CHECKING: "shipping: the check runs",
    ship_rule.Stage.PUSHING: "shipping: pushing",
}


WAITS = "waits: "  # for what keeps its process from being over
GOES_ON = (*session_state.LIVE, session_state.Stage.WANTING, session_state.Stage.PARKED)


def silent(session: Session | None, waits: tuple[Wait, ...]) -> Silence | None:
    """Why a session at work prints nothing, where nothing else is shown that it waits for."""
    return silence.shows(session) if session is not None and not waits else None


def session_doing(world: World, session: Session | None, doing: Doing) -> str:
    if session is None:
        return ""
    match session.stage:
        case session_state.Stage.STARTING:
            return doing(session.run) or "starting"
        case session_state.Stage.RUNNING if holds_for_you(world, session):
            return ""  # its last tool is the one that waits
        case session_state.Stage.RUNNING if session.kept_end is not None:
            return own_tasks.counted_words(session.tasks)
        case session_state.Stage.RUNNING:
            return doing(session.run) or cut_off_line(session) or "working"
        case session_state.Stage.CLOSING:
            said = doing(session.run)
            return said if said.startswith(WAITS) else "ending its turn"
        case session_state.Stage.IDLE if session.queue and not session.interrupted:
            return "news is gathered for it"
        case _:
            return ""


def cut_off_line(session: Session | None) -> str:
    """What the turn before was cut off in, while the one that goes on with it has not ended."""
    if session is None or session.left is None or session.stage not in GOES_ON:
        return ""
    after = f" after {session.left.done}" if session.left.done else ""
    return f"cut off{during(session.left) or after}"


def owner_lines(session: Session | None) -> int:
    return len(steering.waiting(session)) if session else 0


def steered(session: Session | None) -> int:
    return sum(len(one.lines) for one in session.steered) if session else 0
