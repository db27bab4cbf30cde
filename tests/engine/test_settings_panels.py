"""The settings panels with everything real but Telegram and the model: what is tapped holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from bot.app import main
from bot.emulator import Message, Phone
from engine import config
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.rules.events import MachineAdded
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from engine.rules.words import Command
from stores.sealing import create_keys
from tests.fakes import git
from tests.unhurried import telegram

TOKEN = "7000000003:AAyet-another-token-that-is-in-no-log-either"
OWNER = 42
CHECK = Command("check", "test -d .git")
SCENARIO = {"parts": [{"steps": [{"say": "Heard."}]}]}


class Box:
    """An engine and a bot on one home, and the phone they speak to."""

    def __init__(self, engine: Engine, phone: Phone) -> None:
        self.engine = engine
        self.phone = phone
        self.told = ""  # at the last tap

    def goal(self) -> Goal:
        (found,) = self.engine.loop.states("goal").values()
        assert isinstance(found, Goal)
        return found

    def project(self) -> Project:
        found = self.engine.loop.state("project/shop")
        assert isinstance(found, Project)
        return found

    async def says(self, message: Message, words: str) -> Message:
        """Wait until this message says so."""
        return await self.phone.wait_for(
            lambda m: m.id == message.id and words in m.text, timeout=30
        )

    async def press(self, message: Message, *labels: str) -> None:
        """Press one button after another of a message that changes with each."""
        for label in labels:
            await self.phone.wait_for(partial(_offers, message.id, label), timeout=30)
            tap = await self.phone.answered(self.phone.tap(self.now(message), label), 30)
            self.told = tap.answer

    def now(self, message: Message) -> Message:
        found = self.phone.message(message.id)
        assert found is not None
        return found


def _offers(message_id: int, label: str, found: Message) -> bool:
    return found.id == message_id and label in found.labels


def lay(folder: Path) -> Path:
    repository = folder / "shop"
    (repository / ".quarterdeck").mkdir(parents=True)
    settings = repository / ".quarterdeck/settings.toml"
    settings.write_text(f'[worktree]\ncheck = "{CHECK.text}"\n')
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    git(repository, "branch", "develop")
    return repository


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Box]:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(SCENARIO))
    home = Home(tmp_path / "home").make()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    stop = asyncio.Event()
    async with telegram(TOKEN, OWNER) as emulator:
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        engine = Engine(home, scenario=str(scenario))
        async with engine.running():
            await engine.door.add_project("shop", str(lay(tmp_path)), cause="project")
            await engine.door.add_account("main", "rehearsal", cause="account")
            bot = asyncio.create_task(main(home, stop))
            yield Box(engine, emulator.phone)
            await engine.door.stop("", cause="stop")
            await engine.loop.settle()
            stop.set()
            await bot


async def test_what_is_set_for_new_goals_and_for_one_lead_holds(box: Box) -> None:
    box.phone.send("/settings")
    mine = await box.phone.wait_for(lambda m: "New goals begin with" in m.text, timeout=30)
    await box.press(mine, "Plans", "The lead may", "Mode", "ask")
    await box.says(mine, "Mode ask")
    box.phone.send("/new shop Tidy up")
    card = await box.phone.wait_for(lambda m: "shop" in m.text and "Stop" in m.labels, timeout=60)
    assert (box.goal().go, box.goal().mode) == ("auto", "ask")
    box.phone.tap(card, "Settings")
    its = await box.phone.wait_for(lambda m: "This session" in m.text, timeout=30)
    await box.press(its, "Mode", "edit", "Model", "Type it…")
    prompt = await box.phone.wait_for(lambda m: m.asks_for_reply, timeout=30)
    box.phone.reply(prompt, "sonnet")
    await box.says(its, "Model: sonnet")
    await box.press(its, "After a limit", "Ask me")
    await box.says(its, "After a usage limit it asks you first")
    goal = box.goal()
    assert (goal.mode, goal.model, goal.after_limit) == ("edit", "sonnet", "ask")
    box.phone.reply(card, "/settings")
    again = await box.phone.wait_for(lambda m: "This session" in m.text and m.id > its.id, 30)
    await box.engine.door.stop(goal.id, cause="stop it")
    await box.press(again, "Mode", "ask")
    assert box.goal().mode == "ask"


async def test_a_machine_is_unticked_for_one_lead(box: Box) -> None:
    added = MachineAdded(machine="build-box", address="dev@build-box", max_runs=2)
    await box.engine.loop.post("fleet", added, "added")
    box.phone.send("/new shop Tidy up")
    card = await box.phone.wait_for(lambda m: "Settings" in m.labels, timeout=60)
    box.phone.tap(card, "Settings")
    its = await box.phone.wait_for(lambda m: "Next workers: any machine" in m.text, timeout=30)
    await box.press(its, "Machines", "✓ build-box")
    await box.says(its, "– build-box · away")
    assert box.goal().machines == ("here",)
    await box.press(its, "✓ here")
    assert "One machine must stay ticked" in box.told
    await box.says(card, "Next workers only on here")


async def test_a_no_to_a_command_is_taken_back_and_a_base_changed(box: Box) -> None:
    box.phone.send("/new shop Tidy up")
    asked = await box.phone.wait_for(lambda m: "Not this" in m.labels, timeout=60)
    box.phone.tap(asked, "Not this")
    await box.phone.until(lambda: box.project().refused == (CHECK,), 30)
    box.phone.send("/settings shop")
    panel = await box.phone.wait_for(lambda m: {"Allow", "Remove…"} <= set(m.labels), timeout=30)
    await box.press(panel, "Allow")
    await box.says(panel, "check, allowed")
    await box.phone.until(lambda: box.goal().command("check") == CHECK.text, 30)
    await box.press(panel, "Base branch…")
    prompt = await box.phone.wait_for(lambda m: m.asks_for_reply, timeout=30)
    box.phone.reply(prompt, "nowhere")
    await box.phone.wait_for(lambda m: "nowhere" in m.text, timeout=30)
    box.phone.reply(prompt, "develop")
    await box.says(panel, "New goals start from develop")
    await box.press(panel, "Remove…", "Remove")
    assert "has goals that are not over" in box.told
    assert box.project().known


async def test_what_is_trusted_of_a_repository_is_seen_and_taken_back(
    box: Box, tmp_path: Path
) -> None:
    (tmp_path / "shop/.mcp.json").write_text('{"mcpServers": {"words": {"command": "words"}}}')
    git(tmp_path / "shop", "add", "-A")
    git(tmp_path / "shop", "commit", "-q", "-m", "Bring a server")
    box.phone.send("/new shop Tidy up")
    asked = await box.phone.wait_for(lambda m: "Trust" in m.labels, timeout=60)
    assert "MCP server, started with each turn: words" in asked.text
    await box.press(asked, "Trust")
    assert box.told == "Trusted"
    await box.says(asked, "Trusted: sessions have it from their next turn")
    box.phone.send("/settings shop")
    panel = await box.phone.wait_for(lambda m: "Take back" in m.labels, timeout=30)
    assert "Brought for agents, trusted: 1 MCP server" in panel.text
    await box.press(panel, "Take back")
    await box.says(panel, "Brought for agents, left off: 1 MCP server")
    assert not [known for known in box.project().allowed if known.kind == "brought"]
    (row,) = [row for row in await box.engine.door.audit() if row.verb == "trust"]
    assert "MCP server, started with each turn: words" in row.shown
