"""How updates are handed over: at least once, until they are confirmed or too old."""

import asyncio

import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, Clock, Raw, buttons


async def texts(raw: Raw, **params: object) -> list[str]:
    return [update["message"]["text"] for update in await raw.call("getUpdates", **params)]


async def test_an_update_comes_again_until_it_is_confirmed(raw: Raw, emulator: Emulator) -> None:
    """BR-37"""
    emulator.phone.send("one")
    emulator.phone.send("two")
    first, second = await raw.call("getUpdates")
    assert second["update_id"] == first["update_id"] + 1
    assert await texts(raw) == ["one", "two"]
    assert await texts(raw, offset=second["update_id"]) == ["two"]
    assert await texts(raw, offset=second["update_id"] + 1) == []


async def test_a_negative_offset_keeps_only_the_newest(raw: Raw, emulator: Emulator) -> None:
    for text in ("one", "two", "three"):
        emulator.phone.send(text)
    assert await texts(raw, offset=-1) == ["three"]
    assert await texts(raw) == ["three"]


async def test_a_limit_cuts_the_batch(raw: Raw, emulator: Emulator) -> None:
    for text in ("one", "two", "three"):
        emulator.phone.send(text)
    assert await texts(raw, limit=2) == ["one", "two"]


async def test_a_waiting_poll_is_answered_at_once_when_somebody_writes(
    raw: Raw, emulator: Emulator
) -> None:
    poll = asyncio.create_task(texts(raw, timeout=30))
    await emulator.updates.polled()
    emulator.phone.send("now")
    assert await poll == ["now"]


async def test_when_two_pollers_meet_the_older_one_is_sent_away(
    raw: Raw, emulator: Emulator
) -> None:
    """BR-41"""
    older = asyncio.create_task(raw.refusal("getUpdates", timeout=30))
    await emulator.updates.polled()
    newer = asyncio.create_task(texts(raw, timeout=30))
    assert await older == (
        "Conflict: terminated by other getUpdates request; "
        "make sure that only one bot instance is running"
    )
    emulator.phone.send("x")
    assert await newer == ["x"]


async def test_messages_wait_a_day_and_taps_150_seconds(
    raw: Raw, emulator: Emulator, clock: Clock
) -> None:
    emulator.phone.send("x")
    sent = await raw.call("sendMessage", chat_id=OWNER, text="card", reply_markup=buttons("Go"))
    emulator.phone.tap(sent["message_id"], "Go")
    assert len(await raw.call("getUpdates")) == 2
    clock.pass_by(151)
    assert await texts(raw) == ["x"]
    clock.pass_by(86_400)
    assert await texts(raw) == []


async def test_the_kinds_asked_for_are_remembered(raw: Raw, emulator: Emulator) -> None:
    said = emulator.phone.send("x")[0]
    emulator.phone.react(said.id, "👍")  # reactions must be asked for
    assert len(await raw.call("getUpdates", allowed_updates=["message_reaction"])) == 1
    emulator.phone.react(said.id, "👀")
    emulator.phone.send("y")
    updates = await raw.call("getUpdates")
    assert [set(update) - {"update_id"} for update in updates] == [
        {"message"},
        {"message_reaction"},
    ]


async def test_a_tap_is_answered_once_and_within_15_seconds(
    raw: Raw, emulator: Emulator, clock: Clock
) -> None:
    """BR-12"""
    stale = "Bad Request: query is too old and response timeout expired or query ID is invalid"
    sent = await raw.call("sendMessage", chat_id=OWNER, text="card", reply_markup=buttons("Go"))
    tap = emulator.phone.tap(sent["message_id"], "Go")
    await raw.call("answerCallbackQuery", callback_query_id=tap.id, text="Noted")
    assert (tap.answered, tap.answer, tap.alert) == (True, "Noted", False)
    assert await raw.refusal("answerCallbackQuery", callback_query_id=tap.id) == stale

    late = emulator.phone.tap(sent["message_id"], "Go")
    clock.pass_by(16)
    assert await raw.refusal("answerCallbackQuery", callback_query_id=late.id) == stale
    assert not late.answered


async def test_updates_can_be_lost_repeated_and_reversed(raw: Raw, emulator: Emulator) -> None:
    """BR-37"""
    emulator.updates.lose = 1
    for text in ("lost", "one", "two"):
        emulator.phone.send(text)
    emulator.updates.reverse = 1
    assert await texts(raw) == ["two", "one"]
    batch = await raw.call("getUpdates")
    assert await texts(raw, offset=batch[-1]["update_id"] + 1) == []
    emulator.updates.repeat(2)
    assert await raw.call("getUpdates") == batch


async def test_a_webhook_nobody_set_stops_polling(raw: Raw, emulator: Emulator) -> None:
    emulator.faults.webhook = "https://elsewhere.example/hook"
    refusal = await raw.refusal("getUpdates")
    assert refusal.startswith("Conflict: can't use getUpdates method while webhook is active")
    assert (await raw.call("getWebhookInfo"))["url"] == "https://elsewhere.example/hook"
    await raw.call("deleteWebhook")
    assert await raw.call("getUpdates") == []


async def test_stopping_lets_a_waiting_poll_go(raw: Raw, emulator: Emulator) -> None:
    poll = asyncio.create_task(texts(raw, timeout=50))
    await emulator.updates.polled()
    await emulator.stop()
    assert await poll == []


@pytest.mark.parametrize("deleted", [False, True])
async def test_a_tap_on_a_message_that_is_gone_shows_its_id_alone(
    raw: Raw, emulator: Emulator, deleted: bool
) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="card", reply_markup=buttons("Go"))
    if deleted:
        emulator.phone.delete(sent["message_id"])
    emulator.phone.tap(sent["message_id"], data="c:1:1:go")
    message = (await raw.call("getUpdates"))[-1]["callback_query"]["message"]
    assert (message["date"] == 0) is deleted
