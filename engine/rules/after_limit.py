"""What becomes of work that a usage limit stopped, once the limit is over: the owner's choice.

    session parked, or waiting for its account ── the limit is over ──> LimitOver ──> goes on
                                                       (its goal)            |──> a card: Resume, Leave it
                                                                             '──> waits till the morning

Part of goal.py's rule: a goal's own choice counts before the owner's default, which the event brings
along with the hour (engine/perform.py looks them up). Whoever goes on asks the fleet for a place like
anybody else, so that sessions start one after the other. Pure. Neighbours: session.py, fleet.py, owner.py.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    AfterLimitChosen,
    Asked,
    AskSettled,
    LimitOver,
    LimitSettled,
    SessionStopped,
)
from engine.rules.goal_state import Goal, Step
from engine.rules.words import AskKind, Decision

GO_ON, ASK, MORNING = "go on", "ask", "morning"
CHOICES = (GO_ON, ASK, MORNING)
WAITS_FOR_YOU = "its plan's usage limit is over, and you are asked"
TILL_MORNING = "its plan's usage limit is over, and it is night"

# As people say them.
_MEANT = {"goes on": GO_ON, "goon": GO_ON, "on": GO_ON, "asks": ASK, "ask me": ASK, "off": GO_ON}


def choice(value: str) -> str:
    """Return the choice an owner named, or refuse with those there are."""
    said = " ".join(value.lower().split())
    said = _MEANT.get(said, said)
    if said not in CHOICES:
        raise Refused('After a usage limit work can "go on", "ask" or wait till "morning".')
    return said


def of_limit(now: Goal, event: AfterLimitChosen | LimitOver | AskSettled) -> Step:
    match event:
        case AfterLimitChosen(how=how):
            return replace(now, after_limit=choice(how) if how else ""), ()
        case LimitOver() if now.held:
            return now, ()
        case LimitOver():
            return _over(now, event)
        case AskSettled(ask=ask) if ask != now.limit_ask or not ask:
            return now, ()
        case AskSettled(decision=Decision.ALLOW):
            told = tuple(_told(session) for session in now.limit_waits)
            return replace(now, limit_ask="", limit_waits=()), told
        case AskSettled():
            return _left(now)
    return now, ()


def _over(now: Goal, event: LimitOver) -> Step:
    how = now.after_limit or event.default
    if how == MORNING and event.morning_at:
        return now, (_told(event.session, TILL_MORNING, event.morning_at),)
    if how != ASK:
        return now, (_told(event.session),)
    waits = _told(event.session, WAITS_FOR_YOU)
    if now.limit_ask:
        waiting = tuple(dict.fromkeys((*now.limit_waits, event.session)))
        return replace(now, limit_waits=waiting), (waits,)
    asked = Asked(
        kind=AskKind.LIMIT,
        goal=now.id,
        teller=now.stream,
        title=event.account,
        detail="",
    )
    asking = replace(now, limit_ask=event.ask, limit_waits=(event.session,))
    return asking, (waits, Tell(stream=f"ask/{event.ask}", event=asked))


def _left(now: Goal) -> Step:
    """Leave it: the goal rests as after Stop, and its card has Resume."""
    sessions = (now.session, *(piece.session for piece in now.at_work))
    stop = SessionStopped(why="left by you after a usage limit")
    told: tuple[AnyEffect, ...] = tuple(
        Tell(stream=f"session/{session}", event=stop) for session in sessions
    )
    return replace(now, limit_ask="", limit_waits=(), held=True), told


def _told(session: str, why: str = "", until: float = 0.0) -> Tell:
    return Tell(stream=f"session/{session}", event=LimitSettled(why=why, until=until))
