"""What a session's agent asks of its owner: put, parked, withdrawn, and answered.

A request that holds a run is answered into that run; once it is parked, or nobody holds a run for it,
the answer is the next turn's first line. A permission goes by way of the project, whose kept rules may
answer it at once; so does its withdrawal, that neither overtakes the other. Part of session.py's rule.
Neighbours: project.py keeps the rules, always.py says which one a request would be answered by, ask.py
is the card's own stream, engine/adapters/runs.py carries an answer to the agent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec.structs import replace

from engine.rules import always, keyed_rule, keyed_run, news, stakes
from engine.rules.effects import AnswerRun, AnyEffect, ReplyDesk, Tell
from engine.rules.events import (
    Asked,
    AskRaised,
    AskSettled,
    AskWithdrawn,
    PermissionAsked,
    PermissionGone,
    SessionEvent,
)
from engine.rules.session_state import Line, OpenAsk, Session, Step, next_turn, with_files
from engine.rules.words import AlwaysRule, AskKind, Decision, TurnError

HOLD_S = 30 * 60.0  # how long a run is kept alive for an open ask


def fingerprint(tool: str, input_json: str) -> str:
    """What makes two requests the same request."""
    return hashlib.sha256(f"{tool}\0{input_json}".encode()).hexdigest()[:16]


def may_ask(now: Session, event: AskRaised) -> bool:
    """A run that is being seen out cannot take an answer; a question needs none of it."""
    return now.live and not now.stopping and (now.over is None or not event.request)


def turned_away(event: SessionEvent) -> tuple[AnyEffect, ...]:
    """Every desk call is answered, one that comes too late as well."""
    call = event.call if isinstance(event, AskRaised) else ""
    return (ReplyDesk(call=call, text=news.TOO_LATE, is_error=True),) if call else ()


def put(now: Session, event: AskRaised) -> Step:
    mark = fingerprint(event.tool, event.input_json)
    if event.kind is AskKind.PERMISSION and mark in now.granted:
        granted = list(now.granted)
        granted.remove(mark)
        allow = AnswerRun(
            run=now.run,
            machine=now.machine,
            request=event.request,
            kind="allow",
            tool=event.tool,
            input_json=event.input_json,
        )
        return replace(now, granted=tuple(granted), answered_at=event.at), (allow,)
    opened = OpenAsk(
        ask=event.ask,
        request=event.request,
        kind=event.kind,
        title=event.title,
        detail=event.detail,
        tool=event.tool,
        input_json=event.input_json,
        use=event.use,
    )
    at_stake = event.stakes
    if event.kind is AskKind.PERMISSION:
        at_stake = stakes.of_request(event.tool, event.input_json, unfenced=event.unfenced)
    elif event.kind is AskKind.KEY:
        at_stake = stakes.of_command(event.detail)
    asked = Asked(
        kind=event.kind,
        goal=now.goal,
        teller=now.stream,
        title=event.title,
        detail=event.detail,
        who=news.who(now.role, now.number, now.title),
        tool=event.tool,
        questions=event.questions,
        hold_s=HOLD_S if event.request else 0.0,
        stakes=at_stake,
    )
    effects: list[AnyEffect] = [_put_to(now, event, asked)]
    if event.call:
        keyed = event.kind is AskKind.KEY
        text = news.ASKED_FOR_KEYS if keyed else news.ASKED_THE_OWNER
        effects.append(ReplyDesk(call=event.call, text=text))
    return replace(now, asks=(*now.asks, opened)), tuple(effects)


def _put_to(now: Session, event: AskRaised, asked: Asked) -> Tell:
    """Ask the owner; of a permission, the project first."""
    if not _by_project(now, event.kind):
        return Tell(stream=f"ask/{event.ask}", event=asked)
    found: AlwaysRule | always.Never | keyed_rule.Never
    if event.kind is AskKind.KEY:
        wanted = keyed_rule.wanted(event.input_json)
        found = keyed_rule.rule(wanted)
        asked = replace(asked, keys=wanted.names)
    else:
        found = always.rule(event.tool, event.input_json, unfenced=event.unfenced)
    asked = replace(asked, keeper=f"project/{now.project}")
    if asked.stakes and isinstance(found, AlwaysRule):
        found = always.Never.STAYS
    if isinstance(found, always.Never | keyed_rule.Never):
        asked = replace(asked, never=found.value)
    else:
        asked = replace(asked, rule=found)
    return Tell(stream=asked.keeper, event=PermissionAsked(ask=event.ask, asked=asked))


def _by_project(now: Session, kind: AskKind) -> bool:
    return kind in (AskKind.PERMISSION, AskKind.KEY) and bool(now.project)


def settled(now: Session, event: AskSettled) -> Step:
    """Hand the owner's answer to the run that waits for it, else keep it for the next turn."""
    ask = next((ask for ask in now.asks if ask.ask == event.ask), None)
    if ask is None:
        return _settled_late(now, event)
    kept = replace(now, asks=tuple(other for other in now.asks if other.ask != event.ask))
    kept = with_files(kept, event.files)
    if ask.request and not ask.parked and now.live and not now.over:
        answer = AnswerRun(
            run=now.run,
            machine=now.machine,
            request=ask.request,
            kind=event.decision.value,
            text=event.text,
            tool=ask.tool,
            input_json=ask.input_json,
            answers=event.answers,
            files=event.files,
        )
        return replace(kept, answered_at=event.at), (answer,)
    if ask.kind is AskKind.KEY and event.decision is Decision.ALLOW:
        return keyed_run.allowed(kept, ask, event)
    if ask.kind is AskKind.PERMISSION and event.decision is Decision.ALLOW:
        mark = fingerprint(ask.tool, ask.input_json)
        kept = replace(kept, granted=(*kept.granted, mark))
    text = news.answer(
        ask.kind, event.decision, ask.title, ask.detail, event.text, event.answers, event.by
    )
    line = Line(text, "answer", event.files)
    return next_turn(replace(kept, queue=(*kept.queue, line)))


def _settled_late(now: Session, event: AskSettled) -> Step:
    """The turn ended while the owner answered: a question's answer is said all the same."""
    if not event.answers or now.final:
        return now, ()
    text = news.answer(
        AskKind.QUESTION, event.decision, "", "", event.text, event.answers, event.by
    )
    line = Line(text, "answer", event.files)
    return next_turn(replace(with_files(now, event.files), queue=(*now.queue, line)))


def park(now: Session, ask_id: str, at: float) -> Step:
    ask = next((ask for ask in now.asks if ask.ask == ask_id and not ask.parked), None)
    if ask is None or not now.live or now.over:
        return now, ()
    parked = tuple(
        replace(other, parked=True) if other.ask == ask_id else other for other in now.asks
    )
    deny = AnswerRun(
        run=now.run,
        machine=now.machine,
        request=ask.request,
        kind="deny",
        text=news.ASKED_THE_OWNER,
        tool=ask.tool,
        input_json=ask.input_json,
    )
    return replace(now, asks=parked, answered_at=at), (deny,)


def withdraw(now: Session, which: Callable[[OpenAsk], bool], why: str) -> Step:
    gone = [ask for ask in now.asks if which(ask)]
    kept = tuple(ask for ask in now.asks if ask not in gone)
    return replace(now, asks=kept), tuple(_take_back(now, ask, why) for ask in gone)


def why_gone(now: Session, otherwise: str) -> str:
    """Why what was asked is not needed any more: the owner's own doing first."""
    return "you interrupted it" if now.ending is TurnError.INTERRUPTED else otherwise


def _take_back(now: Session, ask: OpenAsk, why: str) -> Tell:
    if _by_project(now, ask.kind):
        return Tell(stream=f"project/{now.project}", event=PermissionGone(ask=ask.ask, why=why))
    return Tell(stream=f"ask/{ask.ask}", event=AskWithdrawn(why=why))


def held_by_run(ask: OpenAsk) -> bool:
    return bool(ask.request) and not ask.parked
