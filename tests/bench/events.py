"""What an agent's line costs the engine: thirty live runs, a line a second each, read on and shown.

Lines that tell of a tool in use, three kilobytes each: they change a card and are no event. Counted is the
engine's processor time as the kernel has it, while a client follows the cards. The floor: the same lines
parsed, and nothing else. Memory beside it: what a run more costs the engine.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from pathlib import Path

from tests.bench.crowd import agents, crowd, heard, last_event, speak
from tests.bench.figures import Line
from tests.bench.idles import pss_mb, spent
from tests.bench.stage import Stage, ended

FEW, MANY = 30, 200
SECONDS = 12
MOST_MS = 0.16
MOST_SHARE = 0.5  # per cent of a core
MOST_MB = 0.12


async def measure() -> list[Line]:
    few_mb, cpu_ms, share, floor_us, count = await _read_on()
    async with crowd(MANY) as stage, stage.process("-m", "engine") as engine:
        await _followed(stage, MANY)
        many_mb = pss_mb(engine.pid)
        await ended(engine, signal.SIGTERM)
    each_mb = (many_mb - few_mb) / (MANY - FEW)
    return [
        Line(
            "a line of an agent: the engine's time",
            f"{cpu_ms:.3f} ms",
            f"{floor_us / 1000:.3f} ms: the line parsed",
            cpu_ms * 1000 / floor_us,
            f"≤ {MOST_MS} ms",
            cpu_ms <= MOST_MS,
            "each line comes by itself: a push of the node, a task woken, its acknowledgement, the "
            "goal's cards computed anew and the one that changed told to who follows them.",
            count,
        ),
        Line(
            f"{FEW} runs, a line a second each: the engine's share",
            f"{share:.2f} % of a core",
            "–",
            None,
            f"≤ {MOST_SHARE} %",
            share <= MOST_SHARE,
            "see the line above.",
            1,
        ),
        Line(
            "a run more: the engine's memory",
            f"{each_mb:.3f} MB ({few_mb:.1f} MB with {FEW}, {many_mb:.1f} MB with {MANY})",
            "–",
            None,
            f"≤ {MOST_MB} MB",
            each_mb <= MOST_MB,
            "a run's states and cards are kept in memory, and a task that follows it.",
            1,
        ),
    ]


async def _read_on() -> tuple[float, float, float, float, int]:
    async with crowd(FEW) as stage, stage.process("-m", "engine") as engine:
        await _followed(stage, FEW)
        following = asyncio.create_task(stage.follow())
        pids = agents(stage.agent)
        await speak(stage, pids, signal.SIGUSR2)
        memory = pss_mb(engine.pid)
        before, began = spent(engine.pid), time.monotonic()
        for second in range(SECONDS):
            await speak(stage, pids, signal.SIGUSR2)
            await asyncio.sleep(max(0.0, began + second + 1 - time.monotonic()))
        used, took = spent(engine.pid) - before, time.monotonic() - began
        following.cancel()
        await asyncio.wait([following])
        await stage.client.close()
        floor_us = _parsed_us(max(stage.home.runs.glob("*/out.jsonl")))
        await ended(engine, signal.SIGTERM)
    count = SECONDS * FEW
    return memory, used.cpu_s * 1000 / count, used.cpu_s / took * 100, floor_us, count


async def _followed(stage: Stage, count: int) -> None:
    """Return once the engine follows all runs: it has stored a line of each."""
    known = last_event(stage)
    await speak(stage, agents(stage.agent))
    await heard(stage, count, known)


def _parsed_us(spool: Path) -> float:
    """How long it takes to parse one of its lines, the spool's and the agent's own."""
    line = spool.read_bytes().splitlines()[-1]
    began = time.perf_counter()
    for _ in range(1000):
        json.loads(json.loads(line)["d"])
    return (time.perf_counter() - began) * 1000
