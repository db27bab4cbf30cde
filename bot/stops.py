"""Stop and Resume without saying of what: the only one there is, or a panel that offers all.

    /stop, /resume ─> one that can be meant: done    several ─> a button for each, and All

Neighbours: commands.py hands over what was typed, engine/requests/goals.py does it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot import text_stops
from bot.panels import At, Then, verdict
from bot.text import Words
from engine.views import AnyCard, SessionCard


def meant_by(verb: str, cards: Iterable[AnyCard]) -> list[SessionCard]:
    """Return the goals that can be stopped, or that can go on."""
    return [card for card in cards if isinstance(card, SessionCard) and verb in card.buttons]


class Which:
    """Panels `stop` and `resume`: which goal is meant."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def words(self, at: At) -> Words:
        return text_stops.which(self.name, meant_by(self.name, at.live()))

    async def press(self, at: At, verb: str, line: str) -> Then:
        found = {card.id: card for card in meant_by(self.name, at.live())}
        if verb == "all":
            return Then(closed=verdict(await at.do(self.name, goal="")))
        if verb not in found:
            return Then(said=text_stops.OVER, alert=True)
        told = verdict(await at.do(self.name, goal=verb))
        return Then(closed=text_stops.named(told, found[verb].title))
