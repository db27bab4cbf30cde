"""A night on a driven clock: two leads at work, the owner asleep, and by morning what was theirs to hear.

    23:05  the owner starts both plans and sleeps
           lead one: a worker meets its plan's usage limit, another works on
           lead two: a worker's account is not signed in any more
    01:01  the limit is over, the worker goes on and lands
    02:10  the power goes; the other worker's turn is cut off
    06:40  it is back; that turn goes on and lands; lead one puts the whole for review
    07:30  the owner wakes, signs the account in again, and lead two comes to its review

The real engine, ledger, rules and hub with the machine of tests/fakes.py; the bot's real cards, outbox
and morning against an emulated Telegram. What the door shows is handed to the bot step by step.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.cards import Cards
from bot.emulator import Message
from bot.morning import Morning
from bot.reminders import Reminders
from engine.api import Gone
from engine.engine import Engine
from engine.rules.goal_state import Goal, ReviewStage
from engine.rules.session_state import Session
from engine.rules.session_state import Stage as SessionStage
from engine.views import AnyCard, LoginCard, OwnerView, PlanCard
from tests.bot.stage import OWNER
from tests.bot.test_outbox import Desk, desk_on
from tests.engine.scenario import PROJECT, World, lay, wish
from tests.fakes import FakeMachine

STEP_S = 240.0  # shorter than what counts as an absence


def at(clock: str, day: int = 10) -> float:
    hour, minute = map(int, clock.split(":"))
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC).timestamp()


def next_day(clock: str) -> float:
    return at(clock, 11)


def desk(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"desk": tool, "with": arguments}


def plan(*titles: str) -> list[dict[str, Any]]:
    pieces = [{"title": title, "task": f"Build {title}", "size": "S"} for title in titles]
    return [desk("propose_plan", summary="So.", pieces=pieces), {"say": "The plan is with you."}]


def worker(title: str, first: dict[str, Any], again: str) -> list[dict[str, Any]]:
    """A worker that something comes between, and what it is told when it goes on."""
    path = f"{title.lower()}.py"
    build = [{"write": {"path": path, "text": "x = 1\n"}}, {"commit": f"Add {title}"}]
    name = {"role": "worker", "session": f'"{title}"'}
    return [
        {**name, "turn": 1, "steps": [first]},
        {**name, "prompt": again, "steps": [*build, desk("done"), {"say": "Done."}]},
    ]


PARTS = [
    {"role": "lead", "session": "order history", "turn": 1, "steps": plan("Orders", "Page")},
    {"role": "lead", "session": "a cart", "turn": 1, "steps": plan("Cart")},
    {
        "role": "lead",
        "prompt": "Every piece of the plan has landed",
        "steps": [desk("put_for_review", summary="It works."), {"say": "Put."}],
    },
    {"role": "lead", "steps": [{"say": "Noted."}]},
    *worker("Orders", {"limit": {"resets_at": next_day("01:00")}}, "usage limit has reset"),
    *worker("Page", {"hang": True}, "was cut off"),
    *worker("Cart", {"api_error": {"status": 401, "text": "Token expired"}}, "not signed in"),
]


class Night:
    """The box and the phone beside the bed."""

    def __init__(self, world: World, phone: Desk) -> None:
        self.world = world
        self.phone = phone
        self.clock = phone.clock
        self.engine: Engine
        self.machine: FakeMachine
        self._told: dict[str, AnyCard] = {}
        self._notes = 0
        self._taps = 0

    # ------------------------------------------------------------ the box

    @contextlib.asynccontextmanager
    async def power(self) -> AsyncIterator[None]:
        """Engine and bot, until the power goes: then every turn under way is cut off."""
        self.machine = FakeMachine(self.world.home.root, self.world.scenario)
        self.engine = Engine(
            self.world.home,
            machines={"here": self.machine},
            clock=self.clock,
            uptime=lambda: 0.0,  # nothing hangs for long: time is only skipped
        )
        await self.phone.open()
        outbox = self.phone.outbox
        self.cards = Cards(outbox, outbox.store, OWNER)
        self.morning = Morning(
            outbox, outbox.store, self, self.cards.chat_of_row, zone=lambda: self.cards.zone
        )
        self.reminders = Reminders(outbox, outbox.store, self.cards)
        self._told = {}
        async with self.engine.running():
            yield
        self.machine.power_cut()

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        return await getattr(self.engine.door, verb)(**args)

    async def until(self, fact: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            await self.engine.loop.settle(until=fact)
        await self.heard()

    async def sleep_until(self, when: float) -> None:
        """Let time pass in small steps, all that is due in each done and told."""
        while self.clock.now < when:
            self.clock.now = min(self.clock.now + STEP_S, when)
            await self.engine.alive.beat()
            await self.engine.loop.settle()
            await self.heard()

    async def heard(self) -> None:
        """Hand the bot what the door shows, and let it say all it has to."""
        door = self.engine.door
        await self.cards.take(door.owner())
        now = {card.id: card for card in door.cards()}
        for gone in self._told.keys() - now.keys():
            await self.cards.take(Gone(gone))
        for card in now.values():
            if self._told.get(card.id) != card:
                await self.cards.take(card)
        self._told = now
        for note in await door.notes(self._notes):
            await self.cards.take(note)
            self._notes = note.n
        await self.morning.look()
        await self.reminders.look()
        await self.phone.all_said()

    # ------------------------------------------------------------ its owner

    async def press(self, card: AnyCard, verb: str) -> None:
        self._taps += 1
        await self.engine.door.tap(card.id, card.revision, verb, cause=f"tap:{self._taps}")

    async def allow_all(self) -> None:
        """Say yes to whatever asks, but to plans and reviews."""
        for card in list(self.engine.door.cards()):
            if card.asks and not isinstance(card, PlanCard) and wish(card)[0] == "allow":
                await self.press(card, "allow")

    def plans(self) -> list[PlanCard]:
        return [c for c in self.engine.door.cards() if isinstance(c, PlanCard) and c.asks]

    def goal(self, title: str) -> Goal:
        goals: Iterable[Goal] = self.engine.loop.states("goal").values()
        return next(goal for goal in goals if title in goal.text)

    def stands(self, title: str, stage: SessionStage) -> bool:
        sessions: Iterable[Session] = self.engine.loop.states("session").values()
        return any(one.title == title and one.stage is stage for one in sessions)

    def reviewed(self, title: str) -> bool:
        return self.goal(title).review.stage is ReviewStage.OPEN

    def since(self, message: int) -> list[Message]:
        return [one for one in self.phone.shown() if one.id > message]

    def rang(self, message: int) -> list[str]:
        """The first lines of what sounded after a message."""
        return [one.text.split("\n")[0] for one in self.since(message) if not one.silent]

    def newest(self) -> int:
        return max((one.id for one in self.phone.shown()), default=0)


async def evening(night: Night) -> None:
    """Two goals of two accounts, each with a plan that waits for its go."""
    door = night.engine.door
    await door.add_project(PROJECT, str(night.world.repository), cause="e1")
    await door.add_account("first", "rehearsal", cause="e2")
    await door.new_goal(PROJECT, "Add order history", cause="e3")
    await door.add_account("second", "rehearsal", cause="e4")
    await door.add_account(
        "first", "rehearsal", cause="e5"
    )  # the one named last is not the default
    await door.new_goal(PROJECT, "Add a cart", cause="e6")
    await night.until(lambda: len(night.plans()) == 2)
    await night.allow_all()
    await night.until(lambda: night.goal("history").settled and night.goal("cart").settled)


async def night_falls(night: Night) -> int:
    """Both plans are started; a worker meets a limit, one a stale login, one works on.

    Return the last message before that.
    """
    await night.sleep_until(at("23:05"))
    last = night.newest()
    for card in night.plans():
        await night.press(card, "start")
    await night.until(
        lambda: (
            night.stands("Orders", SessionStage.PARKED)
            and night.stands("Page", SessionStage.RUNNING)
            and night.stands("Cart", SessionStage.WANTING)
        )
    )
    return last


@pytest.fixture
async def night(tmp_path: Path) -> AsyncIterator[Night]:
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid")
    world.scenario.write_text(json.dumps({"parts": PARTS}))
    async for phone in desk_on(tmp_path):
        phone.clock.now = at("22:00")
        yield Night(world, phone)


async def through_the_night(night: Night) -> int:
    """Live it from the evening to the morning; return the last message before the owner slept."""
    async with night.power():
        await evening(night)
        last = await night_falls(night)
        await night.sleep_until(next_day("00:58"))
        assert night.stands("Orders", SessionStage.PARKED)
        await night.sleep_until(next_day("01:02"))
        await night.until(lambda: night.goal("history").pieces[0].stage.value == "landed")
        await night.sleep_until(next_day("02:10"))
        assert night.stands("Page", SessionStage.RUNNING)
    night.clock.now = next_day("06:40")
    return last


async def test_nothing_rings_in_quiet_hours_and_the_morning_tells_what_waits(
    night: Night,
) -> None:
    """BR-54, BR-42."""
    async with night.power():
        door = night.engine.door
        await door.change_setting("zone", "UTC", cause="s1")
        await door.change_setting("quiet", "23-7", cause="s2")
        assert door.owner() == OwnerView(zone="UTC", quiet=(23 * 60, 7 * 60))
    last = await through_the_night(night)
    async with night.power():
        await night.until(lambda: night.reviewed("history"))
        await night.sleep_until(next_day("06:59"))
        assert night.rang(last) == []
        texts = [one.text for one in night.since(last)]
        assert texts.count("I was away 02:10–06:40; 1 turn was cut off and goes on.") == 1

        await night.sleep_until(next_day("07:10"))
        (catch_up,) = [one.text for one in night.since(last) if not one.silent]
        first, *rows = catch_up.split("\n")
        assert first == "Quiet hours are over: 2 decisions wait on you"
        assert sorted(row for row in rows if row) == [
            "• Add order history · a review",
            "• General · Account second is not signed in",
        ]
        await night.sleep_until(next_day("09:00"))
        assert len(night.rang(last)) == 1


async def test_without_quiet_hours_what_rings_is_what_only_the_owner_can_mend_or_decide(
    night: Night,
) -> None:
    last = await through_the_night(night)
    async with night.power():
        await night.until(lambda: night.reviewed("history"))
        await night.sleep_until(next_day("07:30"))
        again = "1 decision still waits on you"  # half an hour after each, once
        assert night.rang(last) == [
            "An account needs a login",
            again,
            "Ready for your review",
            again,
        ]

        up = night.newest()
        (card,) = [c for c in night.engine.door.cards() if isinstance(c, LoginCard)]
        await night.press(card, "retry")
        await night.until(lambda: night.reviewed("cart"))
        assert night.rang(up) == ["Ready for your review"]
        pieces = (*night.goal("history").pieces, *night.goal("cart").pieces)
        assert [piece.attempt for piece in pieces] == [1, 1, 1]
