"""Plays a path, stopped before each of its calls in turn, and has judged what becomes of it.

    lay ── copy ──> play, traced ──stopped at N──> left (what must hold at once) ──> play again ──> judge

Each of these is a process of its own, forked from this one, which has loaded all that is needed: so one
point costs some tens of milliseconds. Neighbours: tracer.py stops, the paths are told in a file each.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.strace.tracer import Call, Passed, traced

STALE_S = 120.0  # a lock that was left is that old when we come back
LATER_S = 20.0
FULL_S = 4.0  # what can do nothing for want of room may wait; it need not end


def _nothing(folder: Path) -> None:
    """Find nothing to judge."""


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    yield


@dataclass(frozen=True)
class Story:
    """One path.

    lay      makes the folder it begins with; made once and copied
    play     goes on from whatever is in the folder to the end
    judge    asserts what must be true at the end
    left     asserts what must be true right after it was stopped
    beside   what lives on next to the play while that dies
    network  what it sends through sockets counts too
    """

    name: str
    lay: Callable[[Path], None]
    play: Callable[[Path], Awaitable[None]]
    judge: Callable[[Path], None]
    left: Callable[[Path], None] = _nothing
    beside: Callable[[Path], AbstractContextManager[None]] = _alone
    network: bool = False


@dataclass(frozen=True)
class Fault:
    """A point after which all was not well."""

    story: str
    point: int
    call: Call
    full: bool
    words: str

    def __str__(self) -> str:
        how = "no room from" if self.full else "died before"
        call = f"{self.call.name} {self.call.about}".strip()
        return f"{self.story}: {how} call {self.point} ({call})\n{self.words}"


@dataclass(frozen=True)
class Stopped:
    """How one point went; `end`: what the play said last, as it met it."""

    here: bool
    end: str
    fault: Fault | None = None


class Walk:
    """One story, walked in a folder."""

    def __init__(self, story: Story, folder: Path, *, full: bool = False) -> None:
        self._story = story
        self._folder = folder
        self._full = full
        self._laid = folder / "laid"
        self._laid.mkdir(parents=True)
        words = _in_process(lambda: story.lay(self._laid), folder / "lay")
        if words:
            raise AssertionError(f"{story.name} could not be laid\n{words}")

    def calls(self) -> list[Call]:
        """Play it once in peace; return the calls it makes. Raises AssertionError with what failed."""
        world = self._world("clean")
        passed, words = self._play(world, 0)
        if passed.code == 0:
            words = self._judged(world)
        if words or passed.code:
            raise AssertionError(f"{self._story.name}, in peace: {words or passed}")
        return passed.calls

    def stop_at(self, point: int) -> Stopped:
        """Play it stopped at one point, then on to its end."""
        world = self._world(str(point))
        with self._story.beside(world):
            passed = self._traced(world, point)
            said = _read(world / "said").strip().splitlines()[-1:]
            words = self._go_on(world)
        words = words or self._judged(world)
        end = "it waited" if passed.late else "".join(said) or "it went on"
        if words:
            fault = Fault(self._story.name, point, passed.calls[-1], self._full, words)
            return Stopped(passed.stopped, end, fault)
        shutil.rmtree(world)
        return Stopped(passed.stopped, end)

    def _world(self, name: str) -> Path:
        world = self._folder / name
        shutil.rmtree(world, ignore_errors=True)
        shutil.copytree(self._laid, world, symlinks=True)
        return world

    def _play(self, world: Path, point: int) -> tuple[Passed, str]:
        with self._story.beside(world):
            passed = self._traced(world, point)
        return passed, _read(world / "said")

    def _traced(self, world: Path, point: int) -> Passed:
        return traced(
            lambda: asyncio.run(_played(self._story, world)),
            point,
            first=lambda: _say_into(world / "said"),
            full=self._full,
            network=self._story.network,
            limit_s=FULL_S if self._full else LATER_S,
        )

    def _go_on(self, world: Path) -> str:
        for lock in world.rglob("*.lock"):
            if lock.is_file():
                old = time.time() - STALE_S
                os.utime(lock, (old, old))
        story = self._story
        words = _in_process(lambda: story.left(world), world / "left.said")
        return words or _in_process(lambda: asyncio.run(_played(story, world)), world / "on.said")

    def _judged(self, world: Path) -> str:
        return _in_process(lambda: self._story.judge(world), world / "judged.said")


async def _played(story: Story, world: Path) -> None:
    async with asyncio.timeout(LATER_S):
        await story.play(world)


def points(count: int, every: int, first: int = 1) -> Sequence[int]:
    return range(first, count + 1, every)


def _in_process(work: Callable[[], None], into: Path) -> str:
    """Do it in a child, so that nothing of it stays with us; return what went wrong."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _say_into(into)
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - a child must not go on as its parent
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return _read(into) or f"ended with {status}" if status else ""


def _say_into(path: Path) -> None:
    sys.stderr.flush()
    there = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(there, 2)
    os.close(there)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
