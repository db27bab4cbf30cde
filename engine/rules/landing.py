"""How finished pieces enter their lead's branch, one at a time: merge, check, land.

    QUEUED -> MERGING -> CHECKING -> LANDING -> landed
                 ^                      |
                 +--- the head moved ---+     any failure -> returned to its worker

One stream for each lead branch. The commit that is checked is the commit that lands. A red check is
run once more on the same commit before it counts; an entry that cannot be judged is returned, and
the queue goes on past it. Pure: engine/adapters/hub.py and runs.py act for it.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.rules.effects import AnyEffect, Check, CloseRun, Land, Merge, Tell
from engine.rules.events import (
    Checked,
    GaveUp,
    Landed,
    LandingCalled,
    LandingDropped,
    LandingEvent,
    Merged,
    PieceLanded,
    PieceReturned,
)
from engine.rules.words import CheckVerdict

MAX_RACES = 3
MAX_UNJUDGED = 2


class Stage(StrEnum):
    QUEUED = "queued"
    MERGING = "merging"
    CHECKING = "checking"
    LANDING = "landing"


class Entry(Struct, frozen=True, kw_only=True):
    """One piece on its way in."""

    piece: str
    project: str
    session: str
    commit: str
    title: str
    number: int = 0  # of the call: the same commit called again is checked again
    check: str = ""
    setup: str = ""
    stage: Stage = Stage.QUEUED
    merged: str = ""  # the commit made, checked and swapped in
    onto: str = ""
    races: int = 0
    tries: int = 1  # of the check on this commit
    unjudged: int = 0
    dropped: bool = False  # stopped while it was being swapped in


class Landing(Struct, frozen=True, tag=True, kw_only=True):
    """The queue of one lead branch; only its first entry is under way."""

    goal: str
    entries: tuple[Entry, ...] = ()
    calls: int = 0

    @property
    def current(self) -> Entry | None:
        return self.entries[0] if self.entries else None


Step = tuple[Landing, tuple[AnyEffect, ...]]


def begin(name: str) -> Landing:
    return Landing(goal=name)


def decide(now: Landing, event: LandingEvent) -> Step:
    """Return where the queue stands after `event`, and what must now be done about it."""
    entry = now.current
    match event:
        case LandingCalled():
            return _call(now, event)
        case LandingDropped(piece=piece):
            return _drop(now, piece)
        case Merged(piece=piece) if entry and _is(entry, piece, Stage.MERGING):
            return _merged(now, entry, event)
        case Checked(piece=piece, commit=commit) if (
            entry and _is(entry, piece, Stage.CHECKING) and commit == entry.merged
        ):
            return _checked(now, entry, event.verdict)
        case Landed(piece=piece, commit=commit) if (
            entry and _is(entry, piece, Stage.LANDING) and commit == entry.merged
        ):
            return _landed(now, entry, event)
        case GaveUp(effect=effect, about=about, why=why) if entry and _owed(entry) == (
            effect,
            about,
        ):
            return _return(now, entry, why, broken=True)
        case _:
            return now, ()  # late news about a commit we gave up: kept in the log, changes nothing


def _is(entry: Entry, piece: str, stage: Stage) -> bool:
    return entry.piece == piece and entry.stage is stage


def _owed(entry: Entry) -> tuple[str, str]:
    """The effect an entry waits for, and what it is about, as a GaveUp names them."""
    match entry.stage:
        case Stage.MERGING:
            return Merge.__name__, entry.piece
        case Stage.CHECKING:
            return Check.__name__, check_run(entry)
        case Stage.LANDING:
            return Land.__name__, entry.piece
        case Stage.QUEUED:
            return "", ""


def _call(now: Landing, event: LandingCalled) -> Step:
    if any(e.piece == event.piece and e.commit == event.commit for e in now.entries):
        return now, ()
    entry = Entry(
        piece=event.piece,
        project=event.project,
        session=event.session,
        commit=event.commit,
        title=event.title,
        number=now.calls + 1,
        check=event.check,
        setup=event.setup,
    )
    return _next(replace(now, entries=(*now.entries, entry), calls=entry.number))


def _next(now: Landing) -> Step:
    entry = now.current
    if entry is None or entry.stage is not Stage.QUEUED:
        return now, ()
    return _merge(now, entry)


def _with(now: Landing, entry: Entry) -> Landing:
    return replace(now, entries=(entry, *now.entries[1:]))


def _merge(now: Landing, entry: Entry) -> Step:
    merging = replace(entry, stage=Stage.MERGING, merged="", onto="", tries=1)
    merge = Merge(
        goal=now.goal,
        project=entry.project,
        piece=entry.piece,
        commit=entry.commit,
        title=entry.title,
    )
    return _with(now, merging), (merge,)


def _merged(now: Landing, entry: Entry, event: Merged) -> Step:
    if event.failure:
        return _return(now, entry, event.failure, conflict=event.conflict)
    merged = replace(entry, merged=event.commit, onto=event.onto)
    return _check(now, merged) if entry.check else _land(now, merged)


def _check(now: Landing, entry: Entry) -> Step:
    checking = replace(entry, stage=Stage.CHECKING)
    check = Check(
        run=check_run(entry),
        project=entry.project,
        commit=entry.merged,
        command=entry.check,
        setup=entry.setup,
        teller=f"landing/{now.goal}",
        about=entry.piece,
        session=entry.session,
    )
    return _with(now, checking), (check,)


def check_run(entry: Entry) -> str:
    """The id of the check that runs for an entry: another one for each call and each try.

    A merge of the same two commits is the same commit, and a run's verdict is heard only once.
    """
    tried = f"{entry.number}.{entry.races}-{entry.tries}.{entry.unjudged}"
    return f"check-{entry.piece}-{entry.merged[:12]}-{tried}"


def _checked(now: Landing, entry: Entry, verdict: CheckVerdict) -> Step:
    if verdict.failure and entry.unjudged + 1 < MAX_UNJUDGED:
        return _check(now, replace(entry, unjudged=entry.unjudged + 1))
    if verdict.failure:
        return _return(now, entry, verdict.failure, report=verdict.report, broken=True)
    if verdict.passed:
        return _land(now, entry)
    if entry.tries == 1:
        return _check(now, replace(entry, tries=2))
    return _return(now, entry, f"check failed: {verdict.summary}", report=verdict.report)


def _land(now: Landing, entry: Entry) -> Step:
    landing = replace(entry, stage=Stage.LANDING)
    land = Land(
        goal=now.goal,
        project=entry.project,
        piece=entry.piece,
        commit=entry.merged,
        onto=entry.onto,
    )
    return _with(now, landing), (land,)


def _landed(now: Landing, entry: Entry, event: Landed) -> Step:
    if event.moved and entry.dropped:
        return _next(replace(now, entries=now.entries[1:]))
    if event.moved and entry.races < MAX_RACES:
        return _merge(now, replace(entry, races=entry.races + 1))
    if event.moved:
        why = f"the branch moved {MAX_RACES + 1} times while it was landing"
        return _return(now, entry, why, broken=True)
    landed = PieceLanded(
        piece=entry.piece,
        head=event.head,
        commit=entry.commit,
        checked="its check passed" if entry.check else "the project has no check",
    )
    return _leave(now, Tell(stream=f"goal/{now.goal}", event=landed))


def _return(
    now: Landing,
    entry: Entry,
    why: str,
    *,
    report: str = "",
    conflict: bool = False,
    broken: bool = False,
) -> Step:
    returned = PieceReturned(
        piece=entry.piece, why=why, report=report, conflict=conflict, broken=broken
    )
    return _leave(now, Tell(stream=f"goal/{now.goal}", event=returned))


def _leave(now: Landing, told: Tell) -> Step:
    after, effects = _next(replace(now, entries=now.entries[1:]))
    return after, (told, *effects)


def _drop(now: Landing, piece: str) -> Step:
    """Take one piece, or all, out; what is being swapped in right now is past stopping."""
    gone = [entry for entry in now.entries if piece in ("", entry.piece)]
    kept = tuple(
        replace(entry, dropped=True) if entry in gone else entry
        for entry in now.entries
        if entry not in gone or entry.stage is Stage.LANDING
    )
    checks = tuple(
        CloseRun(run=check_run(entry), session=entry.session)
        for entry in gone
        if entry.stage is Stage.CHECKING
    )
    after, effects = _next(replace(now, entries=kept))
    return after, (*checks, *effects)
