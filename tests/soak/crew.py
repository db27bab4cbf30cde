"""The real processes on a world: engine, bot, node, runners; kept up as systemd would, and killed.

    async with crew(world) as hands:            engine and bot run, a phone is at hand
        await hands.voyage(kills)               the owner's goal to its push, with kills on the way

A kill comes at a moment told by the ledger, so many events in, and what is killed is started again at
once. Neighbours: tests/engine/scenario.py (the world, the judge), tests/engine/test_real_kills.py.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.emulator import Emulator, Phone
from engine import setup
from engine.config import Config
from engine.engine import Engine
from engine.node import folder as run_folder
from tests import processes
from tests.engine.person import Person
from tests.engine.scenario import GOAL, PROJECT, SKETCH, World, expected, is_over, scene
from tests.history import Chat, behind
from tests.soak.aboard import Clock

TOKEN = "7000000001:AAtest-token-that-must-never-be-in-a-log-x"
OWNER = 42
LOOK_S = 0.02
LAST_LINES = 400
NODES_END_S = 30.0
ZYGOTE = "quarterdeck-node zygote"

# Checks, setups and workers' turns. A lead's script cannot tell where it was cut off.
KILLABLE = re.compile(r"check-.*|s-\d+-t\d+(-setup.*)?")


@dataclass(frozen=True)
class Kill:
    """What is killed, and how many events are in the ledger by then."""

    after: int
    target: str  # "engine", "bot", "node", "zygote", "runner"


@dataclass
class Crew:
    """Engine and bot as processes, and the owner's phone."""

    world: World
    emulator: Emulator
    env: dict[str, str]
    log: IO[bytes]
    clock: Path | None = None
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    killed: list[str] = field(default_factory=list)

    @property
    def phone(self) -> Phone:
        return self.emulator.phone

    def chat(self) -> Chat:
        """Return what the owner sees; each death of the bot may have left one message twice."""
        copies = sum(killed.startswith("bot ") for killed in self.killed)
        return Chat.of(self.emulator, copies=copies)

    def start(self, module: str) -> None:
        on_clock = ["tests.soak.aboard", str(self.clock)] if self.clock else []
        self.processes[module] = subprocess.Popen(
            [sys.executable, "-m", *on_clock, module],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    async def stop(self) -> None:
        """End both the polite way, the bot first, and see that no node of ours is left."""
        for module in ("bot", "engine"):
            process = self.processes[module]
            if process.poll() is None:
                process.terminate()
            await asyncio.to_thread(process.wait, 30)
        title = f"quarterdeck-node {self.world.home.root}"
        async with asyncio.timeout(NODES_END_S):
            while any(_shows(pid, title) for pid in _pids()):  # noqa: ASYNC110 - others' processes
                await asyncio.sleep(LOOK_S)

    def end_runs(self) -> None:
        """Kill what agents and checks still live."""
        for pid in processes.of_runs(self.world.home.runs.iterdir()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    # ------------------------------------------------------------ the voyage

    async def voyage(self, kills: Sequence[Kill], limit_s: float = 240.0) -> None:
        """Have the goal played to its push while processes are killed; return when all is still."""
        self.phone.document(
            "sketch.jpg", SKETCH, mime="image/jpeg", caption=f"/new {PROJECT} {GOAL}"
        )
        try:
            async with asyncio.timeout(limit_s), asyncio.TaskGroup() as group:
                owner = group.create_task(Person(self.phone).own())
                killer = group.create_task(self._kill_all(kills))
                watch = group.create_task(self._watch())
                await self._until_over()
                await killer
                owner.cancel()
                watch.cancel()
        except* TimeoutError as late:
            lags = "\n".join(behind(scene(self.world, self.chat()), expected(self.world)))
            late.add_note(f"killed so far: {self.killed}\n{self.phone.transcript()}\n{lags}")
            late.add_note(self.last())
            raise

    def last(self) -> str:
        """Return the end of what the processes logged."""
        text = Path(self.log.name).read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-LAST_LINES:])

    async def _until_over(self) -> None:
        def shown() -> bool:
            return not behind(scene(self.world, self.chat()), expected(self.world))

        while not (is_over(self.world.states()) and shown()):  # noqa: ASYNC110 - another process tells
            await asyncio.sleep(LOOK_S * 5)

    async def _watch(self) -> None:
        """A process that ends by itself is a failure."""
        while True:
            await asyncio.sleep(LOOK_S * 5)
            for module, process in self.processes.items():
                assert process.poll() is None, f"{module} ended by itself\n{self.last()}"

    # ------------------------------------------------------------ kills

    async def _kill_all(self, kills: Sequence[Kill]) -> None:
        left = list(kills)
        while left and not is_over(self.world.states()):
            count = self._events()
            # A victim of a kind that does not live just now is waited for, and holds up no other.
            left = [kill for kill in left if kill.after > count or not self._kill(kill.target)]
            await asyncio.sleep(LOOK_S)

    def _events(self) -> int:
        path = self.world.home.engine_db
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
            (count,) = file.execute("SELECT count(*) FROM events").fetchone()
        return int(count)

    def _kill(self, target: str) -> bool:
        if target in ("engine", "bot"):
            process = self.processes[target]
            process.kill()
            process.wait()
            self.start(target)
            self.killed.append(f"{target} after {self._events()}")
            return True
        victims = {"node": self._node, "zygote": self._zygote, "runner": self._runner}
        pid, name = victims[target]()
        if not pid:
            return False
        os.kill(pid, signal.SIGKILL)
        self.killed.append(f"{target} {name} after {self._events()}")
        return True

    def _node(self) -> tuple[int, str]:
        lock = self.world.home.root / "node.lock"
        pid = int(lock.read_text() or 0) if lock.exists() else 0
        return (
            (pid, "")
            if pid and _shows(pid, f"quarterdeck-node {self.world.home.root}")
            else (0, "")
        )

    def _zygote(self) -> tuple[int, str]:
        node, _ = self._node()
        try:
            children = Path(f"/proc/{node}/task/{node}/children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            return 0, ""
        return next((int(pid) for pid in children if _shows(int(pid), ZYGOTE)), 0), ""

    def _runner(self) -> tuple[int, str]:
        leads = self.world.rows("SELECT stream FROM states WHERE stream LIKE 'goal/%'")
        lead = f"s-{len(leads)}-" if leads else ""
        for run in sorted((self.world.home.root / "runs").iterdir()):
            if not KILLABLE.fullmatch(run.name) or run.name.startswith(lead):
                continue
            # A commit's check or a worker that dies again and again is the owner's to look at.
            whose = run.name[:14] if "check-" in run.name else run.name.partition("-t")[0] + "-"
            if any(f" {whose}" in before for before in self.killed):
                continue
            child = run_folder.read(str(run / "child.json")) or {}
            pid = int(child.get("runner", 0))
            if not (run / "exit.json").exists() and pid and _shows(pid, run.name):
                return pid, run.name
        return 0, ""


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _shows(pid: int, words: str) -> bool:
    """Say whether a process shows these words as its title: a number may be another's by now."""
    try:
        return words in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False


@asynccontextmanager
async def crew(world: World, clock: Path | None = None) -> AsyncIterator[Crew]:
    """Furnish the world's home, and run engine, bot and an emulated cloud on it for a block.

    clock   by what they tell the time, if not by this machine's (aboard.py)
    """
    ahead = Clock(clock) if clock else None
    async with Emulator(
        token=TOKEN,
        owner_id=OWNER,
        threaded=True,
        clock=lambda: time.time() + (ahead.ahead_s if ahead else 0.0),
    ) as emulator:
        setup.write(world.home, Config(owner_ids=(OWNER,), api_url=emulator.url), TOKEN)
        engine = Engine(world.home)
        async with engine.unlocked():
            await engine.door.add_project(PROJECT, str(world.repository), cause="cli:1")
            await engine.door.add_account("main", "rehearsal", cause="cli:2")
        passed = ("PATH", "HOME", "LANG", "PYTHONPATH", "TZ")
        env = {name: os.environ[name] for name in passed if name in os.environ}
        env |= {
            "QUARTERDECK_HOME": str(world.home.root),
            "QUARTERDECK_SCENARIO": str(world.scenario),
        }
        with (world.folder / "crew.log").open("wb") as log:
            hands = Crew(world, emulator, env, log, clock)
            hands.start("engine")
            hands.start("bot")
            went_well = False
            try:
                yield hands
                went_well = True
            finally:
                await hands.stop()
                if not went_well:  # else what lives on is the judge's to find
                    hands.end_runs()
