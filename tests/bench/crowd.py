"""Many runs that live: real runners with agents that speak when they are signalled to.

Started past the number of places a machine has, in one plain folder, so that what follows can be timed
with thirty or two hundred of them. Used by restarts.py, events.py and crowds.py.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from engine.adapters.machines import Local
from engine.engine import RULES
from engine.loop import Loop
from engine.rules.effects import AnyEffect, ReadBase, StartRun
from engine.rules.events import AnyEvent, BaseRead, GoalOpened, Placed, RunStarted, SlotFreed
from engine.rules.session_state import Session
from engine.rules.session_state import Stage as At
from engine.rules.words import Account
from stores.database import Database
from stores.ledger import Ledger
from tests.bench.cloud import Cloud
from tests.bench.stage import PROJECT, Stage, ended, folder, until


@asynccontextmanager
async def crowd(count: int) -> AsyncIterator[Stage]:
    """A home with so many live runs, whose engine knew of them all and was killed."""
    with folder() as where:
        async with Cloud() as cloud:
            stage = Stage(where, cloud)
            await stage.furnish()
            try:
                await _begin(stage, count)
                async with stage.process("-m", "engine") as engine:
                    await heard(stage, count, 0)
                    await ended(engine, signal.SIGKILL)
                yield stage
            finally:
                await _end(stage)


async def _begin(stage: Stage, count: int) -> None:
    """Start so many goals' leads, past the number of places a machine has."""
    machine = Local(stage.home.root)
    perform = _Starting(stage, machine)
    async with Database(stage.home.engine_db, "ledger") as file, Ledger(file) as ledger:
        loop = Loop(ledger, RULES, perform, max_parallel=4)
        await loop.open()
        running = asyncio.create_task(loop.run())
        for number in range(1, count + 1):
            await _open(loop, number)
        await loop.settle(until=lambda: _at(loop, At.WANTING) == count)
        for number in range(1, count + 1):
            run = f"s-{number}-t1"
            await loop.post("fleet", SlotFreed(run=run), f"bench:freed:{number}")
            placed = Placed(run=run, machine="here", why="here: for the benchmark")
            await loop.post(f"session/s-{number}", placed, f"bench:placed:{number}")
        await loop.settle(until=lambda: _at(loop, At.RUNNING) == count)
        running.cancel()
        await asyncio.wait([running])
    await machine.close()


async def _open(loop: Loop, number: int) -> None:
    opened = GoalOpened(
        project=PROJECT,
        text="Do nothing",
        session=f"s-{number}",
        base="main",
        account=Account("nothing", "claude"),
    )
    await loop.post(f"goal/g-{number}", opened, f"bench:goal:{number}")


def _at(loop: Loop, stage: At) -> int:
    sessions = loop.states("session").values()
    return sum(isinstance(one, Session) and one.stage is stage for one in sessions)


class _Starting:
    """Acts for the loop, in one plain folder instead of a tree for each."""

    def __init__(self, stage: Stage, machine: Local) -> None:
        self._stage = stage
        self._machine = machine
        self._tree = stage.home.trees / "bench"
        self._tree.mkdir()

    async def __call__(
        self, effect_id: int, stream: str, effect: AnyEffect
    ) -> Sequence[tuple[str, AnyEvent]]:
        match effect:
            case ReadBase():
                read = BaseRead(base_commit="0" * 40, branch="lead", commands=(), asks=())
                return [(stream, read)]
            case StartRun(run=run):
                await self._start(run)
                return [(stream, RunStarted(run=run))]
            case _:
                return []

    async def _start(self, run: str) -> None:
        about = await self._machine.hello()
        folder = f"{about['home']}/sessions/{run}"
        view = {
            "tree": str(self._tree),
            "tree_read_only": True,
            "tmp": f"{folder}/tmp",
            "config_dir": f"{folder}/config",
            "read": [*about["toolchains"], str(Path(self._stage.agent).parent)],
        }
        spec = {
            "run": run,
            "kind": "agent",
            "argv": [self._stage.agent],
            "env": {"PATH": str(about["path"]), "BENCH_SIGNAL": "1"},
            "desk": True,
            "fence": view,
        }
        await self._machine.call("run.start", spec=spec)


def agents(command: str) -> list[int]:
    """Return the agents' processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cmdline").read_bytes().split(b"\0")[0] == command.encode():
                    found.append(int(entry.name))
    return found


async def _end(stage: Stage) -> None:
    """End every run, and wait until it has said so."""
    for pid in agents(stage.agent):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    runs = list(stage.home.runs.iterdir())
    await until(lambda: all((run / "exit.json").exists() for run in runs))


async def speak(stage: Stage, pids: list[int], number: int = signal.SIGUSR1) -> None:
    """Have each agent say a line (agent.c), and wait until it is spooled."""
    spools = list(stage.home.runs.glob("*/out.jsonl"))
    before = {spool: spool.stat().st_size for spool in spools}
    for pid in pids:
        os.kill(pid, number)
    await until(lambda: all(spool.stat().st_size > before[spool] for spool in spools))


async def heard(stage: Stage, count: int, after: int, lines: int = 1) -> list[int]:
    """Return how many lines of each run became events past event `after`, as soon as all have.

    lines   how many each of `count` runs has said since; whatever is told past those shows in the number
    """
    sql = (
        "SELECT count(*) FROM events WHERE n > ? AND cause LIKE 'run:%' "
        "AND stream LIKE 'session/%' GROUP BY stream"
    )
    heard: list[int] = []
    # Opened once: on two cores what looks is in the way of what it looks at.
    with closing(sqlite3.connect(f"file:{stage.home.engine_db}?mode=ro", uri=True)) as file:

        def all_heard() -> bool:
            if file.execute("SELECT max(n) FROM events").fetchone()[0] >= after + count:
                heard[:] = [int(told) for (told,) in file.execute(sql, (after,))]
            return sum(told >= lines for told in heard) >= count

        with suppress(TimeoutError):
            await until(all_heard)
    return heard + [0] * (count - len(heard))


def last_event(stage: Stage) -> int:
    (found,) = _numbers(stage, "SELECT coalesce(max(n), 0) FROM events WHERE n > ?", 0)
    return found


def _numbers(stage: Stage, sql: str, after: int) -> list[int]:
    with closing(sqlite3.connect(f"file:{stage.home.engine_db}?mode=ro", uri=True)) as file:
        return [int(row[0]) for row in file.execute(sql, (after,))]
