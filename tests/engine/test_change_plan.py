"""The owner changes a plan on the phone before Start: real bot, engine, node, git and rehearsed agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.app import main
from bot.emulator import Message, Phone
from engine import config
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.rules.goal_state import Goal
from engine.rules.plan import Stage
from stores.sealing import create_keys
from tests.engine.phone import desk, lead, worker, write
from tests.fakes import git
from tests.unhurried import telegram

TOKEN = "7000000003:AAa-third-token-that-must-never-be-in-a-log-x"
OWNER = 42
WAIT_S = 60.0

PIECES: list[dict[str, Any]] = [
    {"title": "Orders page", "task": "Add the page.", "size": "S"},
    {"title": "CSV writer", "task": "Write it as CSV.", "size": "S"},
    {"title": "Join them", "task": "Wire them.", "size": "S", "after": [2]},
]
WORKERS = [
    worker(
        write(f"{number}.txt"),
        {"commit": "Do the work"},
        {"say": "Done."},
        session=f'"{piece["title"]}"',
    )
    for number, piece in enumerate(PIECES, start=1)
]
PLAN = desk("propose_plan", summary="Three pieces.", pieces=PIECES)


@asynccontextmanager
async def at_hand(folder: Path) -> AsyncIterator[tuple[Phone, Engine]]:
    """A phone, a bot and an engine with one project, whose lead proposes PLAN."""
    repository = folder / "shop"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps({"parts": [*lead(PLAN), *WORKERS]}))
    home = Home(folder / "home").make()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    stop = asyncio.Event()
    async with telegram(TOKEN, OWNER) as emulator:
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        engine = Engine(home, scenario=str(scenario))
        async with engine.running():
            await engine.door.add_project("shop", str(repository), cause="project")
            await engine.door.add_account("main", "rehearsal", cause="account")
            bot = asyncio.create_task(main(home, stop))
            try:
                yield emulator.phone, engine
            finally:
                await engine.door.stop("", cause="stop")
                await engine.loop.settle()
                stop.set()
                await bot


async def proposed(phone: Phone, goal: str) -> Message:
    after = max((message.id for message in phone.messages()), default=0)
    phone.send(f"/new shop {goal}")
    return await phone.wait_for(lambda m: "Start" in m.labels, WAIT_S, after=after)


async def pressed(phone: Phone, panel: Message, label: str, shows: str) -> Message:
    """Press a button of the panel, and wait until the same message shows something."""
    phone.tap(panel, label)
    return await phone.wait_for(
        lambda m: m.id == panel.id and (shows in m.text or shows in m.labels)
    )


def newest(engine: Engine) -> Goal:
    found = list(engine.loop.states("goal").values())[-1]
    assert isinstance(found, Goal)
    return found


def to_lead(engine: Engine) -> str:
    """All that the newest goal's lead was given so far."""
    orders = (engine.home.root / "runs").glob(f"{newest(engine).session}-t*/spec.json")
    return "".join(order.read_text() for order in sorted(orders))


async def landed(phone: Phone, engine: Engine) -> Goal:
    """Wait until the whole was put for review."""
    await phone.wait_for(lambda m: "Ship" in m.labels, WAIT_S)
    return newest(engine)


async def test_exactly_the_pieces_that_the_owner_left_are_built_and_say_what_the_next_may_cost(
    tmp_path: Path,
) -> None:
    async with at_hand(tmp_path) as (phone, engine):
        card = await proposed(phone, "Export orders")
        assert "No estimate yet: nothing of this kind landed here." in card.text
        heard = len(phone.heard())
        phone.tap(card, "Change…")
        panel = await phone.wait_for(lambda m: "which piece?" in m.text)
        assert panel.labels == ["1 · Orders page", "2 · CSV writer", "3 · Join them", "Done"]
        assert "Or write to the lead what to change" in panel.text

        page = await pressed(phone, panel, "2 · CSV writer", "Model…")
        page = await pressed(phone, page, "Drop…", "Piece 3 then waits for it no more.")
        panel = await pressed(phone, page, "Drop piece 2", "which piece?")
        assert panel.labels == ["1 · Orders page", "3 · Join them", "Done"]

        page = await pressed(phone, panel, "3 · Join them", "Model…")
        page = await pressed(phone, page, "After…", "Tap to tick")
        page = await pressed(phone, page, "1 · Orders page", "After: piece 1")
        assert "✓ 1 · Orders page" in page.labels
        page = await pressed(phone, page, "← Back", "Model…")
        page = await pressed(phone, page, "Large", "large")
        assert "✓ Large" in page.labels
        await pressed(phone, page, "Done", "Start begins exactly its pieces.")
        assert len(phone.heard()) == heard

        card = await phone.wait_for(lambda m: m.id == card.id and "Changed by you" in m.text)
        assert "CSV writer" not in card.text.partition("The tasks")[0]
        phone.tap(card, "Start")
        goal = await landed(phone, engine)
        first, second = goal.pieces
        assert [(piece.number, piece.stage) for piece in goal.pieces] == [
            (1, Stage.LANDED),
            (3, Stage.LANDED),
        ]
        assert first.landed_at <= second.started_at
        assert (second.size, second.after) == ("L", (1,))
        assert "dropped, not wanted now; piece 3: size L, after piece 1." in to_lead(engine)

        again = await proposed(phone, "Once more")
        assert "About" in again.text
        assert "from 1 piece landed before" in again.text


async def test_what_another_hand_changed_meanwhile_is_looked_at_again_first(tmp_path: Path) -> None:
    async with at_hand(tmp_path) as (phone, engine):
        card = await proposed(phone, "Export orders")
        phone.tap(card, "Change…")
        panel = await phone.wait_for(lambda m: "which piece?" in m.text)
        page = await pressed(phone, panel, "1 · Orders page", "Model…")
        plan = newest(engine).plan
        now = await engine.door.plan_choices(plan)
        await engine.door.change_plan(plan, now.revision, 1, "size", "M", cause="other")
        await engine.door.change_plan(plan, now.revision, 1, "size", "M", cause="other")  # again
        tap = phone.tap(page, "Large")
        assert "changed since it was shown" in (await phone.answered(tap)).answer
        page = await phone.wait_for(lambda m: m.id == page.id and "✓ Medium" in m.labels)
        await pressed(phone, page, "Large", "large")
        assert newest(engine).pieces[0].size == "L"


async def test_a_model_is_typed_and_a_line_under_the_panel_is_for_the_lead(tmp_path: Path) -> None:
    async with at_hand(tmp_path) as (phone, engine):
        card = await proposed(phone, "Export orders")
        phone.tap(card, "Change…")
        panel = await phone.wait_for(lambda m: "which piece?" in m.text)
        page = await pressed(phone, panel, "1 · Orders page", "Model…")
        page = await pressed(phone, page, "Model…", "Which model?")
        phone.tap(page, "Type it…")
        prompt = await phone.wait_for(lambda m: m.asks_for_reply)
        phone.reply(prompt, "--help me")
        await phone.wait_for(lambda m: "That is no model's name" in m.text)
        phone.reply(prompt, "deep-1")
        await phone.wait_for(lambda m: m.id == page.id and "rehearsal deep-1" in m.text)
        assert newest(engine).pieces[0].model == "deep-1"
        phone.reply(page, "Make it two pieces only")
        await phone.until(lambda: "Make it two pieces only" in to_lead(engine), WAIT_S)


async def test_a_plan_that_is_started_can_be_changed_no_more(tmp_path: Path) -> None:
    async with at_hand(tmp_path) as (phone, engine):
        card = await proposed(phone, "Export orders")
        phone.tap(card, "Change…")
        panel = await phone.wait_for(lambda m: "which piece?" in m.text)
        phone.tap(card, "Discard")
        await phone.wait_for(lambda m: m.id == card.id and not m.labels)
        closed = await pressed(phone, panel, "1 · Orders page", "nothing can be changed any more")
        assert closed.labels == []
        assert len(newest(engine).pieces) == 3
