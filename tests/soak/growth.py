"""What grows while goals come and go: memory, open files and ended children of every process of ours.

Goal after goal with an agent that does nothing (tests/bench/stage.py), each dropped when it is over. What a
goal leaves behind on purpose (its states and cards) is a few kilobytes; anything past that, a file more or a
child that nobody waited for is a leak. The first goals are not counted: caches fill, trees are pooled.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.idles import child_of, pid_of, pss_mb
from tests.bench.stage import OURS, Stage, staged
from tests.bench.turns import turn
from tests.soak.part import run, say

WARM = 10
LEAST = 10  # goals, for a slope to mean anything
MOST_MB = 0.25  # a goal, of one process
MOST_FILES = 4  # that come and go


@dataclass(frozen=True)
class Size:
    """One process at one moment."""

    mb: float
    files: int
    zombies: int

    @classmethod
    def of(cls, pid: int) -> Size:
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return cls(pss_mb(pid), files, sum(map(_is_zombie, children)))


def _is_zombie(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def leaks(name: str, before: Size, after: Size, goals: int) -> list[str]:
    """Return what grew past reason, in words."""
    found = []
    if (after.mb - before.mb) / goals > MOST_MB:
        found.append(f"{name}: {before.mb:.1f} → {after.mb:.1f} MB over {goals} goals")
    if after.files > before.files + MOST_FILES:
        found.append(f"{name}: {before.files} → {after.files} open files")
    if after.zombies > 1:  # one may have ended just now
        found.append(f"{name}: {after.zombies} children that nobody waited for")
    return found


async def watch(minutes: float) -> str:
    """Play goals for so long; raises AssertionError when something grows."""
    until = time.monotonic() + minutes * 60.0
    async with staged(floor=False) as stage:
        await _play(stage, WARM)
        pids = _pids(stage)
        before, goals = {name: Size.of(pid) for name, pid in pids.items()}, 0
        while goals < LEAST or time.monotonic() < until:
            await _play(stage, 1)
            goals += 1
        after = {name: Size.of(pid) for name, pid in pids.items()}
    for name in pids:
        say(
            f"{name}: {before[name].mb:.1f} → {after[name].mb:.1f} MB, {before[name].files} → "
            f"{after[name].files} files over {goals} goals"
        )
    assert not (
        found := [word for name in pids for word in leaks(name, before[name], after[name], goals)]
    ), found
    return f"{goals} goals, nothing grew"


async def _play(stage: Stage, goals: int) -> None:
    for _ in range(goals):
        await turn(stage, OURS)


def _pids(stage: Stage) -> dict[str, int]:
    node = pid_of(f"quarterdeck-node {stage.home.root}")
    return {
        "engine": stage.engine.pid,
        "bot": stage.bot.pid,
        "node": node,
        "zygote": child_of(node),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.growth", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    asked = parser.parse_args()
    return run("growth", lambda _folder: watch(asked.minutes))


if __name__ == "__main__":
    sys.exit(main())
