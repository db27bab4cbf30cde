"""One chat as its lane knows it: what was tried in it and waits, and how its messages are put.

Neighbours: lane.py (what goes next), lane_cards.py and lane_lines.py (the calls), places.py (topics).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import telegram
from msgspec import Struct
from msgspec.structs import replace

from bot import text, text_away
from bot.delivery import Blocked, Done, Flooded, NotNow, Outcome, Unknown
from bot.entities import Rich
from bot.lost import Lost
from bot.pace import BACK_OFF_S, BLOCKED_S, Pace
from bot.text import Words
from bot.unsaid import Item, Say, Wanted, Weight, packed
from engine.views import Document
from stores.cards import CardStore, Line, Queued, Shown

log = logging.getLogger(__name__)

CLOCK_OFF_S = 180.0
LONGEST_HOLD_S = 3600.0  # taken over from an earlier start: its clock may have been wrong


class Queue(Protocol):
    """outbox.py's Outbox, as far as a lane needs it."""

    bot: telegram.Bot
    store: CardStore
    topics: bool
    titles: dict[str, str]
    shown: dict[str, Shown]
    wanted: dict[str, Wanted]
    clock: Callable[[], float]
    wall: Callable[[], float]

    async def say(self, chat: int, weight: Weight, *items: Item) -> None: ...

    async def content(self, document: Document) -> bytes | None: ...

    async def silently(self, *, sounds: bool) -> bool: ...

    def take_up(self, lines: Iterable[Line]) -> None: ...


class Place(Struct, frozen=True):
    """Where a message of a goal goes: a topic, or the plain chat under the goal's name."""

    thread: int = 0
    name: str = ""


class Chat:
    """What is known of one chat; a thing's key is a line's id or a card.

    since    a thing: waits since
    newest   a goal: when something new was shown of it
    plain    things to be said without formatting
    lost     what may have been said, but nobody knows
    told_together   lines up to this one that many goals said were told in one message
    """

    def __init__(self, outbox: Queue, chat: int) -> None:
        self.outbox = outbox
        self.id = chat
        self.pace = Pace(chat)
        self.blocked = False
        self.lost = Lost()
        self.since: dict[int | str, float] = {}
        self.newest: dict[str, float] = {}
        self.plain: set[int | str] = set()
        self.told_together = 0
        self._due: dict[int | str, float] = {}  # not before
        self._tries: dict[int | str, int] = {}
        self._failures = 0
        self._held = f"held {chat}"
        self._together = f"told together {chat}"

    def due(self, key: int | str) -> float:
        """Return when a thing may be tried again."""
        return self._due.get(key, 0.0)

    async def open(self) -> None:
        """Read what an earlier start of us left: what it was sending, what wait it was told to keep."""
        store = self.outbox.store
        for message_id in await store.newest(self.id):
            self.lost.saw(message_id)
        for key, after in (await store.sends(self.id)).items():
            self.lost.kept(key, after)
        self.told_together = int(await store.fact(self._together) or 0)
        until = float(await store.fact(self._held) or 0.0)
        left_s = min(until - self.outbox.wall(), LONGEST_HOLD_S)
        if left_s > 0:
            self.pace.hold(self.outbox.clock() + left_s)

    async def sending(self, key: int | str) -> None:
        """Note that this is about to be sent, so that it can be looked for if we die of it.

        What was noted before and is not looked for any more did not come: it must not be found later.
        """
        if after := self.lost.after(key):
            still = self.lost.keys()
            await self.outbox.store.sending(self.id, str(key), after, beside=still)

    async def looked_for(self, key: int | str) -> None:
        """Hear that there is no place left to look for what was being sent."""
        self.forget(key)
        await self.outbox.store.not_sent(self.id, str(key))

    def as_sent(self, words: Words, place: Place, below: bool, key: int | str) -> Words:
        if place.name:
            words = text.headed(words, place.name, below=below)
        return replace(words, rich=Rich(words.rich.text)) if key in self.plain else words

    def later(self, key: int | str, why: str, waits: Sequence[float]) -> None:
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        wait_s = waits[min(tries, len(waits)) - 1]
        self._due[key] = self.outbox.clock() + wait_s
        log.warning("postponed what=%s why=%s wait_s=%.0f", key, why, wait_s)

    async def hold(self, outcome: Outcome) -> None:
        """Hold the chat as the outcome asks; a wait that Telegram named holds for our next start too."""
        now = self.outbox.clock()
        match outcome:
            case Flooded(wait_s):
                log.warning("flood control chat=%d wait_s=%.0f", self.id, wait_s)
                self.pace.hold(now + wait_s + 0.5)
                until = self.outbox.wall() + wait_s + 0.5
                await self.outbox.store.keep_fact(self._held, f"{until:.1f}")
            case Blocked():
                self.blocked = True
                log.warning("the owner has blocked the bot; trying again wait_s=%.0f", BLOCKED_S)
                self.pace.hold(now + BLOCKED_S)
            case Unknown() | NotNow():
                self._failures += 1
                self.pace.hold(now + BACK_OFF_S[min(self._failures, len(BACK_OFF_S)) - 1])
            case Done():
                self._failures = 0

    def forget(self, key: int | str) -> None:
        self._due.pop(key, None)
        self._tries.pop(key, None)
        self.plain.discard(key)
        self.lost.forget(key)
        self._failures = 0

    @property
    def is_group(self) -> bool:
        """Whether others read here too: the troubles of a box are not told there."""
        return self.pace.group

    async def timed(self, at: float) -> None:
        """Compare the clocks as something was just sent; say once a day that the box's is wrong."""
        off_s = self.outbox.wall() - at
        if not at or abs(off_s) < CLOCK_OFF_S or self.is_group:
            return
        log.warning("the clock is off off_s=%.0f", off_s)
        say = Say(words=text.said(text_away.clock_off(off_s)))
        queue = packed(self.id, Weight.ANSWER, [say])
        name = f"clock off {self.id} {at // 86_400:.0f}"
        await self.outbox.store.first(name, queue, self.outbox.take_up)

    async def tell_together(self, up_to: int, queue: Sequence[Queued]) -> None:
        """Queue the one message that tells what the lines up to this one say, once."""
        self.told_together = up_to
        store = self.outbox.store
        await store.first(self._together, queue, self.outbox.take_up, value=str(up_to))

    async def tell(self, sentence: str) -> None:
        await self.outbox.say(self.id, Weight.ANSWER, Say(words=text.said(sentence)))
