"""The processes that are timed: our engine, node and bot on a home of their own, and the floor's two.

All of it lies in one temporary folder and ends with the block that opened it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from engine import config
from engine.api import Client, Gone, Ready
from engine.config import Config
from engine.engine import Engine
from engine.paths import Home
from engine.views import AnyCard, Note, OwnerView
from stores.sealing import create_keys
from tests.bench.cloud import OWNER, Cloud
from tests.fakes import git

PROJECT = "shop"
OURS = "1001:ours"
FLOOR = "1002:floor"
SOURCE = Path(__file__).with_name("agent.c")
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def folder() -> Iterator[Path]:
    """A short path: sockets lie in it."""
    made = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def compiled(where: Path) -> str:
    """Build the agent and return its path. Raises FileNotFoundError without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise FileNotFoundError("a C compiler (cc or gcc) is needed to build the agent")
    agent = where / "agent" / "nothing"
    agent.parent.mkdir(mode=0o755)
    subprocess.run([compiler, "-O2", "-o", str(agent), str(SOURCE)], check=True)
    return str(agent)


def repository(where: Path, files: int) -> Path:
    """Make the owner's repository with so many small files in folders of a hundred."""
    made = where / PROJECT
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    for number in range(files):
        file = made / f"part{number // 100}" / f"file{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"This is file {number}.\n" * 20)
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "A shop")
    return made


class Stage:
    """One home with a project and an account whose agent does nothing."""

    def __init__(self, where: Path, cloud: Cloud, *, env: dict[str, str] | None = None) -> None:
        self.folder = where
        self.cloud = cloud
        self.home = Home(where / "home").make()
        self.agent = compiled(where)
        self.agent_env = env or {}
        self.client = Client(self.home.engine_sock)
        self.cards: dict[str, AnyCard] = {}
        self.engine: Process
        self.bot: Process
        self._changed = asyncio.Event()
        self._log = (where / "log").open("ab")

    async def furnish(self, files: int = 100) -> None:
        """Set up what an owner would have."""
        create_keys(self.home)
        config.save(self.home, Config(owner_ids=(OWNER,), api_url=self.cloud.url))
        self.home.bot_token.write_text(OURS)
        source = repository(self.folder, files)
        engine = Engine(self.home)
        async with engine.unlocked():
            await engine.door.add_project(PROJECT, str(source), cause="bench:project")
            await engine.door.add_account(
                "nothing",
                "claude",
                command=self.agent,
                env=tuple(self.agent_env.items()),
                cause="bench:account",
            )

    @asynccontextmanager
    async def ours(self) -> AsyncIterator[None]:
        """Engine and bot, running and followed."""
        async with (
            self.process("-m", "engine") as self.engine,
            self.process("-m", "bot") as self.bot,
        ):
            following = asyncio.create_task(self.follow())
            try:
                await self.cloud.polled(OURS)
                await until(lambda: bool(self._node_is_up()))
                yield
            finally:
                following.cancel()
                await asyncio.wait([following])
                await self.client.close()

    def _node_is_up(self) -> bool:
        epoch = self.home.root / "node.epoch"
        return epoch.exists() and epoch.stat().st_size > 0

    @asynccontextmanager
    async def floor(self) -> AsyncIterator[None]:
        """The floor's front and back."""
        name = "tests.bench.floor"
        where = str(self.folder)
        env = self.agent_env
        async with self.process("-m", name, "back", where, self.agent, env=env):
            await until((self.folder / "floor.sock").exists)
            url = f"{self.cloud.url}/bot{FLOOR}"
            async with self.process("-m", name, "front", where, url):
                await self.cloud.polled(FLOOR)
                yield

    @asynccontextmanager
    async def process(
        self, *words: str, env: dict[str, str] | None = None
    ) -> AsyncIterator[Process]:
        """Run a Python process of ours for the block."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            cwd=ROOT,
            env={**os.environ, "QUARTERDECK_HOME": str(self.home.root), **(env or {})},
        )
        try:
            yield process
        finally:
            await ended(process, signal.SIGTERM)

    # ---- what the engine says

    async def follow(self) -> None:
        async for change in self.client.changes(0):
            match change:
                case Note() | OwnerView() | Ready():
                    pass
                case Gone(id=card):
                    self.cards.pop(card, None)
                case _:
                    self.cards[change.id] = change
            self._changed.set()

    async def card(self, fits: Callable[[AnyCard], bool], limit_s: float = 30.0) -> AnyCard:
        """Return the first card that fits, once there is one."""
        async with asyncio.timeout(limit_s):
            while True:
                self._changed.clear()
                for card in self.cards.values():
                    if fits(card):
                        return card
                await self._changed.wait()

    async def drop(self, goal: str) -> None:
        """End a goal and wait until its tree is free for the next."""
        for verb in ("stop", "drop"):
            card = await self.card(lambda c, verb=verb: c.id == goal and verb in c.buttons)  # type: ignore[misc]
            await self.client.call("tap", card=goal, revision=card.revision, verb=verb)
        trees = self.home.trees / PROJECT
        await until(lambda: not any(tree.name.startswith("s-") for tree in trees.iterdir()))


async def until(fact: Callable[[], bool], limit_s: float = 30.0) -> None:
    """Wait for something nobody tells us of."""
    async with asyncio.timeout(limit_s):
        while not fact():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def ended(process: Process, number: int) -> None:
    """Signal a process and wait for its end."""
    if process.returncode is None:
        process.send_signal(number)
    await process.wait()


@asynccontextmanager
async def staged(
    *, files: int = 100, env: dict[str, str] | None = None, floor: bool = True
) -> AsyncIterator[Stage]:
    """Everything running, ours and the floor."""
    with folder() as where:
        async with Cloud() as cloud:
            stage = Stage(where, cloud, env=env)
            await stage.furnish(files)
            async with stage.ours():
                if floor:
                    async with stage.floor():
                        yield stage
                else:
                    yield stage
