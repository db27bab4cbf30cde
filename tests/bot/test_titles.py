"""What a goal's topic is called while it waits for its owner, once it is done, and when a hand named it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import text, text_live
from bot.unsaid import Say, Wanted, Weight
from engine.views import WorkLine
from tests.bot.stage import OWNER, Stage, session
from tests.bot.test_outbox import Desk, desk_on, wanted


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path, topics=True):
        yield desk


async def show(desk: Desk, stage: str, **more: str) -> None:
    """Have the goal's card say this, and let all be said."""
    card = session(stage=stage, **more)
    desk.outbox.call("g-1", card.title, text_live.topic_title(card), OWNER)
    desk.outbox.show(Wanted(card="g-1", goal="g-1", chat=OWNER, words=text.card(card)))
    await desk.all_said()
    desk.clock.now += 60


def name(desk: Desk) -> str:
    (topic,) = desk.emulator.phone.topics()
    return topic.name


def renames(desk: Desk) -> int:
    return len(desk.emulator.calls_of("editForumTopic"))


async def test_a_topic_is_marked_while_its_goal_waits_and_once_it_is_done(desk: Desk) -> None:
    await show(desk, "planning", title="Orders page")
    assert name(desk) == "Orders page"
    await show(desk, "waits for you", title="Orders page")
    assert name(desk) == "❗ Orders page"
    await show(desk, "building", title="Orders page")
    assert name(desk) == "Orders page"
    await show(desk, "in review", title="Orders page")
    assert renames(desk) == 2
    await show(desk, "shipped", title="Orders page")
    assert name(desk) == "✓ Orders page"


async def test_after_a_restart_no_title_is_sent_again(desk: Desk) -> None:
    await show(desk, "planning")
    await show(desk, "waits for you")
    before = renames(desk)
    await desk.open()
    await show(desk, "waits for you")
    assert renames(desk) == before == 1
    assert desk.outbox.titles["g-1"] == "Add CSV export to orders"


async def test_a_wait_of_seconds_renames_nothing(desk: Desk) -> None:
    await show(desk, "planning")
    for stage in ("waits for you", "planning") * 5:
        card = session(stage=stage)
        desk.outbox.call("g-1", card.title, text_live.topic_title(card), OWNER)
        await desk.due_said()
        desk.clock.now += 1
    await desk.all_said()
    assert renames(desk) == 0


async def test_a_topic_renamed_by_hand_stays_so(tmp_path: Path) -> None:
    async with Stage(tmp_path, threaded=True) as stage:
        stage.door.show(session())
        await stage.start_bot()
        await stage.phone.wait_for(lambda m: "Stop" in m.labels)
        (topic,) = stage.phone.topics()
        stage.phone.rename_topic(topic.id, "My orders")
        stage.phone.send("Use commas", thread=topic.id)
        await stage.asked()
        stage.door.show(session(stage="waits for you"))
        await stage.phone.wait_for(lambda m: "Waits for you" in m.text)
        await stage.stop_bot()
        await stage.start_bot()
        stage.door.show(session(stage="shipped", buttons=()))
        await stage.phone.wait_for(lambda m: "Shipped" in m.text)
        assert stage.phone.topics()[0].name == "My orders"
        assert stage.emulator.calls_of("editForumTopic") == []


async def test_a_topic_that_was_deleted_is_not_made_anew_for_its_title(desk: Desk) -> None:
    await show(desk, "planning")
    desk.emulator.phone.delete_topic(desk.emulator.phone.topics()[0].id)
    card = session(stage="shipped")
    desk.outbox.call("g-1", card.title, text_live.topic_title(card), OWNER)
    await desk.all_said()
    assert desk.emulator.phone.topics() == []
    assert len([one for one in desk.texts() if one.startswith("There is no topic")]) == 1
    assert renames(desk) == 1


async def test_a_title_telegram_will_not_have_is_not_asked_for_again(desk: Desk) -> None:
    await show(desk, "planning")
    desk.emulator.faults.error("editForumTopic", 400, "Bad Request: not enough rights")
    await show(desk, "waits for you")
    await show(desk, "waits for you")
    assert renames(desk) == 1
    await show(desk, "shipped")
    assert name(desk) == "✓ Add CSV export to orders"


async def test_twenty_workers_in_one_topic_neither_flood_it_nor_hold_up_a_decision(
    desk: Desk,
) -> None:
    """BR-09: an event of each every 100 ms for a minute, and each changes the goal's card too."""
    await show(desk, "building")
    began = desk.clock.now
    for tick in range(600):
        for number in range(20):
            desk.outbox.show(wanted(f"p-{number}", f"worker {number} does {tick}"))
        work = tuple(WorkLine(n, "Orders", f"does {tick}", "here") for n in range(8))
        card = session(stage="building", work=work, more=12)
        desk.outbox.show(Wanted(card="g-1", goal="g-1", chat=OWNER, words=text.card(card)))
        if tick == 300:
            ask = Say(words=text.said("decide"), sounds=True)
            await desk.outbox.say(OWNER, Weight.DECISION, ask)
        await desk.due_said()
        if tick == 320:
            assert "decide" in desk.texts()
        desk.clock.now += 0.1
    calls = list(desk.emulator.calls)
    assert all(call.code == 200 for call in calls)
    assert len(calls) <= (desk.clock.now - began) / 1.05 + 8
    assert len([m for m in desk.shown() if "and 12 more" in m.text]) == 1
