"""What it costs to do nothing: engine, node and bot with one goal that rests, over half a minute.

Processor time and wake-ups (voluntary context switches of all threads) as the kernel counts them, and
memory as the share that is each process's own (PSS). The floors: a Python that only waits; and, for the
memory of engine and bot, one that waits with their libraries loaded and nothing of ours.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.views import SessionCard
from tests.bench.figures import Line
from tests.bench.stage import OURS, PROJECT, staged

SETTLE_S = 8.0
WATCH_S = 30.0
MOST_CPU = 0.05  # per cent of one core
MOST_WAKES = 1.0
MOST_PSS_MB = 68.0
WAIT = "import asyncio; asyncio.run(asyncio.Event().wait())"
LIBRARIES = {
    "engine": "aiosqlite, msgspec, cryptography.hazmat.primitives.ciphers.aead, zipfile, tomllib",
    "bot": "aiosqlite, msgspec, cryptography.hazmat.primitives.ciphers.aead, telegram",
}
MOST_OVER_LIBRARIES = 1.5


@dataclass(frozen=True)
class Spent:
    """What processes have used up."""

    cpu_s: float = 0.0
    wakes: int = 0

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.cpu_s - other.cpu_s, self.wakes - other.wakes)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.cpu_s + other.cpu_s, self.wakes + other.wakes)


async def measure() -> list[Line]:
    async with staged(floor=False) as stage:
        over = stage.cloud.expect(OURS, lambda call: "done" in call.text)
        stage.cloud.send(OURS, f"/new {PROJECT} Do nothing")
        await over
        await stage.card(lambda c: isinstance(c, SessionCard) and "stop" in c.buttons)
        async with (
            stage.process("-c", WAIT) as floor,
            stage.process("-c", f"import {LIBRARIES['engine']}; {WAIT}") as engine_libraries,
            stage.process("-c", f"import {LIBRARIES['bot']}; {WAIT}") as bot_libraries,
        ):
            ours = {
                "engine": stage.engine.pid,
                "bot": stage.bot.pid,
                "node": pid_of(f"quarterdeck-node {stage.home.root}"),
            }
            ours["zygote"] = child_of(ours["node"])
            await asyncio.sleep(SETTLE_S)
            before = {name: spent(pid) for name, pid in ours.items()}
            floor_before, began = spent(floor.pid), time.monotonic()
            await asyncio.sleep(WATCH_S)
            took = time.monotonic() - began
            used = {name: spent(pid) - before[name] for name, pid in ours.items()}
            floor_used = spent(floor.pid) - floor_before
            sizes = {name: pss_mb(pid) for name, pid in ours.items()}
            floor_mb = pss_mb(floor.pid)
            libraries = {
                "engine": pss_mb(engine_libraries.pid),
                "bot": pss_mb(bot_libraries.pid),
            }
    lines = _lines(used, floor_used, sizes, floor_mb, took)
    return [*lines, *(_over(name, sizes[name], libraries[name]) for name in libraries)]


def _over(name: str, ours_mb: float, libraries_mb: float) -> Line:
    ratio = ours_mb / libraries_mb
    return Line(
        f"idle: memory of the {name}",
        f"{ours_mb:.0f} MB PSS",
        f"{libraries_mb:.0f} MB: its libraries imported",
        ratio,
        f"≤ {MOST_OVER_LIBRARIES:g}×",
        ratio <= MOST_OVER_LIBRARIES,
        "its own modules, with each rule's tables and each value's decoder, and what it holds open.",
        1,
    )


def _lines(
    used: dict[str, Spent],
    floor: Spent,
    sizes: dict[str, float],
    floor_mb: float,
    took: float,
) -> list[Line]:
    whole = sum(used.values(), Spent())
    cpu, wakes = whole.cpu_s / took * 100, whole.wakes / took
    parts = ", ".join(
        f"{name} {spent.cpu_s / took * 100:.3f} % and {spent.wakes / took:.1f}/s"
        for name, spent in used.items()
    )
    mb = sum(sizes.values())
    mb_parts = ", ".join(f"{name} {size:.0f}" for name, size in sizes.items())
    return [
        Line(
            "idle: processor",
            f"{cpu:.3f} % of a core ({parts})",
            f"{floor.cpu_s / took * 100:.3f} %: a Python that only waits",
            None,
            f"≤ {MOST_CPU} %",
            cpu <= MOST_CPU,
            "see the wake-ups.",
            1,
        ),
        Line(
            "idle: wake-ups",
            f"{wakes:.2f} a second",
            f"{floor.wakes / took:.2f} a second",
            None,
            f"≤ {MOST_WAKES:g} a second",
            wakes <= MOST_WAKES,
            "timers that look again where nothing tells.",
            1,
        ),
        Line(
            "idle: memory",
            f"{mb:.0f} MB PSS ({mb_parts})",
            f"{floor_mb:.0f} MB: a Python that only waits",
            mb / floor_mb,
            f"≤ {MOST_PSS_MB:g} MB",
            mb <= MOST_PSS_MB,
            "what engine, bot and node import, and the zygote beside the node.",
            1,
        ),
    ]


def pid_of(title: str) -> int:
    """Return the process that calls itself so."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "cmdline").read_bytes().rstrip(b"\0").decode() == title:
                    return int(entry.name)
    raise LookupError(f"there is no {title}")


def child_of(pid: int) -> int:
    """Return the eldest child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def spent(pid: int) -> Spent:
    """Return what a process has used so far, all its threads."""
    total = Spent()
    for task in Path(f"/proc/{pid}/task").iterdir():
        ran_ns = int((task / "schedstat").read_text().split()[0])
        status = dict(
            line.split(":", 1) for line in (task / "status").read_text().splitlines() if ":" in line
        )
        total += Spent(ran_ns / 1e9, int(status["voluntary_ctxt_switches"]))
    return total


def pss_mb(pid: int) -> float:
    """Return the memory a process can be charged with."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"no Pss of {pid}")
