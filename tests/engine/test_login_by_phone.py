"""An account signed in from the phone: its own login runs here, and the chat is all its owner needs.

Bot, engine and node are real; the agent is a script that poses as Claude Code, and its login prints what
that one's prints (tests/login_program.py). The real ones: tests/real_agents/test_login.py.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.emulator import Message
from engine.adapters.machines import Local
from engine.engine import Engine
from engine.errors import Refused, Unavailable
from engine.requests.logins import TYPED
from engine.rules.fleet import Fleet
from stores.sealing import read_key, seal
from tests import login_program
from tests.engine.chat import Chat, chatting
from tests.engine.phone import LIMIT_S
from tests.engine.test_bad_agents import SIGNED_OUT, WORKS
from tests.engine.test_planted_key import holding
from tests.fakes import git
from tests.login_program import LINK, STATE, TOKEN

PYTHON = os.path.realpath(sys.executable)  # an environment's own lies where no fence shows it
GOOD = f"good#{STATE}"


def an_agent(folder: Path) -> str:
    """Write an agent that works once it has the token its login hands out; return its path."""
    folder.mkdir(exist_ok=True)
    (folder / "login.py").write_text(Path(login_program.__file__).read_text())
    (folder / "out").write_text(SIGNED_OUT)
    (folder / "works").write_text(WORKS)
    command = folder / "claude"
    command.write_text(
        "#!/bin/sh\n"
        f'case "$1" in setup-token|login|stuck) exec {PYTHON} {folder}/login.py "$@";; esac\n'
        f'test "$CLAUDE_CODE_OAUTH_TOKEN" = {TOKEN} && exec sh {folder}/works\n'
        f"exec sh {folder}/out\n"
    )
    command.chmod(0o755)
    return str(command)


def a_shop(folder: Path) -> str:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "README").write_text("A shop\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Open")
    return str(folder)


def fleet(engine: Engine) -> Fleet:
    found = engine.loop.state("fleet")
    assert isinstance(found, Fleet)
    return found


async def shown(chat: Chat, *words: str, label: str = "") -> Message:
    return await chat.until("Claude · main", *words, label=label)


async def said(chat: Chat, words: str) -> None:
    """Wait until an agent has said this."""
    changed = asyncio.Event()
    chat.engine.loop.watch(lambda _stream: changed.set())
    async with asyncio.timeout(LIMIT_S):
        while not any(
            words in session.said for session in chat.engine.loop.states("session").values()
        ):
            changed.clear()
            await changed.wait()


async def test_a_login_that_is_missing_is_made_from_the_phone_and_waiting_work_goes_on(
    tmp_path: Path,
) -> None:
    """BR-54."""
    async with chatting(tmp_path) as chat:
        door = chat.engine.door
        await door.add_project("shop", a_shop(tmp_path / "shop"), cause="project")
        command = an_agent(tmp_path / "agent")
        await door.add_account(
            "main", "claude", command=command, secret_env=("ANTHROPIC_API_KEY",), cause="account"
        )
        await door.keep_token("main", "ANTHROPIC_API_KEY", "one-that-is-good-no-more")
        chat.phone.send("/new shop Do it")
        card = await shown(chat, "An account needs a login", "Not logged in", label="Log in")

        chat.phone.tap(card, "Log in")
        prompt = await chat.until("a reply to this message", after=card.id)
        card = await shown(chat, "Log in", LINK, "Open this page of claude.com", label="Code…")
        assert "⚠ Claude is not known" not in card.text
        (wrong,) = chat.phone.reply(prompt, f"only-the-state-{STATE}")
        prompt = await chat.until("not the whole code", after=prompt.id)
        chat.phone.reply(prompt, "x" * 3000 + "#" + "y" * 1000)
        prompt = await chat.until("nothing was typed in", after=prompt.id)
        (typed,) = chat.phone.reply(prompt, GOOD)
        await chat.until("Account main is signed in. What waited for it goes on.")
        await said(chat, "It was read.")
        assert chat.phone.message(wrong.id) is None
        assert chat.phone.message(typed.id) is None
        (account,) = await door.accounts()
        assert account.secret_env == ("CLAUDE_CODE_OAUTH_TOKEN",)
        assert await door.secret("account/main/CLAUDE_CODE_OAUTH_TOKEN") == TOKEN
        with pytest.raises(Refused):  # what signed it in before is forgotten
            await door.secret("account/main/ANTHROPIC_API_KEY")
        assert not fleet(chat.engine).rests
        assert not fleet(chat.engine).logins
        assert TOKEN not in chat.phone.transcript()
        assert GOOD not in chat.phone.transcript()
    for words in (TOKEN, TOKEN[13:60], GOOD):
        assert holding(tmp_path / "home", words) == []
    assert list((tmp_path / "home/logins").iterdir()) == []


async def test_a_new_account_asks_for_a_login_and_one_that_fails_can_be_tried_again_or_cancelled(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        chat.phone.send("/accounts add main claude")
        await chat.until("Account main is added")
        card = await shown(chat, "An account needs a login", "no login yet", label="Token…")
        assert card.labels == ["Log in", "Token…"]
        command = an_agent(tmp_path / "agent")
        account = (await chat.engine.door.accounts())[0]
        assert account.agent == "claude"
        await chat.engine.door.add_account("main", "claude", command=command, cause="command")

        panel = await chat.sent("/accounts", "Accounts", label="main")
        page = await chat.tapped(panel, "main", "For claude", label="Log in")
        chat.phone.tap(page, "Log in")
        card = await shown(chat, LINK, label="Code…")
        chat.phone.tap(card, "Code…")
        await chat.until("a reply to this message", after=card.id)
        chat.phone.send(f"bad1#{STATE}")  # no Reply
        card = await shown(chat, "A login failed", "It was not accepted", label="Try again")
        assert "✘ OAuth error: That code wasn't accepted." in card.text
        chat.phone.tap(card, "Try again")
        card = await shown(chat, LINK, label="Cancel")
        chat.phone.tap(card, "Cancel")
        await chat.phone.wait_for(lambda m: m.id == card.id and not m.labels, timeout=LIMIT_S)
        assert not fleet(chat.engine).logins


async def test_a_login_that_is_over_leaves_no_link_and_no_question(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        command = an_agent(tmp_path / "agent")
        door = chat.engine.door
        await door.add_account("main", "claude", command=command, cause="account")
        await door.log_in("main", cause="begin")  # it is signed in: nothing waits for it
        card = await shown(chat, LINK, label="Code…")
        prompt = await chat.tapped(card, "Code…", "a reply to this message")
        await chat.tapped(card, "Cancel", "The login of main is over", "/accounts")
        await chat.phone.until(lambda: chat.phone.message(prompt.id) is None)
        assert not [message for message in chat.phone.messages() if LINK in message.text]
        (late,) = chat.phone.send(GOOD)
        await chat.until("That question is over", after=late.id)
        assert chat.phone.message(late.id) is None

        await door.log_in("main", cause="again")
        card = await shown(chat, LINK, label="Code…")
        prompt = await chat.tapped(card, "Code…", "a reply to this message")
        chat.phone.reply(prompt, f"bad1#{STATE}")
        await shown(chat, "A login failed", "Try again begins anew", label="Try again")
        await chat.phone.until(lambda: chat.phone.message(prompt.id) is None)
        assert not [message for message in chat.phone.messages() if LINK in message.text]


class Cut(Local):
    """A machine whose link breaks as something is to be typed into a login: before, or after it was."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.cuts = ["before", "after"]

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        if op != "login.type" or not self.cuts:
            return await super().call(op, **arguments)
        if self.cuts.pop(0) == "after":
            await super().call(op, **arguments)
        raise Unavailable("The link broke.")


async def test_a_line_is_typed_once_whatever_breaks_and_asked_again_if_it_is_lost(
    tmp_path: Path,
) -> None:
    machine = Cut(tmp_path / "home")
    async with chatting(tmp_path, machine=machine) as chat:
        door, command = chat.engine.door, an_agent(tmp_path / "agent")
        sealed = seal(read_key(chat.home.vault_pub), GOOD.encode())
        await door.add_account("main", "claude", command=command, cause="account")
        await door.log_in("main", cause="begin")
        await shown(chat, LINK, label="Code…")
        for _ in range(2):
            with pytest.raises(Unavailable):
                await door.answer_login("main", sealed, cause="typed")
            assert not await chat.engine.door._ledger.knows("typed")
        for _ in range(2):  # asked again, by a bot that was killed too
            assert (await door.answer_login("main", sealed, cause="typed"))["verdict"] == TYPED
        await chat.until("Account main is signed in.")

        await door.log_in("main", cause="another")
        await shown(chat, LINK, label="Code…")
    async with chatting(tmp_path) as chat:  # it died before the line was typed
        again = await chat.engine.door.answer_login("main", sealed, cause="lost")
        assert "so what you sent was not typed in" in again["verdict"]
    assert holding(tmp_path / "home", GOOD) == []


async def test_a_login_the_engine_died_under_is_cut_off_and_ends(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        command = an_agent(tmp_path / "agent")
        door = chat.engine.door
        await door.add_account("main", "claude", command=command, cause="account")
        await door.log_in("main", cause="begin")
        await shown(chat, LINK, label="Cancel")
    async with chatting(tmp_path) as chat:
        await shown(chat, "A login failed", "It was cut off", label="Try again")
    assert list((tmp_path / "home/logins").iterdir()) == []


async def test_a_login_its_machine_s_node_died_under_is_cut_off_and_begun_again(
    tmp_path: Path,
) -> None:
    machine = Local(tmp_path / "home")
    async with chatting(tmp_path, machine=machine) as chat:
        command = an_agent(tmp_path / "agent")
        await chat.engine.door.add_account("main", "claude", command=command, cause="account")
        await chat.engine.door.log_in("main", cause="begin")
        await shown(chat, LINK, label="Cancel")
        assert machine.pid is not None
        os.kill(machine.pid, signal.SIGKILL)
        card = await shown(chat, "A login failed", "It was cut off", label="Try again")
        chat.phone.tap(card, "Try again")
        prompt = await chat.until("a reply to this message", after=card.id)
        await shown(chat, LINK, label="Cancel")
        chat.phone.reply(prompt, GOOD)
        await chat.until("Account main is signed in.")


async def test_while_locked_no_login_is_begun_and_nothing_is_asked_for(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.phone.send("/accounts add main claude")
        card = await shown(chat, "An account needs a login", label="Log in")
        await chat.sent("/lock", "Locked")
        for button in ("Log in", "Token…"):
            tap = await chat.phone.answered(chat.phone.tap(card, button), timeout=LIMIT_S)
            assert "ocked" in tap.answer
        assert not fleet(chat.engine).logins
        assert not any(m.asks_for_reply for m in chat.phone.messages())


async def test_an_account_whose_folder_holds_no_login_is_a_card_with_log_in(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        door = chat.engine.door
        await door.add_project("shop", a_shop(tmp_path / "shop"), cause="project")
        command, empty = an_agent(tmp_path / "agent"), tmp_path / "empty"
        empty.mkdir()
        await door.add_account(
            "main", "claude", command=command, config_dir=str(empty), cause="account"
        )
        chat.phone.send("/new shop Do it")
        card = await shown(chat, f"There is no login at {empty}", label="Log in")
        chat.phone.tap(card, "Log in")
        prompt = await chat.until("a reply to this message", after=card.id)
        await shown(chat, LINK, label="Cancel")
        chat.phone.reply(prompt, GOOD)
        await said(chat, "It was read.")


async def test_an_account_with_a_command_of_its_own_is_signed_in_by_a_folder(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        command = an_agent(tmp_path / "agent")
        folder = tmp_path / "home/accounts/main"
        await chat.engine.door.add_account(
            "main",
            "claude",
            login_command=f"env CODEX_HOME={folder} {command} login",
            cause="account",
        )
        await chat.engine.door.log_in("main", cause="begin")
        card = await shown(chat, "Type there: ABCD-12345", "https://auth.openai.com/codex/device")
        assert "⚠ Claude is not known to use that address" in card.text
        (folder / "is not seen yet").write_text("refuse")
        (folder / "is not seen yet").rename(folder / "go")
        card = await shown(chat, "A login failed", "status 403", label="Try again")
        (folder / "go").unlink()
        chat.phone.tap(card, "Try again")
        await shown(chat, "Type there: ABCD-12345")
        (folder / "go").write_text("")
        await chat.until("Account main is signed in.")
        (account,) = await chat.engine.door.accounts()
        assert account.config_dir == str(folder)
        await chat.engine.door.remove_account("main", cause="gone")
        assert not folder.exists()
