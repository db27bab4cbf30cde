"""Bad weather: each kind, and whether the work was done all the same."""

import asyncio

import httpx
import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, Raw


def said(emulator: Emulator) -> list[str]:
    return [message.text for message in emulator.phone.messages()]


async def test_an_ordered_429_serves_as_often_as_ordered(raw: Raw, emulator: Emulator) -> None:
    emulator.faults.flood("sendMessage", retry_after=7, times=2)
    for _ in range(2):
        answer = await raw.post("sendMessage", chat_id=OWNER, text="x")
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    await raw.call("sendMessage", chat_id=OWNER, text="x")
    assert said(emulator) == ["x"]
    assert [call.code for call in emulator.calls_of("sendMessage")] == [429, 429, 200]


@pytest.mark.parametrize("done", [False, True])
async def test_a_gateway_answers_a_page_of_html(raw: Raw, emulator: Emulator, done: bool) -> None:
    emulator.faults.gateway("sendMessage", 502, done=done)
    answer = await raw.post("sendMessage", chat_id=OWNER, text="x")
    assert answer.status_code == 502
    assert answer.headers["Content-Type"].startswith("text/html")
    assert said(emulator) == (["x"] if done else [])


@pytest.mark.parametrize("done", [False, True])
async def test_a_cut_connection_leaves_the_client_in_doubt(
    raw: Raw, emulator: Emulator, done: bool
) -> None:
    emulator.faults.cut("sendMessage", done=done)
    with pytest.raises(httpx.TransportError):
        await raw.post("sendMessage", chat_id=OWNER, text="x")
    assert said(emulator) == (["x"] if done else [])


@pytest.mark.parametrize("done", [False, True])
async def test_silence_lasts_until_the_client_gives_up(
    raw: Raw, emulator: Emulator, done: bool
) -> None:
    emulator.faults.silence("sendMessage", done=done)
    call = {"chat_id": OWNER, "text": "x"}
    with pytest.raises(httpx.ReadTimeout):
        await raw.client.post(f"{raw.url}/sendMessage", json=call, timeout=0.2)
    assert said(emulator) == (["x"] if done else [])


async def test_a_slow_answer_comes_after_the_work(raw: Raw, emulator: Emulator) -> None:
    """BR-12"""
    emulator.faults.slow("sendMessage", 60)
    call = asyncio.create_task(raw.post("sendMessage", chat_id=OWNER, text="x"))
    await emulator.phone.wait_for(lambda m: m.text == "x")
    assert not call.done()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


async def test_a_star_spares_polling(raw: Raw, emulator: Emulator) -> None:
    emulator.faults.error("*", 500, "Internal Server Error: restart")
    await raw.call("getUpdates")
    assert await raw.refusal("getMe") == "Internal Server Error: restart"
    assert emulator.faults.pending() == 0


async def test_a_revoked_token_is_unauthorized_everywhere(raw: Raw, emulator: Emulator) -> None:
    emulator.faults.revoked = True
    assert await raw.refusal("getUpdates") == "Unauthorized"


async def test_a_second_poller_can_be_played(raw: Raw, emulator: Emulator) -> None:
    poll = asyncio.create_task(raw.refusal("getUpdates", timeout=30))
    await emulator.updates.polled()
    assert emulator.updates.interrupt()
    assert (await poll).startswith("Conflict: terminated by other getUpdates request")


async def test_stopping_ends_a_silent_call(raw: Raw, emulator: Emulator) -> None:
    emulator.faults.silence("getMe", done=False)
    call = asyncio.create_task(raw.post("getMe"))
    await emulator.phone.until(lambda: emulator.calls_of("getMe"))
    await emulator.phone.until(lambda: emulator.calls_of("getMe") or None)
    await emulator.stop()
    with pytest.raises(httpx.TransportError):
        await call
