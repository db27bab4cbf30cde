"""Times no clock reads, told by an agent or left by damage, through bot, engine and node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from tests.engine.chat import Chat, chatting
from tests.engine.phone import Step, lead
from tests.fakes import git

IN_MS = 1_795_000_000_000


async def begun(chat: Chat, folder: Path) -> None:
    shop = folder / "shop"
    shop.mkdir()
    git(shop, "init", "-q", "-b", "main")
    (shop / "README.md").write_text("A shop\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Open")
    await chat.engine.door.add_project("shop", str(shop), cause="project")
    await chat.engine.door.add_account("main", "rehearsal", cause="account")


def played(folder: Path, steps: Sequence[Step]) -> str:
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps({"parts": lead(*steps)}))
    return str(scenario)


def only_session(chat: Chat) -> Session:
    (goal,) = chat.engine.loop.states("goal").values()
    assert isinstance(goal, Goal)
    found = chat.engine.loop.state(f"session/{goal.session}")
    assert isinstance(found, Session)
    return found


async def test_a_limit_in_milliseconds_is_tried_again_soon_and_the_bot_goes_on(
    tmp_path: Path,
) -> None:
    limit = {"limit": {"window": "five_hour", "resets_at": IN_MS}}
    retry = {"retry": {"status": 529, "attempt": 1, "wait_s": 1e13}}
    async with chatting(tmp_path, scenario=played(tmp_path, [retry, limit])) as chat:
        await begun(chat, tmp_path)
        chat.phone.send("/new shop Add orders")
        card = await chat.until("goes on at ")
        assert "impossible" not in card.text
        session = only_session(chat)
        assert session.stage is Stage.PARKED
        assert 0 < session.parked_until < IN_MS / 100
        await chat.sent("/status", "Add orders")
