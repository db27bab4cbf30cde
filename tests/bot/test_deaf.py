"""One poll after the other on a set clock: deaf times, second pollers, odd answers, odd order. BR-41."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import telegram

import bot.polling
from bot.answers import Answers
from bot.emulator import Emulator
from bot.polling import AT_ONCE_S, Polling
from stores.cards import CardStore
from stores.database import Database
from tests.bot.stage import OWNER, TOKEN
from tests.bot.test_outbox import Clock


class Ear:
    """A poller with nothing behind it but two lists: what it heard, what the owner was told."""

    def __init__(self, emulator: Emulator, clock: Clock, database: Database) -> None:
        self.emulator = emulator
        self.clock = clock
        self.heard: list[str] = []
        self.told: list[tuple[str, bool]] = []
        self.line = Answers(read_timeout=2.0, connect_timeout=2.0)
        self.bot = telegram.Bot(
            TOKEN,
            base_url=f"{emulator.url}/bot",
            request=Answers(read_timeout=2.0),
            get_updates_request=self.line,
        )
        self.database = database
        self.again()

    def again(self) -> None:
        """Be started anew, as after a time when the box was off."""
        self.polling = Polling(
            self.bot,
            self.line,
            CardStore(self.database),
            self._receive,
            self._tell,
            clock=self.clock,
            wall=self.clock,
        )

    async def _receive(self, updates: Sequence[dict[str, Any]]) -> None:
        self.heard += [str(one["message"].get("text")) for one in updates]

    async def _tell(self, sentence: str, sounds: bool) -> None:
        self.told.append((sentence, sounds))

    async def polls(self, times: int = 1) -> float:
        """Poll so many times, moving the clock by each wait; return the last one."""
        wait_s = 0.0
        for _ in range(times):
            wait_s = await self.polling.step()
            self.clock.now += wait_s
        return wait_s


@pytest.fixture
async def ear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ear]:
    monkeypatch.setattr(bot.polling, "POLL_S", 0)
    clock = Clock()
    async with (
        Emulator(token=TOKEN, owner_id=OWNER, clock=clock) as emulator,
        Database(tmp_path / "bot.sqlite3", "bot") as database,
    ):
        ear = Ear(emulator, clock, database)
        async with ear.bot:
            await ear.polls()
            yield ear


ODD = (
    "",
    "null",
    "[]",
    '"late"',
    "<html>sign in to this network</html>",
    '{"ok":true}',
    '{"ok":true,"result":"yes"}',
    '{"error":"upstream"}',
    '{"ok":false,"error_code":"x"}',
)
SAME_AGAIN = '{"ok":true,"result":[{"update_id":1,"message":{"text":"hello"}}]}'


@pytest.mark.parametrize("code", [200, 302, 400, 401, 403, 404, 409, 429, 502])
async def test_what_is_no_answer_of_telegrams_ends_nothing(ear: Ear, code: int) -> None:
    """A portal's page, half a JSON: never a revoked token, a second poller or our end."""
    for body in ODD:
        ear.emulator.faults.odd("getUpdates", body, code)
    await ear.polls(len(ODD))
    assert ear.emulator.faults.pending() == 0
    ear.emulator.phone.send("still there?")
    await ear.polls()
    assert ear.heard == ["still there?"]


async def test_a_far_end_that_does_not_wait_for_updates_is_not_asked_without_a_pause(
    ear: Ear,
) -> None:
    assert await ear.polls() == AT_ONCE_S
    ear.emulator.phone.send("hello")
    assert await ear.polls() == 0.0
    ear.emulator.faults.odd("getUpdates", SAME_AGAIN)
    assert await ear.polls() == AT_ONCE_S


async def test_an_answer_torn_in_the_middle_is_asked_for_again(ear: Ear) -> None:
    ear.emulator.phone.send("hello")
    ear.emulator.faults.tear("getUpdates", done=True)
    assert await ear.polls() > 0
    await ear.polls()
    assert ear.heard == ["hello"]


async def test_updates_the_library_could_not_read_do_not_stop_those_behind_them(ear: Ear) -> None:
    odd = {"message": {"text": "from another time", "date": "yesterday", "chat": 7}}
    ok = {"update_id": 800_000_001, **odd}
    body = json.dumps({"ok": True, "result": [{"update_id": "x"}, 7, ok]})
    ear.emulator.faults.odd("getUpdates", body)
    await ear.polls()
    assert ear.heard == ["from another time"]


async def test_a_poll_that_hangs_is_given_up_and_heard_again_is_told(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-41: polling dead, sending alive. The limit itself is well within a minute."""
    assert bot.polling.POLL_S + bot.polling.ANSWER_S < 60
    assert bot.polling.HUNG_S < 60
    monkeypatch.setattr(bot.polling, "HUNG_S", 0.05)
    ear.emulator.faults.silence("getUpdates", done=False, times=6)
    for _ in range(6):
        await ear.polls()
        await ear.bot.send_message(OWNER, "sending works")
        ear.clock.now += 45
    monkeypatch.setattr(bot.polling, "HUNG_S", 5.0)
    await ear.polls()
    ((sentence, sounds),) = ear.told
    assert sentence.startswith("Nothing from Telegram reached me for 6 minutes.")
    assert "press again what still has them" in sentence
    assert not sounds


async def test_a_short_blip_is_nobodys_business(ear: Ear) -> None:
    ear.emulator.faults.cut("getUpdates", done=False, times=4)
    await ear.polls(5)
    assert ear.told == []


async def test_what_telegram_lost_after_a_day_is_said(ear: Ear) -> None:
    ear.emulator.phone.send("of the first hour")
    ear.clock.now += 3600
    ear.emulator.faults.cut("getUpdates", done=False)
    await ear.polls()
    ear.clock.now += 20 * 3600
    ear.emulator.phone.send("of today")
    ear.clock.now += 5 * 3600
    await ear.polls()
    assert ear.heard == ["of today"]
    assert "what you wrote before that is lost" in ear.told[0][0]


async def test_a_box_that_slept_says_so_too(ear: Ear) -> None:
    """No poll failed: the box was suspended in the middle of one."""
    ear.clock.now += 8 * 3600
    await ear.polls()
    assert ear.told[0][0].startswith("Nothing from Telegram reached me for 8 hours.")


async def test_a_wrong_clock_of_the_box_makes_up_no_years(ear: Ear) -> None:
    await CardStore(ear.database).keep_fact(bot.polling.HEARD, "12")
    ear.clock.now = 1.8e9
    ear.again()
    await ear.polls()
    ear.clock.now -= 1e9
    ear.again()
    await ear.polls()
    assert ear.told == []


async def test_after_a_night_switched_off_the_same_is_said(ear: Ear) -> None:
    ear.clock.now += 9 * 3600
    ear.again()
    await ear.polls()
    assert ear.told[0][0].startswith("I was away for 9 hours.")
    ear.again()
    await ear.polls()
    assert len(ear.told) == 1


async def test_a_wait_telegram_asks_for_is_kept(ear: Ear) -> None:
    ear.emulator.faults.flood("getUpdates", retry_after=37)
    assert await ear.polls() == 37


async def test_a_second_poller_is_told_of_once_through_blips_and_turns(ear: Ear) -> None:
    """BR-41: a conflict and a bad network at once, and a turn of ours now and then."""
    conflict = "Conflict: terminated by other getUpdates request"
    for turn in range(200):
        if turn % 5 == 0:
            ear.emulator.faults.cut("getUpdates", done=False)
        if turn % 7 != 0:
            ear.emulator.faults.error("getUpdates", 409, conflict)
        await ear.polls()
    sounding = [said for said, sounds in ear.told if sounds]
    assert len(sounding) == 1
    assert "@BotFather" in sounding[0]
    ear.emulator.faults.calm()
    ear.emulator.phone.send("still there?")
    await ear.polls()
    assert ear.heard == ["still there?"]


async def test_one_conflict_now_and_then_is_a_restart_and_not_told(ear: Ear) -> None:
    for _ in range(5):
        ear.emulator.faults.error("getUpdates", 409, "Conflict: terminated by other getUpdates")
        await ear.polls(2)
        for _ in range(12):
            ear.clock.now += 50
            await ear.polls()
    assert ear.told == []


async def test_updates_that_come_in_another_order_are_put_into_theirs(ear: Ear) -> None:
    for number in range(4):
        ear.emulator.phone.send(f"line {number}")
    ear.emulator.updates.reverse = 1
    await ear.polls(2)
    assert ear.heard == [f"line {number}" for number in range(4)]


async def test_ids_that_begin_anew_after_a_quiet_week_are_heard(ear: Ear) -> None:
    ear.emulator.phone.send("before")
    await ear.polls(2)
    ear.emulator.updates.begin_anew(5)
    ear.emulator.phone.send("after")
    await ear.polls()
    assert ear.heard == ["before", "after"]


async def test_the_network_gone_and_back(ear: Ear) -> None:
    """No name is found, nothing listens: it waits, and hears what was sent meanwhile."""
    ear.emulator.phone.send("hello")
    port = int(ear.emulator.url.rpartition(":")[2])
    await ear.emulator.stop()
    waits = [await ear.polls() for _ in range(6)]
    assert waits == sorted(waits)
    assert max(waits) <= 30
    await ear.emulator.start(port)
    await ear.polls()
    assert ear.heard == ["hello"]
