"""What its owner edits in the chat: a line that still waits is replaced; a goal is put otherwise before
its lead begins, and offered to it after.

    before the lead's first turn   the goal's words, title and first prompt are the new ones
    after                          a card: the edit goes to the lead as a correction, or is left

Neighbours: taps.py settles that card, engine/rules/goal.py takes the new words.
"""

from __future__ import annotations

from engine.errors import Refused
from engine.requests.inside import Inside
from engine.rules import ask as ask_rule
from engine.rules.events import Asked, AskWithdrawn, GoalReworded, LineReworded
from engine.rules.goal_state import Goal
from engine.rules.rewording import has_begun, waits_for
from engine.rules.session_state import Session
from engine.rules.words import AskKind

GIVE_IT = "Give it to the lead"
REPLACED = "It will hear the new words, after this turn."
BEGINS = "Its lead begins with the new words."


class Edits(Inside):
    """Requests about what was said before."""

    async def reword_goal(self, goal: str, text: str, cause: str = "") -> dict[str, str]:
        """Put a goal otherwise: {"verdict": words}, "" where a card asks what becomes of the edit."""
        known = self._goal(goal)
        if not known.live:
            raise Refused("That goal is over: an edit changes nothing. /new gives another one.")
        if not text.strip():
            raise Refused("Nothing is left of that goal: it stays as it was. Stop ends it.")
        if text == known.text:
            return {"verdict": ""}
        lead = self._loop.state(f"session/{known.session}")
        if not isinstance(lead, Session) or not has_begun(lead):
            await self._loop.post(known.stream, GoalReworded(text=text), cause)
            return {"verdict": BEGINS}
        await self._offer(known, text, cause)
        return {"verdict": ""}

    async def reword_line(self, line: str, text: str, cause: str = "") -> dict[str, str]:
        """Put a line otherwise that its session has not heard yet: {"verdict": words}."""
        if not text.strip():
            raise Refused("Nothing is left of that line: it stays as it was.")
        for stream, found in self._loop.states("session").items():
            if isinstance(found, Session) and waits_for(found, line):
                await self._loop.post(stream, LineReworded(key=line, text=text), cause)
                return {"verdict": REPLACED}
        raise Refused("It was heard already, in its first version.")

    async def _offer(self, goal: Goal, text: str, cause: str) -> None:
        """Ask whether the lead is to have it; of several edits the last is asked about."""
        for stream, found in self._loop.states("ask").items():
            if isinstance(found, ask_rule.Ask) and _is_edit_of(found, goal.id):
                before = AskWithdrawn(why="you edited it again")
                await self._loop.post(stream, before, f"{cause}.{found.id}")
        asked = Asked(
            kind=AskKind.WHERE,
            goal=goal.id,
            teller="",
            title=ask_rule.EDITED,
            detail=text,
            options=((GIVE_IT, f"edit:{goal.id}"),),
        )
        await self._loop.post(f"ask/{await self._id('a')}", asked, cause)


def _is_edit_of(ask: ask_rule.Ask, goal: str) -> bool:
    is_open = ask.stage is ask_rule.Stage.OPEN
    return is_open and ask.goal == goal and ask.title == ask_rule.EDITED
