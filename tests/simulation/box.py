"""The box: the real engine on a simulated disk, started again whenever it dies, as systemd would.

`Box.ask` is the bot's way in: a request is made again under the same cause until it was answered, over
any number of lives. Neighbours: disk.py (what survives), machine.py and repositories.py (the outside).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from engine.adapters.hub import Hub
from engine.adapters.machines import Machine
from engine.door import Door
from engine.engine import Engine
from engine.errors import Refused
from engine.paths import Home
from engine.perform import waited_for
from engine.rules.words import HERE
from stores.database import Database
from tests.simulation.disk import Disk, SimDatabase
from tests.simulation.machine import SimMachine
from tests.simulation.repositories import Git, SimHub

EPOCH = 1_800_000_000.0
RESTART_S = 2.0

Request = Callable[[Door], Awaitable[Any]]


class SimEngine(Engine):
    """The engine, its hands on a played world; nothing listens on a socket."""

    def __init__(
        self,
        home: Home,
        life: int,
        disk: Disk,
        git: Git,
        machines: Mapping[str, SimMachine],
        clock: Callable[[], float],
        luck: Random,
    ) -> None:
        here: dict[str, Machine] = {HERE: machines[HERE]}
        uptime = asyncio.get_running_loop().time
        super().__init__(home, machines=here, clock=clock, uptime=uptime, luck=luck.random)
        self._born = f"life-{life}"
        self._disk = disk
        self._git = git
        self._others = machines

    def _file(self) -> Database:
        return SimDatabase(self.home.engine_db, self._disk, self.room)

    def _hub(self) -> Hub:
        return SimHub(self.home.hubs, self._git, self._disk)

    def _ssh(self, name: str, address: str, keys: Callable[[], Sequence[str]]) -> Any:
        return self._others[name]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._open(), asyncio.TaskGroup() as group:
            self.door.open()
            tasks = [
                group.create_task(self.loop.run()),
                group.create_task(self.alive.run()),
                group.create_task(self.runs.following.run(waited_for(self.loop.world()))),
                group.create_task(self._attend()),
                group.create_task(self.loads.run()),
                group.create_task(self.ahead.run()),
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()


class Box:
    """Lives of the engine, one after the other."""

    def __init__(
        self,
        home: Path,
        disk: Disk,
        git: Git,
        machines: dict[str, SimMachine],
        luck: Random,
        tell: Callable[[str], None],
    ) -> None:
        self.disk = disk
        self.skew = 0.0
        self.world: Mapping[str, Any] = {}
        self.engine: SimEngine | None = None
        self.faults: list[str] = []
        self._home = Home(home)
        self._git = git
        self._machines = machines
        self._luck = luck
        self._tell = tell
        self.began_at = 0.0  # when this life did
        self._up = asyncio.Event()
        self._down = asyncio.Event()
        self._requests: asyncio.TaskGroup | None = None
        self._task = asyncio.ensure_future(self._live_on())
        self._life: asyncio.Task[None] | None = None

    def clock(self) -> float:
        return EPOCH + asyncio.get_running_loop().time() + self.skew

    # ------------------------------------------------------------ lives

    async def _live_on(self) -> None:
        while True:
            self._life = asyncio.ensure_future(self._live())
            await asyncio.wait([self._life])
            self._judge_death(self._life)
            await asyncio.sleep(RESTART_S)

    def _judge_death(self, life: asyncio.Task[None]) -> None:
        fault = None if life.cancelled() else life.exception()
        expected = self.disk.dead
        self.disk.end_life()
        self._tell(f"the engine is gone: {self.disk.died_at or 'ended'}")
        self.disk.died_at = ""
        if fault is not None and not expected:
            self.faults.append(f"the engine ended by itself: {_told(fault)}")

    async def _live(self) -> None:
        self.disk.begin_life()
        for machine in self._machines.values():
            machine.link.changed.clear()
        engine = SimEngine(
            self._home,
            self.disk.life,
            self.disk,
            self._git,
            self._machines,
            self.clock,
            Random(self._luck.random()),
        )
        try:
            async with engine.running():
                self.world = engine.loop.world()
                async with asyncio.TaskGroup() as group:
                    self._requests, self.engine = group, engine
                    self._down.clear()
                    self.began_at = self.clock()
                    self._up.set()
                    self._tell(f"life {self.disk.life} begins")
                    await asyncio.Event().wait()
        finally:
            self._up.clear()
            self._down.set()
            self._requests = self.engine = None

    def kill(self) -> None:
        """End this life now."""
        if self.engine is not None and self._life is not None:
            self.disk.end_life()
            self._life.cancel()

    def wake(self) -> None:
        """The clock was set, and the machine woke."""
        if self.engine is not None:
            self.engine.loop.wake()

    async def close(self) -> None:
        self._task.cancel()
        self.kill()
        if self._life is not None:
            self._life.cancel()
            await asyncio.wait([self._life, self._task])

    # ------------------------------------------------------------ requests

    async def ask(self, request: Request) -> str:
        """Make a request until it is answered: "" or the sentence it was refused with."""
        while True:
            await self._up.wait()
            group, engine = self._requests, self.engine
            if group is None or engine is None:
                continue
            made = _made(request, engine.door)
            try:
                answer = group.create_task(made)
            except RuntimeError:  # this life is at its end, and takes nothing up any more
                made.close()
                await self._down.wait()
                continue
            down = asyncio.ensure_future(self._down.wait())
            await asyncio.wait([answer, down], return_when=asyncio.FIRST_COMPLETED)
            down.cancel()
            if answer.done() and not answer.cancelled() and answer.exception() is None:
                return answer.result()
            await self._down.wait()


async def _made(request: Request, door: Door) -> str:
    try:
        await request(door)
    except Refused as no:
        return no.sentence or "no"
    return ""


def _told(fault: BaseException) -> str:
    """The first error within, as one line."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    at = fault.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f"{at.tb_frame.f_code.co_qualname}:{at.tb_lineno}" if at is not None else "?"
    return f"{type(fault).__name__}: {fault} in {where}"
