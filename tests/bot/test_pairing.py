"""A bot without an owner hears one code, from anybody, and then that one alone."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.gate import pressed_start
from engine import config, pairing
from engine.config import Config
from tests.bot.stage import OWNER, STRANGER, Stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        config.save(stage.home, Config(pairing=True, api_url=stage.emulator.url))
        yield stage


def made(stage: Stage, ago_s: float = 0.0) -> str:
    return pairing.make(stage.home, time.time() - ago_s)


async def test_who_presses_the_link_commands_and_is_told_what_comes_next(stage: Stage) -> None:
    code = made(stage)
    stage.phone.send("/new shop Nobody commands this")
    stage.phone.start(code)
    await stage.start_bot()
    welcome = await stage.phone.wait_for(lambda m: "You command this box" in m.text)
    assert "/new" in welcome.text
    assert config.load(stage.home) == Config(owner_ids=(OWNER,), api_url=stage.emulator.url)
    assert not stage.home.pairing.exists()
    zone = await stage.phone.wait_for(lambda m: "What time is it for you?" in m.text)
    stage.phone.tap(zone, "Type it…")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, "Asia/Tokyo")
    done = await stage.phone.wait_for(
        lambda m: m.id == zone.id and "for you (Asia/Tokyo)" in m.text
    )
    assert done.labels == []
    assert zone.id < welcome.id, "the question first, then what comes next"
    assert stage.door.asked == [("change_setting", {"name": "zone", "value": "Asia/Tokyo"})]
    stage.phone.send("/status", as_user=STRANGER)
    await stage.phone.wait_for(lambda m: f"Telegram id {STRANGER}" in m.text)


async def test_the_link_pressed_again_does_not_ask_for_the_time_again(stage: Stage) -> None:
    code = made(stage)
    stage.phone.start(code)
    await stage.start_bot()
    welcome = await stage.phone.wait_for(lambda m: "You command this box" in m.text)
    stage.phone.start(code)
    await stage.phone.wait_for(lambda m: "You command this box" in m.text, after=welcome.id)
    asked = [m for m in stage.phone.messages() if "What time is it for you?" in m.text]
    assert len(asked) == 1


async def test_anything_else_of_anybody_is_silence(stage: Stage) -> None:
    code = made(stage)
    await stage.start_bot()
    for words in ("/start", "/start guess", "/status", code, f"Hello /start {code}"):
        stage.phone.send(words, as_user=STRANGER)
    await stage.emulator.updates.polled()
    await stage.until(lambda: stage.emulator.updates.count() == 0)
    assert stage.phone.from_bot(STRANGER) == []
    assert not config.load(stage.home).owner_ids
    assert stage.door.asked == []


async def test_a_link_pressed_too_late_says_so_and_a_new_one_works(stage: Stage) -> None:
    late = made(stage, pairing.LASTS_S + 60)
    await stage.start_bot()
    stage.phone.start(late)
    await stage.phone.wait_for(lambda m: "no good any more" in m.text)
    assert not config.load(stage.home).owner_ids
    stage.phone.start(made(stage))
    await stage.phone.wait_for(lambda m: "You command this box" in m.text)


async def test_strangers_who_guess_do_not_lock_the_links_holder_out(stage: Stage) -> None:
    code = made(stage)
    await stage.start_bot()
    for _ in range(pairing.MOST_WRONG + 1):
        stage.phone.send("/start guess", as_user=STRANGER)
    stage.phone.start(code)
    await stage.phone.wait_for(lambda m: "You command this box" in m.text)


async def test_who_guessed_too_often_is_told_that_it_was_that(stage: Stage) -> None:
    code = made(stage)
    await stage.start_bot()
    for _ in range(pairing.MOST_WRONG):
        stage.phone.start("a-guess")
    stage.phone.start(code)
    await stage.phone.wait_for(lambda m: "Too many wrong codes" in m.text)
    assert not config.load(stage.home).owner_ids


async def test_a_bot_that_died_right_after_pairing_goes_on_as_its_owners(stage: Stage) -> None:
    stage.door.away = True
    code = made(stage)
    await stage.start_bot()
    stage.phone.start(code)
    await stage.until(lambda: config.load(stage.home).owner_ids)
    await stage.kill_bot()
    stage.door.away = False
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "You command this box" in m.text)


async def test_a_stopped_bot_stops_before_anybody_owns_it(stage: Stage) -> None:
    made(stage)
    await stage.start_bot()
    await stage.stop_bot()


def start(**more: Any) -> dict[str, Any]:
    message = {"text": "/start abc", "from": {"id": 7}, "chat": {"id": 7, "type": "private"}}
    return {"update_id": 1, "message": {**message, **more}}


def test_only_a_bare_start_in_a_private_chat_is_looked_at() -> None:
    assert pressed_start(start()) == (7, "abc")
    for odd in (
        {"text": "/start"},
        {"text": "/start a b"},
        {"text": " /start abc"},
        {"text": "/start abc\n"},
        {"forward_origin": {"type": "user"}},
        {"via_bot": {"id": 1}},
        {"sender_chat": {"id": -1}},
        {"from": {"id": 7, "is_bot": True}},
        {"from": {"id": 777000}, "chat": {"id": 777000, "type": "private"}},
        {"chat": {"id": -100, "type": "supergroup"}},
        {"chat": {"id": 8, "type": "private"}},
        {"from": None},
        {"from": {"id": -7}, "chat": {"id": -7, "type": "private"}},
    ):
        assert pressed_start(start(**odd)) is None
    assert pressed_start({"update_id": 1, "edited_message": start()["message"]}) is None
