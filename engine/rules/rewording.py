"""A goal put otherwise after it was given: the lead's first prompt, while the agent has not had it.

Part of session.py's rule; goal.py keeps the goal's own words, engine/requests/edits.py asks the owner
where the lead has begun.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.rules.events import PromptReworded
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
