"""After a long time away: one digest, not hundreds of messages; what needs the owner comes first."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import text
from bot.backlog import FEW
from bot.unsaid import Say, Weight
from tests.bot.stage import OWNER
from tests.bot.test_outbox import Desk, desk_on, line, wanted


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path):
        yield desk
        assert desk.emulator.ignored_waits == 0


@pytest.fixture
async def topical(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path, topics=True):
        yield desk


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
    for number in range(FEW):
        await said(desk, f"g-{number}", f"message {number}")
    await desk.all_said()
    assert len(desk.shown()) == FEW


async def test_many_that_fit_into_few_messages_come_as_these(desk: Desk) -> None:
    for number in range(100):
        await said(desk, "g-1", f"message {number}")
    await desk.all_said()
    assert 1 <= len(desk.shown()) <= 3
    assert all("waited to reach you" not in one for one in desk.texts())


def results(desk: Desk) -> list[str]:
    return [one for one in desk.texts() if "have something to say" in one]


async def test_thirty_goals_that_wait_to_speak_are_told_in_one_message_behind_the_decision(
    desk: Desk,
) -> None:
    for number in range(30):
        desk.outbox.titles[f"g-{number}"] = f"Goal {number}"
        await said(desk, f"g-{number}", f"Built part {number}.")
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    (told,) = results(desk)
    assert desk.texts() == ["allow?", told]
    assert all(f"Built part {number}." in told for number in range(30))
    assert "\nGoal 29: Built part 29.\n" in told
    assert told.endswith("To answer one, reply to its card.")
    assert all(message.silent for message in desk.shown()[1:])
    assert await desk.outbox.store.lines() == []


async def test_goals_that_end_within_one_second_are_told_in_three_messages_and_three_seconds(
    desk: Desk,
) -> None:
    began = desk.clock.now
    for number in range(30):
        await said(desk, f"g-{number}", f"Built part {number}.")
        await desk.due_said()
        desk.clock.now += 0.03
    await desk.all_said()
    assert len(desk.shown()) == 3
    assert len(results(desk)) == 1
    assert desk.clock.now - began <= 3
    assert all(any(f"part {number}." in one for one in desk.texts()) for number in range(30))


async def test_what_a_line_does_not_hold_is_whole_in_a_file_below(desk: Desk) -> None:
    for number in range(9):
        await said(
            desk, f"g-{number}", f"Built part {number}.\n\n" + f"and more of it {number} " * 20
        )
    await desk.all_said()
    told, file = desk.shown()[-2:]
    assert "Built part 5. and more of it" in told.text
    assert "in the file below" in told.text
    whole = desk.emulator.phone.file(file).decode()
    assert whole.count("and more of it 5") == 20


async def test_where_goals_have_topics_each_comes_whole_there_after_it_was_told(
    topical: Desk,
) -> None:
    for number in range(12):
        topical.outbox.titles[f"g-{number}"] = f"Goal {number}"
        await said(topical, f"g-{number}", f"Built part {number}.")
    for _ in range(8):
        await topical.lane.step()
    await topical.open()  # the bot died meanwhile
    await topical.all_said()
    (told,) = results(topical)
    assert "Each comes whole in its topic as well." in told
    assert sum(f"The lead:\nBuilt part {n}." in topical.texts() for n in range(12)) == 12


async def test_however_much_many_goals_say_it_fits_into_one_message(desk: Desk) -> None:
    for number in range(60):
        desk.outbox.titles[f"g-{number}"] = f"🚢 Goal {number} " + "🚢" * 60
        await said(desk, f"g-{number}", "⚓" * 3000)
        await said(desk, f"g-{number}", f"{number} 🚢" * 300)
    await desk.all_said()
    assert len(desk.shown()) <= 5
