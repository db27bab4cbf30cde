"""What goes on after a turn that was cut off: a note of how far it had got, and what was not heard.

    RunExited, without the agent's own end ──> the tools it had open ──> a note that opens the next turn
                                           └─> what it was given, if it may never have kept that

The result of a tool that was open is nobody's to know: the agent is told to look before it repeats it. One
that waited for its owner's answer has not run. Part of session.py's rule. Neighbours: turn_ends.py and
killed.py (which ends are none of the agent's own), news.py (the note), board/doing.py (the owner's words),
engine/adapters/at_work.py (who knows what was open).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules import news
from engine.rules.asking import held_by_run
from engine.rules.events import RunExited
from engine.rules.session_state import Line, Session
from engine.rules.words import LeftOff, TurnError

EARLY_S = 2.0  # an agent puts what it is given on disk a moment after it has taken it up


def judged(now: Session, left: LeftOff | None) -> LeftOff:
    """Tell of the open tools those that waited for the owner; of `now` before its asks are withdrawn."""
    left = left or LeftOff()
    asked = {ask.use for ask in now.asks if held_by_run(ask) and ask.use}
    return replace(left, tools=tuple(replace(tool, waits=tool.use in asked) for tool in left.tools))


def opening(now: Session, event: RunExited, why: str) -> tuple[Line, ...]:
    """What the next turn begins with: the note, and what the agent was given but may not have kept."""
    left = event.left or LeftOff()
    early = now.named and left.went_s is not None and left.went_s < EARLY_S
    note = Line(
        news.cut_off(
            why,
            silent=now.ending is TurnError.SILENT,
            left=left,
            at=event.at,
            again=early and bool(now.taken),
        ),
        "plain code",
    )
    if not now.named:
        return (*now.taken, note)
    return (note, *now.taken) if early else (note,)


def was_open(now: Session, event: RunExited, why: str) -> tuple[Line, ...]:
    """What a failed turn's next try must hear first: the tools that were open as it failed."""
    if event.left is None or not (event.left.tools or event.left.unread) or not now.named:
        return ()
    return (Line(news.cut_off(why, silent=False, left=event.left, at=event.at), "plain code"),)


def during(left: LeftOff | None) -> str:
    """What the agent was at, in few words for its owner: " during Bash: make", or nothing."""
    if left is None or not left.tools:
        return ""
    more = len(left.tools) - 1 + left.more
    return f" during {left.tools[0].brief}{f' and {more} more' if more else ''}"
