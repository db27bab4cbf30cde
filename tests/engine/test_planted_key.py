"""A key pasted into a goal, with everything real but Telegram and the model: it is in no file after.

Promise 4. The bot's own tests (tests/bot/test_secrets.py) try each way a key can come; here one goes
the whole way: bot, inbox, engine, ledger, vault, node, run folder, agent, and back to the phone.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.app import main
from engine import config
from engine.config import Config
from engine.engine import Engine
from engine.errors import Refused
from engine.paths import Home
from stores.sealing import create_keys
from tests.engine.chat import chatting
from tests.fakes import git
from tests.unhurried import telegram

TOKEN = "7000000002:AAanother-token-that-must-never-be-in-a-log"
OWNER = 42
ANTHROPIC = "sk-ant-api03-Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"
KEY = "ghp_Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"
NAME = "{{GITHUB_TOKEN}}"

SCENARIO = {
    "parts": [
        {
            "role": "lead",
            "prompt": "Rundown",
            "steps": [
                {"say": "I was told: {prompt}"},
                {
                    "desk": "propose_plan",
                    "with": {
                        "summary": "One piece: {prompt}",
                        "pieces": [{"title": "One", "task": "{prompt}", "size": "S"}],
                    },
                },
                {"say": "The plan is with you."},
            ],
        },
        {"steps": [{"say": "Heard."}]},
    ]
}


def holding(folder: Path, words: str) -> list[str]:
    """The files below a folder whose bytes hold these words, free pages and journals too."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and words.encode() in path.read_bytes()
    ]


async def test_a_key_in_a_goal_is_in_no_file_afterwards_and_the_agent_reads_its_name(
    tmp_path: Path,
) -> None:
    repository, folder = tmp_path / "shop", tmp_path / "home"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(SCENARIO))

    home = Home(folder).make()
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
            (said,) = emulator.phone.send(f"/new shop Publish it with {KEY} tonight")
            await emulator.phone.wait_for(lambda m: "Start" in m.labels, timeout=60)
            assert emulator.phone.message(said.id) is None
            assert KEY not in emulator.phone.transcript()
            goal = next(iter(engine.loop.states("goal").values()))
            assert goal.text == f"Publish it with {NAME} tonight"
            await engine.door.stop("", cause="stop")
            await engine.loop.settle()
            stop.set()
            await bot
    assert holding(folder, KEY) == []
    assert holding(folder, KEY[8:30]) == []
    assert any("out.jsonl" in name for name in holding(folder, NAME)), "the agent read its name"


ODD = "correct-horse-battery-staple"
BARE = "purple-monkey-dishwasher"


async def test_a_token_given_for_an_account_is_in_no_file_however_it_looks(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        card = await chat.sent("/accounts add main claude", "Claude · main", label="Token…")
        chat.phone.tap(card, "Token…")
        prompt = await chat.until("Paste the token of account main")
        (said,) = chat.phone.reply(prompt, f"{ODD[:12]}\n {ODD[12:]}\n")
        await chat.until("Account main was there", "It does not look like")
        await chat.until("the token of main", "deleted from the chat")
        assert chat.phone.message(said.id) is None
        assert ODD[:12] not in chat.phone.transcript()
        kept = await chat.engine.door.secret("account/main/CLAUDE_CODE_OAUTH_TOKEN")
        assert kept == ODD

        panel = await chat.sent("/accounts", "new goals take it", label="main")
        page = await chat.tapped(panel, "main", "In the vault: CLAUDE_CODE_OAUTH_TOKEN")
        chat.phone.tap(page, "New token…")
        prompt = await chat.until("Paste the token", "reply", after=page.id)
        chat.phone.reply(prompt, ANTHROPIC)
        await chat.until("Account main was there: it is replaced", after=prompt.id)
        (account,) = await chat.engine.door.accounts()
        assert account.secret_env == ("ANTHROPIC_API_KEY",)
        assert await chat.engine.door.secret("account/main/ANTHROPIC_API_KEY") == ANTHROPIC
        with pytest.raises(Refused):
            await chat.engine.door.secret("account/main/CLAUDE_CODE_OAUTH_TOKEN")

        asked = chat.phone.messages()[-1].id
        chat.phone.send("/accounts add other claude")
        card = await chat.until("Claude · other", label="Token…", after=asked)
        chat.phone.tap(card, "Token…")
        await chat.until("Paste the token of account other", after=asked)
        (said,) = chat.phone.send(BARE)  # no Reply
        await chat.until("the token of other", "deleted from the chat")
        assert chat.phone.message(said.id) is None
        assert await chat.engine.door.secret("account/other/CLAUDE_CODE_OAUTH_TOKEN") == BARE
        assert not chat.engine.loop.states("goal")
    for words in (ODD, ODD[:12], ODD[12:], ANTHROPIC, BARE):
        assert holding(tmp_path / "home", words) == []
