"""Tasks of an agent's own that outlast its turn: its run is kept for them, and its last words follow.

    turn ended, 2 tasks run ──> kept ──> none runs, and nothing more is said ──> seen out
                                  ├────> the agent takes up again: its turn goes on, and ends anew
                                  └────> HOLD_S, Interrupt, Stop ──> seen out all the same

What the turn said is shown at once. An agent that hears of its tasks' end begins anew by itself, which
takes it a moment: LAST_S. Part of session.py's rule. Neighbours: turn_ends.py (how it is seen out),
board/doing.py (what the card says meanwhile).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import news
from engine.rules.asking import HOLD_S
from engine.rules.effects import AnyEffect, Say, Tell
from engine.rules.events import HoldOver, RunBusy, RunExited, TurnEnded
from engine.rules.session_state import Session, Stage, Step
from engine.rules.turn_ends import ended, last_words
from engine.rules.words import TurnError

LAST_S = 60.0


def outlast(now: Session, end: TurnEnded) -> bool:
    """Whether a turn that ended well leaves tasks behind, in a run that nobody is ending."""
    going_on = now.stage is Stage.RUNNING and not now.stopping and now.ending is TurnError.NONE
    return going_on and now.tasks > 0 and end.kind is TurnError.NONE


def keep(now: Session, end: TurnEnded) -> Step:
    """Believe what the turn said, and leave its run alone."""
    kept = replace(
        now,
        kept_end=end,
        said=end.text or now.said,
        cost_usd=now.cost_usd + end.cost_usd,
    )
    return kept, (*last_words(now, end), _again(now, end.at + HOLD_S))


def counted(now: Session, event: RunBusy) -> Step:
    """Hear how many run; with the last of them over, its agent has a moment to say more."""
    after = replace(now, tasks=event.tasks, tasks_at=event.at)
    if now.kept_end is None or event.tasks:
        return after, ()
    return after, (_again(now, event.at + LAST_S),)


def looked(now: Session, at: float) -> Step:
    """See the run out if its time is over."""
    if now.kept_end is None:
        return now, ()
    is_set_back = at < now.kept_end.at  # the clock: what was to come then would never come
    if at < _until(now, now.kept_end) and not is_set_back:
        return now, ()
    told: tuple[AnyEffect, ...] = ()
    if now.tasks:
        who = news.who(now.role, now.number, now.title)
        words = (
            f"{who}: {counted_words(now.tasks)} {HOLD_S / 60:.0f} min after its turn had ended; "
            "ended with it."
        )
        told = (Say(goal=now.goal, kind="warning", text=words),)
    after, effects = see_out(now, at)
    return after, (*told, *effects)


def see_out(now: Session, at: float) -> Step:
    """End the turn with what it said before: shown already, and paid for."""
    end = now.kept_end or TurnEnded(run=now.run)
    return ended(replace(now, kept_end=None), replace(end, cost_usd=0.0, at=at), shown=True)


def exited(now: Session, event: RunExited) -> Session:
    """A run that went by itself is over; one that was cut off had work to do still."""
    if now.kept_end is None or now.over or event.code:
        return now
    return replace(now, over=now.kept_end)


def counted_words(tasks: int) -> str:
    if not tasks:
        return "its own tasks are over: its last words follow"
    runs = "task of its own still runs" if tasks == 1 else "tasks of its own still run"
    return f"{tasks} {runs}"


def _until(now: Session, end: TurnEnded) -> float:
    return end.at + HOLD_S if now.tasks else max(end.at, now.tasks_at) + LAST_S


def _again(now: Session, due_at: float) -> Tell:
    return Tell(stream=now.stream, event=HoldOver(what="tasks", run=now.run), due_at=due_at)
