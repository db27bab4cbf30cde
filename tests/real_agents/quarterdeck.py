"""A whole Quarterdeck in this process: engine, bot, an emulated phone, and the real Claude Code.

    phone ── emulated Bot API ── bot ── engine.sock ── engine ── node ── runner ── [ fence: claude ]
                                                                                       │
                                              scripted model on 127.0.0.1 <────────────┘

All parts are the real ones but two: the phone (bot/emulator/) and the model (model_server.py). The
owner acts by the phone alone. Used by test_goal_to_push.py and test_bad_days.py.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self, TypeVar

from bot.app import main
from bot.emulator import Emulator, Message, Phone
from engine import config
from engine.adapters.machines import Local, Machine
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.rules.session_state import Session
from engine.views import AnyCard
from stores.sealing import create_keys, read_key, seal
from tests import processes
from tests.real_agents.model_server import ModelServer
from tests.unhurried import unhurried

ROOT = Path(__file__).resolve().parents[2]
AGENTS = Path(os.environ.get("QUARTERDECK_AGENTS", ROOT / ".agents"))
CLI = AGENTS / "claude/node_modules/.bin/claude"
BOT_TOKEN = "7000000001:AAtest-token-that-must-never-be-in-a-log-x"
TOKEN = "sk-ant-oat01-a-made-up-token-that-nobody-ever-had"
OWNER = 42
PATIENCE_S = 90.0  # how long a slow machine may take for what is sure to come

C = TypeVar("C", bound=AnyCard)

SETTINGS = """\
[worktree]
check = "python3 -m unittest -q"
"""
TEST = """\
import unittest


class Shop(unittest.TestCase):
    def test_it_is_open(self):
        self.assertTrue(True)
"""


def git(folder: Path, *words: str) -> str:
    """Run git as the repository's owner would and return what it printed."""
    argv = ["git", "-c", "user.name=Owner", "-c", "user.email=owner@example.com", *words]
    done = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_shop(folder: Path) -> tuple[Path, Path]:
    """Make the owner's repository and the bare one it is pushed to; return both."""
    shop, origin = folder / "shop", folder / "origin.git"
    (shop / ".quarterdeck").mkdir(parents=True)
    (shop / ".quarterdeck/settings.toml").write_text(SETTINGS)
    (shop / "README.md").write_text("# A shop\n")
    (shop / "test_shop.py").write_text(TEST)
    (shop / ".gitignore").write_text("__pycache__/\n")
    git(shop, "init", "-q", "-b", "main")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Open the shop")
    git(folder, "clone", "-q", "--bare", str(shop), str(origin))
    git(shop, "remote", "add", "origin", str(origin))
    return shop, origin


class Quarterdeck:
    """Everything between an owner's phone and the agents; one project, one account."""

    def __init__(
        self,
        folder: Path,
        api: ModelServer,
        *,
        command: str = str(CLI),
        path: str = "",
        machine: Machine | None = None,
    ) -> None:
        """Take where all lies and the model.

        command   the account's agent; "" is the one found on the machine
        path      where the machine looks for one; "" is our own
        machine   another one than this as it is
        """
        self.folder = folder
        self.api = api
        self.command = command
        self.path = path
        self.machine = machine
        self.home = Home(folder / "home").make()
        self.emulator = Emulator(token=BOT_TOKEN, owner_id=OWNER, flood=False)
        self.later_s = 0.0  # by how much the engine's clock is ahead
        self.verdicts: list[str] = []  # what each tap was answered
        self.engine: Engine
        self._stack = AsyncExitStack()

    @property
    def phone(self) -> Phone:
        return self.emulator.phone

    async def __aenter__(self) -> Self:
        self.shop, self.origin = make_shop(self.folder)
        await self._stack.__aenter__()
        self._stack.enter_context(unhurried())
        await self.emulator.start()
        self._stack.push_async_callback(self.emulator.stop)
        create_keys(self.home)
        config.save(self.home, Config(owner_ids=(OWNER,), api_url=self.emulator.url))
        self.home.bot_token.write_text(BOT_TOKEN)
        self.engine = Engine(self.home, machines=self._machines(), clock=self._now)
        await self._stack.enter_async_context(self.engine.running())
        await self.engine.door.add_project("shop", str(self.shop), cause="setup-project")
        await self.add_account(self.command)
        self._stop = asyncio.Event()
        self._bot = asyncio.create_task(main(self.home, self._stop))
        self._stack.push_async_callback(self._end_bot)
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._end_all_runs()
        await self._stack.aclose()

    async def add_account(self, command: str, *, config_dir: Path | None = None) -> None:
        """Give the account, or give it anew: with another command, or a login that lies in a folder."""
        door = self.engine.door
        sealed = seal(read_key(self.home.vault_pub), TOKEN.encode())
        await door.keep_secret("account/main/CLAUDE_CODE_OAUTH_TOKEN", sealed)
        env = {k: v for k, v in self.api.env().items() if k != "CLAUDE_CODE_OAUTH_TOKEN"}
        await door.add_account(
            "main",
            "claude",
            command=command,
            env=tuple(env.items()),
            config_dir=str(config_dir or ""),
            secret_env=() if config_dir else ("CLAUDE_CODE_OAUTH_TOKEN",),
            cause=f"setup-account-{command}-{config_dir}",
        )

    def _machines(self) -> dict[str, Machine] | None:
        if self.machine is not None:
            return {"here": self.machine}
        if not self.path:
            return None
        # Agents are also looked for below the home of whoever runs the node.
        person = self.folder / "person"
        person.mkdir()
        env = {"PATH": self.path, "HOME": str(person), "LANG": "C.UTF-8"}
        return {"here": Local(self.home.root, env=env)}

    def _now(self) -> float:
        return time.time() + self.later_s

    def pass_time(self, seconds: float) -> None:
        """Set the engine's clock ahead."""
        self.later_s += seconds
        self.engine.loop.wake()

    async def _end_bot(self) -> None:
        self._stop.set()
        await self._bot

    async def _end_all_runs(self) -> None:
        """No agent outlives its test, however that ends."""
        for session in self.sessions():
            if session.live and session.run:
                await self.engine.runs._machine("here").call("run.kill", run=session.run)

    # ---- seeing

    def sessions(self) -> list[Session]:
        states = self.engine.loop.world().values()
        return [state for state in states if isinstance(state, Session)]

    def cards(self, kind: type[C]) -> list[C]:
        return [card for card in self.engine.door.cards() if isinstance(card, kind)]

    def processes_of(self, run: str) -> dict[int, dict[str, str]]:
        """Return the environment of each process of a run that can be looked at, by pid."""
        return processes.of_runs([self.home.runs / run])

    def agent_of(self, run: str) -> tuple[int, dict[str, str]]:
        """Return the pid of a run's agent and the environment it was started with."""
        found = self.processes_of(run)
        agents = [pid for pid in found if _program(pid) == os.path.realpath(CLI)]
        if not agents:
            raise LookupError(f"no agent of {run} to be seen")
        first = min(agents, key=_started)  # it starts itself again for parts of its work
        return first, found[first]

    # ---- acting, by the phone alone

    async def shown(self, fits: Callable[[Message], object]) -> Message:
        """Return the newest message of the bot's that fits, once there is one."""
        return await self.phone.wait_for(fits, timeout=PATIENCE_S)

    async def until(self, fact: Callable[[], object]) -> None:
        """Wait for something the phone does not show."""
        async with asyncio.timeout(PATIENCE_S):
            while not fact():  # noqa: ASYNC110  # another process: nobody calls us
                await asyncio.sleep(0.05)

    async def press(self, label: str, *words: str, after: int = 0) -> Message:
        """Press the button on the message that holds all these words, once it is there."""
        found = await self.phone.wait_for(
            lambda m: label in m.labels and all(word in m.text for word in words),
            PATIENCE_S,
            after=after,
        )
        tap = await self.phone.answered(self.phone.tap(found, label), timeout=PATIENCE_S)
        self.verdicts.append(f"{label}: {tap.answer}")
        return found

    async def say(self, label: str, line: str, *words: str) -> None:
        """Press a button that asks for a line, and reply with it to the prompt."""
        card = await self.press(label, *words)
        prompt = await self.phone.wait_for(lambda m: m.asks_for_reply, PATIENCE_S, after=card.id)
        self.phone.reply(prompt, line)


def files_with(words: str, folder: Path) -> list[Path]:
    """Return every file below a folder that holds these words."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if words.encode() in path.read_bytes()]


def _program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def _started(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[19])
