"""Whose request it is, by which message, and what stood before them: what the engine is told with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.asker import Asker
from tests.bot.stage import OWNER, Stage, permission, review, session

KEY = "ghp_" + "Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def last(stage: Stage, count: int = 1) -> Asker:
    await stage.asked(count)
    found = stage.door.askers[-1]
    assert found is not None
    assert found.who == str(OWNER)
    return found


async def test_a_tap_brings_the_words_its_button_stands_under(stage: Stage) -> None:
    stage.door.show(permission(command="make test"))
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    stage.phone.tap(card, "Allow")
    found = await last(stage)
    assert found.through == f"tap {OWNER}:{card.id}"
    assert found.shown == card.text
    assert "make test" in found.shown
    assert found.verb == "tap"


async def test_a_reply_brings_what_it_answers_and_a_free_line_nothing(stage: Stage) -> None:
    stage.door.show(session())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in " ".join(m.labels))
    stage.phone.reply(card, "Mind the totals")
    found = await last(stage)
    assert found.through.startswith(f"message {OWNER}:")
    assert found.shown == card.text
    stage.phone.send("/settings zone UTC")
    assert (await last(stage, 2)).shown == ""


async def test_a_line_that_was_asked_for_brings_the_card_it_is_about(stage: Stage) -> None:
    stage.door.show(session())
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Correct…" in m.labels)
    stage.phone.tap(card, "Correct…")
    prompt = await stage.phone.wait_for(lambda m: "What should be different?" in m.text)
    stage.phone.reply(prompt, "Show the total")
    found = await last(stage)
    assert "The export works." in found.shown
    assert found.shown.endswith(prompt.text)


async def test_where_telegram_says_nothing_any_more_it_is_the_card_at_that_revision(
    stage: Stage,
) -> None:
    stage.door.show(permission(command=f"deploy --token {KEY}"))
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    stage.phone.delete(card.id)
    stage.phone.tap(card.id, data="c:a-1:p1:allow")
    found = await last(stage)
    assert "deploy --token {{GITHUB_TOKEN}}" in found.shown
