"""A walk: play after play, each dying many times, until there is nothing left to die at."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash import Label, Reaper
from tests.engine.scenario import World, lay

Labels = Callable[[str], list[str]]


@dataclass
class Walked:
    """How a walk went.

    of       whose boundaries
    points   of the clean play
    left     those that no play came by again: whose turn is when is chance
    """

    of: str
    points: int = 0
    plays: int = 0
    deaths: int = 0
    left: set[Label] = field(default_factory=set)

    def __str__(self) -> str:
        died_at = self.points - len(self.left)
        return (
            f"{self.of}: {died_at} of {self.points} boundaries died at, in {self.plays} plays, "
            f"{self.deaths} deaths"
        )


async def walk(
    of: str,
    ground: Path,
    play: Callable[[World, Reaper], Awaitable[None]],
    *,
    apart: Sequence[int],
    labels: Callable[[], Labels] | None = None,
) -> Walked:
    """Play in peace, then dying everywhere; raises what a play could not get over.

    play     brings one world's story to its end, by the reaper's lives, and judges it
    apart    boundaries between two deaths of a play, one play after the other; then the last of them:
             far at first, so that a play gets on, and near once little is left to die at
    labels   makes what names boundaries, anew for each play
    """
    (ground / "laid").mkdir()
    lay(ground / "laid")
    clean = Reaper(set(), labels=labels and labels())
    await play(World(ground / "clean", ground / "laid"), clean)
    walked = Walked(of, points=len(clean.seen), left=set(clean.seen))
    for number in itertools.count():
        before = len(walked.left)
        world = World(ground / str(number), ground / "laid")
        far = apart[min(number, len(apart) - 1)]
        reaper = Reaper(walked.left, far, labels and labels())
        try:
            await play(world, reaper)
        except Exception as fault:
            fault.add_note(f"{of}: play {number} died at {reaper.deaths}")
            raise
        shutil.rmtree(world.folder)
        walked.plays += 1
        walked.deaths += reaper.ends
        if len(walked.left) in (0, before):
            return walked
    raise AssertionError("unreachable")


@contextmanager
def ground() -> Iterator[Path]:
    """Give a folder in memory, where there is one: a walk waits for nothing but the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="quarterdeck-walk-", dir=memory if memory.is_dir() else None
    ) as folder:
        yield Path(folder)
