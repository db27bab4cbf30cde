"""Where the messages of a goal go in one chat: into its topic, made here, or under its name.

A topic that is gone is left gone, and said once. Neighbours: titles.py (what topics are called), lane.py.
"""

from __future__ import annotations

from bot import delivery, text
from bot.chat import Chat, Place
from bot.delivery import Done, NoThread, Refused, Unknown
from bot.entities import one_line
from bot.titles import Title, Titles
from bot.unsaid import Say, Weight, packed
from stores.cards import NO_TOPIC, Topic


class Places:
    """One chat's topics."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.topics: dict[str, Topic] = {}
        self.titles = Titles(chat.id, chat.outbox.store, lambda: self.topics, self.keep)

    def known(self, goal: str) -> Place:
        if not goal:
            return Place()
        topic = self.topics.get(goal)
        if self._chat.outbox.topics and topic is not None and topic.thread > 0:
            return Place(topic.thread)
        return Place(0, self._chat.outbox.titles.get(goal) or goal)

    async def find(self, goal: str, now: float) -> Place | None:
        """Return where a goal's messages go; None when this step went into making its topic."""
        topic = self.topics.get(goal)
        if not goal or not self._chat.outbox.topics or (topic is not None and topic.thread != 0):
            return self.known(goal)
        name = self._chat.outbox.titles.get(goal) or goal
        title = self.titles.wanted(goal) or one_line(name, text.HEADING)
        await self.keep(Topic(goal, title, 0))
        key = f"topic {goal}"
        if there := self._chat.lost.candidate(key):
            await self._look(there, goal, title, now)
            return None
        await self._chat.sending(key)
        self._chat.pace.spent(now)
        outcome = await delivery.topic(self._chat.outbox.bot, self._chat.id, title)
        match outcome:
            case Done(_, thread):
                self._chat.lost.saw(thread, sent=True)
                await self.keep(Topic(goal, title, thread))
            case Refused() | NoThread():
                await self.lost(goal)
            case Unknown():
                self._chat.lost.mark(key)
                await self._chat.hold(outcome)
            case _:
                await self._chat.hold(outcome)
        return None

    async def _look(self, there: int, goal: str, title: str, now: float) -> None:
        """Look whether a topic is the one whose making was never answered: as lost.py says."""
        key = f"topic {goal}"
        self._chat.pace.spent(now)
        outcome = await delivery.rename(self._chat.outbox.bot, self._chat.id, there, title)
        match outcome:
            case Done():
                self._chat.lost.saw(there)
                self._chat.forget(key)
                await self.keep(Topic(goal, title, there))
            case Refused() | NoThread():
                self._chat.lost.missed(key, there)
            case _:
                await self._chat.hold(outcome)

    async def rename(self, job: Title, now: float) -> None:
        if not await self.titles.is_ours(job.goal):
            return
        self._chat.pace.spent(now)
        thread = self.topics[job.goal].thread
        outcome = await delivery.rename(self._chat.outbox.bot, self._chat.id, thread, job.title)
        await self.titles.renamed(job, outcome, now)
        match outcome:
            case NoThread():
                await self.lost(job.goal)
            case Done() | Refused():
                pass
            case _:
                await self._chat.hold(outcome)

    async def landed_in(self, goal: str, asked: Place, thread: int) -> None:
        """Compare where a message went with where it should have gone: it went astray once."""
        if asked.thread and thread != asked.thread:
            await self.lost(goal)

    async def lost(self, goal: str) -> None:
        topic = self.topics.get(goal)
        name = self._chat.outbox.titles.get(goal) or (topic.title if topic else "") or goal
        await self.keep(Topic(goal, name, NO_TOPIC))
        words = text.said(
            f"There is no topic for “{one_line(name, text.HEADING)}” any more: what it says comes "
            "here, under its name."
        )
        await self._chat.outbox.store.first(
            f"no topic {self._chat.id} {goal}",
            packed(self._chat.id, Weight.ANSWER, [Say(words=words)]),
            self._chat.outbox.take_up,
        )

    async def keep(self, topic: Topic) -> None:
        self.topics[topic.goal] = topic
        await self._chat.outbox.store.keep_topic(self._chat.id, topic)
