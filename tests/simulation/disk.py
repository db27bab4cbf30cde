"""The engine's file and its power switch: real SQLite that outlives each life of the engine.

`Disk.boundary` stands in for stores.database.boundary and is passed wherever the engine may die. Once
it died, nothing of that life reaches the file or the outside any more: its every next step dies too.
A full disk refuses writes as SQLite does. Neighbour: engine.py in this folder, which lives on it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Self, TypeVar

from stores.database import Database, Room
from tests.crash import Crash

T = TypeVar("T")

LATENCY_S = 0.004


class Disk:
    """What survives."""

    def __init__(self, luck: Random) -> None:
        self.file = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.full = False
        self.life = 0
        self.dead = True
        self.died_at = ""
        self._left = 0
        self._again = 0
        self._luck = luck

    def begin_life(self) -> None:
        self.life += 1
        self.dead = False
        self._left, self._again = self._again, 0

    def end_life(self) -> None:
        self.dead = True

    def die_after(self, boundaries: int) -> None:
        """Have this life end at one of the next boundaries."""
        self._left = boundaries

    def die_again_after(self, boundaries: int) -> None:
        """Have the next life end too, while it takes up what the last one left."""
        self._again = boundaries

    def boundary(self, name: str) -> None:
        if self.dead:
            raise Crash("dead already")
        if self._left:
            self._left -= 1
            if not self._left:
                self.dead = True
                self.died_at = name
                raise Crash(name)

    async def turn(self) -> None:
        """Take as long as a disk does."""
        await asyncio.sleep(self._luck.random() * LATENCY_S)


class _Inline:
    """A connection without a thread; good for one life."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._life = disk.life

    async def hop(self, work: Callable[[sqlite3.Connection], T]) -> T:
        await self._disk.turn()
        if self._disk.dead or self._disk.life != self._life:
            raise Crash("dead already")
        return work(self._disk.file)

    async def close(self) -> None:
        pass


class SimDatabase(Database):
    """The ledger's file on a simulated disk."""

    def __init__(self, path: Path, disk: Disk, room: Room) -> None:
        super().__init__(path, "ledger", room=room)
        self._disk = disk

    async def open(self) -> Self:
        self.path.touch()
        connection: Any = _Inline(self._disk)
        self._connection = connection
        await connection.hop(self._ready)
        return self

    async def _written(self, *what: Any) -> Any:
        if self._disk.full:
            fault = sqlite3.OperationalError("database or disk is full")
            fault.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise fault
        return await super()._written(*what)
