"""The whole bot against the emulated Bot API: what the owner sends, sees and decides."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.app import main
from engine.errors import Refused
from engine.views import OwnerEntry, OwnerView
from tests.bot.stage import OWNER, Stage, permission, plan, review, session


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def test_a_goal_reaches_the_engine_word_for_word_and_once(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/new shop Add CSV export,\nwith a test")
    assert await stage.asked() == [
        ("new_goal", {"project": "shop", "text": "Add CSV export,\nwith a test"})
    ]


async def test_a_decision_sounds_and_a_tap_decides_it(stage: Stage) -> None:
    stage.door.show(session())
    await stage.start_bot()
    stage.door.show(permission())
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    assert stage.phone.heard() == [card]
    assert card.text.startswith("Allow a command?\nAdd CSV export to orders\n")
    tap = await stage.phone.answered(stage.phone.tap(card, "Allow"))
    assert tap.answer == "Done: allow it"
    after = await stage.phone.wait_for(lambda m: m.id == card.id and not m.labels)
    assert "✓ allow by you" in after.text
    assert stage.door.asked == [("tap", {"card": "a-1", "verb": "allow", "text": ""})]
    assert stage.emulator.notes == []


async def test_a_line_in_reply_to_the_prompt_corrects(stage: Stage) -> None:
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Ship" in m.labels)
    stage.phone.tap(card, "Correct…")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    assert prompt.silent
    stage.phone.reply(prompt, "The header is missing")
    assert await stage.asked() == [
        ("tap", {"card": "r-1", "verb": "correct", "text": "The header is missing"})
    ]


async def test_topics_hold_a_goal_each(tmp_path: Path) -> None:
    async with Stage(tmp_path, threaded=True) as stage:
        stage.door.show(session())
        stage.door.show(plan())
        await stage.start_bot()
        await stage.phone.wait_for(lambda m: "Start" in m.labels)
        (topic,) = stage.phone.topics()
        assert topic.name == "Add CSV export to orders"
        assert {m.thread for m in stage.phone.from_bot()} == {topic.id}
        stage.phone.send("Use commas", thread=topic.id)
        assert await stage.asked() == [("hear", {"text": "Use commas", "goal": "g-1", "card": ""})]


async def test_a_goal_of_an_owner_let_in_later_keeps_its_topic_over_a_restart(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, threaded=True) as stage:
        stage.phone.start(as_user=77)  # whoever was let in has pressed it
        stage.door.owns(OwnerView(owners=(OwnerEntry(id=OWNER), OwnerEntry(id=77))))
        stage.door.show(replace(session(), whose="77"))
        stage.door.show(plan())
        await stage.start_bot()
        await stage.phone.wait_for(lambda m: "Start" in m.labels, chat_id=77)
        await stage.stop_bot()
        stage.door.note("It goes on.", kind="news")
        await stage.start_bot()
        said = await stage.phone.wait_for(lambda m: "It goes on." in m.text, chat_id=77)
        (topic,) = stage.phone.topics(77)
        assert said.thread == topic.id


async def test_a_second_bot_on_the_same_home_does_not_start(stage: Stage) -> None:
    await stage.start_bot()
    with pytest.raises(Refused, match=r"Another bot already runs on this home\. Stop it first\."):
        await main(stage.home)


def test_the_bot_starts_without_its_libraries_command_lines() -> None:
    loaded = "import sys, bot.__main__; print([n for n in ('click', 'rich') if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
