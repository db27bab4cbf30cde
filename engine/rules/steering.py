"""Now: the owner's lines that wait for a turn's end are said within it, where the agent can hear them.

    queue ── Now ──> steered ── LineTaken ──> taken      the agent read them beside a tool's result
                        └── the turn ends first ──> queue, and the next turn begins with them

Interrupted before it read them, the agent may begin a turn of its own with them, in the same run: they
are heard then, and the run goes on. If it does not within GOES_ON_S they open the next turn.

An agent that hears nothing while it works, or that waits for an answer just now, is interrupted
instead, and its next turn begins with the lines at once. Neither is an attempt of a worker's, and
neither pauses its piece. Part of session.py's rule; engine/adapters/runs.py writes the line.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import attached, news
from engine.rules.asking import held_by_run
from engine.rules.effects import InterruptRun, SteerRun, Tell
from engine.rules.events import HoldOver, TurnEnded
from engine.rules.session_state import Line, Session, Stage, Steered, Step, uuid_of
from engine.rules.words import TurnError

STEERABLE = frozenset({"claude", "rehearsal"})  # agents that hear a line in the middle of a turn
INTERRUPT_GRACE_S = 15.0
GOES_ON_S = 3.0


def waiting(now: Session) -> tuple[Line, ...]:
    """The owner's lines that wait for the turn's end."""
    return tuple(line for line in now.queue if line.source == "owner")


def may_say_now(now: Session) -> bool:
    ending = now.stopping or now.ending is TurnError.INTERRUPTED
    return now.stage is Stage.RUNNING and now.named and not ending and bool(waiting(now))


def is_heard_at_once(now: Session) -> bool:
    """Whether the agent hears the lines within its turn, without being interrupted."""
    answers = any(held_by_run(ask) for ask in now.asks)
    return now.account.agent in STEERABLE and now.named and not answers


def say_now(now: Session, at: float) -> Step:
    """Say the owner's lines in the running turn, or end it so that they open the next."""
    lines = waiting(now)
    if now.ending is TurnError.INTERRUPTED and now.stage is Stage.RUNNING:
        raise Refused("It is being interrupted already: what waits opens its next turn.")
    if now.stage is not Stage.RUNNING or now.stopping:
        raise Refused("Nothing is running here just now.")
    if not lines:
        raise Refused("It has your line already.")
    if not now.named:  # an interrupt now would take its task from it
        raise Refused("It is only just beginning: try again in a moment.")
    if not is_heard_at_once(now):
        return interrupt(now, at)
    key = uuid_of(f"{now.run} {at!r} {len(now.steered)}")
    rest = tuple(line for line in now.queue if line.source != "owner")
    after = replace(now, queue=rest, steered=(*now.steered, Steered(key, lines)))
    text = "\n\n".join(news.with_names(line.text, line.files) for line in lines)
    files = attached.merged(*(line.files for line in lines))
    return after, (SteerRun(run=now.run, machine=now.machine, key=key, text=text, files=files),)


def interrupt(now: Session, at: float) -> Step:
    """Have the agent end its turn; it is ended for it after a while."""
    if now.stage is not Stage.RUNNING or now.stopping:
        raise Refused("Nothing is running here just now.")
    if now.ending is TurnError.INTERRUPTED:
        raise Refused("It is being interrupted already.")
    hold = HoldOver(what="interrupt", run=now.run)
    return replace(now, ending=TurnError.INTERRUPTED), (
        InterruptRun(run=now.run, machine=now.machine),
        Tell(stream=now.stream, event=hold, due_at=at + INTERRUPT_GRACE_S),
    )


def ends_now(now: Session) -> bool:
    """Whether an interrupt still waits for the turn's end; one that goes on is not closed."""
    return now.ending is TurnError.INTERRUPTED


def heard(now: Session, key: str) -> Session:
    """The agent read the lines of this key: they belong to its turn."""
    lines = tuple(line for one in now.steered if one.key == key for line in one.lines)
    left = tuple(one for one in now.steered if one.key != key)
    after = replace(now, steered=left, taken=(*now.taken, *lines))
    if now.ended_early and lines:  # a turn of its own with them: no interrupt is left to wait for
        return replace(after, ended_early=False, ending=TurnError.NONE)
    return after


def may_go_on(now: Session, event: TurnEnded) -> bool:
    """Whether an interrupted agent has lines yet that it may take up by itself."""
    asked = event.kind is TurnError.INTERRUPTED and not now.stopping
    return asked and bool(now.steered) and not now.ended_early


def ended_early(now: Session, event: TurnEnded) -> Step:
    """Leave the run a moment to go on with what it was given, so that it is heard once."""
    kept = replace(
        now,
        ended_early=True,
        ending=TurnError.INTERRUPTED,
        said=event.text or now.said,
        cost_usd=now.cost_usd + event.cost_usd,
    )
    over = HoldOver(what="interrupt", run=now.run)
    return kept, (Tell(stream=now.stream, event=over, due_at=event.at + GOES_ON_S),)


def unheard(now: Session) -> Session:
    """The turn is over: what the agent did not get to opens the next one."""
    lines = tuple(line for one in now.steered for line in one.lines)
    return replace(now, steered=(), ended_early=False, queue=(*lines, *now.queue))
