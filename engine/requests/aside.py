"""The two buttons of what was set aside, and what /health says of it.

Neighbours: engine/board/aside_card.py (its cards), engine/loop.py (does it), taps.py (judges the tap).
"""

from __future__ import annotations

from engine import board
from engine.errors import Refused
from engine.requests.inside import Inside
from engine.views import AnyCard

DAY_S = 24 * 3600.0
GONE = "That is not set aside any more."


class Aside(Inside):
    """Requests about streams that were set aside."""

    def _asides(self) -> list[AnyCard]:
        return board.aside_cards(self.world(), self._loop.broken())

    def _asides_in_words(self) -> list[str]:
        """What /health says."""
        return [
            f"{board.named(self.world(), stream)}{' (left by you)' if found.dropped else ''}: "
            f"{found.why}"
            for stream, found in sorted(self._loop.broken().items())
        ]

    async def _given_up_in_words(self) -> list[str]:
        """What /health says of orders that were given up within a day; their own cards have the Retry."""
        found = await self._loop.given_up(self._clock() - DAY_S)
        return [
            f"{board.named(self.world(), stream)}: {event.effect} {event.about}: {event.why}"
            for stream, event in found
        ]

    async def _about_aside(self, card: AnyCard, verb: str) -> str:
        for stream, found in self._loop.broken().items():
            if board.aside_id(stream, found) == card.id and verb == "retry":
                await self._loop.retry_stream(stream)
                return "Decided once more"
            if board.aside_id(stream, found) == card.id:
                await self._loop.drop_stream(stream)
                return "Left: nothing of it is done any more"
        raise Refused(GONE)
