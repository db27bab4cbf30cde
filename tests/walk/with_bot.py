"""The whole story from the phone: the real bot, the real engine and an emulated Bot API in one loop.

    person ── phone ── Bot API ── bot ── engine.sock ── engine ── fake machine
                                   └ lives here; the rest lives on while it dies

The bot dies before and after each commit to its file, each call of the Bot API and each request to the
engine, and is started again at once, over the same files and the same chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.app import main
from bot.emulator import Emulator
from bot.inbox import MOST_LIVES
from engine import setup
from engine.config import Config
from engine.engine import Engine
from engine.errors import Refused
from tests.crash import Reaper, lives
from tests.engine.person import Person
from tests.engine.scenario import (
    GOAL,
    PROJECT,
    SKETCH,
    World,
    expected,
    is_over,
    judge,
    scene,
)
from tests.history import Chat, behind, faults
from tests.history.scene import rows_of
from tests.unhurried import telegram
from tests.walk.walked import Walked, walk

TOKEN = "7000000003:AAa-third-token-that-must-never-be-in-a-log"
OWNER = 42
LOOK_S = 0.01
LIMIT_S = 150.0

APART = (40, 30, 25, 20, 15, 10)


class Named:
    """Names the bot's boundaries: what is sent is what was noted to be about to be."""

    def __init__(self) -> None:
        self._about = ""

    def __call__(self, name: str) -> list[str]:
        if name.startswith("before sending "):
            self._about = name.removeprefix("before sending ")
        return [f"{name} {self._about}" if name.endswith("sendMessage") else name]


async def walk_bot(ground: Path) -> Walked:
    """Die at all the bot's boundaries of the whole story."""
    return await walk("bot", ground, play_and_judge, apart=APART, labels=Named)


async def play_and_judge(world: World, reaper: Reaper) -> None:
    """Play it in as many of the bot's lives as the reaper makes of it, and judge its end."""
    with reaper.at_work():
        async with aboard(world, reaper) as story:
            await story.play()
    judge(world, story.chat)


class Aboard:
    """One play of it, and what the chat shows."""

    def __init__(
        self, world: World, emulator: Emulator, engine: Engine, reaper: Reaper | None
    ) -> None:
        self.world = world
        self.emulator = emulator
        self.engine = engine
        self._reaper = reaper
        if reaper is not None:
            reaper.spares = self._is_enough

    def _is_enough(self) -> bool:
        """Whether another start would give up what the owner sent: it found it unhandled too often."""
        if not self.world.home.bot_db.exists():
            return False
        ((lives,),) = rows_of(self.world.home.bot_db, "SELECT max(lives) FROM inbox")
        return (lives or 0) >= MOST_LIVES

    async def play(self, limit_s: float = LIMIT_S) -> None:
        """Have the person at the phone bring the goal to its end."""
        self.emulator.phone.document(
            "sketch.jpg", SKETCH, mime="image/jpeg", caption=f"/new {PROJECT} {GOAL}"
        )
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            bot = group.create_task(self._bot(stop), name="bot")
            person = group.create_task(Person(self.emulator.phone).own(), name="person")
            try:
                async with asyncio.timeout(limit_s):
                    while not self._is_over():  # noqa: ASYNC110 - files and sockets tell nobody
                        await asyncio.sleep(LOOK_S)
            except TimeoutError as late:
                for fault in faults(scene(self.world, self.chat), expected(self.world)):
                    late.add_note(fault)
                late.add_note(self.emulator.phone.transcript())
                raise
            finally:
                person.cancel()
                stop.set()
            await bot

    async def _bot(self, stop: asyncio.Event) -> None:
        async def live() -> None:
            while True:
                try:
                    await main(self.world.home, stop)
                except Refused as held:
                    # The engine's child forked as a bot died holds its lock until it is itself.
                    if "Another bot" not in held.sentence:
                        raise
                    await asyncio.sleep(LOOK_S)
                else:
                    return

        await lives(live)

    def _is_over(self) -> bool:
        if not is_over(self.engine.loop.world()):
            return False
        return not behind(scene(self.world, self.chat), expected(self.world))

    @property
    def chat(self) -> Chat:
        """What the owner sees; each death of the bot may have left one message twice."""
        return Chat.of(self.emulator, copies=self._reaper.ends if self._reaper else 0)


@asynccontextmanager
async def aboard(world: World, reaper: Reaper | None = None) -> AsyncIterator[Aboard]:
    """Furnish the world's home, and run an engine and a Bot API on it for a block."""
    async with telegram(TOKEN, OWNER, threaded=True) as emulator:
        setup.write(world.home, Config(owner_ids=(OWNER,), api_url=emulator.url), TOKEN)
        engine = world.engine()
        async with engine.running():
            await engine.door.add_project(PROJECT, str(world.repository), cause="cli:1")
            await engine.door.add_account("main", "rehearsal", cause="cli:2")
            yield Aboard(world, emulator, engine, reaper)
            await engine.loop.settle()
            world.cards = list(engine.door.cards())
