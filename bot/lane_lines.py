"""One chat's lines: which may go, and the calls by which each is said once.

Part of lane.py. Neighbours: unsaid.py says what lines there are, lane_cards.py is the same for cards.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeGuard

import msgspec
from msgspec.structs import replace

from bot import delivery, text, text_away, text_files, text_keys
from bot.backlog import at_once, gathered
from bot.chat import Chat, Place
from bot.delivery import Blocked, Done, Gone, NoThread, NotNow, Outcome, Refused, Unknown
from bot.entities import units
from bot.pace import BACK_OFF_S, UNKNOWN_S
from bot.places import Places
from bot.text import Words
from bot.unsaid import HEARD, SETTLED, Delete, Edit, File, Item, React, Say, Weight, packed
from stores.cards import Line, Queued, Told

log = logging.getLogger(__name__)

TOGETHER_S = 1.0  # how long words of a third goal wait for more


class LaneLines:
    """The lines that wait to be said in one chat."""

    def __init__(self, chat: Chat, places: Places) -> None:
        self._chat = chat
        self._places = places
        self._waiting: dict[int, tuple[Line, Item]] = {}
        self._spoke: deque[tuple[str, float]] = deque(
            maxlen=2
        )  # whose words were said last, and when

    def take_up(self, line: Line, item: Item) -> None:
        """Hear of a line to be said here."""
        self._waiting[line.id] = (line, item)
        self._chat.since.setdefault(line.id, self._chat.outbox.clock())

    def in_order(self) -> list[Line]:
        """Return the lines that may go: of one goal and weight, none overtakes another."""
        heads: dict[tuple[int, str], Line] = {}
        for line, item in self._waiting.values():
            goal = item.goal if isinstance(item, Say | File) else f"#{line.id}"
            heads.setdefault((line.priority, goal), line)
        return list(heads.values())

    def is_looked_for(self, line: Line) -> bool:
        """Return whether this may be in the chat already; a prompt cannot be looked for."""
        return self._chat.lost.has(line.id) and not _asks(self._waiting[line.id][1])

    def adds_nothing(self, line: Line) -> bool:
        return not isinstance(self._waiting[line.id][1], Say | File)

    def weight(self, line: Line) -> float:
        match self._waiting[line.id][1]:
            case React():
                return HEARD  # costs no room
            case Edit():
                return SETTLED  # the owner looks at it just now
            case _:
                return float(line.priority)

    async def say(self, line: Line, now: float) -> None:
        _, item = self._waiting[line.id]
        match item:
            case Say() if self.is_looked_for(line):
                await self._send(line, item, now)
            case Say() if much := gathered(self._waiting.values(), self._chat.outbox.titles):
                lines, digest = much
                first, *rest = (self._waiting[one][0] for one in lines)
                log.info("gathered lines=%d", len(lines))
                queue = packed(self._chat.id, Weight.WORDS, [digest])
                await self._off(first, queue=queue, also=[one.id for one in rest])
            case Say() if line.priority == Weight.WORDS and (many := self._many()):
                await self._tell_together(*many)
            case Say() | File():
                await self._send(line, item, now)
            case Edit():
                await self._rewrite(line, item, now)
            case Delete():
                await self._delete(line, item)
            case React():
                outcome = await delivery.react(
                    self._chat.outbox.bot, self._chat.id, item.message_id, item.emoji
                )
                # A receipt is worth no second try, but the chat's wait is kept.
                await self._chat.hold(outcome)
                await self._off(line)

    def held(self, line: Line) -> float:
        """Return until when words are held back: where two goals just spoke, more may be about to."""
        item = self._waiting[line.id][1]
        if line.priority != Weight.WORDS or not isinstance(item, Say) or len(self._spoke) < 2:
            return 0.0
        if not item.goal or any(goal == item.goal for goal, _ in self._spoke):
            return 0.0
        return self._spoke[0][1] + TOGETHER_S

    def _many(self) -> tuple[list[int], Say] | None:
        return at_once(
            self._waiting.values(),
            self._chat.outbox.titles,
            apart=self._chat.outbox.topics,
            after=self._chat.told_together,
        )

    async def _tell_together(self, lines: list[int], told: Say) -> None:
        """Tell what many goals say in one message: in the place of theirs, or ahead of them."""
        log.info("told together lines=%d", len(lines))
        queue = packed(self._chat.id, Weight.ANSWER, [told])
        if self._chat.outbox.topics:
            await self._chat.tell_together(max(lines), queue)
        else:
            first, *rest = (self._waiting[one][0] for one in lines)
            await self._off(first, queue=queue, also=[one.id for one in rest])

    async def _send(self, line: Line, item: Say | File, now: float) -> None:
        also: list[int] = []
        if isinstance(item, Say) and item.speaker:
            joined, also = self._joined(line, item)
            if joined is None:
                await self._off(line, also=also)
                return
            item = joined
        place = await self._places.find(item.goal, now)
        if place is None:
            return
        if line.priority == Weight.WORDS and item.goal:
            self._spoke.append((item.goal, now))
        before = await self._before(item)
        asks = _asks(item)
        there = 0 if asks else self._chat.lost.candidate(line.id)
        self._chat.pace.spent(now)
        if there and isinstance(item, Say):
            outcome = await self._looked(line, item, place, there)
            if isinstance(outcome, Gone):
                self._chat.lost.missed(line.id, there)
                return
        else:
            if isinstance(item, Say):
                await self._chat.sending(line.id)
            if asks:
                self._chat.lost.mark(line.id)  # a reply may be here before the answer is
            outcome = await self._sent(line, item, place)
        match outcome:
            case Done(message_id, thread, at):
                await self._chat.timed(at)
                self._chat.lost.saw(message_id, sent=not there)
                copies = self._chat.lost.perhaps(line.id) if asks else []
                await self._off(line, message_id, _told(item), before, also=also, copies=copies)
                if isinstance(item, Say) and item.instead:
                    await self._chat.outbox.store.keep_fact(self._name(item), str(message_id))
                await self._places.landed_in(item.goal, place, thread)
            case NoThread():
                await self._places.lost(item.goal)
            case Unknown(why):
                if isinstance(item, Say) and not there:
                    self._chat.lost.mark(line.id)
                self._chat.later(line.id, why, UNKNOWN_S)
            case NotNow(why):
                self._chat.later(line.id, why, BACK_OFF_S)
            case Blocked() | Refused() if self._chat.is_group:
                log.warning("a group takes no line of ours line=%d", line.id)
                await self._off(line)  # whoever asked there sees it; to tell of it there is no way
            case Refused(why):
                await self._refused(line, item, why)
            case _:
                await self._chat.hold(outcome)

    def asked_by(self, message_id: int) -> Told | None:
        """Return the prompt on its way that a message may be, though nobody has told us yet."""
        for line, item in self._waiting.values():
            if _asks(item) and self._chat.lost.may_be(line.id, message_id):
                return _told(item)
        return None

    async def _rewrite(self, line: Line, item: Edit, now: float) -> None:
        """Edit a message to what was last wanted of it; where it is gone, there is nothing to say."""
        same = {
            other.id: edit
            for other, edit in self._waiting.values()
            if isinstance(edit, Edit) and edit.message_id == item.message_id
        }
        *older, newest = sorted(same)
        place = self._places.known(item.goal)
        self._chat.pace.spent(now)
        outcome = await delivery.edit(
            self._chat.outbox.bot,
            self._chat.id,
            item.message_id,
            self._chat.as_sent(same[newest].words, place, same[newest].below, line.id),
            item.card,
            same[newest].revision,
        )
        match outcome:
            case Done() | Gone():
                await self._off(self._waiting[newest][0], also=older)
            case Unknown(why) | NotNow(why):
                for one in same:
                    self._chat.later(one, why, BACK_OFF_S)
            case Refused(why):
                log.error("edit refused line=%d why=%s", newest, why)
                await self._off(self._waiting[newest][0], also=older)
                await self._chat.tell(
                    "Telegram refused to change a message of mine; the log says why."
                )
            case _:
                await self._chat.hold(outcome)

    async def _before(self, item: Say | File) -> list[Queued]:
        """Return the end of the message that this one stands in for."""
        if not isinstance(item, Say) or not item.instead:
            return []
        known = int(await self._chat.outbox.store.fact(self._name(item)) or 0)
        return packed(self._chat.id, Weight.ANSWER, [Delete(message_id=known)]) if known else []

    def _name(self, item: Say) -> str:
        return f"instead {self._chat.id} {item.instead}"

    def _joined(self, line: Line, item: Say) -> tuple[Say | None, list[int]]:
        """Return what its speaker has to say by now, as one message, and the other lines in it.

        None where all of it is routine and newer things were shown meanwhile.
        """
        waiting = list(self._spoken(line, item))
        taken: list[int] = []
        said: list[Say] = []
        room = text.ROOM
        for one, words in waiting:
            room -= units(words.words.rich.text)
            if taken and room < 0:
                break
            taken.append(one.id)
            said.append(words)
        late = self._chat.newest.get(item.goal, 0.0) > self._chat.since.get(taken[-1], 0.0)
        kept = [one for one in said if not one.routine] or ([] if late else said[-1:])
        if not kept:
            return None, taken[1:]
        return replace(kept[0], words=text.joined([one.words for one in kept])), taken[1:]

    def _spoken(self, line: Line, item: Say) -> Iterator[tuple[Line, Say]]:
        """Yield the words of the same speaker up to the next thing that is none of these."""
        for other, said in self._waiting.values():
            if other.priority != line.priority or getattr(said, "goal", None) != item.goal:
                continue
            if not isinstance(said, Say) or said.speaker != item.speaker:
                return
            yield other, said

    async def _sent(self, line: Line, item: Say | File, place: Place) -> Outcome:
        if isinstance(item, File):
            data = await self._chat.outbox.content(item.document)
            if data is None:
                return Refused("it is not kept any more")
            caption = _dots(place.name, item.document.caption)
            return await delivery.file(
                self._chat.outbox.bot,
                self._chat.id,
                replace(item.document, caption=caption),
                data,
                thread=place.thread,
            )
        return await delivery.send(
            self._chat.outbox.bot,
            self._chat.id,
            self._chat.as_sent(item.words, place, item.sounds, line.id),
            thread=place.thread,
            silent=await self._chat.outbox.silently(sounds=item.sounds),
            card=item.card,
            revision=item.revision,
            reply_to=item.reply_to,
            prompt=item.placeholder if item.prompt else "",
        )

    async def _looked(self, line: Line, item: Say, place: Place, there: int) -> Outcome:
        """Return what came of looking whether a message is this line, whose answer got lost."""
        outcome = await delivery.edit(
            self._chat.outbox.bot,
            self._chat.id,
            there,
            self._chat.as_sent(item.words, place, item.sounds, line.id),
            item.card,
            item.revision,
        )
        match outcome:
            case Done():
                return Done(there, place.thread)
            case Refused():
                return Gone()
            case _:
                return outcome

    async def _refused(self, line: Line, item: Say | File, why: str) -> None:
        log.error("line refused line=%d why=%s", line.id, why)
        if isinstance(item, Say) and line.id not in self._chat.plain:
            self._chat.plain.add(line.id)
            if item.words.rich.spans:
                await self._chat.tell(
                    "Telegram refused the formatting of a message; it comes plain."
                )
            return
        await self._off(line)
        if isinstance(item, File):
            await self._chat.tell(text_files.not_sent(item.document.name, why))
        else:
            await self._chat.tell("Telegram refused a message of mine; the log says why.")

    async def _delete(self, line: Line, item: Delete) -> None:
        outcome = await delivery.delete(self._chat.outbox.bot, self._chat.id, item.message_id)
        names = " and ".join(item.names)
        if isinstance(outcome, Blocked) and self._chat.is_group:
            outcome = Refused("we are in that group no more")
        match outcome:
            case Done() | Gone():
                stored = f"Stored as {names}; deleted" if item.kept else "Not kept, and deleted"
                words = text.said(f"{stored} from the chat.")
                if item.where:
                    words = text_keys.stored(item.names, item.where, item.rest_of)
                await self._off(line, queue=self._about(item, words, sounds=False))
            case Refused() | NoThread() if not item.names:
                # Older than two days: nothing of it may be pressed any more, nor taken for what is.
                instead = Edit(message_id=item.message_id, words=text.said(text_away.MOVED))
                await self._off(line, queue=packed(self._chat.id, Weight.ANSWER, [instead]))
            case Refused() | NoThread():
                stored = f"stored as {names}" if item.kept else "not kept here"
                where = "group" if item.tell else "chat"
                words = text.said(
                    f"Your message is still in the {where}. It holds a key ({stored}) and "
                    "Telegram will not let me delete it: delete it yourself now, and replace the key."
                )
                await self._off(line, queue=self._about(item, words, sounds=True))
            case Unknown(why) | NotNow(why):
                self._chat.later(line.id, why, BACK_OFF_S)
            case _:
                await self._chat.hold(outcome)

    def _about(self, item: Delete, words: Words, *, sounds: bool) -> list[Queued]:
        if not item.names:
            return []
        page = text_keys.page_of(item.names) if words.buttons else ""
        card = text_keys.PANEL if words.buttons else ""
        said = Say(words=words, goal=item.goal, sounds=sounds, card=card, revision=page)
        # Before what is asked about the rest of that message.
        return packed(item.tell or self._chat.id, Weight.DECISION, [said])

    async def _off(
        self,
        line: Line,
        message_id: int = 0,
        told: Told | None = None,
        queue: Sequence[Queued] = (),
        also: Sequence[int] = (),
        copies: Sequence[int] = (),
    ) -> None:
        for one in (line.id, *also):
            self._waiting.pop(one, None)
            self._chat.since.pop(one, None)
            self._chat.forget(one)
        await self._chat.outbox.store.said(
            line.id,
            self._chat.id,
            message_id,
            told,
            self._chat.outbox.wall(),
            queue,
            self._chat.outbox.take_up,
            also,
            copies,
        )


def _asks(item: Item) -> TypeGuard[Say]:
    return isinstance(item, Say) and item.prompt is not None


def _told(item: Say | File) -> Told:
    prompt = item.prompt if isinstance(item, Say) else None
    return Told(item.goal, item.card, msgspec.json.encode(prompt) if prompt else None)


def _dots(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
