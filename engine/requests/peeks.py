"""Peek: what an agent does just now and did last, read from its machine when the owner looks.

Nothing is posted and nothing remembered. A machine that is away is no error here but an answer: the
owner asked to see something, and is told why it cannot be seen. Neighbours: engine/adapters/tail.py
(what a spool's end tells), engine/views.py (Peek), bot/text_live.py (its words).
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from engine.adapters import tail
from engine.adapters.agents import DRIVERS
from engine.adapters.machines import NodeRefused
from engine.errors import Refused, Unavailable, ended
from engine.requests.inside import Inside
from engine.rules import news, silence
from engine.rules.session_state import Session, Stage
from engine.rules.words import HERE
from engine.views import Document, Peek, SessionCard, WorkerCard

WAIT_S = 6.0  # for a machine to answer: the owner looks at the phone meanwhile
NOT_YET = "It has not begun yet: there is nothing to see."


class Peeks(Inside):
    """Requests that only look."""

    async def peek(self, card: str) -> Peek:
        """What the session behind a card does; of a worker that rests, its last words whole."""
        shown = self._cards.get(card)
        if not isinstance(shown, SessionCard | WorkerCard):
            raise Refused("That card is not there any more. /status shows what there is.")
        session = self._session_of(shown)
        who = (
            "The lead" if session is None else news.who(session.role, session.number, session.title)
        )
        found = Peek(who=who, goal=shown.goal)
        if isinstance(shown, WorkerCard) and not (session and session.live) and shown.said:
            text = "\n\n".join(part for part in (shown.said, shown.report) if part)
            return replace(found, words=Document(name=f"{shown.id}.md", text=text, caption=who))
        if session is None or not session.run or session.stage in (Stage.WANTING, Stage.STARTING):
            return replace(found, missing=NOT_YET)
        seen = await self._looked(found, session)
        waits = shown.waits[0].said if seen.running and shown.waits else ""
        return replace(seen, waits=waits)

    def _session_of(self, card: SessionCard | WorkerCard) -> Session | None:
        goal = self._goal(card.goal)
        pieces = (*goal.pieces, *goal.earlier)
        name = goal.session
        if isinstance(card, WorkerCard):
            name = next((piece.session for piece in pieces if piece.id == card.id), "")
        found = self._loop.state(f"session/{name}")
        return found if isinstance(found, Session) else None

    async def _looked(self, found: Peek, session: Session) -> Peek:
        name, driver = session.machine or HERE, DRIVERS.get(session.account.agent)
        machine = self._reached.get(name)
        if machine is None or driver is None:
            return replace(found, missing=f"{name} is no machine of ours any more.")
        try:
            async with asyncio.timeout(WAIT_S):
                seen = await tail.read(machine, driver, session.run)
        except NodeRefused as no:
            return replace(found, missing=f"{name}: {no.sentence}")
        except TimeoutError:
            return replace(found, missing=_away(name, f"it did not answer within {WAIT_S:.0f} s"))
        except Unavailable as away:
            return replace(found, missing=_away(name, away.sentence.removeprefix(f"{name}: ")))
        return replace(
            found,
            running=session.stage is Stage.RUNNING,
            doing=seen.doing,
            doing_s=max(0.0, seen.now - seen.since) if seen.doing else 0.0,
            silent_s=max(0.0, seen.now - seen.last_at) if seen.last_at else 0.0,
            silence=silence.shows(session),
            lines=seen.lines,
        )


def _away(machine: str, why: str) -> str:
    return (
        f"{machine} is away: {ended(why)} What runs there goes on; Peek shows it once the "
        "machine is back."
    )
