"""After a long time away: one digest, not hundreds of messages; what needs the owner comes first."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import text
from bot.backlog import MOST
from bot.unsaid import Say, Weight
from tests.bot.stage import OWNER
from tests.bot.test_outbox import Desk, desk_on, line, wanted


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path):
        yield desk
        assert desk.emulator.ignored_waits == 0


async def said(desk: Desk, goal: str, what: str) -> None:
    (words,) = text.spoken("The lead", what)
    await desk.outbox.say(OWNER, Weight.WORDS, Say(words=words, goal=goal, speaker="The lead"))


async def test_four_hundred_messages_of_a_day_become_one_and_a_file(desk: Desk) -> None:
    for number in range(400):
        goal = f"g-{number % 50}"
        desk.outbox.titles[goal] = f"Goal {number % 50}"
        await said(desk, goal, f"message {number}")
    await desk.outbox.say(OWNER, Weight.ANSWER, line("an answer"))
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    first, second, third, file = desk.shown()
    assert (first.text, second.text) == ("allow?", "an answer")
    assert third.text.startswith("400 messages waited to reach you\n")
    assert "Goal 0: 8" in third.text
    assert "… and 38 more" in third.text
    assert [message.silent for message in (third, file)] == [True, True]
    whole = desk.emulator.phone.file(file).decode()
    assert all(f"message {number}\n" in whole for number in range(400))
    assert await desk.outbox.store.lines() == []


async def test_few_still_come_one_by_one(desk: Desk) -> None:
    for number in range(MOST):
        await said(desk, f"g-{number}", f"message {number}")
    await desk.all_said()
    assert len(desk.shown()) == MOST


async def test_many_that_fit_into_few_messages_come_as_these(desk: Desk) -> None:
    for number in range(100):
        await said(desk, "g-1", f"message {number}")
    await desk.all_said()
    assert 1 <= len(desk.shown()) <= 3
    assert all("waited to reach you" not in one for one in desk.texts())
