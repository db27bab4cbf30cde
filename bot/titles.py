"""What a goal's topic is called: its name, and a mark while it waits for its owner or once it is done.

    wanted ──(has stood for SETTLE_S)──> editForumTopic ──> written down ──> sent no more

Each rename is a message in the chat's pace and leaves a line in its topic, so a state that comes and
goes within seconds renames nothing, and what stands there already is not sent again, after a restart
either. A name that the owner gave by hand stays theirs, and a topic that is gone is left gone.
Part of places.py; the words are text_live.py's.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from bot.delivery import Done, Outcome, Refused
from stores.cards import CardStore, Topic

log = logging.getLogger(__name__)

SETTLE_S = 4.0
REST_S = 30.0  # of one topic between two renames
THEIRS = ""  # no name of ours is asked for: the owner gave one


class Title(Struct, frozen=True):
    """A topic to be renamed."""

    goal: str
    title: str


class Titles:
    """The names of one chat's topics.

    topics   as they are known; what was sent is kept by `keep`
    """

    def __init__(
        self,
        chat: int,
        store: CardStore,
        topics: Callable[[], dict[str, Topic]],
        keep: Callable[[Topic], Awaitable[None]],
    ) -> None:
        self._chat = chat
        self._store = store
        self._topics = topics
        self._keep = keep
        self._since: dict[str, tuple[str, float]] = {}  # a goal: what is wanted, since when
        self._sent: dict[str, float] = {}  # a goal: when its topic was last renamed
        self._left: dict[str, str] = {}  # a goal: the name that is not asked for any more

    def want(self, goal: str, title: str, now: float) -> None:
        """Want a goal's topic to be called so."""
        known = self._since.get(goal)
        if known is None or known[0] != title:
            self._since[goal] = (title, now)

    def wanted(self, goal: str) -> str:
        """Return what a goal's topic is to be called, "" if nobody has said."""
        return self._since.get(goal, ("", 0.0))[0]

    def jobs(self) -> Iterator[Title]:
        """Yield the topics that are called otherwise."""
        topics = self._topics()
        for goal, (title, _) in self._since.items():
            topic = topics.get(goal)
            if topic is None or topic.thread <= 0 or topic.title == title:
                continue
            if self._left.get(goal) not in (title, THEIRS):
                yield Title(goal, title)

    def since(self, job: Title) -> float:
        return self._since[job.goal][1]

    def due(self, job: Title) -> float:
        """Return when a topic may be renamed: once the name has stood a while."""
        last = self._sent.get(job.goal)
        soonest = self._since[job.goal][1] + SETTLE_S
        return soonest if last is None else max(soonest, last + REST_S)

    async def is_ours(self, goal: str) -> bool:
        """Say whether we may rename this topic; once its owner did, never again."""
        if await self._store.fact(self._by_hand(goal)):
            self._left[goal] = THEIRS
            return False
        return True

    async def renamed(self, job: Title, outcome: Outcome, now: float) -> None:
        """Write down what a topic is called now, or that this name is not to be had."""
        self._sent[job.goal] = now
        match outcome:
            case Done():
                await self._keep(replace(self._topics()[job.goal], title=job.title))
            case Refused(why):
                log.warning("topic not renamed goal=%s why=%s", job.goal, why)
                self._left[job.goal] = job.title
            case _:
                pass

    async def named_by_hand(self, goal: str, name: str) -> None:
        """Leave a topic the name its owner gave it."""
        self._left[goal] = THEIRS
        await self._store.keep_fact(self._by_hand(goal), "1")
        await self._keep(replace(self._topics()[goal], title=name))

    def _by_hand(self, goal: str) -> str:
        return f"named by hand {self._chat} {goal}"
