"""A decision that nobody took is said once more: one message a goal, naming all that wait there.

A phone rings once for each question, and a question may come while its owner is away. After half an
hour the goal's open ones are named together, as a reply to the oldest; each is repeated once and
never again. None comes in quiet hours: morning.py names what waits when they end, and that was the
one time. What is known lies in cards.py and outbox.py; that it was said is kept in stores/cards.py,
so that a restart repeats nothing.
"""

import asyncio

from bot import text
from bot.cards import Cards
from bot.outbox import HUSHED, Outbox
from bot.unsaid import Say, Weight, packed
from engine.views import AnyCard, SessionCard
from stores.cards import CardStore

AFTER_S = 1800.0
LOOK_S = 60.0


class Reminders:
    """Looks at what waits, now and then."""

    def __init__(self, outbox: Outbox, store: CardStore, cards: Cards) -> None:
        self._outbox = outbox
        self._store = store
        self._cards = cards
        self._told: set[str] = set()
        self._woken_at = 0.0

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Repeat what has waited long enough."""
        if self._outbox.quiet_until():
            return
        self._woken_at = float(await self._store.fact(HUSHED) or 0)
        goals: dict[str, list[AnyCard]] = {}
        for card in self._cards.live.values():
            if self._waits(card):
                goals.setdefault(card.goal, []).append(card)
        for waiting in goals.values():
            if any([await self._due(card) for card in waiting]):
                await self._repeat(sorted(waiting, key=lambda card: card.at))

    def _waits(self, card: AnyCard) -> bool:
        """Return whether the owner can answer this card, and its goal was not stopped by them."""
        shown, session = self._outbox.shown.get(card.id), self._cards.live.get(card.goal)
        stopped = isinstance(session, SessionCard) and session.stage == "stopped"
        asked = shown is not None and shown.asked and shown.revision == card.revision
        return card.asks and not card.decided and asked and not stopped

    async def _due(self, card: AnyCard) -> bool:
        name = _name(card)
        # Counted from when it could be seen: the bot may have been away.
        since = max(card.at, self._outbox.shown[card.id].at)
        in_the_catch_up = since <= self._woken_at
        if name in self._told or in_the_catch_up or self._outbox.wall() - since < AFTER_S:
            return False
        if await self._store.fact(name):
            self._told.add(name)
            return False
        return True

    async def _repeat(self, waiting: list[AnyCard]) -> None:
        oldest = waiting[0]
        shown = self._outbox.shown[oldest.id]
        say = Say(
            words=text.reminder(waiting, self._cards.zone),
            goal=oldest.goal,
            card=oldest.id,
            sounds=True,
            reply_to=shown.message_id,
        )
        queue = packed(shown.chat, Weight.DECISION, [say])
        # Those named here get no message of their own; the first that is new brings it.
        for name in map(_name, waiting):
            if name not in self._told and await self._store.first(
                name, queue, self._outbox.take_up
            ):
                queue = []
            self._told.add(name)


def _name(card: AnyCard) -> str:
    return f"reminded {card.id} {card.revision}"
