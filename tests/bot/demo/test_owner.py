"""The demo's owner, against the emulated phone and a bot of three lines."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.demo import owner
from bot.emulator import Emulator

TOKEN = "1:test"


@pytest.fixture
async def emulator() -> AsyncIterator[Emulator]:
    async with Emulator(token=TOKEN, owner_id=42, flood=False) as running:
        yield running


class Bot:
    """Speaks to the emulator as any bot does."""

    def __init__(self, emulator: Emulator) -> None:
        from telegram import Bot as Wire

        self._wire = Wire(TOKEN, base_url=f"{emulator.url}/bot")
        self._offset = 0

    async def __aenter__(self) -> "Bot":
        await self._wire.initialize()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.shutdown()

    async def card(self, text: str, *labels: str) -> None:
        from telegram import InlineKeyboardButton, InlineKeyboardMarkup

        row = [InlineKeyboardButton(label, callback_data=f"c:{label}") for label in labels]
        await self._wire.send_message(42, text, reply_markup=InlineKeyboardMarkup([row]))

    async def hears(self) -> str:
        """Return the next text or tap."""
        (update,) = await self._wire.get_updates(offset=self._offset, timeout=10, limit=1)
        self._offset = update.update_id + 1
        if update.callback_query:
            return str(update.callback_query.data)
        assert update.message is not None
        return str(update.message.text)


async def test_it_gives_the_goal_says_yes_and_ends_when_shipped(emulator: Emulator) -> None:
    said: list[str] = []
    async with Bot(emulator) as bot, asyncio.TaskGroup() as tasks:
        playing = tasks.create_task(owner.play(emulator.phone, said.append))
        assert await bot.hears() == owner.GOAL
        await bot.card("A plan", "Start", "Discard")
        assert await bot.hears() == "c:Start"
        await bot.card("Ready to push", "Push", "Cancel")
        assert await bot.hears() == "c:Push"
        await bot.card("Shipped")
        await playing
    plan, push, shipped = (message.id for message in emulator.phone.from_bot())
    assert said[1:] == [
        f"#{plan} Bot: A plan\n    [Start] [Discard]",
        f"You press [Start] under #{plan}",
        f"#{push} Bot: Ready to push\n    [Push] [Cancel]",
        f"You press [Push] under #{push}",
        f"#{shipped} Bot: Shipped",
    ]


async def test_a_failure_ends_it(emulator: Emulator) -> None:
    async with Bot(emulator) as bot:
        playing = asyncio.create_task(owner.play(emulator.phone, lambda _: None))
        await bot.hears()
        await bot.card("The lead could not start\nwords", "Retry", "Stop")
        with pytest.raises(owner.WentWrong, match=r"offers Retry: The lead could not start$"):
            await playing


async def test_a_person_presses_by_number(emulator: Emulator) -> None:
    async with Bot(emulator) as bot:
        await bot.card("A plan", "Start")
        (plan,) = emulator.phone.from_bot()
        owner.act(emulator.phone, f"#{plan.id} Start")
        assert await bot.hears() == "c:Start"
        owner.act(emulator.phone, "#fine")
        assert await bot.hears() == "#fine"
        with pytest.raises(LookupError, match="Start"):
            owner.act(emulator.phone, f"#{plan.id} Ship")
