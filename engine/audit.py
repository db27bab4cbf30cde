"""What was decided, by whom, and with what before their eyes: written in the commit of the decision.

A decision is what an owner asks to be changed (a tap, a line, a command on the phone or at the box), and
what was decided in their place: a rule kept by Always, a lead that may. What merely follows of one is not
listed again. /lock is held here too: while it holds, nothing that anybody asks for is decided.

Pure. Neighbours: loop.py asks it at each event, asker.py tells whose request it is, stores/ledger.py
keeps the rows, requests/audits.py reads them, cli_audit.py prints them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from engine.asker import Asker
from engine.rules.ask import BY_RULE, Ask
from engine.rules.effects import AnswerRun, AnyEffect, Tell
from engine.rules.events import (
    Answered,
    AnyEvent,
    AskRaised,
    AskSettled,
    PermissionAsked,
    PinRight,
    PinTried,
    PlanStarted,
    RuleFits,
    SettingChanged,
)
from engine.rules.owner import Owner, refuse_locked
from engine.rules.session_state import Session
from stores.ledger import Decision, DecisionRow

OWNER: Final = "owner"  # the stream that knows of the lock
EARLIER: Final = "your earlier Allow"
LEAD: Final = "its lead"
MOST_WORDS: Final = 500  # characters of one field of an event
UNTOLD: Final = ("at", "call", "salted")
JUDGED: Final = (PinTried, PinRight)  # what was decided with it is a row; a wrong one is too


class Decided(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision; see asker.py for where each part comes from.

    verdict      what was decided: the event's name and what it says
    shown_hash   SHA-256 of `shown`
    """

    who: str
    verdict: str
    through: str = ""
    verb: str = ""
    card: str = ""
    revision: str = ""
    made: str = ""
    shown: str = ""
    shown_hash: str = ""


def check(who: Asker | None, event: AnyEvent | None, owner: object) -> None:
    """Raise Refused for what anybody asks for while it is locked; what goes on by itself goes on."""
    if who is not None and isinstance(owner, Owner):
        refuse_locked(owner, event)


def record(
    who: Asker | None,
    stream: str,
    event: AnyEvent,
    before: object,
    after: object,
    effects: Sequence[AnyEffect],
) -> Decision | None:
    """Return the decision that an event is, None where it is none."""
    if isinstance(event, JUDGED):
        return None
    if who is None:
        who = _in_their_place(stream, event, before, after, effects)
    if who is None:
        return None
    if isinstance(event, PermissionAsked):
        keys = f" with {', '.join(event.asked.keys)}" if event.asked.keys else ""
        verdict = f"{_allowed(event.asked.tool, event.asked.detail)}{keys}"
        return _decision(who, verdict, event.asked.goal)
    if isinstance(event, AskRaised):
        return _decision(who, _allowed(event.tool, event.detail), goal_of(stream, after))
    return _decision(who, decided_on(event, after), goal_of(stream, after))


def decided_on(event: AnyEvent, after: object) -> str:
    """Return an event in words, with what it decides on where that is a command with keys."""
    said = in_words(event)
    if isinstance(after, Ask) and after.keys:
        return f"{said} keys={','.join(after.keys)} command={_short(after.detail)}"
    return said


def of_vault(who: Asker | None, verdict: str) -> Decision | None:
    """Return the decision about what the vault keeps, which no stream knows of."""
    return None if who is None else _decision(who, verdict, "")


def of_aside(who: Asker | None, stream: str, verdict: str, state: object) -> Decision | None:
    """Return the decision about a stream that was set aside: no event of its own tells it."""
    if who is None:
        return None
    return _decision(who, f"{verdict}: {stream}", goal_of(stream, state))


def read(row: DecisionRow) -> Decided:
    return msgspec.json.decode(row.body, type=Decided)


def _decision(who: Asker, verdict: str, goal: str) -> Decision:
    decided = Decided(
        who=who.who,
        verdict=verdict,
        through=who.through,
        verb=who.verb,
        card=who.card,
        revision=who.revision,
        made=who.made,
        shown=who.shown,
        shown_hash=hashlib.sha256(who.shown.encode(errors="replace")).hexdigest()
        if who.shown
        else "",
    )
    return Decision(goal, msgspec.json.encode(decided))


def _in_their_place(
    stream: str, event: AnyEvent, before: object, after: object, effects: Sequence[AnyEffect]
) -> Asker | None:
    """Return who decided, of what nobody's request is."""
    card = stream.partition("/")[2]
    match event:
        case Answered(by=by) if by != OWNER:
            return Asker(who=by, card=card)
        case RuleFits() if after != before:
            return Asker(who=BY_RULE, card=card)
        case PlanStarted(by=by, plan=plan) if by != OWNER and after != before:
            return Asker(who=LEAD, card=plan)
        case PermissionAsked(ask=ask) if any(_is_allowed(effect) for effect in effects):
            return Asker(who=BY_RULE, card=ask)
        case AskRaised(ask=ask) if any(
            isinstance(effect, AnswerRun) and effect.kind == "allow" for effect in effects
        ):
            return Asker(who=EARLIER, card=ask)
        case _:
            return None


def _is_allowed(effect: AnyEffect) -> bool:
    return (
        isinstance(effect, Tell)
        and isinstance(effect.event, AskSettled)
        and effect.event.by == BY_RULE
    )


def _allowed(tool: str, detail: str) -> str:
    return f"Allowed {tool}: {_short(detail)}"


def goal_of(stream: str, state: object) -> str:
    kind, _, name = stream.partition("/")
    if kind in ("goal", "landing", "ship"):
        return name
    return state.goal if isinstance(state, Session | Ask) else ""


def in_words(event: AnyEvent) -> str:
    """Return an event as its name and all it says, each part of it short."""
    said = msgspec.structs.asdict(event)
    if isinstance(event, SettingChanged) and event.name == "heartbeat" and "://" in event.value:
        said["value"] = "a URL"  # it may hold a key, and a look at it would be a beat
    defaults = {field.name: field.default for field in msgspec.structs.fields(event)}
    told = [
        f"{name}={_short(value)}"
        for name, value in said.items()
        if name not in UNTOLD and value != defaults[name] and value not in ("", (), None)
    ]
    return " ".join([type(event).__name__, *told])


def _short(value: object) -> str:
    words = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return words if len(words) <= MOST_WORDS else f"{words[: MOST_WORDS - 1]}…"
