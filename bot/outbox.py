"""The one sender: all that the bot says in a chat goes through here, in the order of its weight.

    what the owner must hear  >  what was just decided  >  decisions (0)  >  answers, files (1)
        >  last words, news, new workers (2)  >  progress (3)

Of one weight, what waits longest goes first. A card that was answered loses its buttons before
anything else is shown. Words of one session that wait are said in one message.

Two kinds of things wait to be said. Lines are said once and kept on disk until Telegram has them.
Cards are wanted as they are now: only the newest wanting counts, compared with what is shown, so
edits coalesce and a restart picks up whatever lags. One lane a chat: a chat that must wait holds up
no other. A send whose answer got lost is looked for in the chat first (lost.py), and repeated only if
it is not there. Answers to taps do not come through here: nothing may hold them up.

In quiet hours all comes silently; what would have sounded is noted for morning.py.

cards.py says what is wanted, requests.py and its parts what is answered. unsaid.py is what can wait,
lane.py says it in one chat, pace.py says how fast, delivery.py makes the calls and reads the errors.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

import telegram
from msgspec.structs import replace

from bot import text_live
from bot.lane import Lane
from bot.masks import masked
from bot.quiet import Quiet
from bot.text import Words
from bot.unsaid import Delete, Edit, Item, Wanted, Weight, decode, packed
from engine.views import Document
from stores.attached import Attached
from stores.cards import CardStore, Line, Prompted, Shown, Told

# The fact that something came silently which would have sounded: until when the hours were.
HUSHED = "hushed until"


class Outbox:
    """Everything waiting to be said.

    store    lines, cards and topics on disk
    chats    the owners', as they stand when it is opened
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
        self._chats = chats
        self.lanes: dict[int, Lane] = {chat: Lane(self, chat) for chat in chats}
        self.quiet: Quiet | None = None
        self._new_lane = asyncio.Event()
        self._hushed = ""

    async def open(self) -> None:
        """Read what was left unsaid."""
        self.shown = await self.store.shown()
        for chat in self._chats:  # there may be more owners than we were made with
            self._lane(chat)
        for lane in self.lanes.values():
            lane.places.topics = await self.store.topics(lane.chat)
            await lane.open()
            for topic in lane.places.topics.values():
                self.titles.setdefault(topic.goal, text_live.unmarked(topic.title))
        self.take_up(await self.store.lines())

    async def say(self, chat: int, weight: Weight, *items: Item) -> None:
        """Queue lines; once this returns they will be said."""
        await self.store.queue(packed(chat, weight, items), self.take_up)

    async def content(self, document: Document) -> bytes | None:
        """Return what a file holds; None if it is not kept any more."""
        if not document.held:
            text = await asyncio.to_thread(masked, document.text, self.bot.token)
            return text.encode(errors="replace")
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
            self._lane(line.chat).take_up(line, decode(line.body))

    def show(self, wanted: Wanted) -> None:
        """Want a card to stand so; what was wanted before is forgotten."""
        self.wanted[wanted.card] = wanted
        self._lane(self._where(wanted)).want(wanted.card)

    def call(self, goal: str, name: str, title: str, chat: int) -> None:
        """Know a goal's name, and want its topic to be called `title`: the name, perhaps marked."""
        self.titles[goal] = name
        lane = self._lane(chat)
        lane.places.titles.want(goal, title, self.clock())
        lane.wake.set()

    async def named_by_hand(self, chat: int, thread: int, name: str) -> None:
        """Hear that the owner renamed a topic."""
        if goal := self.goal_of_thread(chat, thread):
            await self.lanes[chat].places.titles.named_by_hand(goal, name)

    async def moved(self, card: str, words: Words) -> None:
        """Have a card begin anew in another chat; where it stood, `words` say so."""
        self.wanted.pop(card, None)
        if (shown := self.shown.pop(card, None)) is not None:
            there = Edit(message_id=shown.message_id, words=words, goal=shown.goal)
            await self.say(shown.chat, Weight.ANSWER, there)

    def strip(self, card: str, last: Words | None = None) -> None:
        """Want a card's buttons gone: what it asked is no question any more.

        last   what it says from now on, where its words must go too
        """
        shown, wanted = self.shown.get(card), self.wanted.get(card)
        if wanted is not None and (wanted.words is None or not wanted.words.buttons):
            return
        if shown is None:
            self.wanted.pop(card, None)
            for lane in self.lanes.values():
                if card in lane.perhaps():
                    self.show(Wanted(card=card, goal="", chat=lane.chat, words=None))
        elif last is not None and (shown.live or wanted is not None):
            goal, chat = shown.goal, shown.chat
            self.show(Wanted(card=card, goal=goal, chat=chat, words=last, weight=Weight.ANSWER))
        elif wanted is not None and wanted.words is not None and not wanted.asks:
            # It was settled, and that is still to be shown: its words stay true.
            self.show(replace(wanted, words=replace(wanted.words, buttons=())))
        elif shown.live:
            self.show(Wanted(card=card, goal=shown.goal, chat=shown.chat, words=None))

    def perhaps(self) -> set[str]:
        """Return the cards that may be shown somewhere, though nobody noted it."""
        return {card for lane in self.lanes.values() for card in lane.perhaps()}

    async def seen(self, card: str, chat: int, message_id: int) -> None:
        """Hear that a card was tapped on this message: a copy we did not know of, perhaps."""
        shown, wanted = self.shown.get(card), self.wanted.get(card)
        if any(s.message_id == message_id and s.chat == chat for s in self.shown.values()):
            return  # it is that card's, or another's with a name on it that was made up
        told = await self.store.told(chat, message_id)
        if told is not None and told.card != card:
            return  # it was the card's when it was tapped, and says something else by now
        if shown is not None and shown.message_id != message_id:
            await self.say(chat, Weight.ANSWER, Delete(message_id=message_id))
        elif shown is None and (wanted is not None or card in self.perhaps()):
            found = Shown(
                card=card,
                goal=wanted.goal if wanted is not None else "",
                chat=chat,
                thread=0,
                message_id=message_id,
                revision=wanted.revision if wanted is not None else "",
                shown="",
                asked=True,  # its owner looks at it just now
                live=True,
                at=self.wall(),
            )
            self.shown[card] = found
            self._lane(chat).found(card, message_id)
            await self.store.keep_shown(found)
            self._lane(chat).wake.set()

    def alive(self, chat: int, message_id: int = 0) -> None:
        """Hear that the owner wrote this: whatever was blocked there is not any more."""
        lane = self.lanes.get(chat)
        if lane is not None:
            lane.saw(message_id)
            lane.unblocked()

    async def told(self, chat: int, message_id: int) -> Told | None:
        """Return what a message of ours was about, though it may not be noted yet that it was sent."""
        noted, lane = await self.store.told(chat, message_id), self.lanes.get(chat)
        return lane.asked_by(message_id) if noted is None and lane is not None else noted

    async def prompted(self, chat: int, message_id: int) -> Prompted | None:
        """Return the prompt a message is."""
        found = await self.store.prompted(chat, message_id)
        if found is not None or (told := await self.told(chat, message_id)) is None:
            return found
        return Prompted(message_id, told.goal, told.prompt, self.wall()) if told.prompt else None

    def goal_of_thread(self, chat: int, thread: int) -> str:
        """Return the goal whose topic this is, or nothing."""
        lane = self.lanes.get(chat)
        topics = lane.places.topics.values() if lane and thread > 0 else ()
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

    def _lane(self, chat: int) -> Lane:
        if chat not in self.lanes:
            self.lanes[chat] = Lane(self, chat)
            self._new_lane.set()
        return self.lanes[chat]

    def _where(self, wanted: Wanted) -> int:
        shown = self.shown.get(wanted.card)
        return shown.chat if shown else wanted.chat
