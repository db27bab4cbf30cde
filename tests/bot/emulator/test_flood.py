"""The budget of a chat; BR-09 is why it is here."""

from collections.abc import AsyncIterator

import httpx
import pytest

from bot.emulator import Emulator
from bot.emulator.flood import BURST, GROUP_PER_MINUTE, Flood
from tests.bot.emulator.conftest import OWNER, TOKEN, Clock, Raw


@pytest.fixture
async def strict(clock: Clock) -> AsyncIterator[Emulator]:
    async with Emulator(token=TOKEN, owner_id=OWNER, clock=clock) as running:
        yield running


@pytest.fixture
def raw(strict: Emulator, client: httpx.AsyncClient) -> Raw:
    return Raw(client, strict.url)


def test_a_chat_takes_a_burst_and_then_one_a_second() -> None:
    flood = Flood()
    assert [flood.wait(1, 0.0) for _ in range(BURST + 1)] == [0] * BURST + [1]
    assert [flood.wait(1, float(second)) for second in range(1, 50)] == [0] * 49


def test_chats_do_not_spend_each_others_budget() -> None:
    """BR-09"""
    flood = Flood()
    assert flood.wait(1, 0.0) == flood.wait(1, 0.0) == flood.wait(1, 0.0) == 0
    assert flood.wait(1, 0.0) == 1
    assert flood.wait(2, 0.0) == 0


def test_a_group_takes_20_a_minute() -> None:
    flood = Flood()
    answers = [flood.wait(-1, 2.0 * i) for i in range(GROUP_PER_MINUTE + 1)]
    assert answers == [0] * GROUP_PER_MINUTE + [20]


def test_over_all_chats_30_a_second_is_the_most() -> None:
    flood = Flood()
    assert [flood.wait(chat, 0.0) for chat in range(31)] == [0] * 30 + [1]


def test_who_calls_during_the_wait_is_counted() -> None:
    flood = Flood()
    for _ in range(BURST + 1):
        flood.wait(1, 0.0)
    assert flood.ignored == 0
    assert flood.wait(1, 0.5) == 1
    assert flood.ignored == 1


async def test_sends_edits_and_reactions_share_or_spare_the_budget(
    raw: Raw, strict: Emulator, clock: Clock
) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="0")
    where = {"chat_id": OWNER, "message_id": sent["message_id"]}
    await raw.call("editMessageText", text="1", **where)
    await raw.call("editMessageText", text="2", **where)
    answer = await raw.post("editMessageText", text="3", **where)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "1"
    assert answer.json() == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 1",
        "parameters": {"retry_after": 1},
    }
    reaction = [{"type": "emoji", "emoji": "👀"}]
    await raw.call("setMessageReaction", reaction=reaction, **where)
    clock.pass_by(1)
    await raw.call("editMessageText", text="3", **where)
    assert strict.ignored_waits == 0
