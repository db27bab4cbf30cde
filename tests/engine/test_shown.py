"""The cards on a real loop and file: made once for all that changed, and for nobody who does not look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from engine.engine import RULES
from engine.loop import Loop
from engine.rules.effects import AnyEffect
from engine.rules.events import AnyEvent, EngineAway, GoalOpened, GoalStopped
from engine.rules.words import Account
from engine.shown import Cards
from engine.views import AnyCard, OwnerView, SessionCard
from stores.database import Database
from stores.ledger import Ledger


class Follower:
    """Hears what is told, in its order."""

    def __init__(self) -> None:
        self.followed = False
        self.heard: list[str] = []
        self.more = asyncio.Event()

    def changed(self, card: AnyCard) -> None:
        self.hear(card.id)

    def gone(self, card: str) -> None:
        self.hear(f"gone {card}")

    def owner_changed(self, owner: OwnerView) -> None:
        self.hear("owner")

    def noted(self) -> None:
        self.hear("note")

    def hear(self, what: str) -> None:
        self.heard.append(what)
        self.more.set()

    async def until(self, what: str) -> None:
        while what not in self.heard:
            self.more.clear()
            await self.more.wait()


class Box:
    def __init__(self, ledger: Ledger) -> None:
        self.loop = Loop(ledger, RULES, _nothing)
        self.follower = Follower()
        self.cards = Cards(self.loop, lambda run: "")

    def goals(self, *numbers: int) -> list[tuple[str, AnyEvent, str]]:
        return [(f"goal/g-{number}", _opened(number), f"goal:{number}") for number in numbers]


async def _nothing(
    effect_id: int, stream: str, effect: AnyEffect
) -> Sequence[tuple[str, AnyEvent]]:
    return []


def _opened(number: int) -> GoalOpened:
    return GoalOpened(
        project="shop",
        text="Sell shoes",
        session=f"s-{number}",
        base="main",
        account=Account("main", "claude"),
    )


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Box]:
    async with Database(tmp_path / "engine.sqlite3", "ledger") as file, Ledger(file) as ledger:
        box = Box(ledger)
        await box.loop.open()
        box.cards.open(box.follower)
        tasks = [asyncio.create_task(box.loop.run()), asyncio.create_task(box.cards.run())]
        yield box
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_while_nobody_follows_cards_are_made_when_they_are_asked_for(box: Box) -> None:
    await box.loop.post_all(box.goals(1, 2))
    await box.loop.settle()
    assert box.follower.heard == []
    card = box.cards.get("g-2")
    assert isinstance(card, SessionCard)
    assert {one.id for one in box.cards.all()} == {"g-1", "g-2"}
    assert box.cards.get("g-3") is None


async def test_a_card_asked_for_is_as_the_states_are_now_whatever_was_told(box: Box) -> None:
    await box.loop.post_all(box.goals(1))
    before = box.cards.get("g-1")
    await box.loop.post("goal/g-1", GoalStopped(), "tap:1")
    after = box.cards.get("g-1")
    assert isinstance(before, SessionCard)
    assert isinstance(after, SessionCard)
    assert "resume" not in before.buttons
    assert "resume" in after.buttons


async def test_who_follows_is_told_once_of_all_that_changed_together_and_of_notes_behind_it(
    box: Box,
) -> None:
    box.follower.followed = True
    away = EngineAway(since="23:00", until="07:00")
    stop: tuple[str, AnyEvent, str] = ("goal/g-2", GoalStopped(), "tap:2")
    await box.loop.post_all([*box.goals(1, 2), stop, ("owner", away, "away")])
    await box.follower.until("g-2")
    assert box.follower.heard == ["g-1", "g-2"]
    await box.follower.until("note")
