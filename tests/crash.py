"""Dying at every point where dying could matter, and going on from what is on disk.

`walk` plays a story once to its end and counts the boundaries it passes: before and after each commit
and each effect performed. Then, for each of them, it plays the story anew, dies right there, plays it
once more over the same files, and has the end judged. Nothing of a dead play can be stored: every
boundary after the first raises too.

    async def test_the_story_survives_any_crash(tmp_path: Path) -> None:
        worlds = (World(tmp_path / str(n)) for n in itertools.count())
        await walk(lambda: next(worlds), play, judge)

play    opens what it needs on the world's files, brings the story to its end, closes it all again.
        It must be able to start over half-way, as the real process does
judge   asserts what must be true of the world at the end, however often it died

Where a story is long, one play dies many times, far apart: a `Reaper` says where, and `lives` begins
anew after each death. What runs in a life is told by its context, so that one of several processes
played in one loop may die alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from stores import database

W = TypeVar("W")
Label: TypeAlias = tuple[str, int]


class Crash(BaseException):
    """The process died here. No `Exception`: nobody may catch it by mistake."""


class Boundaries:
    """Counts the boundaries passed, and dies at number `last` (0: never)."""

    def __init__(self, last: int = 0) -> None:
        self.names: list[str] = []
        self._last = last

    @property
    def dead(self) -> bool:
        return 0 < self._last <= len(self.names)

    def __call__(self, name: str) -> None:
        if self.dead:
            raise Crash("dead already")
        self.names.append(name)
        if self.dead:
            raise Crash(name)


@contextmanager
def boundaries(last: int = 0) -> Iterator[Boundaries]:
    """Watch all boundaries passed inside the block."""
    passed = Boundaries(last)
    before, database.boundary = database.boundary, passed
    try:
        yield passed
    finally:
        database.boundary = before


async def play_until_death(play: Awaitable[None], last: int) -> Boundaries:
    """Play, dying at boundary `last`; whatever a dead play still raises is of no interest."""
    with boundaries(last) as passed:
        try:
            await play
        except KeyboardInterrupt:
            raise
        except BaseException:
            if not passed.dead:
                raise
    return passed


async def walk(
    make_world: Callable[[], W],
    play: Callable[[W], Awaitable[None]],
    judge: Callable[[W], None],
    *,
    points: Callable[[int], Iterable[int]] = lambda count: range(1, count + 1),
) -> list[str]:
    """Judge a clean end and the end after a death at each boundary; return the boundaries' names.

    points   which boundaries to die at, of so many: all unless a long story takes a sample
    """
    world = make_world()
    with boundaries() as clean:
        await play(world)
    judge(world)
    for point in points(len(clean.names)):
        world = make_world()
        passed = await play_until_death(play(world), point)
        try:
            await play(world)
            judge(world)
        except Exception as fault:
            where = passed.names[-1] if passed.dead else "nowhere: the story was shorter"
            fault.add_note(f"died at boundary {point} of {len(clean.names)}: {where}")
            raise
    return clean.names


@dataclass
class Life:
    """One process from its start to its end; nothing of a dead one passes any boundary."""

    dead: bool = False


LIFE: ContextVar[Life | None] = ContextVar("life", default=None)


class Reaper:
    """Counts the boundaries that lives pass, and ends one at each of `left`, so many apart.

    labels   what a boundary is known by, in all plays: by its names without numbers, and by how often
             this play passed each of them, unless told otherwise
    spares   says that to die just now is one death too many, by the product's own word
    """

    def __init__(
        self, left: set[Label], apart: int = 0, labels: Callable[[str], list[str]] | None = None
    ) -> None:
        self.names: list[str] = []
        self.seen: set[Label] = set()
        self.deaths: list[Label] = []
        self.ends = 0
        self._left = left
        self._apart = apart
        self._labels = labels or without_numbers
        self.spares: Callable[[], bool] = lambda: False
        self._passed: Counter[str] = Counter()
        self._since = apart

    def __call__(self, name: str) -> None:
        life = LIFE.get()
        if life is None:
            return
        if life.dead:
            raise Crash("dead already")
        self.names.append(name)
        self._since += 1
        labels = self._labelled(name)
        new = not self._left.isdisjoint(labels)
        if new and self._since >= self._apart and not self.spares():
            self._left.difference_update(labels)
            self._since = 0
            self.deaths.extend(labels)
            self.ends += 1
            life.dead = True
            raise Crash(name)

    def _labelled(self, name: str) -> list[Label]:
        names = list(dict.fromkeys(self._labels(name)))
        self._passed.update(names)
        found = [(each, self._passed[each]) for each in names]
        self.seen.update(found)
        return found

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Have it asked at every boundary passed inside the block."""
        before, database.boundary = database.boundary, self
        try:
            yield
        finally:
            database.boundary = before


def without_numbers(name: str) -> list[str]:
    """Return the names of a boundary: a commit that several share, by chance, has one of each."""
    plain = re.sub(r"\d+", "#", name)
    where, commit, kinds = plain.partition(" commit ")
    return [f"{where}{commit}{kind}" for kind in re.findall(r"[A-Z]\w+ \S+", kinds)] or [plain]


async def lives(play: Callable[[], Awaitable[None]]) -> int:
    """Play, as many lives as it takes; return how many ended before the last."""
    deaths = 0
    while True:
        life = Life()
        LIFE.set(life)
        try:
            await play()
        except KeyboardInterrupt:
            raise
        except BaseException:
            if not life.dead:
                raise
            deaths += 1
        else:
            return deaths
