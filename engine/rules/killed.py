"""An agent that was killed from outside, as the kernel does for want of memory: no second one at once.

    killed ──> PARKED, PAUSE_S ──> asks for a place where memory is free (starts.py) ──> goes on, once
                    │                      killed again ──> its card asks: Retry
                    └── Resume ──> goes on now

Who takes up at once what was just killed for memory has the next one killed. Not meant are signals that
end a machine or a service in order, nor runs whose runner went too: those go on at once (turn_ends.py).
Part of session.py's rule. Neighbours: engine/adapters/reading.py tells of the signal, board/waits.py shows
the wait.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import cut_off, news
from engine.rules.effects import Say, Tell
from engine.rules.events import HoldOver, RunExited
from engine.rules.session_state import Session, Stage, Step, next_turn
from engine.rules.words import TurnError

PAUSE_S = 5 * 60.0
MAX_KILLS = 1  # that are followed by a turn of their own accord
KILL = 9
IN_ORDER = (1, 2, 15)  # hang-up, interrupt, termination
BY_SIGNAL = "killed by signal "


def was_killed(event: RunExited) -> bool:
    return event.signal > 0 and event.signal not in IN_ORDER


def words(event: RunExited, during: str = "") -> str:
    """Say what killed it, as far as can be known, and in what."""
    memory = ", perhaps for want of memory" if event.signal == KILL else ""
    ran = "1 agent" if event.beside == 1 else f"{event.beside} agents"
    return f"{BY_SIGNAL}{event.signal}{during}{memory}: {ran} ran there"


def parked(now: Session, event: RunExited) -> Step:
    """Wait for better times with a note for the turn to come."""
    until = event.at + PAUSE_S
    opening = cut_off.opening(now, event, words(event))
    why = words(event, cut_off.during(event.left))
    waiting = replace(
        now,
        stage=Stage.PARKED,
        kills=now.kills + 1,
        ending=TurnError.NONE,
        taken=(),
        queue=(*opening, *now.queue),
        left=event.left,
        parked_until=until,
        why=why,
    )
    who = news.who(now.role, now.number, now.title)
    said = (
        f"{who} was {why}. It goes on by itself in {PAUSE_S / 60:.0f} min, if memory is free then; "
        "Resume on its goal's card goes on at once."
    )
    wake = Tell(stream=now.stream, event=HoldOver(what="killed", run=now.run), due_at=until)
    return waiting, (Say(goal=now.goal, kind="warning", text=said), wake)


def rests(now: Session) -> bool:
    """Whether a session waits after it was killed."""
    return now.stage is Stage.PARKED and now.why.startswith(BY_SIGNAL)


def goes_on(now: Session) -> Step:
    """Ask for a place again; the fleet looks at the memory first."""
    return next_turn(replace(now, stage=Stage.IDLE, why="", parked_until=0.0))
