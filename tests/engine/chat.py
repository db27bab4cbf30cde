"""A whole Quarterdeck in a test's hand: bot, engine and node, with Telegram alone emulated.

What the owner does is typed and tapped, what is asserted stands in the chat. Neighbours: phone.py (the
door without the bot), test_planted_key.py (a key through all of it).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.app import main
from bot.emulator import Emulator, Message
from bot.emulator.phone import Phone
from engine import config
from engine.adapters.machines import Machine
from engine.config import Config
from engine.engine import Engine
from engine.node.own_network import SWITCH
from engine.paths import Home
from stores.sealing import create_keys
from tests.unhurried import telegram

TOKEN = "7000000002:AAanother-token-that-must-never-be-in-a-log"
OWNER = 42
LIMIT_S = 60.0
PUSHED = "✓ push"

Shown = tuple[int, str, tuple[str, ...]]
Standing = frozenset[Shown]


class Chat:
    """The owner's chat, and what is behind it."""

    def __init__(self, home: Home, engine: Engine, emulator: Emulator) -> None:
        self.home = home
        self.engine = engine
        self.emulator = emulator
        self.phone: Phone = emulator.phone
        self._stop = asyncio.Event()
        self._bot: asyncio.Task[None] | None = None

    def start_bot(self) -> None:
        self._stop = asyncio.Event()
        self._bot = asyncio.create_task(main(self.home, self._stop))

    async def stop_bot(self) -> None:
        """End the bot as SIGTERM does."""
        self._stop.set()
        if self._bot is not None:
            await self._bot
            self._bot = None

    async def until(
        self, *words: str, label: str = "", after: int = 0, anew: Standing = frozenset()
    ) -> Message:
        """Wait for a message of the bot's that holds all these words, and this button.

        after   only messages with a higher id count
        anew    what stood in the chat before: that does not count
        """

        def fits(message: Message) -> bool:
            all_there = all(part in message.text for part in words)
            fitting = message.from_bot and all_there and (not label or label in message.labels)
            return fitting and _as_it_is(message) not in anew

        try:
            return await self.phone.wait_for(fits, timeout=LIMIT_S, after=after)
        except TimeoutError as late:
            late.add_note(self.phone.transcript())
            raise

    async def sent(self, line: str, *words: str, label: str = "") -> Message:
        """Send a line, and wait for what it leads to."""
        before = self._standing()
        self.phone.send(line)
        return await self.until(*words, label=label, anew=before)

    async def tapped(self, message: Message, button: str, *words: str, label: str = "") -> Message:
        """Press a button, and wait for what it leads to."""
        before = self._standing()
        self.phone.tap(message, button)
        return await self.until(*words, label=label, anew=before)

    def _standing(self) -> Standing:
        return frozenset(map(_as_it_is, self.phone.from_bot()))

    async def shipped(self) -> Message:
        """Press what moves a goal on, up to the push."""
        onward = ("Allow", "Start", "Ship", "Proceed", "Push")
        pressed: set[tuple[int, str]] = set()

        def waiting(message: Message) -> bool:
            label = next((label for label in onward if label in message.labels), "")
            new = bool(label) and (message.id, message.text) not in pressed
            return message.from_bot and (new or PUSHED in message.text)

        while True:
            message = await self.phone.wait_for(waiting, timeout=LIMIT_S)
            if PUSHED in message.text:
                return message
            pressed.add((message.id, message.text))
            self.phone.tap(message, next(label for label in onward if label in message.labels))


def _as_it_is(message: Message) -> Shown:
    return message.id, message.text, tuple(message.labels)


@asynccontextmanager
async def chatting(
    folder: Path, *, scenario: str = "", machine: Machine | None = None
) -> AsyncIterator[Chat]:
    """Run all of it over one home until the block ends; its goals are stopped then."""
    home = Home(folder / "home").make()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    (home.root / SWITCH).touch()  # as in phone.py
    async with telegram(TOKEN, OWNER) as emulator:
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        machines = None if machine is None else {machine.name: machine}
        engine = Engine(home, scenario=scenario, machines=machines)
        async with engine.running():
            chat = Chat(home, engine, emulator)
            chat.start_bot()
            try:
                yield chat
            finally:
                await engine.door.stop("", cause="end")
                await engine.loop.settle()
                await chat.stop_bot()
