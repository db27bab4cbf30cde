"""Watching and steering a worker from the phone alone: Peek, Now, the topic's title, an edited goal.

Bot, engine, node and agent are the real ones; Telegram is emulated and the agent rehearses.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from bot.app import main
from bot.emulator import Emulator, Message
from engine import config
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.rules.goal_state import Goal
from stores.sealing import create_keys
from tests.engine.phone import PIECE, lead, plan, worker, write
from tests.fakes import git
from tests.unhurried import telegram

TOKEN = "7000000003:AAone-more-token-that-must-never-be-in-a-log"
OWNER = 42
LIMIT_S = 60.0

SCENARIO = [
    *lead(plan(PIECE), {"say": "Planned."}),
    worker(
        {"say": "I begin."},
        {"run": "touch .git/begun; until test -e .git/go; do sleep 0.1; done"},
        write("work.txt"),
        {"commit": "Do the work"},
        {"say": "Done."},
    ),
]


class Live:
    """An owner's phone, and what lies behind it."""

    def __init__(self, emulator: Emulator, engine: Engine) -> None:
        self.phone = emulator.phone
        self.emulator = emulator
        self.engine = engine

    async def until(self, fact: object, what: str) -> None:
        assert callable(fact)
        async with asyncio.timeout(LIMIT_S):
            while not fact():  # noqa: ASYNC110  # files and another process tell nobody
                await asyncio.sleep(0.05)

    async def press(self, label: str, *words: str) -> Message:
        found = await self.phone.wait_for(
            lambda m: label in m.labels and all(word in m.text for word in words), LIMIT_S
        )
        await self.phone.answered(self.phone.tap(found, label), timeout=LIMIT_S)
        return found

    def goal(self) -> Goal:
        (goal,) = self.engine.loop.states("goal").values()
        assert isinstance(goal, Goal)
        return goal


async def test_a_worker_is_watched_and_steered_from_the_phone(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": SCENARIO}))
    home = Home(tmp_path / "home").make()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    stop = asyncio.Event()
    async with telegram(TOKEN, OWNER, threaded=True) as emulator:
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        engine = Engine(home, scenario=str(scenario))
        async with engine.running():
            await engine.door.add_project("shop", str(repository), cause="project")
            await engine.door.add_account("main", "rehearsal", cause="account")
            bot = asyncio.create_task(main(home, stop))
            try:
                await _watched_and_steered(Live(emulator, engine), home)
            finally:
                await engine.door.stop("", cause="stop")
                await engine.loop.settle()
                stop.set()
                await bot


async def _watched_and_steered(live: Live, home: Home) -> None:
    (given,) = live.phone.send("/new shop Export as CSV")
    await live.press("Start")
    await live.press("Allow")
    session = live.goal().pieces[0].session
    inside = home.root / "trees/shop" / session / ".git"
    await live.until((inside / "begun").exists, "the worker to be busy")
    (topic,) = live.phone.topics()

    card = await live.press("Peek", "Worker 1")
    shown = await live.phone.wait_for(lambda m: m.text.startswith("Peek: Worker 1"), LIMIT_S)
    assert "I begin." in shown.text
    assert shown.silent
    assert shown.thread == topic.id
    await live.phone.wait_for(lambda m: "1 The work · Bash" in m.text, LIMIT_S)

    (line,) = live.phone.reply(card, "Use commas")
    await live.press("Now", "1 line of yours after this turn")
    await live.until(
        lambda: live.phone.message(line.id).reactions,  # type: ignore[union-attr]
        "the receipt",
    )
    await live.phone.wait_for(lambda m: "heard with its next step" in m.text, LIMIT_S)
    (inside / "go").touch()

    await live.phone.wait_for(lambda m: m.text.startswith("Ready for your review"), LIMIT_S)
    assert live.goal().pieces[0].attempt == 1
    await live.until(
        lambda: live.phone.topics()[0].name == "❗ Export as CSV", "the title of what waits"
    )

    live.phone.edit(given.id, "/new shop Export as TSV")
    asked = await live.phone.wait_for(
        lambda m: m.text.startswith("Your edit goes to the lead as a correction?"), LIMIT_S
    )
    assert asked.labels == ["Give it to the lead", "Leave it"]
    assert asked.thread == topic.id
