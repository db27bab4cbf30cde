"""A seeded storm: every kind of bad day at once, and in the end all is as if nothing had been.

    owner's lines, cards that change, words   ── floods, pages, cuts, lost answers, second pollers,
    (a set clock moves on)                       reordered and repeated updates, nights, kills ──> calm

Checked once it is calm: each card stands in the chat once, as it was last wanted; each of the owner's lines
was acted on once, in order, or Telegram had lost it and that was said; each word of ours is there once.
BR-09, BR-16, BR-37, BR-41.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import telegram

import bot.polling
from bot import text
from bot.answers import Answers
from bot.emulator import Emulator
from bot.entities import Rich
from bot.groups import Groups
from bot.inbox import Arrived, Inbox, Reply
from bot.outbox import Outbox
from bot.polling import Polling
from bot.text import Button, Words
from bot.text_away import MOVED
from bot.unsaid import Say, Wanted, Weight
from engine.paths import Home
from stores.cards import CardStore
from stores.database import Database
from stores.sealing import Opener, create_keys, read_key
from tests.bot.stage import OWNER, TOKEN
from tests.bot.test_outbox import Clock

SEEDS = range(20)
STEPS = 60
CARDS = 4
SENDING = ("sendMessage", "editMessageText", "editMessageReplyMarkup", "deleteMessage")
ODD = ("<html>sign in</html>", '{"ok":true}', "null")


class Unsealing:
    """The engine's part in a restart."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        assert verb == "unseal"
        return self._opener.open(args["sealed"])


class Storm:
    """One seed's weather, owner and bot."""

    def __init__(
        self, seed: int, emulator: Emulator, clock: Clock, database: Database, home: Home
    ) -> None:
        self.chance = random.Random(seed)
        self.emulator = emulator
        self.clock = clock
        self.store = CardStore(database)
        self.public = read_key(home.vault_pub)
        self.engine = Unsealing(Opener(read_key(home.vault_key)))
        self.line = Answers(read_timeout=0.2, connect_timeout=2.0)
        self.bot = telegram.Bot(
            TOKEN,
            base_url=f"{emulator.url}/bot",
            request=Answers(read_timeout=0.2, connect_timeout=2.0),
            get_updates_request=self.line,
        )
        self.sent: dict[str, float] = {}  # the owner's lines, and when
        self.acted: list[str] = []
        self.causes: set[int] = set()
        self.told: list[str] = []
        self.words: list[str] = []  # ours
        self.cards: dict[str, Wanted] = {}
        self.outbox: Outbox
        self.inbox: Inbox
        self.polling: Polling
        self.running: asyncio.Task[None] | None = None

    # ---- the bot

    async def start(self) -> None:
        self.outbox = Outbox(self.bot, self.store, [OWNER], clock=self.clock, wall=self.clock)
        await self.outbox.open()
        self.inbox = Inbox(
            self.store,
            self.outbox,
            self.engine,
            self._handle,
            owners=[OWNER],
            public=self.public,
            groups=Groups(self.bot, self.store, self.engine, self.outbox, [OWNER]),
            wall=self.clock,
        )
        self.polling = Polling(
            self.bot,
            self.line,
            self.store,
            self._receive,
            self._tell,
            clock=self.clock,
            wall=self.clock,
        )
        self.running = asyncio.create_task(self.inbox.run())
        await self.inbox.ready.wait()
        if not self.sent:
            self.writes()  # whoever pairs has written
            await self.turn()
        for card in self.cards.values():  # as the engine tells them anew
            self.outbox.show(card)

    async def kill(self) -> None:
        """End the bot between two calls and start it again on what it had kept."""
        await self.end()
        await self.start()

    async def end(self) -> None:
        if self.running is not None:
            self.running.cancel()
            await asyncio.wait([self.running])

    async def _receive(self, updates: Sequence[dict[str, Any]]) -> None:
        await self.inbox.receive(updates)

    async def _tell(self, sentence: str, sounds: bool) -> None:
        self.told.append(sentence)

    async def _handle(self, parts: Sequence[Arrived]) -> Reply:
        (one,) = parts
        said = str(one.body.get("text"))
        if one.update_id not in self.causes:  # the engine knows a cause again
            self.causes.add(one.update_id)
            self.acted.append(said)
        self.words.append(f"did {said}")
        return Reply((Say(words=text.said(f"did {said}")),))

    async def turn(self) -> None:
        """Let the bot do what it may do now."""
        await self.polling.step()
        while not self.inbox.idle():  # noqa: ASYNC110
            await asyncio.sleep(0)
        for _ in range(5):
            if await self.outbox.lanes[OWNER].step() != 0:
                break

    # ---- what happens

    def happens(self) -> None:
        """Let one thing happen that the bot does not bring about."""
        what: Callable[[], object] = self.chance.choice(
            [self.writes, self.changes, self.changes, self.speaks, self.storms, self.storms]
        )
        what()

    def writes(self) -> None:
        said = f"line {len(self.sent)}"
        self.sent[said] = self.clock.now
        self.emulator.phone.send(said)

    def changes(self) -> None:
        name = f"a-{self.chance.randrange(CARDS)}"
        number = int(self.cards[name].revision) + 1 if name in self.cards else 0
        asks = self.chance.random() < 0.5
        words = Words(Rich(f"{name} version {number}"), ((Button("Stop", "stop"),),))
        self.cards[name] = Wanted(
            card=name,
            goal="",
            chat=OWNER,
            words=words,
            revision=str(number),
            asks=asks,
            sounds=asks and self.chance.random() < 0.5,
            weight=Weight.DECISION if asks else Weight.PROGRESS,
        )
        self.outbox.show(self.cards[name])

    def speaks(self) -> None:
        self.unsaid = True

    def storms(self) -> None:
        faults, chance = self.emulator.faults, self.chance
        method = chance.choice((*SENDING, "getUpdates", "getUpdates"))
        done = chance.random() < 0.5
        conflict = "Conflict: terminated by other getUpdates request"
        chance.choice(
            (
                lambda: faults.flood(method, retry_after=chance.randrange(1, 90)),
                lambda: faults.gateway(method, chance.choice((500, 502, 504)), done=done),
                lambda: faults.error(method, 500, "Internal Server Error: restart"),
                lambda: faults.odd(method, chance.choice(ODD), chance.choice((403, 404, 502))),
                lambda: faults.cut(method, done=done),
                lambda: faults.tear(method, done=done),
                lambda: faults.error("getUpdates", 409, conflict, times=chance.randrange(1, 9)),
                lambda: setattr(self.emulator.updates, "reverse", 2),
                lambda: self.emulator.updates.repeat(chance.randrange(1, 5)),
            )
        )()

    async def step(self) -> None:
        self.unsaid = False
        self.happens()
        if self.unsaid:
            self.words.append(f"word {len(self.words)}")
            await self.outbox.say(OWNER, Weight.WORDS, Say(words=text.said(self.words[-1])))
        luck = self.chance.random()
        self.clock.now += 30 * 3600 if luck < 0.01 else self.chance.choice((0, 0.3, 2, 15, 70))
        if luck > 0.94:
            await self.kill()
        elif luck > 0.9:
            await self.turn_cut_short()
        await self.turn()

    async def turn_cut_short(self) -> None:
        """Be killed in the middle of whatever it is."""
        turn = asyncio.create_task(self.turn())
        for _ in range(self.chance.randrange(1, 60)):
            await asyncio.sleep(0)
        turn.cancel()
        await asyncio.wait([turn])
        await self.kill()

    async def calm(self) -> None:
        """Let the weather end, and the bot come to rest."""
        self.emulator.faults.calm()
        self.emulator.updates.reverse = 0
        lane = self.outbox.lanes[OWNER]
        for _ in range(3):
            await self.turn()
        for _ in range(1000):
            wait_s = await lane.step()
            if wait_s is None:
                break
            self.clock.now += wait_s
        else:
            raise AssertionError("it never comes to rest")
        await self.turn()

    # ---- what must be so in the end

    def check(self) -> None:
        # Nobody may delete what is older than two days.
        shown = [m for m in self.emulator.phone.from_bot() if m.text != MOVED]
        texts = [message.text for message in shown]
        for name, card in self.cards.items():
            assert card.words is not None
            (found,) = [m for m in shown if m.text.startswith(f"{name} version")]
            assert found.text == card.words.rich.text
            assert [b.value for b in found.buttons] == [f"c:{name}:{card.revision}:stop"]
        for words in self.words:
            assert texts.count(words) == 1, words
        assert len(shown) == len(self.cards) + len(self.words)
        lost = [said for said in self.sent if said not in self.acted]
        assert self.acted == [said for said in self.sent if said not in lost]
        assert all(self.clock.now - self.sent[said] > 86_400 for said in lost)
        assert not lost or any("is lost" in said for said in self.told)
        assert self.emulator.ignored_waits == 0


@asynccontextmanager
async def storm_of(seed: int, folder: Path) -> AsyncIterator[Storm]:
    clock, home = Clock(), Home(folder).make()
    create_keys(home)
    async with (
        Emulator(token=TOKEN, owner_id=OWNER, clock=clock) as emulator,
        Database(home.bot_db, "bot", secure_delete=True) as database,
    ):
        storm = Storm(seed, emulator, clock, database, home)
        async with storm.bot:
            await storm.start()
            yield storm
            await storm.end()


@pytest.mark.parametrize("seed", SEEDS)
async def test_after_the_storm_all_is_as_if_nothing_had_been(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.polling, "POLL_S", 0)
    async with storm_of(seed, tmp_path) as storm:
        for _ in range(STEPS):
            await storm.step()
        await storm.calm()
        storm.check()
