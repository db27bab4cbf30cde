"""What `quarterdeck audit` prints of a goal that was decided on the phone, with everything real but Telegram."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.asker import Asker, on_behalf_of
from engine.audit import Decided
from engine.cli_audit import lines
from engine.engine import Engine
from engine.errors import Refused
from engine.paths import Home
from stores.sealing import create_keys, seal
from tests.engine.chat import OWNER, Chat, chatting
from tests.engine.phone import PIECE, Step, lead, plan, worker, write
from tests.fakes import git

LINT = "make lint"
ODD = "make lint \x1b[2J\u202e"
ASKS = [
    {"permission": {"tool": "Bash", "input": {"command": command, "description": "Look"}}}
    for command in (LINT, LINT, ODD)
]


def laid(folder: Path, *steps: Step) -> Path:
    """Lay a repository with a check, and what its agents play."""
    path = folder / "shop"
    (path / ".quarterdeck").mkdir(parents=True)
    (path / ".quarterdeck/settings.toml").write_text('[worktree]\ncheck = "test -f README"\n')
    (path / "README").write_text("A shop\n")
    git(path, "init", "-q", "-b", "main")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "A shop")
    done = (write("work.txt"), {"commit": "Do the work"}, {"say": "Done."})
    parts = [*lead(plan(PIECE)), worker(*steps, *done)]
    (folder / "scenario.json").write_text(json.dumps({"parts": parts}))
    return path


async def begun(chat: Chat, source: Path) -> None:
    await chat.engine.door.add_project("shop", str(source), cause="project")
    await chat.engine.door.add_account("main", "rehearsal", cause="account")


async def typed(home: Home, *words: str) -> tuple[int, str]:
    """Type a command at the box; return its exit code and all it printed."""
    command = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.cli", *words),
        env=os.environ | {"QUARTERDECK_HOME": str(home.root)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await command.communicate()
    return command.returncode or 0, printed.decode()


async def audited(home: Home, *words: str) -> list[dict[str, Any]]:
    code, printed = await typed(home, "audit", "--json", *words)
    assert code == 0, printed
    found: list[dict[str, Any]] = json.loads(printed)
    return found


def the(found: list[dict[str, Any]], verb: str, who: str = str(OWNER)) -> dict[str, Any]:
    (one,) = [one for one in found if (one["who"], one["verb"]) == (who, verb)]
    return one


async def test_each_decision_is_listed_with_who_by_which_message_and_what_they_saw(
    tmp_path: Path,
) -> None:
    source = laid(tmp_path, *ASKS)
    async with chatting(tmp_path, scenario=str(tmp_path / "scenario.json")) as chat:
        await begun(chat, source)
        check = await chat.sent("/new shop Do it", "test -f README", label="Allow")
        await chat.tapped(check, "Allow", "passes on main")
        shown = await chat.until("How it is done.", label="Start")
        plan_text = shown.text
        permission = await chat.tapped(shown, "Start", LINT, label="Always")
        asked_for = permission.text
        await chat.tapped(permission, "Always", "Always allowed by you")
        odd = await chat.until("⟨U+202E⟩", label="Allow")
        chat.phone.tap(odd, "Deny")
        chat.phone.reply(shown, "Mind the totals")
        await chat.shipped()
        found = await audited(chat.home)
        goal = next(iter(chat.engine.loop.states("goal").values())).id
        assert {one["goal"] for one in await audited(chat.home, "--goal", goal)} == {goal}
        assert await audited(chat.home, "--goal", "g-99") == []
        assert await audited(chat.home, "--since", "1h") == found
        code, printed = await typed(chat.home, "audit")
        assert code == 0
        before = chat.phone.message(shown.id)

    verbs = [one["verb"] for one in found if one["who"] == str(OWNER)]
    assert verbs[0] == "new_goal"
    assert [verb for verb in verbs if verb in ("ship", "proceed", "push")] == [
        *("ship", "proceed", "push")
    ]
    start = the(found, "start")
    assert start["through"] == f"tap {OWNER}:{shown.id}"
    assert start["shown"] == plan_text
    assert start["shown_hash"] == hashlib.sha256(plan_text.encode()).hexdigest()
    assert start["card"].startswith("pl-")
    assert len(start["revision"]) == 8
    assert len(start["made"]) == 64
    assert start["verdict"].startswith("PlanStarted")

    always = the(found, "always")
    assert always["shown"] == asked_for
    assert "decision=allow" in always["verdict"]
    assert "always=true" in always["verdict"]
    (by_rule,) = [one for one in found if one["who"] == "your rule"]
    assert LINT in by_rule["verdict"]
    assert by_rule["card"] != always["card"]

    line = the(found, "hear")
    assert line["through"].startswith(f"message {OWNER}:")
    assert "Mind the totals" in line["verdict"]
    assert before is not None
    assert line["shown"]

    assert "⟨U+202E⟩" in the(found, "deny")["shown"]
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert f"owner {OWNER} · tap {OWNER}:{shown.id} · {goal} · {start['card']}" in printed
    assert "    | How it is done." in printed


async def test_a_decision_that_was_heard_twice_stands_there_once_and_what_was_refused_never(
    tmp_path: Path,
) -> None:
    engine = await _opened(tmp_path)
    async with engine.running():
        with on_behalf_of(Asker(who="42", through="message 42:7", shown="all of it")):
            for _ in range(2):
                await engine.door.change_setting("zone", "Europe/Berlin", cause="telegram:7")
            with pytest.raises(Refused):
                await engine.door.change_setting("quiet", "at night", cause="telegram:8")
        (row,) = await engine.door.audit()
        assert (row.who, row.through, row.shown) == ("42", "message 42:7", "all of it")
        assert row.verdict == "SettingChanged name=zone value=Europe/Berlin"


async def test_what_the_vault_keeps_is_in_no_list_of_decisions(tmp_path: Path) -> None:
    engine = await _opened(tmp_path)
    async with engine.running():
        await engine.door._keys().put("STRIPE", "correct-horse-battery", 1.0)
        with on_behalf_of(Asker(who="42", shown="it said correct-horse-battery")):
            heartbeat = "https://beat.example/correct-horse-battery"
            await engine.door.change_setting("heartbeat", heartbeat, cause="telegram:7")
            sealed = seal(engine.home.vault_pub.read_bytes(), b"purple-monkey-dishwasher")
            for _ in range(2):
                await engine.door.keep_secret("TOKEN", sealed, cause="telegram:8.key1")
            await engine.door.forget_key("TOKEN", cause="telegram:9")
        row, kept, gone = await engine.door.audit()
        assert gone.verdict == "forgotten in the vault: TOKEN"
        assert (kept.who, kept.verdict) == ("42", "kept in the vault: TOKEN")
        assert row.shown == "it said {{STRIPE}}"
        assert "horse" not in row.verdict


async def test_a_pasted_key_is_listed_by_the_name_it_was_kept_under(tmp_path: Path) -> None:
    engine = await _opened(tmp_path)
    async with engine.running():
        with on_behalf_of(Asker(who="42", shown="")):
            public = engine.home.vault_pub.read_bytes()
            for number, value in enumerate((b"correct-horse", b"purple-monkey", b"purple-monkey")):
                kept = await engine.door.keep_secret(
                    "TOKEN", seal(public, value), cause=f"telegram:{number}"
                )
        assert kept["name"] == "TOKEN_2"
        said = [row.verdict for row in await engine.door.audit()]
        assert sorted(said) == ["kept in the vault: TOKEN", *["kept in the vault: TOKEN_2"] * 2]


async def _opened(folder: Path) -> Engine:
    home = Home(folder / "home").make()
    create_keys(home)
    return Engine(home)


def test_what_could_steer_a_terminal_is_printed_as_its_number() -> None:
    made = Decided(
        who="42", verdict="x\x9b2Jy", shown="one\n\x1b]0;two\u2028\u200b", made="ab" * 32
    )
    about = {name: getattr(made, name) for name in made.__struct_fields__}
    printed = lines(about | {"n": 1, "at": 0.0, "goal": "", "cause": "telegram:1"})
    assert printed[1:] == [
        "    x<U+009B>2Jy",
        f"    card made {'ab' * 8}",
        "    shown ",
        "    | one",
        "    | <U+001B>]0;two<U+2028><U+200B>",
    ]
