"""The one sender: all that the bot says in a chat goes through here, in the order of its weight.

    what the owner must hear  >  what was just decided  >  decisions (0)  >  answers, files (1)
        >  last words, news, new workers (2)  >  progress (3)

Of one weight, what waits longest goes first. A card that was answered loses its buttons before
anything else is shown. Words of one session that wait are said in one message. Two kinds of things wait to be said. Lines are said once and kept on disk until Telegram has them.
Cards are wanted as they are now: only the newest wanting counts, compared with what is shown, so
edits coalesce and a restart picks up whatever lags. One lane a chat: a chat that must wait holds up
no other. A send whose answer got lost is not repeated blindly, only after a while: one duplicate at
worst, and never a loss. Answers to taps do not come through here: nothing may hold them up.

In quiet hours all comes silently; what would have sounded is noted for morning.py.

cards.py says what is wanted, requests.py what is answered; pace.py says how fast, delivery.py makes
the calls and reads the errors.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TypeAlias

import msgspec
import telegram
from msgspec import Struct
from msgspec.structs import replace

from bot import delivery, text, text_files, text_live
from bot.delivery import Blocked, Done, Flooded, Gone, NoThread, NotNow, Outcome, Refused, Unknown
from bot.entities import Rich, one_line, units
from bot.pace import TICK_S, Pace
from bot.quiet import Quiet
from bot.text import Words
from bot.titles import Title, Titles
from engine.views import Attachment, Document
from stores.attached import Attached
from stores.cards import NO_TOPIC, CardStore, Line, Queued, Shown, Told, Topic

log = logging.getLogger(__name__)

BACK_OFF_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
# After a lost answer: long enough for a late message to show up and be tapped.
UNKNOWN_S = (8.0, 30.0, 120.0, 600.0)
BLOCKED_S = 300.0
# The fact that something came silently which would have sounded: until when the hours were.
HUSHED = "hushed until"


class Weight(IntEnum):
    """What goes first where not everything can go at once."""

    DECISION = 0
    ANSWER = 1
    WORDS = 2
    PROGRESS = 3


# A new question that sounds, and what becomes of one that was answered, go before all else.
HEARD, SETTLED = -2.0, -1.0


class Prompt(Struct, frozen=True):
    """What a reply to one of our prompts is for: a verb of a card, or a new goal.

    message   the panel's that is to show what came of it (panels.py)
    """

    verb: str
    card: str = ""
    revision: str = ""
    project: str = ""
    message: int = 0
    files: tuple[Attachment, ...] = ()  # came with what was asked about


class Say(Struct, frozen=True, tag=True, kw_only=True):
    """A message, said once; `sounds` only for what needs the owner.

    revision  of the card or page that its buttons belong to
    speaker   whose words these are: those that wait are joined
    routine   tells nothing that the cards do not: left out once something newer was shown
    instead   a name: the last message of that name is deleted once this one is there
    """

    words: Words
    goal: str = ""
    card: str = ""
    revision: str = ""
    sounds: bool = False
    reply_to: int = 0
    prompt: Prompt | None = None
    placeholder: str = ""
    speaker: str = ""
    routine: bool = False
    instead: str = ""


class Edit(Struct, frozen=True, tag=True, kw_only=True):
    """What a message that is there says from now on: of several that wait, the newest."""

    message_id: int
    words: Words
    goal: str = ""
    card: str = ""
    revision: str = ""


class File(Struct, frozen=True, tag=True, kw_only=True):
    """A document under what was said."""

    document: Document
    goal: str = ""
    card: str = ""


class Delete(Struct, frozen=True, tag=True, kw_only=True):
    """A message to be deleted; with `names`, one that held those secrets: then it is said."""

    message_id: int
    names: tuple[str, ...] = ()
    goal: str = ""


class React(Struct, frozen=True, tag=True, kw_only=True):
    """The cheapest receipt there is."""

    message_id: int
    emoji: str = "👀"


Item: TypeAlias = Say | Edit | File | Delete | React

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Item).decode


class Wanted(Struct, frozen=True, kw_only=True):
    """A card as it should be shown now; `words` None: only take its buttons away."""

    card: str
    goal: str
    chat: int
    words: Words | None
    revision: str = ""
    asks: bool = False
    sounds: bool = False
    weight: Weight = Weight.PROGRESS


def packed(chat: int, weight: Weight, items: Iterable[Item]) -> list[Queued]:
    """Return the lines to queue; a file in a message's words becomes a line of its own."""
    queue: list[Queued] = []
    for item in items:
        if isinstance(item, Say) and item.words.file is not None:
            below = File(document=item.words.file, goal=item.goal, card=item.card)
            item = replace(item, words=replace(item.words, file=None))
            queue += [(chat, weight, _encode(item)), (chat, weight, _encode(below))]
        else:
            queue.append((chat, weight, _encode(item)))
    return queue


class Outbox:
    """Everything waiting to be said.

    store    lines, cards and topics on disk
    attached   where the bytes of files are kept that are no text
    topics   whether a goal gets a topic of its own (getMe.has_topics_enabled)
    clock    for waits: seconds that never jump
    wall     Unix seconds, for what is written down
    """

    def __init__(
        self,
        bot: telegram.Bot,
        store: CardStore,
        chats: Sequence[int],
        *,
        topics: bool = False,
        attached: Attached | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.bot = bot
        self.store = store
        self.topics = topics
        self._attached = attached
        self.clock = clock
        self.wall = wall
        self.shown: dict[str, Shown] = {}
        self.wanted: dict[str, Wanted] = {}
        self.titles: dict[str, str] = {}  # a goal's name, without any mark
        self.lanes: dict[int, Lane] = {chat: Lane(self, chat) for chat in chats}
        self.quiet: Quiet | None = None
        self._new_lane = asyncio.Event()
        self._hushed = ""

    async def open(self) -> None:
        """Read what was left unsaid."""
        self.shown = await self.store.shown()
        for lane in self.lanes.values():
            lane.topics = await self.store.topics(lane.chat)
            for topic in lane.topics.values():
                self.titles.setdefault(topic.goal, text_live.unmarked(topic.title))
        self.take_up(await self.store.lines())

    async def say(self, chat: int, weight: Weight, *items: Item) -> None:
        """Queue lines; once this returns they will be said."""
        await self.store.queue(packed(chat, weight, items), self.take_up)

    async def content(self, document: Document) -> bytes | None:
        """Return what a file holds; None if it is not kept any more."""
        if not document.held:
            return document.text.encode(errors="replace")
        if self._attached is None:
            return None
        return await asyncio.to_thread(self._attached.read, document.held)

    def quiet_until(self) -> float:
        """Return when the quiet hours that hold now end; 0 if none do."""
        return self.quiet.until(self.wall()) if self.quiet else 0.0

    async def silently(self, *, sounds: bool) -> bool:
        """Return whether a message is to come silently, and note it if that is for the hour's sake."""
        if not sounds:
            return True
        until = self.quiet_until()
        if until and self._hushed != (noted := f"{until:.0f}"):
            await self.store.keep_fact(HUSHED, noted)
            self._hushed = noted
        return bool(until)

    def take_up(self, lines: Iterable[Line]) -> None:
        """Hear of lines that are committed."""
        for line in lines:
            self._lane(line.chat).take_up(line, _decode(line.body))

    def show(self, wanted: Wanted) -> None:
        """Want a card to stand so; what was wanted before is forgotten."""
        self.wanted[wanted.card] = wanted
        self._lane(self._where(wanted)).want(wanted.card)

    def call(self, goal: str, name: str, title: str, chat: int) -> None:
        """Know a goal's name, and want its topic to be called `title`: the name, perhaps marked."""
        self.titles[goal] = name
        lane = self._lane(chat)
        lane.titles.want(goal, title, self.clock())
        lane.wake.set()

    async def named_by_hand(self, chat: int, thread: int, name: str) -> None:
        """Hear that the owner renamed a topic."""
        if goal := self.goal_of_thread(chat, thread):
            await self.lanes[chat].titles.named_by_hand(goal, name)

    def strip(self, card: str) -> None:
        """Want a card's buttons gone: what it asked is no question any more."""
        shown, wanted = self.shown.get(card), self.wanted.get(card)
        if wanted is not None and (wanted.words is None or not wanted.words.buttons):
            return
        if shown is None:
            self.wanted.pop(card, None)
        elif wanted is not None and wanted.words is not None and not wanted.asks:
            # It was settled, and that is still to be shown: its words stay true.
            self.show(replace(wanted, words=replace(wanted.words, buttons=())))
        elif shown.live:
            self.show(Wanted(card=card, goal=shown.goal, chat=shown.chat, words=None))

    async def seen(self, card: str, chat: int, message_id: int) -> None:
        """Hear that a card was tapped on this message: a copy we did not know of, perhaps."""
        shown, wanted = self.shown.get(card), self.wanted.get(card)
        if any(s.message_id == message_id and s.chat == chat for s in self.shown.values()):
            return  # it is that card's, or another's with a name on it that was made up
        if shown is not None and shown.message_id != message_id:
            await self.say(chat, Weight.ANSWER, Delete(message_id=message_id))
        elif shown is None and wanted is not None:
            found = Shown(
                card=card,
                goal=wanted.goal,
                chat=chat,
                thread=0,
                message_id=message_id,
                revision=wanted.revision,
                shown="",
                live=True,
                at=self.wall(),
            )
            self.shown[card] = found
            await self.store.keep_shown(found)
            self._lane(chat).wake.set()

    def alive(self, chat: int) -> None:
        """Hear that the owner wrote: whatever was blocked there is not any more."""
        lane = self.lanes.get(chat)
        if lane is not None and lane.blocked:
            lane.blocked = False
            lane.pace.held_until = 0.0
            lane.wake.set()

    def goal_of_thread(self, chat: int, thread: int) -> str:
        """Return the goal whose topic this is, or nothing."""
        lane = self.lanes.get(chat)
        topics = lane.topics.values() if lane and thread > 0 else ()
        return next((topic.goal for topic in topics if topic.thread == thread), "")

    async def run(self) -> None:
        """Say what there is to say until cancelled; raises InvalidToken."""
        async with asyncio.TaskGroup() as group:
            running: set[int] = set()
            while True:
                for chat, lane in self.lanes.items():
                    if chat not in running:
                        running.add(chat)
                        group.create_task(lane.run(), name=f"lane {chat}")
                self._new_lane.clear()
                await self._new_lane.wait()

    def idle(self) -> bool:
        """Return whether everything that may be said now has been."""
        now = self.clock()
        return all(lane.next_due(now) != 0 and not lane.busy for lane in self.lanes.values())

    def _lane(self, chat: int) -> "Lane":
        if chat not in self.lanes:
            self.lanes[chat] = Lane(self, chat)
            self._new_lane.set()
        return self.lanes[chat]

    def _where(self, wanted: Wanted) -> int:
        shown = self.shown.get(wanted.card)
        return shown.chat if shown else wanted.chat


class _Place(Struct, frozen=True):
    """Where a message of a goal goes: a topic, or the plain chat under the goal's name."""

    thread: int = 0
    name: str = ""


class Lane:
    """One chat: one call at a time, the weightiest first."""

    def __init__(self, outbox: Outbox, chat: int) -> None:
        self.outbox = outbox
        self.chat = chat
        self.lines: dict[int, tuple[Line, Item]] = {}
        self.topics: dict[str, Topic] = {}
        self.wake = asyncio.Event()
        self.busy = False
        self.blocked = False
        self.pace = Pace(chat)
        self.titles = Titles(chat, outbox.store, lambda: self.topics, self._keep_topic)
        self._since: dict[int | str, float] = {}  # a line's id or a card: waits since
        self._newest: dict[str, float] = {}  # a goal: when something new was shown of it
        self._due: dict[int | str, float] = {}  # a line's id or a card: not before
        self._tries: dict[int | str, int] = {}
        self._edited: dict[str, float] = {}
        self._refused: dict[str, str] = {}  # a card: the hash Telegram would not take
        self._plain: set[int | str] = set()  # to be said without formatting
        self._failures = 0

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

    def take_up(self, line: Line, item: Item) -> None:
        """Hear of a line to be said here."""
        self.lines[line.id] = (line, item)
        self._since.setdefault(line.id, self.outbox.clock())
        self.wake.set()

    def want(self, card: str) -> None:
        """Hear that a card shown here is wanted otherwise."""
        self._since.setdefault(card, self.outbox.clock())
        self.wake.set()

    async def step(self) -> float | None:
        """Make at most one call; return the seconds until the next one may be due, None: never."""
        now = self.outbox.clock()
        wait_s = self.next_due(now)
        if wait_s != 0:
            return wait_s
        job = self._best(now)
        self.busy = True
        try:
            if isinstance(job, Wanted):
                await self._card(job, now)
            elif isinstance(job, Title):
                await self._rename(job, now)
            elif job is not None:
                await self._line(*self.lines[job.id], now)
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
        return [*self._in_order(), *self._lagging(), *self.titles.jobs()]

    def _wait_s(self, job: Line | Wanted | Title, now: float) -> float:
        match job:
            case Line():
                due = self._due.get(job.id, 0.0)
            case Title():
                due = self.titles.due(job)
            case _:
                due = self._card_due(job)
        return max(due - now, self.pace.wait(now, urgent=self._rank(job)[0] < Weight.PROGRESS))

    def _rank(self, job: Line | Wanted | Title) -> tuple[float, float]:
        """Return what is said first: the lowest."""
        if isinstance(job, Line):
            return self._line_weight(job), self._since.get(job.id, 0.0)
        if isinstance(job, Title):
            return float(Weight.PROGRESS), self.titles.since(job)
        weight = float(job.weight)
        if self._settles(job):
            weight = SETTLED
        elif job.weight is Weight.DECISION and job.sounds:
            weight = HEARD
        return weight, self._since.get(job.card, 0.0)

    def _line_weight(self, line: Line) -> float:
        match self.lines[line.id][1]:
            case React():
                return HEARD  # costs no room
            case Edit():
                return SETTLED  # the owner looks at it just now
            case _:
                return float(line.priority)

    def _settles(self, wanted: Wanted) -> bool:
        """Return whether this takes away buttons that mean nothing any more."""
        shown = self.outbox.shown.get(wanted.card)
        return shown is not None and shown.live and shown.asked and not wanted.asks

    def _in_order(self) -> list[Line]:
        """Return the lines that may go: of one goal and weight, none overtakes another."""
        heads: dict[tuple[int, str], Line] = {}
        for line, item in self.lines.values():
            goal = item.goal if isinstance(item, Say | File) else f"#{line.id}"
            heads.setdefault((line.priority, goal), line)
        return list(heads.values())

    # ---- cards

    def _lagging(self) -> list[Wanted]:
        return [w for w in self.outbox.wanted.values() if self._lags(w)]

    def _lags(self, wanted: Wanted) -> bool:
        shown = self.outbox.shown.get(wanted.card)
        if (shown.chat if shown else wanted.chat) != self.chat:
            return False
        if wanted.words is None:
            return shown is not None and shown.live
        digest = _digest((wanted.words, wanted.revision))
        return (shown is None or shown.shown != digest) and self._refused.get(wanted.card) != digest

    def _card_due(self, wanted: Wanted) -> float:
        due = self._due.get(wanted.card, 0.0)
        patient = wanted.weight >= Weight.PROGRESS and not self._settles(wanted)
        if not patient or wanted.card not in self._edited:
            return due
        return max(due, self._edited[wanted.card] + self.pace.edit_every_s)

    async def _card(self, wanted: Wanted, now: float) -> None:
        shown = self.outbox.shown.get(wanted.card)
        if wanted.words is None:
            if shown is not None:
                await self._strip(shown, wanted, now)
            return
        # Who must decide gets a new message: an edit makes no sound.
        anew = shown is None or (wanted.sounds and not shown.asked)
        if shown is not None and not anew:
            outcome = await self._edit(shown, wanted, wanted.words, now)
            if not isinstance(outcome, Gone):
                return
        await self._post(wanted, wanted.words, shown, now)

    async def _edit(self, shown: Shown, wanted: Wanted, words: Words, now: float) -> Outcome:
        place = self._known_place(wanted.goal)
        self.pace.spent(now)
        self._edited[wanted.card] = now
        outcome = await delivery.edit(
            self.outbox.bot,
            self.chat,
            shown.message_id,
            self._as_sent(words, place, wanted.asks, wanted.card),
            wanted.card,
            wanted.revision,
        )
        match outcome:
            case Done():
                await self._is_shown(wanted, words, shown.message_id, shown.thread, shown)
            case Gone():
                pass  # deleted by the owner: posted anew by the caller
            case Unknown(why) | NotNow(why):
                self._later(wanted.card, why, BACK_OFF_S)  # an edit may be repeated
            case _:
                await self._card_failed(wanted, words, outcome)
        return outcome

    async def _post(self, wanted: Wanted, words: Words, old: Shown | None, now: float) -> None:
        place = await self._place(wanted.goal, now)
        if place is None:
            return
        self.pace.spent(now)
        outcome = await delivery.send(
            self.outbox.bot,
            self.chat,
            self._as_sent(words, place, wanted.asks, wanted.card),
            thread=place.thread,
            silent=await self.outbox.silently(sounds=wanted.sounds),
            card=wanted.card,
            revision=wanted.revision,
        )
        self._edited[wanted.card] = now
        match outcome:
            case Done(message_id, thread):
                self._newest[wanted.goal] = now
                await self._is_shown(wanted, words, message_id, thread, old)
                await self._landed_in(wanted.goal, place, thread)
            case NoThread():
                await self._lost_topic(wanted.goal)
            case Unknown(why):
                self._later(wanted.card, why, UNKNOWN_S)
            case NotNow(why):
                self._later(wanted.card, why, BACK_OFF_S)
            case _:
                await self._card_failed(wanted, words, outcome)

    async def _is_shown(
        self, wanted: Wanted, words: Words, message_id: int, thread: int, old: Shown | None
    ) -> None:
        """Write down what the message shows now; queue its file, and the end of the one before."""
        filed = _digest(words.file) if words.file else ""
        queue: list[Queued] = []
        if words.file and (old is None or old.filed != filed):
            below = File(document=words.file, goal=wanted.goal, card=wanted.card)
            queue += packed(self.chat, wanted.weight, [below])
        if old is not None and old.message_id != message_id:
            queue += packed(self.chat, Weight.ANSWER, [Delete(message_id=old.message_id)])
        shown = Shown(
            card=wanted.card,
            goal=wanted.goal,
            chat=self.chat,
            thread=thread,
            message_id=message_id,
            revision=wanted.revision,
            shown=_digest((words, wanted.revision)),
            filed=filed,
            asked=wanted.asks,
            live=bool(words.buttons),
            at=self.outbox.wall(),
        )
        self.outbox.shown[wanted.card] = shown
        self._since.pop(wanted.card, None)
        if self.outbox.wanted.get(wanted.card) is wanted:
            del self.outbox.wanted[wanted.card]
        elif wanted.card in self.outbox.wanted:
            self._since[wanted.card] = self.outbox.clock()  # changed while this was on its way
        self._forget(wanted.card)
        await self.outbox.store.keep_shown(shown, queue, self.outbox.take_up)

    async def _strip(self, shown: Shown, wanted: Wanted, now: float) -> None:
        self.pace.spent(now)
        outcome = await delivery.strip(self.outbox.bot, self.chat, shown.message_id)
        match outcome:
            case Done() | Gone() | Refused():
                bare = replace(shown, live=False, shown="")
                self.outbox.shown[shown.card] = bare
                self.outbox.wanted.pop(shown.card, None)
                self._since.pop(shown.card, None)
                self._forget(shown.card)
                await self.outbox.store.keep_shown(bare)
            case Unknown(why) | NotNow(why):
                self._later(wanted.card, why, BACK_OFF_S)
            case _:
                self._wait(outcome)

    async def _card_failed(self, wanted: Wanted, words: Words, outcome: Outcome) -> None:
        if not isinstance(outcome, Refused):
            self._wait(outcome)
            return
        log.error("card refused card=%s why=%s", wanted.card, outcome.why)
        if wanted.card not in self._plain:
            self._plain.add(wanted.card)  # once more, without formatting
            return
        self._refused[wanted.card] = _digest((words, wanted.revision))
        await self._tell(
            f"Telegram will not take the card {wanted.card}. /status lists what waits."
        )

    # ---- lines

    async def _line(self, line: Line, item: Item, now: float) -> None:
        match item:
            case Say() | File():
                await self._send(line, item, now)
            case Edit():
                await self._rewrite(line, item, now)
            case Delete():
                await self._delete(line, item)
            case React():
                outcome = await delivery.react(
                    self.outbox.bot, self.chat, item.message_id, item.emoji
                )
                # A receipt is worth no second try, but the chat's wait is kept.
                self._wait(outcome)
                await self._off(line)

    async def _send(self, line: Line, item: Say | File, now: float) -> None:
        also: list[int] = []
        if isinstance(item, Say) and item.speaker:
            joined, also = self._joined(line, item)
            if joined is None:
                await self._off(line, also=also)
                return
            item = joined
        place = await self._place(item.goal, now)
        if place is None:
            return
        before = await self._before(item)
        self.pace.spent(now)
        outcome = await self._sent(line, item, place)
        told = Told(item.goal, item.card, None)
        if isinstance(item, Say) and item.prompt is not None:
            told = Told(item.goal, item.card, msgspec.json.encode(item.prompt))
        match outcome:
            case Done(message_id, thread):
                await self._off(line, message_id, told, before, also=also)
                if isinstance(item, Say) and item.instead:
                    await self.outbox.store.keep_fact(self._name(item), str(message_id))
                await self._landed_in(item.goal, place, thread)
            case NoThread():
                await self._lost_topic(item.goal)
            case Unknown(why):
                self._later(line.id, why, UNKNOWN_S)
            case NotNow(why):
                self._later(line.id, why, BACK_OFF_S)
            case Refused(why):
                await self._line_refused(line, item, why)
            case _:
                self._wait(outcome)

    async def _rewrite(self, line: Line, item: Edit, now: float) -> None:
        """Edit a message to what was last wanted of it; where it is gone, there is nothing to say."""
        same = {
            other.id: edit
            for other, edit in self.lines.values()
            if isinstance(edit, Edit) and edit.message_id == item.message_id
        }
        *older, newest = sorted(same)
        place = self._known_place(item.goal)
        self.pace.spent(now)
        outcome = await delivery.edit(
            self.outbox.bot,
            self.chat,
            item.message_id,
            self._as_sent(same[newest].words, place, False, line.id),
            item.card,
            same[newest].revision,
        )
        match outcome:
            case Done() | Gone():
                await self._off(self.lines[newest][0], also=older)
            case Unknown(why) | NotNow(why):
                for one in same:
                    self._later(one, why, BACK_OFF_S)
            case Refused(why):
                log.error("edit refused line=%d why=%s", newest, why)
                await self._off(self.lines[newest][0], also=older)
                await self._tell("Telegram refused to change a message of mine; the log says why.")
            case _:
                self._wait(outcome)

    async def _before(self, item: Say | File) -> list[Queued]:
        """Return the end of the message that this one stands in for."""
        if not isinstance(item, Say) or not item.instead:
            return []
        known = int(await self.outbox.store.fact(self._name(item)) or 0)
        return packed(self.chat, Weight.ANSWER, [Delete(message_id=known)]) if known else []

    def _name(self, item: Say) -> str:
        return f"instead {self.chat} {item.instead}"

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
        late = self._newest.get(item.goal, 0.0) > self._since.get(taken[-1], 0.0)
        kept = [one for one in said if not one.routine] or ([] if late else said[-1:])
        if not kept:
            return None, taken[1:]
        return replace(kept[0], words=text.joined([one.words for one in kept])), taken[1:]

    def _spoken(self, line: Line, item: Say) -> Iterator[tuple[Line, Say]]:
        """Yield the words of the same speaker up to the next thing that is none of these."""
        for other, said in self.lines.values():
            if other.priority != line.priority or getattr(said, "goal", None) != item.goal:
                continue
            if not isinstance(said, Say) or said.speaker != item.speaker:
                return
            yield other, said

    async def _sent(self, line: Line, item: Say | File, place: _Place) -> Outcome:
        if isinstance(item, File):
            data = await self.outbox.content(item.document)
            if data is None:
                return Refused("it is not kept any more")
            caption = _dots(place.name, item.document.caption)
            return await delivery.file(
                self.outbox.bot,
                self.chat,
                replace(item.document, caption=caption),
                data,
                thread=place.thread,
            )
        return await delivery.send(
            self.outbox.bot,
            self.chat,
            self._as_sent(item.words, place, item.sounds, line.id),
            thread=place.thread,
            silent=await self.outbox.silently(sounds=item.sounds),
            card=item.card,
            revision=item.revision,
            reply_to=item.reply_to,
            prompt=item.placeholder if item.prompt else "",
        )

    async def _line_refused(self, line: Line, item: Say | File, why: str) -> None:
        log.error("line refused line=%d why=%s", line.id, why)
        if isinstance(item, Say) and line.id not in self._plain:
            self._plain.add(line.id)
            if item.words.rich.spans:
                await self._tell("Telegram refused the formatting of a message; it comes plain.")
            return
        await self._off(line)
        if isinstance(item, File):
            await self._tell(text_files.not_sent(item.document.name, why))
        else:
            await self._tell("Telegram refused a message of mine; the log says why.")

    async def _delete(self, line: Line, item: Delete) -> None:
        outcome = await delivery.delete(self.outbox.bot, self.chat, item.message_id)
        names = " and ".join(item.names)
        match outcome:
            case Done() | Gone():
                words = text.said(f"Stored as {names}; deleted from the chat.")
                await self._off(line, queue=self._about(item, words, sounds=False))
            case Refused() | NoThread():
                words = text.said(
                    f"Your message is still in the chat. It holds a key (stored as {names}) and "
                    "Telegram will not let me delete it: delete it yourself now, and replace the key."
                )
                await self._off(line, queue=self._about(item, words, sounds=True))
            case Unknown(why) | NotNow(why):
                self._later(line.id, why, BACK_OFF_S)
            case _:
                self._wait(outcome)

    def _about(self, item: Delete, words: Words, *, sounds: bool) -> list[Queued]:
        if not item.names:
            return []
        said = Say(words=words, goal=item.goal, sounds=sounds)
        return packed(self.chat, Weight.DECISION if sounds else Weight.ANSWER, [said])

    async def _off(
        self,
        line: Line,
        message_id: int = 0,
        told: Told | None = None,
        queue: Sequence[Queued] = (),
        also: Sequence[int] = (),
    ) -> None:
        for one in (line.id, *also):
            self.lines.pop(one, None)
            self._since.pop(one, None)
            self._forget(one)
        await self.outbox.store.said(
            line.id,
            self.chat,
            message_id,
            told,
            self.outbox.wall(),
            queue,
            self.outbox.take_up,
            also,
        )

    async def _tell(self, sentence: str) -> None:
        await self.outbox.say(self.chat, Weight.ANSWER, Say(words=text.said(sentence)))

    # ---- topics

    def _known_place(self, goal: str) -> _Place:
        if not goal:
            return _Place()
        topic = self.topics.get(goal)
        if self.outbox.topics and topic is not None and topic.thread > 0:
            return _Place(topic.thread)
        return _Place(0, self.outbox.titles.get(goal) or goal)

    async def _place(self, goal: str, now: float) -> _Place | None:
        """Return where a goal's messages go; None when this step went into making its topic."""
        topic = self.topics.get(goal)
        if not goal or not self.outbox.topics or (topic is not None and topic.thread != 0):
            return self._known_place(goal)
        name = self.outbox.titles.get(goal) or goal
        title = self.titles.wanted(goal) or one_line(name, text.HEADING)
        await self._keep_topic(Topic(goal, title, 0))
        self.pace.spent(now)
        outcome = await delivery.topic(self.outbox.bot, self.chat, title)
        match outcome:
            case Done(_, thread):
                await self._keep_topic(Topic(goal, title, thread))
            case Refused() | NoThread():
                await self._lost_topic(goal)
            case _:
                self._wait(outcome)
        return None

    async def _rename(self, job: Title, now: float) -> None:
        if not await self.titles.is_ours(job.goal):
            return
        self.pace.spent(now)
        thread = self.topics[job.goal].thread
        outcome = await delivery.rename(self.outbox.bot, self.chat, thread, job.title)
        await self.titles.renamed(job, outcome, now)
        match outcome:
            case NoThread():
                await self._lost_topic(job.goal)
            case Done() | Refused():
                pass
            case _:
                self._wait(outcome)

    async def _landed_in(self, goal: str, asked: _Place, thread: int) -> None:
        """Compare where a message went with where it should have gone: it went astray once."""
        if asked.thread and thread != asked.thread:
            await self._lost_topic(goal)

    async def _lost_topic(self, goal: str) -> None:
        topic = self.topics.get(goal)
        name = self.outbox.titles.get(goal) or (topic.title if topic else "") or goal
        await self._keep_topic(Topic(goal, name, NO_TOPIC))
        words = text.said(
            f"There is no topic for “{one_line(name, text.HEADING)}” any more: what it says comes "
            "here, under its name."
        )
        await self.outbox.store.first(
            f"no topic {self.chat} {goal}",
            packed(self.chat, Weight.ANSWER, [Say(words=words)]),
            self.outbox.take_up,
        )

    async def _keep_topic(self, topic: Topic) -> None:
        self.topics[topic.goal] = topic
        await self.outbox.store.keep_topic(self.chat, topic)

    # ---- waits

    def _as_sent(self, words: Words, place: _Place, below: bool, key: int | str) -> Words:
        if place.name:
            words = text.headed(words, place.name, below=below)
        return replace(words, rich=Rich(words.rich.text)) if key in self._plain else words

    def _later(self, key: int | str, why: str, waits: Sequence[float]) -> None:
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        wait_s = waits[min(tries, len(waits)) - 1]
        self._due[key] = self.outbox.clock() + wait_s
        log.warning("postponed what=%s why=%s wait_s=%.0f", key, why, wait_s)

    def _wait(self, outcome: Outcome) -> None:
        """Hold the chat as the outcome asks."""
        now = self.outbox.clock()
        match outcome:
            case Flooded(wait_s):
                log.warning("flood control chat=%d wait_s=%.0f", self.chat, wait_s)
                self.pace.hold(now + wait_s + 0.5)
            case Blocked():
                self.blocked = True
                log.warning("the owner has blocked the bot; trying again wait_s=%.0f", BLOCKED_S)
                self.pace.hold(now + BLOCKED_S)
            case Unknown() | NotNow():
                self._failures += 1
                self.pace.hold(now + BACK_OFF_S[min(self._failures, len(BACK_OFF_S)) - 1])
            case Done():
                self._failures = 0

    def _forget(self, key: int | str) -> None:
        self._due.pop(key, None)
        self._tries.pop(key, None)
        self._plain.discard(key)
        self._failures = 0


def _digest(shown: tuple[Words, str] | Document) -> str:
    return hashlib.blake2b(_encode(shown), digest_size=12).hexdigest()


def _dots(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
