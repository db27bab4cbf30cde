"""A login at a terminal of ours: what is read off it, what never leaves, and that it ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.node import fence, screen, sign_in
from engine.node.link import Refusal
from engine.node.sign_in import SignIns
from tests import login_program
from tests.login_program import LINK, STATE, TOKEN
from tests.node.ordinary import told_by

PROGRAM = [sys.executable, login_program.__file__]
CLAUDE = {
    "asks": r"Paste code here",
    "token": r"(?<![\w-])(sk-ant-oat\d\d-[\w-]{20,500})(?=\s)",
    "failed": r"OAuth error: (?:[^\n]{300}|[^\n]{1,299}(?=\n))",
}
CODEX = {"code": r"(?m)^[ \t]{0,40}([A-Z0-9]{4}-[A-Z0-9]{4,6})[ \t]{0,40}$"}


class Terminal:
    """One login, as whoever asked for it follows it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.sign_ins = SignIns(str(home), fence.Probe)
        self.seen = 0

    def start(self, *words: str, **given: Any) -> None:
        env = {"PATH": os.defpath, "HOME": "{config}", "CODEX_HOME": "{config}"}
        read = [str(Path(login_program.__file__).parent)]
        self.sign_ins.start("l-1", [*PROGRAM, *words], env=env, read=read, **given)

    async def until(self, *names: str) -> dict[str, Any]:
        """Wait until one of these is told."""
        async with asyncio.timeout(20):
            while True:
                told = await self.sign_ins.wait("l-1", self.seen)
                self.seen = told["n"]
                if told["over"] or any(told[name] for name in names):
                    return told

    async def ended(self) -> None:
        async with asyncio.timeout(20):
            await asyncio.gather(*self.sign_ins._ending)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    home = tmp_path / "home"
    home.mkdir()
    return Terminal(home)


async def test_a_code_is_typed_back_and_the_token_comes_once_and_stays_nowhere(
    terminal: Terminal,
) -> None:
    terminal.start("setup-token", finds=CLAUDE)
    told = await terminal.until("asks")
    assert (told["link"], told["over"], told["token"]) == (LINK, False, "")
    for _ in range(2):  # whoever was not told that it was typed sends it again
        await terminal.sign_ins.type_in("l-1", f"good#{STATE}", once="telegram:7")
    told = await terminal.until("token")
    assert (told["over"], told["why"], told["token"]) == (True, "", TOKEN)
    await terminal.ended()
    assert os.listdir(terminal.home / "logins") == []
    with pytest.raises(Refusal, match="not under way"):
        await terminal.sign_ins.wait("l-1", 0)


async def test_a_code_that_is_refused_is_told_in_its_own_words_without_the_code(
    terminal: Terminal,
) -> None:
    terminal.start("setup-token", finds=CLAUDE)
    await terminal.until("asks")
    await terminal.sign_ins.type_in("l-1", f"wasn't-{STATE}#{STATE}")
    told = await terminal.until("over")
    assert told["why"] == "it was not accepted"
    assert told["words"] == "✘ OAuth error: That code wasn't accepted."
    await terminal.ended()


async def test_a_device_code_is_done_when_its_process_ended_well_and_its_file_is_there(
    terminal: Terminal,
) -> None:
    terminal.start("login", "--device-auth", account="work", finds=CODEX, file="auth.json")
    told = await terminal.until("code")
    assert (told["link"], told["code"]) == ("https://auth.openai.com/codex/device", "ABCD-12345")
    (terminal.home / "accounts/work/go").write_text("")
    told = await terminal.until("over")
    assert (told["over"], told["why"], told["token"]) == (True, "", "")
    await terminal.ended()
    assert (terminal.home / "accounts/work/auth.json").exists()
    terminal.sign_ins.forget("work")
    assert os.listdir(terminal.home / "accounts") == []


async def test_one_that_fails_says_its_last_line(terminal: Terminal) -> None:
    terminal.start("login", "--device-auth", account="work", finds=CODEX, file="auth.json")
    await terminal.until("code")
    (terminal.home / "accounts/work/go").write_text("refuse")
    told = await terminal.until("over")
    assert told["why"] == "it ended with 1"
    assert told["words"].startswith("Error logging in with device code")
    await terminal.ended()


async def test_its_time_is_limited_and_it_ends_when_cancelled_or_with_its_link(
    terminal: Terminal,
) -> None:
    terminal.start("stuck", finds={}, limit_s=0.5)
    told = await terminal.until("over")
    assert told["why"] == "it was not finished within 1 min"
    await terminal.ended()
    terminal.seen = 0
    terminal.start("stuck", finds={})
    await terminal.until("link")
    place = fence.place(str(terminal.home))
    assert fence.marked("login-l-1", place)
    await terminal.sign_ins.close(20)
    assert not fence.marked("login-l-1", place)


async def test_a_flood_of_output_is_read_to_its_end_and_hardly_any_of_it_kept(
    terminal: Terminal,
) -> None:
    terminal.start("flood", finds=CODEX)
    told = await terminal.until("link")
    assert (told["code"], told["link"]) == ("ABCD-12345", LINK)
    assert len(terminal.sign_ins._logins["l-1"].raw) <= 16 * 1024
    await terminal.sign_ins.close(20)


async def test_words_of_a_refusal_without_end_end_the_login(terminal: Terminal) -> None:
    terminal.start("flood", finds=CLAUDE)
    told = await terminal.until("over")
    assert told["why"] == "it was not accepted"
    assert told["words"].endswith("…")
    assert len(told["words"]) <= screen.LONGEST
    await terminal.ended()


async def test_what_must_be_typed_is_known_until_it_is_however_much_follows(
    terminal: Terminal,
) -> None:
    known = _a_login("Paste code here", b"Paste code here\n")
    terminal.sign_ins._look(known)
    known.raw += b"-" * 10_000
    terminal.sign_ins._look(known)
    assert known.told["asks"]
    known = _a_login(r"code: $", b"code: ")
    terminal.sign_ins._look(known)
    assert known.told["asks"]
    known.raw += b"\nSigned in by itself.\n"
    terminal.sign_ins._look(known)
    assert not known.told["asks"]


def _a_login(asks: str, raw: bytes) -> Any:
    known = sign_in._Login(None, -1, {"finds": {"asks": asks}})  # type: ignore[arg-type]
    known.raw = raw
    return known


async def test_what_cannot_start_says_so_and_leaves_nothing(terminal: Terminal) -> None:
    with pytest.raises(Refusal, match="nothing-here did not start"):
        terminal.sign_ins.start("l-1", ["/nothing-here"], env={})
    assert os.listdir(terminal.home / "logins") == []
    with pytest.raises(Refusal, match="no name of a login"):
        terminal.sign_ins.start("../l-1", ["/bin/true"], env={})
    with pytest.raises(Refusal, match="no name of an account"):
        terminal.sign_ins.start("l-1", ["/bin/true"], env={}, account="../../etc")


@pytest.mark.parametrize(
    ("written", "line"),
    [
        (b"\x1b[2GPaste\x1b[8Gcode\x1b[13Ghere\r\n", "Paste code here"),
        (b"\x1b[1mBold\x1b[0m\x1b]8;;https://a.example\x07 and plain\x1b[?25h\n", "Bold and plain"),
        (b"one\rtwo", "two"),
        (b"all there\x1b[38;5", "all there"),
        (b"all there\x1b]8;id=1;https://half", "all there"),
        (b"\xe2\x80\xaeturned\n", "turned"),
        (b"it failed\n****abc123\n-----\n", "it failed"),
        (b"your code s3cr3t-code is wrong\n", "your code … is wrong"),
        (b"kept " + TOKEN.encode() + b" badly\n", "kept … badly"),
    ],
)
def test_a_terminal_is_read_as_lines(written: bytes, line: str) -> None:
    assert screen.last_line(screen.plain(written), "s3cr3t-code") == line


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("go to https://a.example/x?y=1 now", "https://a.example/x?y=1"),
        ("go to https://a.example/x?y=1", ""),  # perhaps not all of it
        ("xhttps://a.example/ ", ""),
        ("javascript:alert(1) ftp://a.example/ ", ""),
        ("See https://a.example/x. ", "https://a.example/x"),
    ],
)
def test_only_a_whole_address_of_a_page_is_a_link(text: str, link: str) -> None:
    assert screen.link(text) == link


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What logins in real fences came to (tests/node/signing_in.py); as root, another user's."""
    if shutil.which("bwrap") is None and not os.environ.get("CI"):
        pytest.skip("unfenced: bubblewrap is not installed here")
    found = told_by("signing_in")
    assert found["fenced"]
    return found


def test_in_a_fence_it_has_a_terminal_all_the_same(told: dict[str, Any]) -> None:
    assert (told["token"]["why"], told["token"]["token"]) == ("", TOKEN)


def test_in_a_fence_it_sees_its_account_s_folder_and_nothing_else_of_ours(
    told: dict[str, Any],
) -> None:
    assert told["sees"]["why"] == "it ended with 3"
    words = told["sees"]["words"]
    assert words.startswith("sees: ")
    assert "mine" in words
    assert not {"saw", "secrets", "other", "engine.sqlite3", ".ssh", "id_rsa"} & set(words.split())


def test_killed_with_its_node_it_is_gone(told: dict[str, Any]) -> None:
    assert told["killed"]["before"] > 0
    assert told["killed"]["after"] == 0
