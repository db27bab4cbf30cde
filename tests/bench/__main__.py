"""`python -m tests.bench [row ...] [--only ROW] [--write FILE]`: measure, print, write the table down."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from engine.node import trees
from tests.bench import (
    bots,
    crowds,
    events,
    figures,
    idles,
    landings,
    pooled,
    remotes,
    restarts,
    runners,
    taps,
    turns,
)
from tests.bench.figures import Line

ROWS: dict[str, Callable[[], Awaitable[list[Line]]]] = {
    "tap": taps.measure,
    "start": turns.starts,
    "card": turns.cards,
    "tree": pooled.measure,
    "landing": landings.measure,
    "runner": runners.measure,
    "burst": crowds.starts,
    "ends": crowds.ends,
    "event": events.measure,
    "restart": restarts.measure,
    "bot": bots.measure,
    "remote": remotes.measure,
    "idle": idles.measure,
}

HEAD = """# How fast it is

Written by `make bench ARGS="--write docs/bench.md"`. Each cost is set against a floor: the bare operation,
timed in the same run, in turns with ours. **The ratios count; the milliseconds are those of one machine on
one day.** The agent does nothing and the bot API answers at once, so what is left is our own time. Nothing
in the tests asserts any of it.
"""


def machine() -> str:
    """Return what it was measured on."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    return (
        f"Measured on a shared machine with {os.cpu_count()} cores, {platform.system()} "
        f"{platform.release().partition('-')[0]}, Python {platform.python_version()}, {git.strip()}, SQLite "
        f"{sqlite3.sqlite_version}; agents {trees.probe().describe()}."
    )


def page(lines: list[Line], load: float) -> str:
    """Return the whole of docs/bench.md.

    load   the machine's, when it began
    """
    missed = f"## Goals not met, and why\n\n{figures.reasons(lines)}\n"
    busy = f"Other work was going on beside it: the load was {load:.1f} when it began."
    return (
        f"{HEAD}\n{machine()}{f' {busy}' if load > 1 else ''}\n\n{figures.table(lines)}\n\n{missed}"
    )


ROW_S = 240.0

# What may be missing on a machine, or too slow on one that is busy: said, and the rest goes on.
FAULTS = (OSError, TimeoutError, LookupError, RuntimeError, subprocess.SubprocessError)


async def measured(names: list[str]) -> tuple[list[Line], list[str]]:
    """Return the lines, and the rows that could not be measured."""
    lines: list[Line] = []
    failed: list[str] = []
    for name in names:
        began = time.monotonic()
        try:
            async with asyncio.timeout(ROW_S):
                lines += await ROWS[name]()
        except FAULTS as fault:
            failed.append(name)
            print(f"{name}: not measured: {type(fault).__name__}: {fault}", file=sys.stderr)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return lines, failed


def main() -> int:
    """Return 1 when a row could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    names = f"any of: {', '.join(ROWS)}"
    parser.add_argument("row", nargs="*", help=f"{names} (default: all)")
    parser.add_argument("--only", action="append", default=[], metavar="ROW", help=names)
    parser.add_argument("--write", type=Path, help="the file to write the table to")
    asked = parser.parse_args()
    rows = [*asked.row, *(name for names in asked.only for name in names.split(","))]
    if unknown := [name for name in rows if name not in ROWS]:
        parser.error(f"no such row: {', '.join(unknown)}; there are: {', '.join(ROWS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no process of ours behind
    load, _, _ = os.getloadavg()
    lines, failed = asyncio.run(measured(rows or list(ROWS)))
    print(figures.table(lines), figures.reasons(lines), sep="\n\n")
    if failed:
        print(f"\nNot measured: {', '.join(failed)}.")
        return 1
    if asked.write is not None:
        asked.write.write_text(page(lines, load), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
