"""One decision that waits for the owner.

    OPEN -> ANSWERED | WITHDRAWN        (parked: still open, but no run is held for it any more)

The first answer counts; a later one is refused with what was decided. Pure. The streams that raise
asks are asking.py (permissions, questions, approaches), project.py (check, setup) and goal.py (whether
work goes on after a usage limit).
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    Answered,
    Asked,
    AskEvent,
    AskHeldOut,
    AskParked,
    AskSettled,
    AskWithdrawn,
    CommandDecided,
    KeyedTold,
    PermissionDecided,
    RuleFits,
)
from engine.rules.words import AlwaysRule, AskKind, Attachment, Command, Decision, Question, Stake

SAID = {
    Decision.ALLOW: "Allowed",
    Decision.DENY: "Denied",
    Decision.APPROVE: "Approved",
    Decision.SEND_BACK: "Sent back",
    Decision.ANSWER: "Answered",
    Decision.WITHDRAWN: "No longer needed",
}
ASSENT = {
    "approve",
    "approved",
    "go",
    "go ahead",
    "lgtm",
    "looks good",
    "ok",
    "okay",
    "start",
    "yes",
}
EDITED = "edited"  # the title of an ask about a goal that its owner edited
BY_RULE = "your rule"
OWNER = "owner"
OFFERED = {
    AskKind.PERMISSION: {Decision.ALLOW, Decision.DENY},
    AskKind.QUESTION: {Decision.ANSWER},
    AskKind.APPROACH: {Decision.APPROVE, Decision.SEND_BACK},
    AskKind.CHECK: {Decision.ALLOW, Decision.DENY},
    AskKind.SETUP: {Decision.ALLOW, Decision.DENY},
    AskKind.COPY: {Decision.ALLOW, Decision.DENY},
    AskKind.BROUGHT: {Decision.ALLOW, Decision.DENY},
    AskKind.LIMIT: {Decision.ALLOW, Decision.DENY},
    AskKind.WHERE: {Decision.ANSWER},
    AskKind.KEY: {Decision.ALLOW, Decision.DENY},
}


def assents(line: str) -> bool:
    """Whether a line says no more than yes."""
    return "?" not in line and " ".join(re.findall(r"\w+", line.lower())) in ASSENT


class Stage(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"


class Ask(Struct, frozen=True, tag=True, kw_only=True):
    """Where one decision stands."""

    id: str
    stage: Stage | None = None  # None: never asked
    kind: AskKind = AskKind.QUESTION
    goal: str = ""
    teller: str = ""
    title: str = ""
    detail: str = ""
    who: str = ""
    tool: str = ""
    questions: tuple[Question, ...] = ()
    answers: tuple[str, ...] = ()
    command: Command | None = None
    options: tuple[tuple[str, str], ...] = ()
    decision: Decision | None = None
    text: str = ""
    by: str = ""
    why: str = ""
    asked_at: float = 0.0
    decided_at: float = 0.0
    parked: bool = False
    files: tuple[Attachment, ...] = ()
    keeper: str = ""
    rule: AlwaysRule | None = None
    never: str = ""
    always: bool = False  # allowed, and each time from now on
    stakes: tuple[Stake, ...] = ()  # why nobody but the owner may say yes
    whose: str = ""
    keys: tuple[str, ...] = ()  # names of what the command is given
    outcome: str = ""  # how the command that was allowed went


def begin(name: str) -> Ask:
    return Ask(id=name)


def decide(now: Ask, event: AskEvent) -> tuple[Ask, tuple[AnyEffect, ...]]:
    """Return where the decision stands after `event`, and whom to tell."""
    match event:
        case Asked() if now.stage is None:
            return _open(now, event)
        case Answered() if now.stage is not Stage.OPEN:
            raise Refused(already(now))
        case Answered(by=by) if now.stakes and by != OWNER:
            raise Refused("Only the owner decides that; it is with them.")
        case Answered(decision=decision) if decision not in OFFERED[now.kind]:
            raise Refused("That is not one of the answers this card offers.")
        case Answered(always=True) if now.rule is None or event.decision is not Decision.ALLOW:
            raise Refused("Always is not offered for this one: Allow it each time.")
        case Answered(always=True):
            return _settle(replace(now, always=True), event.decision, "", event.by, event.at)
        case RuleFits() if now.stage is Stage.OPEN and now.rule is not None:
            return _settle(now, Decision.ALLOW, "", BY_RULE, event.at)
        case Answered() if now.kind is AskKind.QUESTION:
            return _answer_question(now, event)
        case Answered():
            return _settle(_with_files(now, event), event.decision, event.text, event.by, event.at)
        case AskWithdrawn() if now.stage is Stage.OPEN:
            done = replace(
                now,
                stage=Stage.WITHDRAWN,
                decision=Decision.WITHDRAWN,
                why=event.why,
                decided_at=event.at,
            )
            return done, ()
        case KeyedTold(how=how) if now.stage is Stage.ANSWERED:
            return replace(now, outcome=how), ()
        case AskHeldOut() if now.stage is Stage.OPEN and not now.parked:
            parked = Tell(stream=now.teller, event=AskParked(ask=now.id))
            return replace(now, parked=True), (parked,)
        case _:
            return now, ()


def already(now: Ask) -> str:
    """Say what a late tap missed."""
    if now.decision is None:
        return "That card is not open."
    if now.decision is Decision.WITHDRAWN:
        return f"No longer needed: {now.why}." if now.why else "No longer needed."
    said = "always allowed" if now.always else SAID[now.decision].lower()
    return f"Already {said} by {_you(now.by)}."


def _you(by: str) -> str:
    return "you" if by == OWNER else by


def _open(now: Ask, event: Asked) -> tuple[Ask, tuple[AnyEffect, ...]]:
    opened = replace(
        now,
        stage=Stage.OPEN,
        kind=event.kind,
        goal=event.goal,
        teller=event.teller,
        title=event.title,
        detail=event.detail,
        who=event.who,
        tool=event.tool,
        questions=event.questions,
        command=event.command,
        options=event.options,
        files=event.files,
        keeper=event.keeper,
        rule=event.rule,
        never=event.never,
        stakes=event.stakes,
        whose=event.whose,
        keys=event.keys,
        asked_at=event.at,
    )
    if not event.hold_s:
        return opened, ()
    held_out = Tell(stream=f"ask/{now.id}", event=AskHeldOut(), due_at=event.at + event.hold_s)
    return opened, (held_out,)


def _answer_question(now: Ask, event: Answered) -> tuple[Ask, tuple[AnyEffect, ...]]:
    """Take the answer to the next open question; settle when none is left."""
    if event.index >= 0 and event.index != len(now.answers):
        raise Refused("That question was answered already.")
    if not event.text.strip():
        raise Refused("The answer is empty: tap an option or write a line.")
    answered = _with_files(replace(now, answers=(*now.answers, event.text)), event)
    if len(answered.answers) < len(now.questions):
        return answered, ()
    return _settle(answered, event.decision, event.text, event.by, event.at)


def _with_files(now: Ask, event: Answered) -> Ask:
    return replace(now, files=(*now.files, *event.files)) if event.files else now


def _settle(
    now: Ask, decision: Decision, text: str, by: str, at: float
) -> tuple[Ask, tuple[AnyEffect, ...]]:
    done = replace(now, stage=Stage.ANSWERED, decision=decision, text=text, by=by, decided_at=at)
    if now.command is not None:
        allowed = decision is Decision.ALLOW
        told = CommandDecided(command=now.command, allowed=allowed)
        return done, (Tell(stream=now.teller, event=told),)
    if not now.teller:  # a "where" ask: the door acts on it
        return done, ()
    answers = tuple(
        (question.text, answer)
        for question, answer in zip(now.questions, done.answers, strict=False)
    )
    settled = AskSettled(
        ask=now.id, decision=decision, text=text, by=by, answers=answers, files=now.files
    )
    answer = Tell(stream=now.teller, event=settled)
    return done, (answer,) if now.rule is None else (answer, _for_the_keeper(done, now.rule))


def _for_the_keeper(done: Ask, rule: AlwaysRule) -> Tell:
    return Tell(
        stream=done.keeper,
        event=PermissionDecided(ask=done.id, rule=rule, always=done.always),
    )
