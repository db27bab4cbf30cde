"""The way of a reviewed branch to its base branch, and the push.

    PROCEED -> TAKING -> CHECKING -> READY -> PUSHING -> SHIPPED
       ^          ^                    |         |
       |          +--- the remote moved ---------+     Cancel -> CANCELLED
       +---------- any failure, with the remote's words      (Cancel: at any time before Push)
    TAKING, a conflict -> HANDED_BACK: the lead has it mended and puts the whole again

Nothing leaves before Push, and what is pushed is the commit that was checked, only onto the remote
head it was checked against. A remote that moved is taken in, checked again and put back to the
owner. Pure: engine/adapters/hub.py and runs.py act for it.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Check, CloseRun, Push, TakeRemote, Tell
from engine.rules.events import (
    GaveUp,
    GoalShipped,
    PushDone,
    ShipCancelled,
    ShipChecked,
    ShipEvent,
    ShipFailed,
    ShipOpened,
    ShipProceeded,
    ShipPushed,
    ShipTaken,
)
from engine.rules.words import CheckVerdict


class Stage(StrEnum):
    PROCEED = "proceed"
    TAKING = "taking"
    CHECKING = "checking"
    READY = "ready"
    PUSHING = "pushing"
    SHIPPED = "shipped"
    CANCELLED = "cancelled"
    HANDED_BACK = "handed back"


BEFORE_PUSH = (Stage.PROCEED, Stage.TAKING, Stage.CHECKING, Stage.READY)


class Ship(Struct, frozen=True, tag=True, kw_only=True):
    """Where one shipping stands; `id` changes with each review."""

    goal: str
    id: str = ""
    review: str = ""
    project: str = ""
    base: str = ""
    base_commit: str = ""
    head: str = ""
    check: str = ""
    setup: str = ""
    stage: Stage = Stage.CANCELLED
    commit: str = ""  # what would be pushed
    expected: str = ""  # the remote's head it was checked against
    beside: int = 0  # commits of the owner's own that go along
    moved: bool = False
    rounds: int = 0
    summary: str = ""  # of the check
    why: str = ""  # it is back at Proceed, or with the lead
    words: str = ""  # foreign ones that belong to it: the remote's, the check's
    failed: Stage | None = None  # where it came back from
    where: str = ""
    decided_at: float = 0.0


Result = tuple[Ship, tuple[AnyEffect, ...]]


def begin(name: str) -> Ship:
    return Ship(goal=name)


def decide(now: Ship, event: ShipEvent) -> Result:
    """Return where the shipping stands after `event`, and what must now be done about it."""
    match event:
        case ShipOpened() if now.stage in (Stage.CANCELLED, Stage.HANDED_BACK):
            return _open(now, event), ()
        case ShipProceeded() if now.stage is Stage.PROCEED:
            return _take(replace(now, why="", words="", failed=None))
        case ShipProceeded():
            raise Refused(_already(now))
        case ShipTaken() if now.stage is Stage.TAKING:
            return _taken(now, event)
        case ShipChecked(commit=commit) if now.stage is Stage.CHECKING and commit == now.commit:
            return _checked(now, event.verdict)
        case ShipPushed() if now.stage is Stage.READY:
            return _push(now, event.at)
        case ShipPushed():
            raise Refused(_already(now))
        case PushDone(commit=commit) if now.stage is Stage.PUSHING and commit == now.commit:
            return _pushed(now, event)
        case ShipCancelled() if now.stage in BEFORE_PUSH:
            return _cancel(now, event.at)
        case ShipCancelled():
            raise Refused(_already(now))
        case GaveUp(why=why) if now.stage in (Stage.TAKING, Stage.CHECKING, Stage.PUSHING):
            back, orders = _back(now, why)
            return (replace(back, failed=None) if event.untried else back), orders
        case _:
            return now, ()


def _cancel(now: Ship, at: float) -> Result:
    """Nothing was pushed; what is under way is ended, and its late news change nothing."""
    told = Tell(stream=f"goal/{now.goal}", event=ShipFailed(why="cancelled", cancelled=True))
    cancelled = replace(now, stage=Stage.CANCELLED, decided_at=at)
    if now.stage is Stage.CHECKING:
        return cancelled, (CloseRun(run=check_run(now), machine="here", grace_s=0.0), told)
    return cancelled, (told,)


def _already(now: Ship) -> str:
    return {
        Stage.PROCEED: "Not ready to push yet: press Proceed first.",
        Stage.TAKING: "Already on its way: the remote is being read.",
        Stage.CHECKING: "Already on its way: the check runs.",
        Stage.READY: "Ready to push: press Push or Cancel.",
        Stage.PUSHING: "Already pushing.",
        Stage.SHIPPED: "Already shipped.",
        Stage.CANCELLED: "Cancelled: press Ship on the review to begin again.",
        Stage.HANDED_BACK: "Its lead mends a conflict first; then you get a new review.",
    }[now.stage]


def _open(now: Ship, event: ShipOpened) -> Ship:
    return Ship(
        goal=now.goal,
        id=event.ship,
        review=event.review,
        project=event.project,
        base=event.base,
        base_commit=event.base_commit,
        head=event.head,
        check=event.check,
        setup=event.setup,
        stage=Stage.PROCEED,
        rounds=now.rounds,
    )


def _take(now: Ship) -> Result:
    taking = replace(now, stage=Stage.TAKING, rounds=now.rounds + 1)
    take = TakeRemote(
        goal=now.goal,
        project=now.project,
        base=now.base,
        base_commit=now.base_commit,
        head=now.head,
    )
    return taking, (take,)


def _taken(now: Ship, event: ShipTaken) -> Result:
    if event.conflict:
        told = ShipFailed(why=event.failure, moved_to=event.remote_head)
        back = replace(
            now, stage=Stage.HANDED_BACK, why=event.failure, failed=now.stage, decided_at=event.at
        )
        return back, (Tell(stream=f"goal/{now.goal}", event=told),)
    if event.failure:
        return _back(now, event.failure)
    taken = replace(
        now,
        commit=event.commit,
        expected=event.remote_head,
        beside=event.beside,
        moved=now.moved or event.moved,
    )
    if not now.check:
        return replace(taken, stage=Stage.READY, summary="the project has no check"), ()
    check = Check(
        run=check_run(taken),
        project=now.project,
        commit=event.commit,
        command=now.check,
        setup=now.setup,
        teller=f"ship/{now.goal}",
        about=now.id,
    )
    return replace(taken, stage=Stage.CHECKING), (check,)


def check_run(now: Ship) -> str:
    """The id of the check that runs: another one for each Proceed."""
    return f"check-{now.id}-{now.commit[:12]}-{now.rounds}"


def _checked(now: Ship, verdict: CheckVerdict) -> Result:
    if verdict.passed:
        return replace(now, stage=Stage.READY, summary=verdict.summary), ()
    why = verdict.failure or f"the check failed ({verdict.summary})"
    return _back(replace(now, summary=verdict.summary), why, verdict.report)


def _push(now: Ship, at: float) -> Result:
    push = Push(
        goal=now.goal,
        project=now.project,
        base=now.base,
        commit=now.commit,
        expected=now.expected,
    )
    return replace(now, stage=Stage.PUSHING, decided_at=at), (push,)


def _pushed(now: Ship, event: PushDone) -> Result:
    if event.landed:
        shipped = replace(now, stage=Stage.SHIPPED, where=event.where)
        told = GoalShipped(commit=now.commit, where=event.where)
        return shipped, (Tell(stream=f"goal/{now.goal}", event=told),)
    if event.moved:
        return _take(replace(now, moved=True))
    why = "the push was refused" if event.words else "the push was refused without a word"
    return _back(now, why, event.words)


def _back(now: Ship, why: str, words: str = "") -> Result:
    return replace(now, stage=Stage.PROCEED, why=why, words=words, failed=now.stage), ()
