"""A key of the vault, printed by whatever can print one: nowhere in the chat, in no log line, in no file sent.

The agent here knows the value, as one does that was allowed a command with it, or that found it on the
machine. Neighbours: tests/stores/test_scrub.py (the forms), tests/bot/test_masks.py (the bot's own door).
"""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.engine.chat import Chat, chatting
from tests.engine.phone import desk, lead, plan, worker, write
from tests.fakes import git

VALUE = "vQ7/kd+Zr41mXw9Tt8Lp"
NAME = "{{SHOP_KEY}}"
FORMS = (
    VALUE,
    base64.b64encode(VALUE.encode()).decode(),
    base64.b64encode(f"user:{VALUE}".encode()).decode()[8:-4],
    quote(VALUE, safe=""),
    VALUE.encode().hex(),
)
SAID = f"It is {VALUE}, {FORMS[1]}, {FORMS[3]} and {FORMS[4]}."
LONG = "\n".join([f"line {n} of it, with {VALUE}" for n in range(300)])
PLAIN = "Qm4vT7yWc2RfJ5hUgB9dEa"  # may stand in a branch's name


def clear(words: str) -> bool:
    return not [form for form in (*FORMS, PLAIN) if form in words]


def everything(chat: Chat) -> str:
    """All that ever went out to Telegram, also what was edited away since, and what files hold."""
    calls = " ".join(
        json.dumps(call.params, ensure_ascii=False, default=str) for call in chat.emulator.calls
    )
    files = [chat.phone.file(m) for m in chat.phone.messages() if m.kind == "document"]
    return " ".join(
        [calls, chat.phone.transcript(), *(file.decode("utf-8", "replace") for file in files)]
    )


async def test_what_agents_git_and_checks_print_of_it_is_shown_as_its_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """BR-124, BR-119."""
    caplog.set_level(logging.INFO)
    repository = tmp_path / "shop"
    (repository / ".quarterdeck").mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    check = f"test -e work.txt || exit 0; echo 'token {VALUE}'; exit 1"
    (repository / ".quarterdeck/settings.toml").write_text(f'[worktree]\ncheck = """{check}"""\n')
    (repository / "found.txt").write_text(f"{FORMS[1]}\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    asks = desk("ask_owner", question=f"Is {VALUE} right?", options=[VALUE, "No"])
    parts = [
        {
            "role": "lead",
            "turn": 1,
            "steps": [asks, {"say": SAID}, plan({"title": f"Use {PLAIN}", "task": LONG})],
        },
        *lead()[1:],
        worker(
            {"run": f"git checkout -q -b {PLAIN}"},
            write("work.txt", VALUE),
            {"commit": f"Use {VALUE}"},
            {"say": LONG},
            turn=1,
        ),
        worker({"stderr": SAID}, {"exit": 1}),
    ]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"parts": parts}))
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        vault = chat.engine.door._of_vault()
        await vault.put("SHOP_KEY", "an older value of it 9", 1.0)
        await vault.put("SHOP_KEY", VALUE, 2.0, replace=True)
        await vault.put("SHOP_BRANCH", PLAIN, 2.0)
        await chat.engine.door.add_project("shop", str(repository), cause="project")
        await chat.engine.door.add_account("main", "rehearsal", cause="account")
        chat.phone.send("/new shop Mend it")
        question = await chat.until("Is {{SHOP_KEY}} right?")
        assert question.labels[0] == NAME
        await chat.until(f"It is {NAME}, {NAME}", f", {NAME} and {NAME}.")
        allow = await chat.until("Allow the project's check?", label="Allow")
        assert f"echo 'token {NAME}'" in allow.text
        chat.phone.tap(allow, "Allow")
        start = await chat.until("Use {{SHOP_BRANCH}}", label="Start")
        chat.phone.tap(start, "Start")
        asked = await chat.until("git checkout -q -b {{SHOP_BRANCH}}", label="Allow")
        chat.phone.tap(asked, "Allow")
        words = await chat.until("Its last words:", f"line 9 of it, with {NAME}")
        await chat.until("the rest is in the file below")
        await chat.phone.wait_for(lambda m: m.kind == "document" and m.id > words.id)
        await chat.until(f"It is {NAME}, {NAME}", "Worker 1")
        chat.phone.send("/file found.txt", thread=question.thread)
        await chat.until("found.txt holds")
        goal = next(iter(chat.engine.loop.states("goal").values()))
        assert PLAIN in str(chat.engine.loop.world()), (
            "the ledger has it, so it was there to be shown"
        )
        logging.getLogger("engine.anything").error("git said: %s", SAID)
        try:
            raise ValueError(SAID)
        except ValueError:
            logging.getLogger("engine.anything").exception("of %s", goal)
        assert clear(everything(chat))
    assert f"git said: It is {NAME}, " in caplog.text
    assert clear(caplog.text)
