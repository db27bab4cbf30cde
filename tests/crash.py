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
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from stores import database

W = TypeVar("W")


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
