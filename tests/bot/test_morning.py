"""A night of quiet hours on a set clock: nothing sounds in it, one message after, if anything waits."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.cards import Cards
from bot.morning import Morning
from bot.text import said
from bot.unsaid import Say, Weight
from engine.api import Ready
from engine.errors import Unavailable
from engine.views import OwnerEntry, OwnerView, Row
from tests.bot.stage import OWNER, permission
from tests.bot.test_outbox import Desk, desk_on

HOUR_S = 3600.0
MIDNIGHT = 20_000 * 24 * HOUR_S
QUIET = OwnerView(zone="UTC", quiet=(23 * 60, 7 * 60))


class Asks:
    """The engine, as far as the morning asks it."""

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] = ()
        self.away = False

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        assert verb == "asks"
        if self.away:
            raise Unavailable("The engine is away.")
        return self.rows


class Night:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.asks = Asks()
        self.begin()

    def begin(self) -> None:
        """Be the bot, from its start on."""
        outbox = self.desk.outbox
        self.cards = Cards(outbox, outbox.store, OWNER)
        self.morning = self.begun()

    def begun(self) -> Morning:
        outbox, whose = self.desk.outbox, self.cards.chat_of_row
        return Morning(outbox, outbox.store, self.asks, whose, zone=lambda: self.cards.zone)

    async def at(self, hour: float) -> list[str]:
        """Let it be that hour, and say what is to be said; return the first lines that sounded."""
        before = {message.id for message in self.desk.shown()}
        self.desk.clock.now = MIDNIGHT + hour * HOUR_S
        await self.morning.look()
        await self.desk.all_said()
        return [
            message.text.split("\n")[0]
            for message in self.desk.shown()
            if message.id not in before and not message.silent
        ]


@pytest.fixture
async def night(tmp_path: Path) -> AsyncIterator[Night]:
    async for desk in desk_on(tmp_path):
        night = Night(desk)
        await night.cards.take(QUIET)
        yield night


async def test_what_needs_the_owner_at_night_is_silent_and_said_once_in_the_morning(
    night: Night,
) -> None:
    await night.cards.take(permission("a-1"))
    assert await night.at(2) == []
    assert len(night.desk.shown()) == 1
    night.asks.rows = (Row("g-1", "a-1", "Orders", "The lead asks to use Bash"),)
    assert await night.at(6.9) == []
    assert await night.at(7) == ["Quiet hours are over: 1 decision waits on you"]
    assert "Orders" in night.desk.texts()[-1]
    assert await night.at(7.5) == []


async def test_each_owner_is_told_once_of_what_waits_on_them(night: Night) -> None:
    other, third = OWNER + 1, OWNER + 2
    phone = night.desk.emulator.phone
    for one in (other, third):
        phone.send("I am here", as_user=one)
    everybody = tuple(OwnerEntry(id=one, of_the_box=True) for one in (OWNER, other, third))
    told = OwnerView(zone=QUIET.zone, quiet=QUIET.quiet, owners=everybody)
    await night.cards.take(told)
    await night.cards.take(permission("a-1"))
    await night.cards.take(permission("a-2", whose=str(other)))
    await night.at(2)
    night.asks.rows = (
        Row("", "a-1", "Orders", "to be allowed"),
        Row("", "a-2", "Returns", "to be allowed"),
    )
    for hour in (7.0, 7.5):
        await night.at(hour)
        night.morning = night.begun()
        for lane in night.desk.outbox.lanes.values():
            while (wait_s := await lane.step()) is not None:
                night.desk.clock.now += wait_s
        said = {
            one: [m.text for m in phone.from_bot(one) if "Quiet hours are over" in m.text]
            for one in (OWNER, other, third)
        }
        assert [len(said[one]) for one in (OWNER, other, third)] == [1, 1, 0]
        assert ("Orders" in said[OWNER][0], "Returns" in said[OWNER][0]) == (True, False)
        assert "Returns" in said[other][0]


async def test_what_was_settled_in_the_night_is_no_news_in_the_morning(night: Night) -> None:
    await night.cards.take(permission("a-1"))
    await night.at(2)
    assert await night.at(7) == []
    night.asks.rows = (Row("g-1", "a-2", "Orders", "a review"),)
    assert await night.at(9) == []


async def test_what_waited_since_the_evening_is_not_said_again(night: Night) -> None:
    night.desk.clock.now = MIDNIGHT - 2 * HOUR_S
    await night.cards.take(permission("a-1"))
    assert await night.at(-2) == ["Allow a command?"]
    night.asks.rows = (Row("g-1", "a-1", "Orders", "The lead asks to use Bash"),)
    assert await night.at(7) == []


async def test_a_bot_that_slept_over_the_morning_says_it_when_it_is_back(night: Night) -> None:
    await night.desk.outbox.say(
        OWNER, Weight.DECISION, Say(words=said("Look at this"), sounds=True)
    )
    assert await night.at(3) == []
    await night.desk.open()
    night.begin()
    await night.cards.take(QUIET)
    night.asks.rows = (Row("g-1", "a-1", "Orders", "a review"),)
    night.asks.away = True
    assert await night.at(8) == []
    night.asks.away = False
    assert await night.at(9) == ["Quiet hours are over: 1 decision waits on you"]


async def test_a_bot_that_starts_at_night_knows_the_hours_before_the_engine_tells(
    night: Night,
) -> None:
    await night.desk.outbox.say(OWNER, Weight.DECISION, Say(words=said("Look"), sounds=True))
    await night.desk.open()
    night.begin()
    await night.cards.open()
    assert await night.at(3) == []
    night.begin()
    await night.cards.open()
    await night.cards.take(Ready())  # the engine had nothing to tell: the hours were switched off
    await night.cards.take(permission("a-3"))
    assert await night.at(4) == ["Allow a command?"]


async def test_by_day_and_with_quiet_off_a_decision_sounds(night: Night) -> None:
    await night.cards.take(permission("a-1"))
    assert await night.at(12) == ["Allow a command?"]
    await night.cards.take(OwnerView(zone="UTC"))
    await night.cards.take(permission("a-2"))
    assert await night.at(26) == ["Allow a command?"]
