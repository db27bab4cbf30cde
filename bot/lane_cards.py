"""One chat's cards: which lag behind what is wanted of them, and the calls that bring them up to it.

Part of lane.py. Neighbours: cards.py says what is wanted, lane_lines.py is the same for lines.
"""

from __future__ import annotations

import hashlib
import logging

from msgspec.structs import replace

from bot import delivery
from bot.chat import Chat
from bot.delivery import Done, Gone, NoThread, NotNow, Outcome, Refused, Unknown
from bot.pace import BACK_OFF_S, UNKNOWN_S
from bot.places import Places
from bot.text import Words
from bot.unsaid import Delete, File, Wanted, Weight, encode, packed
from engine.views import Document
from stores.cards import Queued, Shown

log = logging.getLogger(__name__)


class LaneCards:
    """The cards shown, or to be shown, in one chat."""

    def __init__(self, chat: Chat, places: Places) -> None:
        self._chat = chat
        self._places = places
        self._edited: dict[str, float] = {}
        self._refused: dict[str, str] = {}  # a card: the hash Telegram would not take

    def settles(self, wanted: Wanted) -> bool:
        """Return whether this takes away buttons that mean nothing any more."""
        shown = self._chat.outbox.shown.get(wanted.card)
        return shown is not None and shown.live and shown.asked and not wanted.asks

    def lagging(self) -> list[Wanted]:
        return [w for w in self._chat.outbox.wanted.values() if self._lags(w)]

    def _lags(self, wanted: Wanted) -> bool:
        shown = self._chat.outbox.shown.get(wanted.card)
        if (shown.chat if shown else wanted.chat) != self._chat.id:
            return False
        if wanted.words is None:
            return shown.live if shown else self._chat.lost.has(wanted.card)
        digest = _digest((wanted.words, wanted.revision))
        stands = shown is not None and shown.shown == digest and shown.at >= wanted.since
        return not stands and self._refused.get(wanted.card) != digest

    def is_looked_for(self, wanted: Wanted) -> bool:
        return self._chat.lost.has(wanted.card)

    def due(self, wanted: Wanted) -> float:
        due = self._chat.due(wanted.card)
        patient = wanted.weight >= Weight.PROGRESS and not self.settles(wanted)
        if not patient or wanted.card not in self._edited:
            return due
        return max(due, self._edited[wanted.card] + self._chat.pace.edit_every_s)

    async def show(self, wanted: Wanted, now: float) -> None:
        shown = self._chat.outbox.shown.get(wanted.card)
        if wanted.words is None:
            if shown is not None:
                await self._strip(shown, wanted, now)
            else:
                await self._strip_lost(wanted, now)
            return
        if there := self._chat.lost.candidate(wanted.card):
            await self._look(there, wanted, wanted.words, shown, now)
            return
        # Who must decide gets a new message: an edit makes no sound.
        anew = shown is None or (wanted.sounds and not shown.asked) or shown.at < wanted.since
        if shown is not None and not anew:
            outcome = await self._edit(shown, wanted, wanted.words, now)
            if not isinstance(outcome, Gone):
                return
        await self._post(wanted, wanted.words, shown, now)

    async def _edit(self, shown: Shown, wanted: Wanted, words: Words, now: float) -> Outcome:
        place = self._places.known(wanted.goal)
        self._chat.pace.spent(now)
        self._edited[wanted.card] = now
        outcome = await delivery.edit(
            self._chat.outbox.bot,
            self._chat.id,
            shown.message_id,
            self._chat.as_sent(words, place, wanted.asks, wanted.card),
            wanted.card,
            wanted.revision,
        )
        match outcome:
            case Done():
                await self._is_shown(wanted, words, shown.message_id, shown.thread, shown)
            case Gone():
                pass  # deleted by the owner: posted anew by the caller
            case Unknown(why) | NotNow(why):
                self._chat.later(wanted.card, why, BACK_OFF_S)  # an edit may be repeated
            case _:
                await self._failed(wanted, words, outcome)
        return outcome

    async def _post(self, wanted: Wanted, words: Words, old: Shown | None, now: float) -> None:
        place = await self._places.find(wanted.goal, now)
        if place is None:
            return
        put = self._chat.as_sent(words, place, wanted.asks, wanted.card)
        again = old is not None and old.asked and old.at < wanted.since
        await self._chat.sending(wanted.card)
        self._chat.pace.spent(now)
        outcome = await delivery.send(
            self._chat.outbox.bot,
            self._chat.id,
            put,
            thread=place.thread,
            silent=await self._chat.outbox.silently(sounds=wanted.sounds and not again),
            card=wanted.card,
            revision=wanted.revision,
        )
        self._edited[wanted.card] = now
        match outcome:
            case Done(message_id, thread, at):
                await self._chat.timed(at)
                self._chat.lost.saw(message_id, sent=True)
                self._chat.newest[wanted.goal] = now
                await self._is_shown(wanted, words, message_id, thread, old)
                await self._places.landed_in(wanted.goal, place, thread)
            case NoThread():
                await self._places.lost(wanted.goal)
            case Unknown(why):
                self._chat.lost.mark(wanted.card)
                self._chat.later(wanted.card, why, UNKNOWN_S)
            case NotNow(why):
                self._chat.later(wanted.card, why, BACK_OFF_S)
            case _:
                await self._failed(wanted, words, outcome)

    async def _look(
        self, there: int, wanted: Wanted, words: Words, old: Shown | None, now: float
    ) -> None:
        """Look whether a message is the one whose answer got lost, by what an edit of it says."""
        place = self._places.known(wanted.goal)
        put = self._chat.as_sent(words, place, wanted.asks, wanted.card)
        self._chat.pace.spent(now)
        outcome = await delivery.edit(
            self._chat.outbox.bot, self._chat.id, there, put, wanted.card, wanted.revision
        )
        match outcome:
            case Done():
                self._chat.lost.saw(there)
                await self._is_shown(wanted, words, there, place.thread, old)
            case Unknown(why) | NotNow(why):
                self._chat.later(wanted.card, why, BACK_OFF_S)
            case Gone() | Refused():
                self._chat.lost.missed(wanted.card, there)
            case _:
                await self._chat.hold(outcome)

    async def _is_shown(
        self, wanted: Wanted, words: Words, message_id: int, thread: int, old: Shown | None
    ) -> None:
        """Write down what the message shows now; queue its file, and the end of the one before."""
        filed = _digest(words.file) if words.file else ""
        queue: list[Queued] = []
        if words.file and (old is None or old.filed != filed):
            below = File(document=words.file, goal=wanted.goal, card=wanted.card)
            queue += packed(self._chat.id, wanted.weight, [below])
        if old is not None and old.message_id != message_id:
            queue += packed(self._chat.id, Weight.ANSWER, [Delete(message_id=old.message_id)])
        shown = Shown(
            card=wanted.card,
            goal=wanted.goal,
            chat=self._chat.id,
            thread=thread,
            message_id=message_id,
            revision=wanted.revision,
            shown=_digest((words, wanted.revision)),
            filed=filed,
            asked=wanted.asks,
            live=bool(words.buttons),
            at=self._chat.outbox.wall(),
        )
        self._chat.outbox.shown[wanted.card] = shown
        self._chat.since.pop(wanted.card, None)
        if self._chat.outbox.wanted.get(wanted.card) is wanted:
            del self._chat.outbox.wanted[wanted.card]
        elif wanted.card in self._chat.outbox.wanted:
            self._chat.since[wanted.card] = (
                self._chat.outbox.clock()
            )  # changed while this was on its way
        self._chat.forget(wanted.card)
        await self._chat.outbox.store.keep_shown(shown, queue, self._chat.outbox.take_up)

    async def _strip(self, shown: Shown, wanted: Wanted, now: float) -> None:
        self._chat.pace.spent(now)
        outcome = await delivery.strip(self._chat.outbox.bot, self._chat.id, shown.message_id)
        match outcome:
            case Done() | Gone() | Refused():
                bare = replace(shown, live=False, shown="")
                self._chat.outbox.shown[shown.card] = bare
                self._chat.outbox.wanted.pop(shown.card, None)
                self._chat.since.pop(shown.card, None)
                self._chat.forget(shown.card)
                await self._chat.outbox.store.keep_shown(bare)
            case Unknown(why) | NotNow(why):
                self._chat.later(wanted.card, why, BACK_OFF_S)
            case _:
                await self._chat.hold(outcome)

    async def _strip_lost(self, wanted: Wanted, now: float) -> None:
        """Take the buttons off wherever the card may be whose end came before that of its sending.

        A message of another card that loses its own so is found by that one's own search.
        """
        there = self._chat.lost.candidate(wanted.card)
        if not there:
            self._chat.outbox.wanted.pop(wanted.card, None)
            self._chat.since.pop(wanted.card, None)
            await self._chat.looked_for(wanted.card)
            return
        self._chat.pace.spent(now)
        outcome = await delivery.strip(self._chat.outbox.bot, self._chat.id, there)
        match outcome:
            case Done() | Gone() | Refused():
                self._chat.lost.missed(wanted.card, there)
            case Unknown(why) | NotNow(why):
                self._chat.later(wanted.card, why, BACK_OFF_S)
            case _:
                await self._chat.hold(outcome)

    async def _failed(self, wanted: Wanted, words: Words, outcome: Outcome) -> None:
        if not isinstance(outcome, Refused):
            await self._chat.hold(outcome)
            return
        log.error("card refused card=%s why=%s", wanted.card, outcome.why)
        if wanted.card not in self._chat.plain:
            self._chat.plain.add(wanted.card)  # once more, without formatting
            return
        self._refused[wanted.card] = _digest((words, wanted.revision))
        await self._chat.tell(
            f"Telegram will not take the card {wanted.card}. /status lists what waits."
        )


def _digest(shown: tuple[Words, str] | Document) -> str:
    return hashlib.blake2b(encode(shown), digest_size=12).hexdigest()
