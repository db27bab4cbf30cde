"""Follows the output of runs, each from where it was last read, until it is over.

    machine.follow(run, offset) ──chunks──> Reader.read(line, position) ──> events, stored with it

A run is read once however often somebody waits for it. Where it was read to is stored with the events
that came of its lines, and learnt again from there; `engine/perform.py` (`waited_for`) says which runs
to take up after a start. Neighbours: reading.py (what lines mean), runs.py (starts and answers them).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from engine.adapters.machines import Machine, NodeRefused
from engine.codec import whole
from engine.errors import Unavailable
from stores.ledger import Ledger

log = logging.getLogger(__name__)

LOST_S = 15.0  # by then a runner whose folder was taken away has ended (engine/node/runner.py)


class Followed(Struct, frozen=True, kw_only=True):
    """A run somebody waits for, and who."""

    run: str
    stream: str  # the session, or who the verdict goes to
    machine: str = "here"
    session: str = ""  # an agent's turn; "" = a check
    agent: str = ""
    project: str = ""
    about: str = ""
    commit: str = ""
    warm: str = ""  # the session whose tree a check borrows
    branch: str = ""  # and gives back on this branch
    keys: tuple[
        str, ...
    ] = ()  # names of what a command was given: then it is one that `about` asked for


class Reader(Protocol):
    """Acts on the lines of one run (reading.py)."""

    @property
    def began(self) -> bool:
        """Whether the run is known to have been started."""
        ...

    async def read(self, raw: bytes, position: tuple[str, int]) -> bool:
        """Act on one spooled line; true once the run is over."""
        ...

    async def lose(self) -> None:
        """Tell that the rest of the run will never be read."""
        ...


class Following:
    """All runs that are read.

    machine    the machine of that name; raises Unavailable if there is none
    reader     who acts on the lines of a run
    on_doing   called when what a run's agent does has changed
    uptime     seconds that only grow
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        machine: Callable[[str], Machine],
        reader: Callable[[Followed], Reader],
        on_doing: Callable[[str], None],
        uptime: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger = ledger
        self._machine = machine
        self._reader = reader
        self._on_doing = on_doing
        self._uptime = uptime
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._readers: dict[str, Reader] = {}
        self._asked_again: set[str] = set()
        self._doing: dict[str, str] = {}
        self._heard: dict[str, float] = {}
        self._heard_itself: set[str] = set()  # of these a line came, and not only a wait began
        self._read: dict[str, int] = {}
        self._positions: dict[str, int] = {}
        self._group: asyncio.TaskGroup | None = None
        self._wanted: list[Followed] = []

    async def open(self) -> None:
        """Learn how far each run was read."""
        self._positions = dict(await self._ledger.positions())

    async def run(self, waited_for: Sequence[Followed]) -> None:
        """Follow every run somebody waits for, until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                for followed in (*waited_for, *self._wanted):
                    self.follow(followed)
                await asyncio.Event().wait()
            finally:
                self._group = None  # a reader that began now would be cancelled by nobody

    def follow(self, followed: Followed) -> None:
        """Read a run from where it was last read, once however often asked."""
        if followed.run in self._tasks:
            self._asked_again.add(followed.run)  # its reader may be about to find no run yet
            return
        if self._group is None:
            self._wanted.append(followed)
            return
        reading = self._follow(followed)
        try:
            self._tasks[followed.run] = self._group.create_task(reading, name=followed.run)
        except RuntimeError:  # another reader broke, and all are on their way down
            reading.close()
            raise

    def doing(self, run: str) -> str:
        """What a run's agent does now, in one line; "" if it has not said."""
        return self._doing.get(run, "")

    def reader(self, run: str) -> Reader | None:
        """Who reads a run just now."""
        return self._readers.get(run)

    def hear_anew(self, run: str) -> None:
        """Note that a run was heard just now, or started by us: how long it is silent, we know."""
        self._heard_itself.add(run)
        self.count_anew(run)

    def count_anew(self, run: str) -> None:
        """Count the time a run has been silent from now on."""
        self._heard[run] = self._uptime()

    def read_to(self, run: str) -> int:
        """Up to which offset a run's lines have been acted on."""
        return self._read.get(run, 0)

    def has_heard(self, run: str) -> bool:
        """Whether a run has printed anything since we began, after a start of ours."""
        return run in self._heard

    def has_heard_itself(self, run: str) -> bool:
        """Whether we know by our own clock, which nobody sets, since when a run is silent."""
        return run in self._heard_itself

    def silent_s(self, run: str) -> float:
        """How long a run has printed nothing that counts."""
        now = self._uptime()
        return now - self._heard.get(run, now)

    async def _follow(self, followed: Followed) -> None:
        try:
            await self._read_on(followed)
        finally:
            self._tasks.pop(followed.run, None)
            self._readers.pop(followed.run, None)
            self._asked_again.discard(followed.run)

    async def _read_on(self, followed: Followed) -> None:
        reader = self._readers[followed.run] = self._reader(followed)
        offset = self._read[followed.run] = self._positions.get(followed.run, 0)
        while True:
            try:
                machine = self._machine(followed.machine)
                async for chunk in machine.follow(followed.run, offset):
                    *before, last = chunk.lines or [b""]
                    # Read on from the chunk's start until its last line is stored: what comes
                    # twice has a cause that is known.
                    for line in before:
                        await reader.read(line, (followed.run, offset))
                    if await reader.read(last, (followed.run, chunk.offset)):
                        await self._ledger.forget_position(followed.run)
                        self._forget(followed.run)
                        return
                    offset = self._read[followed.run] = chunk.offset
            except NodeRefused as no:
                if followed.run in self._asked_again:  # started since we looked
                    self._asked_again.discard(followed.run)
                    continue
                if reader.began:
                    await self._lose(followed, reader)
                    return
                log.info("not followed run=%s: %s", followed.run, no)
                return  # not started yet: its StartRun or Check is still owed, and comes back here
            except Unavailable as away:
                log.info("link down run=%s: %s", followed.run, away.sentence)
                await asyncio.sleep(1.0)

    async def _lose(self, followed: Followed, reader: Reader) -> None:
        """End a run whose folder was taken away, once its runner has seen that too."""
        log.warning("run lost run=%s", followed.run)
        await asyncio.sleep(LOST_S)
        await reader.lose()
        await self._ledger.forget_position(followed.run)
        self._forget(followed.run)

    def _forget(self, run: str) -> None:
        self._doing.pop(run, None)
        self._heard.pop(run, None)
        self._heard_itself.discard(run)
        self._read.pop(run, None)

    def note_doing(self, run: str, text: str) -> None:
        """Remember what an agent does now, and have its card follow."""
        text = whole(text)
        if self._doing.get(run) != text:
            self._doing[run] = text
            self._on_doing(run)
