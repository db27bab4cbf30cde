"""A finished piece -> in its lead's branch, without the project's own check, at 10 000 files.

Ours: the queue's event on disk, the merge, its event, the swap, its event: the loop, the ledger and the
hub as they are, in this process. The floor: the three git commands that do it (merge-tree, commit-tree,
update-ref), one after the other. For comparison, what most tools do: check the branch out and merge there.
Each piece changes one file of its own and was begun at the base, so that every landing is a real merge.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from engine.adapters.machines import Chunk
from engine.engine import Engine
from engine.errors import Unavailable
from engine.paths import Home
from engine.rules.events import GoalOpened, LandingCalled
from engine.rules.goal_state import Goal
from engine.rules.landing import Landing
from engine.rules.words import Account
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import PROJECT, folder, repository

FILES = 10_000
ROUNDS = 25
CHECKOUTS = 5
GOAL = "g-1"
STREAM = f"landing/{GOAL}"
ENV = {
    **os.environ,
    "GIT_AUTHOR_NAME": "Bench",
    "GIT_AUTHOR_EMAIL": "bench@localhost",
    "GIT_COMMITTER_NAME": "Bench",
    "GIT_COMMITTER_EMAIL": "bench@localhost",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


async def measure() -> list[Line]:
    ours, floor, checkout = Times(), Times(), Times()
    with folder() as where:
        source = repository(where, FILES)
        home = Home(where / "home")
        engine = Engine(home, machines={"here": _Nowhere()})
        async with engine.running():
            await engine.door.add_project(PROJECT, str(source), cause="bench:project")
            git = _Raw(home.hub(PROJECT))
            goal = await _opened(engine)
            landings = _Landings(engine, git)
            git.run("branch", "raw", goal.base_commit)
            for number in range(-2, ROUNDS):
                piece = git.piece(goal.base_commit, number)
                took = await landings.land(piece, number)
                raw = git.land("raw", piece, number)
                if number >= 0:
                    ours.add(took)
                    floor.add(raw)
            work = where / "work"
            git.run("worktree", "add", "-q", "-b", "warm", str(work), goal.base_commit)
            for number in range(CHECKOUTS):
                checkout.add(git.checkout_and_merge(work, goal.base_commit, number))
    line = compared(
        "piece → landed, 10 000 files",
        ours,
        floor,
        "merge-tree, commit-tree, update-ref",
        most=2,
        why=(
            "two processes of git more beside the merge (the common ancestor; the dates, so that the "
            "same two give the same commit), and three durable commits between the steps, so that it "
            "goes on from any of them."
        ),
    )
    beside = compared(
        "the same, over checkout and merge",
        ours,
        checkout,
        "checkout -B, merge --no-ff in a warm tree",
        most=0.2,
        why="see the line above.",
    )
    return [line, beside]


class _Nowhere:
    """A machine that is always away: no lead starts, and only landing is timed."""

    name = "here"

    async def hello(self) -> dict[str, Any]:
        raise Unavailable("here: away")

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        raise Unavailable("here: away")

    async def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        raise Unavailable("here: away")
        yield

    async def bring(
        self, project: str, hub: Path, commits: Sequence[str], base: str = "", source: str = ""
    ) -> None:
        raise Unavailable("here: away")

    @asynccontextmanager
    async def serving(self, project: str, session: str) -> AsyncIterator[tuple[Sequence[str], str]]:
        raise Unavailable("here: away")
        yield

    async def close(self) -> None:
        """Nothing was opened."""


async def _opened(engine: Engine) -> Goal:
    """Open a goal as far as its branch; its lead waits for the machine."""
    opened = GoalOpened(
        project=PROJECT, text="Land", session="s-1", base="main", account=Account("none", "claude")
    )
    await engine.loop.post(f"goal/{GOAL}", opened, "bench:goal")

    def at_its_base() -> bool:
        goal = engine.loop.state(f"goal/{GOAL}")
        return isinstance(goal, Goal) and bool(goal.branch)

    await engine.loop.settle(until=at_its_base)
    goal = engine.loop.state(f"goal/{GOAL}")
    assert isinstance(goal, Goal)
    return goal


class _Landings:
    """Has commits landed by the engine, one at a time."""

    def __init__(self, engine: Engine, git: _Raw) -> None:
        self._engine = engine
        self._git = git
        self._landed = asyncio.Event()
        engine.loop.watch(self._look)

    def _look(self, stream: str) -> None:
        state = self._engine.loop.state(STREAM)
        if stream == STREAM and isinstance(state, Landing) and not state.entries:
            self._landed.set()

    async def land(self, commit: str, number: int) -> float:
        """Return how long it took until it was on disk."""
        called = LandingCalled(
            piece=f"p-{number}",
            project=PROJECT,
            session="s-2",
            commit=commit,
            branch="quarterdeck/worker-piece",
            title="A piece",
        )
        await self._engine.loop.settle()  # what the last one led to
        self._landed.clear()
        began = time.perf_counter()
        await self._engine.loop.post(STREAM, called, f"bench:land:{number}")
        await self._landed.wait()
        took = time.perf_counter() - began
        goal = self._engine.loop.state(f"goal/{GOAL}")
        assert isinstance(goal, Goal)
        if commit not in self._git.run("rev-list", "--parents", "-1", goal.branch):
            raise RuntimeError(f"piece {number} did not land")
        return took


class _Raw:
    """Git as anybody would run it."""

    def __init__(self, at: Path) -> None:
        self._at = at

    def run(self, *words: str, stdin: str = "", cwd: Path | None = None) -> str:
        where = [] if cwd else ["--git-dir", str(self._at)]
        done = subprocess.run(
            ["git", *where, *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
            env=ENV,
            cwd=cwd or "/",
        )
        return done.stdout.strip()

    def piece(self, base: str, number: int) -> str:
        """Make a commit on `base` that changes one file of its own."""
        index = self._at.parent / "index"
        env = {**ENV, "GIT_INDEX_FILE": str(index)}
        path = f"part0/file{number % 100}.txt"

        def git(*words: str, stdin: str = "") -> str:
            return subprocess.run(
                ["git", "--git-dir", str(self._at), *words],
                input=stdin,
                capture_output=True,
                text=True,
                check=True,
                env=env,
            ).stdout.strip()

        blob = git("hash-object", "-w", "--stdin", stdin=f"Changed by piece {number}.\n")
        git("read-tree", base)
        git("update-index", "--cacheinfo", f"100644,{blob},{path}")
        tree = git("write-tree")
        index.unlink()
        return git("commit-tree", tree, "-p", base, "-m", f"Piece {number}")

    def land(self, branch: str, commit: str, number: int) -> float:
        """The floor."""
        onto = self.run("rev-parse", branch)
        began = time.perf_counter()
        tree = self.run("merge-tree", "--write-tree", onto, commit)
        joined = self.run("commit-tree", tree, "-p", onto, "-p", commit, "-m", f"Piece {number}")
        self.run("update-ref", f"refs/heads/{branch}", joined, onto)
        return time.perf_counter() - began

    def checkout_and_merge(self, tree: Path, base: str, number: int) -> float:
        """What is done where there is no other way."""
        commit = self.piece(base, 50 + number)
        self.run("checkout", "-q", "-B", "work", commit, cwd=tree)
        began = time.perf_counter()
        self.run("checkout", "-q", "warm", cwd=tree)
        self.run("merge", "-q", "--no-ff", "-m", f"Piece {number}", commit, cwd=tree)
        return time.perf_counter() - began
