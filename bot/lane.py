"""One chat's lane: one call at a time, the weightiest first.

Part of outbox.py. Neighbours: lane_cards.py and lane_lines.py make the calls, places.py says where to,
chat.py keeps what was tried.
"""

from __future__ import annotations

import asyncio

from bot.chat import Chat, Queue
from bot.lane_cards import LaneCards
from bot.lane_lines import LaneLines
from bot.pace import TICK_S
from bot.places import Places
from bot.titles import Title
from bot.unsaid import HEARD, SETTLED, Item, Wanted, Weight
from stores.cards import Line, Told


class Lane:
    """What goes next in one chat, and when."""

    def __init__(self, outbox: Queue, chat: int) -> None:
        self.chat = chat
        self.wake = asyncio.Event()
        self.busy = False
        self._chat = Chat(outbox, chat)
        self.places = Places(self._chat)
        self._cards = LaneCards(self._chat, self.places)
        self._lines = LaneLines(self._chat, self.places)

    def take_up(self, line: Line, item: Item) -> None:
        """Hear of a line to be said here."""
        self._lines.take_up(line, item)
        self.wake.set()

    async def open(self) -> None:
        """Read what was left of an earlier start."""
        await self._chat.open()

    def saw(self, message_id: int) -> None:
        """Hear of a message that is in the chat."""
        self._chat.lost.saw(message_id)

    def found(self, card: str, message_id: int) -> None:
        """Hear which message a card is, if it was looked for."""
        self._chat.lost.forget(card)
        self._chat.lost.saw(message_id)

    def perhaps(self) -> set[str]:
        """Return the cards that may be shown here, though nobody noted it."""
        return self._chat.lost.cards()

    def asked_by(self, message_id: int) -> Told | None:
        """Return the prompt that a message may be whose sending nobody saw the end of."""
        return self._lines.asked_by(message_id)

    def unblocked(self) -> None:
        """Hear that the owner wrote here."""
        if self._chat.blocked:
            self._chat.blocked = False
            self._chat.pace.held_until = 0.0
            self.wake.set()

    async def run(self) -> None:
        while True:
            self.wake.clear()
            wait_s = await self.step()
            if wait_s == 0:
                continue
            try:
                async with asyncio.timeout(wait_s):
                    await self.wake.wait()
            except TimeoutError:
                continue

    def want(self, card: str) -> None:
        """Hear that a card shown here is wanted otherwise."""
        self._chat.since.setdefault(card, self._chat.outbox.clock())
        self.wake.set()

    async def step(self) -> float | None:
        """Make at most one call; return the seconds until the next one may be due, None: never."""
        now = self._chat.outbox.clock()
        wait_s = self.next_due(now)
        if wait_s != 0:
            return wait_s
        job = self._best(now)
        self.busy = True
        try:
            if isinstance(job, Wanted):
                await self._cards.show(job, now)
            elif isinstance(job, Title):
                await self.places.rename(job, now)
            elif job is not None:
                await self._lines.say(job, now)
        finally:
            self.busy = False
        return 0

    def next_due(self, now: float) -> float | None:
        """Return the seconds until something can be said: 0 now, None nothing is waiting."""
        waits = [self._wait_s(job, now) for job in self._jobs()]
        if not waits:
            return None
        wait_s = min(waits)
        return wait_s if wait_s > TICK_S else 0.0

    def _best(self, now: float) -> Line | Wanted | Title | None:
        ready = [job for job in self._jobs() if self._wait_s(job, now) <= TICK_S]
        return min(ready, key=self._rank) if ready else None

    def _jobs(self) -> list[Line | Wanted | Title]:
        """Return what may go: while one message may be in the chat unseen, nothing that adds another.

        So at most one is looked for at a time, and what turns out to be ours is that one.
        """
        lines, cards = self._lines.in_order(), self._cards.lagging()
        titles = self.places.titles.jobs()
        lost_lines = list(filter(self._lines.is_looked_for, lines))
        lost_cards = list(filter(self._cards.is_looked_for, cards))
        if lost_lines or lost_cards:
            return [*lost_lines, *lost_cards, *filter(self._lines.adds_nothing, lines), *titles]
        return [*lines, *cards, *titles]

    def _wait_s(self, job: Line | Wanted | Title, now: float) -> float:
        match job:
            case Line():
                due = max(self._chat.due(job.id), self._lines.held(job))
            case Title():
                due = self.places.titles.due(job)
            case _:
                due = self._cards.due(job)
        return max(
            due - now, self._chat.pace.wait(now, urgent=self._rank(job)[0] < Weight.PROGRESS)
        )

    def _rank(self, job: Line | Wanted | Title) -> tuple[float, float]:
        """Return what is said first: the lowest."""
        if isinstance(job, Line):
            return self._lines.weight(job), self._chat.since.get(job.id, 0.0)
        if isinstance(job, Title):
            return float(Weight.PROGRESS), self.places.titles.since(job)
        weight = float(job.weight)
        if self._cards.settles(job):
            weight = SETTLED
        elif job.weight is Weight.DECISION and job.sounds:
            weight = HEARD
        return weight, self._chat.since.get(job.card, 0.0)
