"""The engine killed with runs alive -> started again, and every run followed on from where it was read.

Real runs of real runners, whose agents say a line while the engine is dead, long enough before it starts
again for the disk to be at rest. Timed from the start of the engine's process until each of those lines
is an event on disk; few runs and many by turns, so that whatever else the machine does is in both. Then each agent says one more: once that
is an event too, all before it were read, and each line must have been told once. The floor: a Python that
imports what the engine is made of, and ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from tests.bench.crowd import agents, crowd, heard, last_event, speak
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import ROOT, Stage, ended

FEW, MANY = 30, 200
ROUNDS = 9
IMPORTS = "import asyncio, engine.__main__, engine.engine"


async def measure() -> list[Line]:
    async with crowd(FEW) as few_runs, crowd(MANY) as many_runs:
        few, many = _Restarts(FEW, few_runs), _Restarts(MANY, many_runs)
        for _ in range(ROUNDS):
            await few.once_more()
            await many.once_more()
    return [
        _line(few),
        _line(many),
        compared(
            f"the same, {MANY} over {FEW} runs",
            many.times,
            few.times,
            f"{FEW} runs",
            most=1.2,
            why=(
                "each run costs two states read, a watch on its folder and a look at its spool, a task here "
                "and one there, and its line a decision; what is asked, told and stored of them goes together."
            ),
        ),
    ]


class Odd(NamedTuple):
    """How many lines were not told once."""

    lost: int = 0
    doubled: int = 0

    def with_those_of(self, told: Sequence[int], said: int) -> Odd:
        """Count each run's own: a line told twice makes up for none that is lost."""
        lost = sum(max(0, said - each) for each in told)
        doubled = sum(max(0, each - said) for each in told)
        return Odd(self.lost + lost, self.doubled + doubled)

    def __str__(self) -> str:
        if self == Odd():
            return "no line lost or doubled"
        return f"{self.lost} lines lost, {self.doubled} doubled"


class _Restarts:
    """The starts of one engine over so many runs."""

    def __init__(self, count: int, stage: Stage) -> None:
        self.count = count
        self.times, self.floor, self.odd = Times(), Times(), Odd()
        self._stage = stage
        self._pids = agents(stage.agent)

    async def once_more(self) -> None:
        """Start the engine over lines it has not read, see all of them read once, and kill it."""
        stage = self._stage
        self.floor.add(await _import())
        known = last_event(stage)
        await speak(stage, self._pids)
        os.sync()
        began = time.perf_counter()
        async with stage.process("-m", "engine") as engine:
            await heard(stage, self.count, known)
            self.times.add(time.perf_counter() - began)
            await speak(stage, self._pids)
            told = await heard(stage, self.count, known, lines=2)
            self.odd = self.odd.with_those_of(told, said=2)
            await ended(engine, signal.SIGKILL)


def _line(one: _Restarts) -> Line:
    return compared(
        f"engine killed → {one.count} runs followed again ({one.odd})",
        one.times,
        one.floor,
        "import the engine's modules",
        most=1.5,
        why=(
            "the floor ends where the imports do. Beside them the node starts, a Python process of its own "
            "which tries its fence before it answers; after them the ledger is opened and looked over, and "
            "each run is asked for."
        ),
    )


async def _import() -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", IMPORTS, cwd=ROOT)
    await process.wait()
    return time.perf_counter() - began
