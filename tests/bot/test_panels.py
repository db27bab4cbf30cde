"""Panels on the phone: one message, changed in place by taps and typed lines, over any restart."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.emulator import Message
from bot.panels import mark, marked
from engine.errors import Refused
from engine.views import OwnerView
from tests.bot.stage import Stage, session


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def opened(stage: Stage, words: str = "/settings", title: str = "Settings") -> Message:
    stage.phone.send(words)
    return await stage.phone.wait_for(lambda m: m.text.startswith(title) and bool(m.labels))


async def now_says(stage: Stage, panel: Message, words: str) -> Message:
    """Wait until the same message says something."""
    return await stage.phone.wait_for(lambda m: m.id == panel.id and words in m.text)


async def now_offers(stage: Stage, panel: Message, label: str) -> Message:
    return await stage.phone.wait_for(lambda m: m.id == panel.id and label in m.labels)


async def test_a_tap_changes_the_panel_in_place_and_without_a_sound(stage: Stage) -> None:
    await stage.start_bot()
    panel = await opened(stage)
    assert panel.silent
    stage.phone.tap(panel, "Quiet hours")
    page = await now_offers(stage, panel, "23–7")
    tap = stage.phone.tap(page, "23–7")
    assert await stage.asked() == [("change_setting", {"name": "quiet", "value": "23-7"})]
    back = await now_says(stage, panel, "Quiet hours 23:00–07:00")
    assert tap.answer == "Kept: quiet 23-7."
    assert [m.id for m in stage.phone.messages() if m.from_bot] == [back.id]


async def test_a_typed_value_comes_back_to_its_panel(stage: Stage) -> None:
    await stage.start_bot()
    panel = await opened(stage)
    stage.phone.tap(panel, "Time zone")
    page = await now_says(stage, panel, "What time is it for you?")
    stage.phone.tap(page, "Type it…")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, "Asia/Tokyo")
    assert await stage.asked() == [("change_setting", {"name": "zone", "value": "Asia/Tokyo"})]
    await now_says(stage, panel, "Time zone: Asia/Tokyo")


async def test_a_typed_value_that_will_not_do_may_be_typed_again(stage: Stage) -> None:
    await stage.start_bot()
    stage.door.refuses = "That is no time zone."
    panel = await opened(stage)
    stage.phone.tap(panel, "Time zone")
    page = await now_says(stage, panel, "What time is it for you?")
    stage.phone.tap(page, "Type it…")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, "Nowhere")
    again = await stage.phone.wait_for(lambda m: "That is no time zone." in m.text)
    assert again.asks_for_reply
    stage.door.refuses = ""
    stage.phone.reply(again, "Asia/Tokyo")
    await now_says(stage, panel, "Time zone: Asia/Tokyo")


async def test_what_is_refused_is_told_and_the_panel_shows_how_it_is(stage: Stage) -> None:
    await stage.start_bot()
    panel = await opened(stage)
    stage.phone.tap(panel, "Quiet hours")
    page = await now_offers(stage, panel, "23–7")
    stage.door.refuses = "Not today."
    stage.door.owned = OwnerView(quiet=(60, 120))
    tap = stage.phone.tap(page, "23–7")
    await now_says(stage, panel, "Quiet hours 01:00–02:00")
    assert (tap.answer, tap.alert) == ("Not today.", True)


async def test_what_is_refused_late_is_said_in_the_chat(stage: Stage) -> None:
    """A tap is answered once; "Noted" was that."""
    await stage.start_bot()
    panel = await opened(stage)
    stage.phone.tap(panel, "Quiet hours")
    page = await now_offers(stage, panel, "23–7")
    stage.door.away = True
    tap = await stage.phone.answered(stage.phone.tap(page, "23–7"))
    assert tap.answer == "Noted"
    stage.door.refuses = "Not today."
    stage.door.away = False
    await stage.phone.wait_for(lambda m: m.text == "Not today.")


async def test_a_tap_that_a_dead_bot_left_over_is_done_once(stage: Stage) -> None:
    await stage.start_bot()
    panel = await opened(stage)
    stage.phone.tap(panel, "Quiet hours")
    page = await now_offers(stage, panel, "23–7")
    stage.door.away = True
    stage.phone.tap(page, "23–7")
    await stage.phone.wait_for(lambda m: "kept" in m.text)
    await stage.kill_bot()
    stage.door.away = False
    await stage.start_bot()
    await now_says(stage, panel, "Quiet hours 23:00–07:00")
    assert stage.door.asked == [("change_setting", {"name": "quiet", "value": "23-7"})]


async def test_a_panel_that_was_deleted_stays_so(stage: Stage) -> None:
    await stage.start_bot()
    panel = await opened(stage)
    stage.phone.delete(panel.id)
    stage.phone.tap(panel, data="c:settings::quiet")
    again = await opened(stage)
    assert [m.id for m in stage.phone.messages() if m.from_bot] == [again.id]


async def test_a_reply_to_a_panel_starts_nothing(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.reply(await opened(stage), "23-7")
    await stage.phone.wait_for(lambda m: "Nobody hears a reply to this" in m.text)
    assert stage.door.asked == []


async def test_a_button_of_no_page_does_nothing(stage: Stage) -> None:
    """A changed app sends any bytes."""
    await stage.start_bot()
    panel = await opened(stage)
    for data in ("c:settings:zone:zone-00000000", "c:settings:nowhere:off", "c:settings::off"):
        tap = stage.phone.tap(panel, data=data)
        await stage.answered_or_dead(tap)
    assert stage.door.asked == []


async def test_panels_and_cards_are_told_apart(stage: Stage) -> None:
    stage.door.show(session("g-1"))
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.tap(card, "Stop")
    assert (await stage.asked())[0][0] == "tap"


def test_a_mark_stands_for_one_of_the_names_that_are_there() -> None:
    assert marked(mark("build-box"), ["here", "build-box"]) == "build-box"
    with pytest.raises(Refused):
        marked(mark("build-box"), ["here"])
