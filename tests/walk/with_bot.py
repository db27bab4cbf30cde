"""The whole story from the phone: the real bot, the real engine and an emulated Bot API in one loop.

    person ── phone ── Bot API ── bot ── engine.sock ── engine ── fake machine
                                   └ lives here; the rest lives on while it dies

The bot dies before and after each commit to its file, each call of the Bot API and each request to the
engine, and is started again at once, over the same files and the same chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from bot import pace
from bot.app import main
from bot.emulator import Emulator
from engine import setup
from engine.config import Config
from engine.engine import Engine
from tests.crash import lives
from tests.engine.person import Person
from tests.engine.scenario import (
    GOAL,
    PROJECT,
    SKETCH,
    World,
    expected,
    is_over,
    scene,
)
from tests.history import Chat, Scene, behind, faults

TOKEN = "7000000003:AAa-third-token-that-must-never-be-in-a-log"
OWNER = 42
LOOK_S = 0.01
LIMIT_S = 60.0


class Aboard:
    """One play of it: how often the bot died, and what the chat shows."""

    def __init__(self, world: World, emulator: Emulator, engine: Engine) -> None:
        self.world = world
        self.emulator = emulator
        self.engine = engine
        self.deaths = 0

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
                for fault in faults(self.scene(), expected(self.world)):
                    late.add_note(fault)
                late.add_note(self.emulator.phone.transcript())
                raise
            finally:
                person.cancel()
                stop.set()
            await bot

    async def _bot(self, stop: asyncio.Event) -> None:
        self.deaths += await lives(lambda: main(self.world.home, stop))

    def _is_over(self) -> bool:
        if not is_over(self.engine.loop.world()):
            return False
        return not behind(self.scene(), expected(self.world))

    def scene(self) -> Scene:
        """Return where the evidence of it lies."""
        return scene(self.world, Chat.of(self.emulator, copies=self.deaths))


@contextmanager
def unhurried() -> Iterator[None]:
    """Have the bot say things as fast as they come: nobody's limit holds here."""
    before, pace.EVERY_S, pace.EDIT_EVERY_S = (pace.EVERY_S, pace.EDIT_EVERY_S), 0.001, 0.001
    try:
        yield
    finally:
        pace.EVERY_S, pace.EDIT_EVERY_S = before


@asynccontextmanager
async def aboard(world: World) -> AsyncIterator[Aboard]:
    """Furnish the world's home, and run an engine and a Bot API on it for a block."""
    async with Emulator(token=TOKEN, owner_id=OWNER, threaded=True, flood=False) as emulator:
        setup.write(world.home, Config(owner_ids=(OWNER,), api_url=emulator.url), TOKEN)
        engine = world.engine()
        with unhurried():
            async with engine.running():
                await engine.door.add_project(PROJECT, str(world.repository), cause="cli:1")
                await engine.door.add_account("main", "rehearsal", cause="cli:2")
                yield Aboard(world, emulator, engine)
                await engine.loop.settle()
                world.cards = list(engine.door.cards())
