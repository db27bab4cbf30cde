"""An album and a file back, with everything real but Telegram and the model: bot, engine, node, git."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from bot.app import main
from engine import config
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from stores.sealing import create_keys
from tests.bot.test_sent import png
from tests.fakes import git
from tests.unhurried import telegram

TOKEN = "7000000002:AAanother-token-that-must-never-be-in-a-log"
OWNER = 42
LOOK = 'cd "$CLAUDE_CONFIG_DIR"/../files && sha256sum *'


async def test_an_album_reaches_the_agent_and_a_file_comes_back(tmp_path: Path) -> None:
    """BR-06: one goal of two photos, which the agent finds as they were sent."""
    repository = tmp_path / "shop"
    (repository / "docs").mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    (repository / "docs/logo.png").write_bytes(png(grey=7))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    steps = [{"run": LOOK, "keep": "seen"}, {"say": "I see: {seen}"}]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": [{"role": "lead", "steps": steps}]}))

    home = Home(tmp_path / "home").make()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    stop = asyncio.Event()
    async with telegram(TOKEN, OWNER) as emulator:
        phone = emulator.phone
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        engine = Engine(home, scenario=str(scenario))
        async with engine.running():
            await engine.door.add_project("shop", str(repository), cause="project")
            await engine.door.add_account("main", "rehearsal", cause="account")
            bot = asyncio.create_task(main(home, stop))
            phone.photo(png(grey=1), caption="Make it look like these", album="1")
            phone.photo(png(grey=2), album="1")
            allow = await phone.wait_for(lambda m: "Allow" in m.labels, timeout=60)
            phone.tap(allow, "Allow")
            said = await phone.wait_for(
                lambda m: "I see:" in m.text and "Now:" not in m.text, timeout=60
            )
            goal = next(iter(engine.loop.states("goal").values()))
            assert goal.text == "Make it look like these"
            assert [file.name for file in goal.files] == ["photo.jpg", "photo.jpg"]
            for file in goal.files:
                assert f"{file.sha256}  {file.place}" in " ".join(said.text.split("\n"))
            phone.reply(said, "send me docs/logo.png")
            back = await phone.wait_for(lambda m: m.kind == "document", timeout=60)
            assert phone.file(back) == png(grey=7)
            phone.reply(said, "send me logo.jpg")
            near = await phone.wait_for(lambda m: "There is no logo.jpg" in m.text)
            assert "docs/logo.png" in near.text
            await engine.door.stop("", cause="stop")
            await engine.loop.settle()
            stop.set()
            await bot
