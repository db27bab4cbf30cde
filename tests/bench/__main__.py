"""`python -m tests.bench [row ...] [--write FILE]`: measure, print, and write the table down."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from engine.node import trees
from tests.bench import figures, idles, landings, restarts, taps, turns
from tests.bench.figures import Line

ROWS: dict[str, Callable[[], Awaitable[list[Line]]]] = {
    "tap": taps.measure,
    "start": turns.starts,
    "card": turns.cards,
    "landing": landings.measure,
    "restart": restarts.measure,
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


async def measured(names: list[str]) -> list[Line]:
    lines: list[Line] = []
    for name in names:
        began = time.monotonic()
        lines += await ROWS[name]()
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("row", nargs="*", help=f"any of: {', '.join(ROWS)} (default: all)")
    parser.add_argument("--write", type=Path, help="the file to write the table to")
    asked = parser.parse_args()
    if unknown := [name for name in asked.row if name not in ROWS]:
        parser.error(f"no such row: {', '.join(unknown)}; there are: {', '.join(ROWS)}")
    load, _, _ = os.getloadavg()
    lines = asyncio.run(measured(asked.row or list(ROWS)))
    print(figures.table(lines), figures.reasons(lines), sep="\n\n")
    if asked.write is not None:
        asked.write.write_text(page(lines, load), encoding="utf-8")


if __name__ == "__main__":
    main()
