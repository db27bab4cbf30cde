"""How a repository named on the phone becomes a project: read, let in, its branch and check asked for.

    READING ──> CHECK ──> DONE          CHECK: nothing says how it is checked; asked once
      │ ^
      v │ Retry, or a branch chosen
    BARRED | BASES | FAILED             any of these four -> LEFT

BARRED waits for the owner to add a key on the other side, and to accept the host's. Pure. Neighbours:
project.py (whose state it is part of), engine/adapters/taking_in.py (looks and brings).
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import TakeIn
from engine.rules.events import (
    ProjectBarred,
    ProjectBases,
    ProjectNotTaken,
    ProjectRetried,
    ProjectTaken,
    ProjectWanted,
)


class Stage(StrEnum):
    READING = "reading"
    BARRED = "barred"
    BASES = "bases"
    FAILED = "failed"
    CHECK = "check"
    DONE = "done"
    LEFT = "left"


OPEN = (Stage.READING, Stage.BARRED, Stage.BASES, Stage.FAILED)


class Adding(Struct, frozen=True, kw_only=True):
    """Where it stands; `card` is what the phone shows of it."""

    card: str
    source: str
    base: str = ""
    stage: Stage = Stage.READING
    wanted_at: float = 0.0
    since: float = 0.0
    why: str = ""
    public: str = ""
    host: str = ""
    fingerprint: str = ""
    expected: str = ""
    branches: tuple[str, ...] = ()
    guess: str = ""
    check: str = ""  # what its own settings say
    notes: tuple[str, ...] = ()
    whose: str = ""


Fact = ProjectTaken | ProjectBarred | ProjectBases | ProjectNotTaken


def wanted(event: ProjectWanted) -> Adding:
    return Adding(
        card=event.card,
        source=event.source,
        base=event.base,
        wanted_at=event.at,
        since=event.at,
        whose=event.whose,
    )


def take_in(now: Adding, project: str, trust: str = "") -> TakeIn:
    return TakeIn(project=project, card=now.card, source=now.source, base=now.base, trust=trust)


def answers(now: Adding | None, event: Fact) -> bool:
    """Whether this is what the card is waiting for; anything else is late news."""
    return now is not None and now.card == event.card and now.stage is Stage.READING


def learned(now: Adding, event: Fact, *, checked: bool) -> Adding:
    """Return where it stands after a look; `checked`: how to check it is known, or not wanted."""
    since = replace(now, since=event.at, why="")
    match event:
        case ProjectTaken():
            ask = bool(event.guess) and not (checked or event.check)
            return replace(
                since,
                stage=Stage.CHECK if ask else Stage.DONE,
                source=event.source,
                base=event.base,
                notes=event.notes,
                guess=event.guess if ask else "",
                check=event.check,
            )
        case ProjectBarred():
            return replace(
                since,
                stage=Stage.BARRED,
                why=event.why,
                public=event.public,
                host=event.host,
                fingerprint=event.fingerprint,
                expected=event.expected,
            )
        case ProjectBases():
            return replace(since, stage=Stage.BASES, branches=event.branches)
        case ProjectNotTaken():
            return replace(since, stage=Stage.FAILED, why=event.why)


def retried(now: Adding, event: ProjectRetried, project: str) -> tuple[Adding, tuple[TakeIn, ...]]:
    """Look again: what was shown of the host counts as accepted, a branch as chosen."""
    if now.stage not in (Stage.BARRED, Stage.BASES, Stage.FAILED):
        raise Refused("It is being read already." if now.stage is Stage.READING else "It is over.")
    if now.stage is Stage.BASES and event.base not in now.branches:
        raise Refused("Tap the branch to start from.")
    again = replace(now, stage=Stage.READING, base=event.base or now.base, since=event.at)
    trust = now.fingerprint if now.stage is Stage.BARRED else ""
    return again, (take_in(again, project, trust),)
