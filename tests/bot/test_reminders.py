"""Decisions that nobody took are repeated once, together."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.cards import Cards
from bot.quiet import Quiet
from bot.reminders import AFTER_S, Reminders
from engine.views import AnyCard
from tests.bot.stage import OWNER, permission, plan, session
from tests.bot.test_outbox import Desk, desk_on


class Watch:
    """Cards shown on a desk, and what reminds of them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.again()

    def again(self) -> None:
        """Begin anew, as after a restart."""
        outbox = self.desk.outbox
        self.cards = Cards(outbox, outbox.store, OWNER)
        self.reminders = Reminders(outbox, outbox.store, self.cards)

    async def show(self, *cards: AnyCard) -> None:
        for card in cards:
            await self.cards.take(card)
        await self.desk.all_said()

    async def after(self, seconds: float) -> list[str]:
        """Return what is said once so much time has passed."""
        before = {message.id for message in self.desk.shown()}
        self.desk.clock.now += seconds
        await self.reminders.look()
        await self.desk.all_said()
        return [message.text for message in self.desk.shown() if message.id not in before]


@pytest.fixture
async def watch(tmp_path: Path) -> AsyncIterator[Watch]:
    async for desk in desk_on(tmp_path, topics=True):
        yield Watch(desk)


async def test_what_waits_in_a_goal_is_repeated_once_and_together(watch: Watch) -> None:
    """BR-22: as a reply to the oldest, and never again."""
    began = watch.desk.clock.now
    await watch.show(session(), permission("a-1", at=began), permission("a-2", at=began + 60))
    assert await watch.after(AFTER_S / 2) == []
    (said,) = await watch.after(AFTER_S)
    assert said.startswith("2 decisions still wait on you\n• Allow a command? · since")
    oldest = next(m for m in watch.desk.shown() if "c:a-1:" in str(m.markup))
    assert watch.desk.shown()[-1].reply_to == oldest.id
    assert watch.desk.shown()[-1] in watch.desk.emulator.phone.heard()
    assert await watch.after(AFTER_S * 3) == []


async def test_each_goal_is_reminded_of_by_itself(watch: Watch) -> None:
    await watch.show(session(), permission())
    await watch.show(session("g-2"), plan(goal="g-2"))
    assert sorted(text.split("\n")[1] for text in await watch.after(AFTER_S + 60)) == [
        "• A plan waits for your go",
        "• Allow a command?",
    ]


async def test_what_was_decided_or_stopped_is_not_repeated(watch: Watch) -> None:
    await watch.show(session(), permission())
    await watch.show(permission(asks=False, decided="Allowed by you", buttons=()))
    await watch.show(session("g-2", stage="stopped"), plan(goal="g-2"))
    assert await watch.after(AFTER_S * 2) == []


async def test_none_comes_in_quiet_hours_nor_beside_the_catch_up_after_them(watch: Watch) -> None:
    now = datetime.fromtimestamp(watch.desk.clock.now, UTC)
    start = now.hour * 60 + now.minute
    watch.desk.outbox.quiet = Quiet(start, (start + 300) % 1440, UTC)
    await watch.show(session(), permission())
    assert await watch.after(4 * 3600) == []
    assert await watch.after(3600 + 60) == []
    assert await watch.after(AFTER_S * 2) == []  # that named it


async def test_a_restart_repeats_nothing(watch: Watch) -> None:
    await watch.show(session(), permission())
    assert len(await watch.after(AFTER_S + 60)) == 1
    await watch.desk.open()
    watch.again()
    await watch.show(session(), permission())
    assert await watch.after(AFTER_S * 2) == []
