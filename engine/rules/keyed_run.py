"""Commands with stored keys, from the owner's Allow to what they printed.

    Allow ─> RunKeyed ─> KeyedOver ─> a line for the session
               └─ stop, drop ─> CloseRun ─> KeyedOver

A command is run once: whatever dies meanwhile, it is not run again, and its session is told that nobody
knows how far it came. A worker's piece is looked at only once none is left. Part of session.py's rule.
Neighbours: asking.py (asked and settled), keyed_rule.py (what was asked), engine/adapters/keyed.py (done).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import keyed_rule, news
from engine.rules.effects import AnyEffect, CloseRun, RunKeyed, Say, Tell
from engine.rules.events import AskSettled, GaveUp, KeyedOver, KeyedTold
from engine.rules.session_state import KeyedRun, Line, OpenAsk, Session, Step, next_turn
from engine.rules.unseen import in_quotes
from engine.rules.words import HERE, Role

OPEN_AT_ONCE = 5  # of one session: asked for, or running
GRACE_S = 5.0
CUT_OFF = "cut off"
SHOWN = 160  # characters of a command that are told where a rule allowed it


def is_open(now: Session, asked: keyed_rule.Wanted) -> bool:
    """Whether a session has asked for this very command already, and not heard of it yet."""
    waiting = [ask.input_json for ask in now.asks if ask.tool == keyed_rule.TOOL]
    return asked.packed in waiting or any(one.command == asked.command for one in now.keyed)


def count(now: Session) -> int:
    return len(now.keyed) + sum(ask.tool == keyed_rule.TOOL for ask in now.asks)


def allowed(now: Session, ask: OpenAsk, event: AskSettled) -> Step:
    """Have it run, in the session's own tree."""
    asked = keyed_rule.wanted(ask.input_json)
    one = KeyedRun(
        ask=ask.ask,
        run=f"{now.id}-key-{ask.ask}",
        command=asked.command,
        names=asked.names,
        by=event.by,
    )
    order = RunKeyed(
        run=one.run,
        session=now.id,
        project=now.project,
        ask=ask.ask,
        names=asked.names,
        argv=asked.argv,
        read_only=now.role is Role.LEAD,
        allowed_at=event.at,
    )
    return replace(now, keyed=(*now.keyed, one)), (order,)


def over(now: Session, event: KeyedOver) -> Step:
    """Tell the session how it went, as its next message; and its card."""
    one = next((one for one in now.keyed if one.ask == event.ask), None)
    if one is None:
        return now, ()
    left = replace(now, keyed=tuple(other for other in now.keyed if other.ask != event.ask))
    told: tuple[AnyEffect, ...] = ()
    if one.by == "owner":
        told = (Tell(stream=f"ask/{event.ask}", event=KeyedTold(how=event.how)),)
    else:  # a rule's answer had no card
        told = (Say(goal=now.goal, kind="news", text=_used(now, one, event)),)
    if now.final:
        return left, told
    words = news.keyed_over(one.command, event.how, event.output, began=event.began)
    after, effects = next_turn(replace(left, queue=(*left.queue, Line(words, "answer"))))
    return after, (*told, *effects)


def _used(now: Session, one: KeyedRun, event: KeyedOver) -> str:
    """Say in one quiet line what a rule of the owner's had done in their place."""
    shown = one.command if len(one.command) <= SHOWN else f"{one.command[: SHOWN - 1]}…"
    used = "Used" if event.began else "Not used:"
    names, where = ", ".join(one.names), now.machine or HERE
    return f"{used} {names} for {in_quotes(shown, 200)} on {where} (Always): {event.how}."


def gave_up(now: Session, event: GaveUp) -> Step:
    """Nobody knows whether the order got there: it must not begin later, and is not repeated."""
    one = next((one for one in now.keyed if one.run == event.about), None)
    if one is None:
        return now, ()
    close = CloseRun(run=one.run, machine=now.machine or HERE, grace_s=0.0)
    after, effects = over(now, KeyedOver(ask=one.ask, how=CUT_OFF, output=event.why))
    return after, (close, *effects)


def end(now: Session) -> Step:
    """End what runs: whoever stops a session stops these too, and what waits for its machine."""
    if not now.keyed:
        return now, ()
    closed = tuple(
        CloseRun(run=one.run, machine=now.machine or HERE, grace_s=GRACE_S) for one in now.keyed
    )
    return replace(now, keyed=tuple(replace(one, ended=True) for one in now.keyed)), closed
