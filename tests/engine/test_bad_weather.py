"""A goal from its words to the push while Telegram has a bad day: real bot, engine, node and agents."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.engine.chat import chatting
from tests.engine.phone import PIECE, lead, plan, worker, write
from tests.fakes import git

SCENARIO = [
    *lead(plan(PIECE), {"say": "Planned."}),
    worker(write("work.txt"), {"commit": "Do the work"}, {"say": "Done."}),
]
CONFLICT = "Conflict: terminated by other getUpdates request"


async def test_a_goal_gets_through_and_no_card_comes_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-12, BR-16, BR-41: lost answers, pages of proxies, a second poller, taps told twice."""
    for room in ("bot.lane_cards", "bot.lane_lines"):
        monkeypatch.setattr(f"{room}.UNKNOWN_S", (0.5, 1.0))
    monkeypatch.setattr("bot.polling.BACK_OFF_S", (0.2,) * 5)
    (tmp_path / "shop").mkdir()
    git(tmp_path / "shop", "init", "-q", "-b", "main")
    (tmp_path / "shop" / "README.md").write_text("A shop\n")
    git(tmp_path / "shop", "add", "-A")
    git(tmp_path / "shop", "commit", "-q", "-m", "Open")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": SCENARIO}))
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        await chat.engine.door.add_project("shop", str(tmp_path / "shop"), cause="project")
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        faults = chat.emulator.faults
        await chat.sent("/status", "Nothing")
        for done in (True, False):
            faults.cut("sendMessage", done=done)
            faults.tear("sendMessage", done=done)
            faults.gateway("editMessageText", 502, done=done)
        faults.cut("answerCallbackQuery", done=False, times=2)
        faults.tear("getUpdates", done=True, times=2)
        faults.odd("getUpdates", "<html>sign in</html>", 404)
        faults.error("getUpdates", 409, CONFLICT, times=2)
        chat.phone.send("/new shop Do it")
        await chat.until(label="Start")
        chat.emulator.updates.repeat(1)
        await chat.shipped()
        cards = Counter(
            button.value.split(":")[1]
            for message in chat.phone.from_bot()
            for button in message.buttons[:1]
        )
        assert set(cards.values()) <= {1}, chat.phone.transcript()
        texts = Counter(message.text for message in chat.phone.from_bot())
        assert set(texts.values()) == {1}, chat.phone.transcript()
        assert len([one for one in texts if "✓ push" in one]) == 1
