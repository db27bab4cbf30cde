"""A silent lead, as its owner's phone has it: hung and resumed, asking and left alone, stuck and told of.

Bot, engine, node and agent are the real ones; Telegram is emulated, and time passes for the engine alone.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

from bot.app import main
from bot.emulator import Emulator, Message
from engine import config
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.rules.silence import IDLE_TOOL_S, QUIET_S, SHOWN_S
from stores.sealing import create_keys
from tests.fakes import git
from tests.unhurried import telegram

TOKEN = "7000000005:AAyet-one-more-token-that-must-never-be-in-a-log"
OWNER = 42
LIMIT_S = 60.0
FETCH = {"permission": {"tool": "WebFetch", "input": {"url": "http://127.0.0.1:1/"}}}

SCENARIO = [
    {"role": "lead", "turn": 1, "steps": [{"say": "I look."}, {"hang": "deaf"}]},
    {"role": "lead", "prompt": "silent for long", "steps": [FETCH, {"run": "sleep 273"}]},
]


class Later:
    """The engine's clocks, which may be set forward."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def clock(self) -> float:
        return time.time() + self.ahead_s

    def uptime(self) -> float:
        return time.monotonic() + self.ahead_s


def lead(engine: Engine) -> Session:
    (goal,) = engine.loop.states("goal").values()
    assert isinstance(goal, Goal)
    found = engine.loop.state(f"session/{goal.session}")
    assert isinstance(found, Session)
    return found


async def test_a_hung_lead_is_resumed_one_that_asks_left_alone_and_a_stuck_one_told_of(
    tmp_path: Path,
) -> None:
    """BR-67."""
    repository = tmp_path / "shop"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": SCENARIO}))
    home, later, stop = Home(tmp_path / "home").make(), Later(), asyncio.Event()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    async with telegram(TOKEN, OWNER, threaded=True) as emulator:
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        engine = Engine(home, scenario=str(scenario), clock=later.clock, uptime=later.uptime)
        async with engine.running():
            await engine.door.add_project("shop", str(repository), cause="project")
            await engine.door.add_account("main", "rehearsal", cause="account")
            bot = asyncio.create_task(main(home, stop))
            try:
                await _hangs(emulator, engine, later, home)
            finally:
                await engine.door.stop("", cause="stop")
                await engine.loop.settle()
                stop.set()
                await bot


async def _hangs(emulator: Emulator, engine: Engine, later: Later, home: Home) -> None:
    async def shown(*words: str) -> Message:
        return await emulator.phone.wait_for(
            lambda m: all(word in m.text for word in words), LIMIT_S
        )

    async def press(message: Message, label: str) -> None:
        await emulator.phone.answered(emulator.phone.tap(message, label), timeout=LIMIT_S)

    async def passes(seconds: float, then: Callable[[], bool]) -> None:
        later.ahead_s += seconds
        engine.loop.wake()
        async with asyncio.timeout(LIMIT_S):
            while not then():  # noqa: ASYNC110  # another process tells nobody
                await asyncio.sleep(0.05)

    emulator.phone.send("/new shop Export as CSV")
    await shown("I look.")
    await passes(SHOWN_S + 1, lambda: lead(engine).silence is not None)
    await shown("silent 3+ min: waits for its model")
    await passes(QUIET_S, lambda: lead(engine).turn == 2)
    told = await shown("The lead was silent for 15 min and nothing of it ran")
    assert "goes on with a note" in told.text
    assert told.silent
    asks = await emulator.phone.wait_for(lambda m: "Allow" in m.labels, LIMIT_S)
    run = lead(engine).run
    spec = json.loads((home.root / "runs" / run / "spec.json").read_text())
    assert "Your last turn had been silent for long and was ended" in spec["first_lines"][0]

    for _ in range(3):
        await passes(9 * 60.0, lambda: True)
        await engine.loop.settle()
        assert (lead(engine).run, len(lead(engine).asks)) == (run, 1)
    await press(asks, "Allow")
    # The one pressed keeps its buttons for a moment after the answer.
    runs = await emulator.phone.wait_for(lambda m: "Allow" in m.labels, LIMIT_S, after=asks.id)
    await press(runs, "Allow")
    await shown("Bash: a step of the scenario")

    for seconds in (SHOWN_S + 1, QUIET_S, IDLE_TOOL_S):
        await passes(seconds, lambda: True)
        await engine.loop.settle()
    stuck = await shown("The lead has waited 2 h for a tool, without a word or a sign of life")
    assert (stuck.labels, stuck.silent) == (["Peek", "Interrupt"], True)
    await shown("silent 2+ h: runs “sleep 273” since")
    assert (lead(engine).run, lead(engine).cut_offs) == (run, 1)
    await press(stuck, "Peek")
    await shown("Peek: The lead, at work", "runs “sleep 273” since")
    await press(stuck, "Interrupt")
    await passes(0.0, lambda: lead(engine).stage is Stage.IDLE)
    assert lead(engine).interrupted
