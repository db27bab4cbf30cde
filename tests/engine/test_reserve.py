"""The reserve, from the phone: a worker waits for what the owner keeps, and begins when they let go."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from bot.emulator import Message
from tests.engine.chat import chatting
from tests.engine.phone import PIECE, good_worker, lead, plan
from tests.fakes import git

USAGE = {"usage": {"window": "five_hour", "utilization": 0.84, "resets_in_s": 3600}}


def lay(folder: Path) -> Path:
    repository = folder / "shop"
    repository.mkdir()
    (repository / "README").write_text("A shop\n")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    return repository


def offers(label: str, message: Message) -> bool:
    return message.from_bot and label in message.labels


async def test_a_worker_waits_past_the_reserve_and_begins_once_it_is_off(tmp_path: Path) -> None:
    parts = lead(USAGE, plan(PIECE))
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": [*parts, good_worker()]}))
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_project("shop", str(lay(tmp_path)), cause="project")
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        panel = await chat.sent("/settings", "No reserve", label="Reserve")
        await chat.tapped(panel, "Reserve", "What is at work goes on", label="20 %")
        await chat.tapped(panel, "20 %", "Reserve: 20 %", label="Reserve")

        chat.phone.send("/new shop Tidy up")
        card = await chat.phone.wait_for(partial(offers, "Start"), timeout=60)
        chat.phone.tap(card, "Start")
        waits = await chat.until("account main: 84 % used, past the 20 % you keep, resets ")
        assert "/settings reserve off starts it now · goes on at " in waits.text

        await chat.sent("/accounts", "main · rehearsal · 84 % of its 5-hour window, resets ")
        await chat.sent("/health", "Usage: main 84 % of its 5-hour window", "Reserve: 20 %")
        refused = await chat.sent("/settings reserve 95", "a share of 0 to 90 %")
        assert "reserve off" in refused.text

        await chat.sent("/settings reserve off", "No reserve: new workers may use all")
        await chat.until("Ship", label="Ship")


async def test_an_agent_that_says_the_same_again_and_again_is_one_event(tmp_path: Path) -> None:
    later = {"window": "five_hour", "resets_at": int(time.time()) + 3600}
    same = [{"usage": later | {"utilization": 0.84 + n / 10_000}} for n in range(20)]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": lead(*same, {"say": "Looked."})}))
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_project("shop", str(lay(tmp_path)), cause="project")
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        await chat.sent("/new shop Tidy up", "Looked.")
        with closing(sqlite3.connect(chat.home.engine_db)) as ledger:
            rows = ledger.execute("SELECT body FROM events WHERE stream = 'fleet'").fetchall()
        told = [body for (body,) in rows if b"AccountUsed" in bytes(body)]
        assert len(told) == 1
