"""A tree for the next session -> laid, at 10 000 files, from one that is free again.

Ours: an order to the node, the freed tree emptied and put at the commit inside a fence, moved to its
place. The floors: what it comes down to in a tree of one's own (reset --hard and clean), and what most
tools do instead (worktree add). Each tree is left with a changed file and a new one, as by an agent.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from engine.adapters.machines import Local
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import PROJECT, folder, repository
from tests.fakes import git

FILES = 10_000
ROUNDS = 6
ADDED = 3  # of them with a new tree beside: that takes seconds where the disk is busy


async def measure() -> list[Line]:
    ours, reset, added = Times(), Times(), Times()
    with folder() as where:
        source = repository(where, FILES)
        commits = [git(source, "rev-parse", "HEAD"), _another(source)]
        warm = where / "warm"
        git(source, "worktree", "add", "-q", "--detach", str(warm), commits[0])
        home = where / "home"
        home.mkdir()
        machine = Local(home)
        hub = where / "hub.git"
        git(source, "clone", "-q", "--bare", str(source), str(hub))
        await machine.bring(PROJECT, hub, commits)
        for number in range(-1, ROUNDS):
            commit = commits[number % 2]
            took = await _laid(machine, home, commit, number + 2)
            raw = _reset(warm, commit)
            if number >= 0:  # the first tree of all comes from no pool
                ours.add(took)
                reset.add(raw)
            if 0 <= number < ADDED:
                added.add(_added(source, where / f"new{number}", commit))
        await machine.close()
    return [
        compared(
            "a tree from the pool, 10 000 files",
            ours,
            reset,
            "reset --hard, clean",
            most=1.3,
            why=(
                "what an agent's index says of its files is not believed: all of them are read once "
                "more, and git runs inside a fence that is built for it."
            ),
        ),
        compared(
            "the same, over a new one",
            ours,
            added,
            "worktree add",
            most=0.25,
            why="see the line above.",
        ),
    ]


async def _laid(machine: Local, home: Path, commit: str, number: int) -> float:
    """Have a session's tree laid, worked in and freed; return how long the laying took."""
    session = f"s-{number}"
    order = {"project": PROJECT, "session": session, "branch": f"work/{session}", "commit": commit}
    began = time.perf_counter()
    made = await machine.call("tree.make", **order, name="Bench", email="bench@localhost")
    took = time.perf_counter() - began
    _work(Path(made["tree"]))
    await machine.call("tree.keep", project=PROJECT, session=session)
    return took


def _work(tree: Path) -> None:
    (tree / "part1" / "file100.txt").write_text("An agent was here.\n")
    (tree / "new.txt").write_text("New.\n")


def _reset(tree: Path, commit: str) -> float:
    began = time.perf_counter()
    _git(tree, "reset", "-q", "--hard", commit)
    _git(tree, "clean", "-q", "-ffdx")
    took = time.perf_counter() - began
    _work(tree)
    return took


def _added(source: Path, tree: Path, commit: str) -> float:
    began = time.perf_counter()
    _git(source, "worktree", "add", "-q", "--detach", str(tree), commit)
    took = time.perf_counter() - began
    _git(source, "worktree", "remove", "--force", str(tree))
    return took


def _git(where: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=where, check=True, capture_output=True)


def _another(source: Path) -> str:
    """Make a commit that changes ten files."""
    for number in range(10):
        (source / f"part{number}" / f"file{number * 100}.txt").write_text("Changed.\n")
    git(source, "commit", "-q", "-a", "-m", "Ten files")
    return git(source, "rev-parse", "HEAD")
