"""What the owner put otherwise after it was said, while the agent has not had it: the goal, or a line.

Part of session.py's rule; goal.py keeps the goal's own words, engine/requests/edits.py asks the owner
where the lead has begun.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.events import LineReworded, PromptReworded
from engine.rules.session_state import Line, Session


def has_begun(now: Session) -> bool:
    """Whether the agent was given the goal, or may be at any moment."""
    waits = any(line.source == "goal" for line in now.queue)
    return now.resumable or now.live or (now.turn > 0 and not waits)


def reworded(now: Session, event: PromptReworded) -> Session:
    """Put the new words where the old ones stand at the end of the first prompt."""

    def anew(text: str) -> str:
        return f"{text.removesuffix(event.old)}{event.text}" if text.endswith(event.old) else text

    queue = tuple(
        Line(anew(line.text), line.source, line.files) if line.source == "goal" else line
        for line in now.queue
    )
    return replace(now, queue=queue, brief=anew(now.brief), title=event.title)


def line_reworded(now: Session, event: LineReworded) -> Session:
    """Put the new words in the place of a line that waits for the next turn.

    raises  Refused when it was heard already
    """
    if not waits_for(now, event.key):
        raise Refused("It was heard already, in its first version.")
    queue = tuple(
        replace(line, text=event.text) if line.key == event.key else line for line in now.queue
    )
    return replace(now, queue=queue)


def waits_for(now: Session, key: str) -> bool:
    """Whether the line of this message is still to be heard."""
    return bool(key) and any(line.key == key for line in now.queue)
