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

    async def card(self, text: str, *labels: str) -> int:
        from telegram import InlineKeyboardButton, InlineKeyboardMarkup

        row = [InlineKeyboardButton(label, callback_data=f"c:{label}") for label in labels]
        markup = InlineKeyboardMarkup([row])
        return (await self._wire.send_message(42, text, reply_markup=markup)).message_id

    async def prompt(self, text: str) -> None:
        from telegram import ForceReply

        await self._wire.send_message(42, text, reply_markup=ForceReply())

    async def keys(self, message: int, *labels: str) -> None:
        from telegram import InlineKeyboardButton, InlineKeyboardMarkup

        row = [InlineKeyboardButton(label, callback_data=f"c:{label}") for label in labels]
        await self._wire.edit_message_reply_markup(
            42, message, reply_markup=InlineKeyboardMarkup([row])
        )

    async def decided(self, message: int, text: str) -> None:
        await self._wire.edit_message_text(text, 42, message)

    async def hears(self) -> str:
        """Return the next text or tap."""
        (update,) = await self._wire.get_updates(offset=self._offset, timeout=10, limit=1)
        self._offset = update.update_id + 1
        if update.callback_query:
            return str(update.callback_query.data)
        assert update.message is not None
        return str(update.message.text)


async def test_it_corrects_once_says_yes_to_all_else_and_ends_when_shipped(
    emulator: Emulator,
) -> None:
    said: list[str] = []
    async with Bot(emulator) as bot, asyncio.TaskGroup() as tasks:
        playing = tasks.create_task(owner.play(emulator.phone, said.append, 0))
        assert await bot.hears() == owner.GOAL
        plan = await bot.card("A plan", "Start", "Discard")
        assert await bot.hears() == "c:Start"
        await bot.decided(plan, "Started by you")
        first = await bot.card("Ready", "Ship", "Correct…")
        assert await bot.hears() == "c:Correct…"
        await bot.prompt("What?")
        assert await bot.hears() == owner.CORRECTION
        await bot.decided(first, "Corrected by you")
        second = await bot.card("Ready again", "Ship", "Correct…")
        assert await bot.hears() == "c:Ship"
        await bot.card("Shipped")
        await bot.decided(second, "Shipping")
        await playing
    prompt = next(m.id for m in emulator.phone.from_bot() if m.asks_for_reply)
    shipped = emulator.phone.from_bot()[-1].id
    assert said[1:] == [
        f"#{plan} Bot: A plan\n    [Start] [Discard]",
        f"You press [Start] under #{plan}",
        f"#{plan} Bot: Started by you",
        f"#{first} Bot: Ready\n    [Ship] [Correct…]",
        f"You press [Correct…] under #{first}",
        f"#{prompt} Bot: What?",
        f"You answer #{prompt}",
        f"#{prompt + 1} You: {owner.CORRECTION}",
        f"#{first} Bot: Corrected by you",
        f"#{second} Bot: Ready again\n    [Ship] [Correct…]",
        f"You press [Ship] under #{second}",
        f"#{shipped} Bot: Shipped",
        f"#{second} Bot: Shipping",
    ]


async def test_a_worker_that_works_on_is_not_shown_twice(emulator: Emulator) -> None:
    said: list[str] = []
    async with Bot(emulator) as bot:
        reader = owner.Reader(emulator.phone, said.append)
        worker = await bot.card("Worker 1", "Interrupt", "Stop")
        reader.read()
        await bot.keys(worker, "Stop")
        reader.read()
        assert len(said) == 1
        await bot.decided(worker, "Landed")
        reader.read()
        assert said[1:] == [f"#{worker} Bot: Landed"]


async def test_a_failure_ends_it(emulator: Emulator) -> None:
    async with Bot(emulator) as bot:
        playing = asyncio.create_task(owner.play(emulator.phone, lambda _: None, 0))
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
