"""The engine killed with runs alive -> started again, and every run followed on from where it was read.

Real runs of real runners, whose agents say a line while the engine is dead. Timed from the start of the
engine's process until each of those lines is an event on disk. Then each agent says one more: once that
is an event too, all before it were read, and each line must have been told once. The floor: a Python that
imports what the engine is made of, and ends.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from tests.bench.crowd import agents, crowd, heard, last_event, speak
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import ROOT, ended

FEW, MANY = 30, 200
ROUNDS = 5
IMPORTS = "import asyncio, engine.__main__, engine.engine"


async def measure() -> list[Line]:
    few, floor, odd_few = await _restarts(FEW)
    many, floor_many, odd_many = await _restarts(MANY)
    return [
        _line(FEW, few, floor, odd_few),
        _line(MANY, many, floor_many, odd_many),
        compared(
            f"the same, {MANY} over {FEW} runs",
            many,
            few,
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


def _line(count: int, times: Times, floor: Times, odd: Odd) -> Line:
    return compared(
        f"engine killed → {count} runs followed again ({odd})",
        times,
        floor,
        "import the engine's modules",
        most=1.5,
        why=(
            "the floor ends where the imports do. Beside them the node starts, a Python process of its own "
            "which tries its fence before it answers; after them the ledger is opened and looked over, and "
            "each run is asked for."
        ),
    )


async def _restarts(count: int) -> tuple[Times, Times, Odd]:
    ours, floor, odd = Times(), Times(), Odd()
    async with crowd(count) as stage:
        pids = agents(stage.agent)
        for _ in range(ROUNDS):
            floor.add(await _import())
            known = last_event(stage)
            await speak(stage, pids)
            began = time.perf_counter()
            async with stage.process("-m", "engine") as engine:
                await heard(stage, count, known)
                ours.add(time.perf_counter() - began)
                await speak(stage, pids)
                odd = odd.with_those_of(await heard(stage, count, known, lines=2), said=2)
                await ended(engine, signal.SIGKILL)
    return ours, floor, odd


async def _import() -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", IMPORTS, cwd=ROOT)
    await process.wait()
    return time.perf_counter() - began
