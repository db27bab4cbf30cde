"""One story: a seed, what it makes happen, and what is judged after each step.

    begin ──> steps: the owner, the agents, bad days, deaths ──> rest: all is kind, the owner patient

Everything is drawn from the seed, time included, so that a story told twice is the same to the last
event; `Told.hash` says so. Neighbours: invariants.py judges, __main__.py tells many.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from engine import board
from engine.rules.goal_state import Goal
from engine.rules.words import HERE
from stores import database
from tests.simulation import driven, invariants
from tests.simulation.agents import Cast, Habits
from tests.simulation.box import Box
from tests.simulation.disk import Disk
from tests.simulation.machine import PLENTY_MB, SimMachine
from tests.simulation.owner import Owner
from tests.simulation.repositories import Git

Move = Callable[[], Awaitable[str]]

PAUSES_S = (0.02, 0.5, 2.0, 5.0, 20.0, 60.0, 200.0, 900.0)
THEMES = ("", "owner", "deaths", "links", "agents", "checks", "time", "machines", "git", "silence")
PATIENCE_S = 600.0
DAYS = 3
ELSEWHERE = "build-box"
PLACES = 2


@dataclass
class Told:
    """A story, told."""

    seed: int
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    hash: str = ""
    events: int = 0
    kinds: set[str] = field(default_factory=set)


class Story:
    """The world of one seed."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.luck = luck = Random(seed)
        self.told = Told(seed)
        self.theme = luck.choice(THEMES)
        self.habits = self._drawn_habits()
        self.disk = Disk(Random(luck.random()))
        self.git = Git(Random(luck.random()), checked=luck.random() < 0.8)
        self.git.red_share = 0.3 if self.theme == "checks" else 0.06
        self.git.conflict_share = 0.3 if self.theme == "git" else 0.05
        self.git.is_checked = self._is_checked
        cast = Cast(self.habits, lambda: self.box.world)
        self.machines = {name: self._machine(name, cast) for name in (HERE, ELSEWHERE)}
        self._with_two = luck.random() < 0.35
        self.box = Box(folder, self.disk, self.git, self.machines, luck, self.note)
        self.owner = Owner(self.box, self.git, Random(luck.random()))
        self.history = invariants.History(self.disk.file)
        self.set_back_s = 0.0  # by how much the clock was, which puts off what is due

    def _machine(self, name: str, cast: Cast) -> SimMachine:
        draw = Random(self.luck.random())
        machine = SimMachine(name, self.git, self.disk, draw, cast, lambda: self.box.clock())
        machine.cores = self.luck.choice((0, 1, 2, 2))
        return machine

    def _drawn_habits(self) -> Habits:
        bad = 0.2 if self.theme == "agents" else 0.04
        return Habits(
            asks=0.35,
            differs=bad,
            fails=bad,
            hangs=0.3 if self.theme == "silence" else bad / 4,
            dies=bad,
            flaky=0.3 if self.theme == "checks" else 0.05,
        )

    def _is_checked(self, goal_id: str) -> bool:
        goal = self.box.world.get(f"goal/{goal_id}")
        return isinstance(goal, Goal) and bool(goal.command("check"))

    def note(self, line: str) -> None:
        at = asyncio.get_running_loop().time()
        self.told.lines.append(f"{at:10.2f}  {line}")

    # ------------------------------------------------------------ telling

    async def tell(self, steps: int) -> Told:
        try:
            await self._begin()
            for _ in range(steps):
                await self._step()
                if self._judge():
                    return self.told
            await self._rest()
        finally:
            await self.box.close()
            for machine in self.machines.values():
                machine.power_cut()
        return self.told

    async def _begin(self) -> None:
        await self.owner.begin()
        if self._with_two:
            await self.owner.add_machine(ELSEWHERE, PLACES)
        for n in range(self.luck.choice((1, 1, 2))):
            await self.owner.new_goal(f"Add orders {n}")
        if self._with_two:
            await self.owner.tick(ELSEWHERE)

    async def _step(self) -> None:
        weights, moves = zip(*self._moves(), strict=True)
        (move,) = self.luck.choices(moves, weights)
        if (done := await move()) and done != "-":
            self.note(done)
        pause = self.luck.choice(PAUSES_S) * self.luck.random()
        await asyncio.sleep(pause)

    def _moves(self) -> Iterator[tuple[int, Move]]:
        owner = self.owner
        for kind, weight, move in (
            ("", 14, self._nothing),
            ("", 22, owner.forward),
            ("owner", 2, owner.correct),
            ("owner", 2, owner.backward),
            ("owner", 2, owner.twice),
            ("owner", 2, owner.stale),
            ("owner", 2, owner.write),
            ("owner", 1, owner.always),
            ("owner", 1, owner.set),
            ("owner", 1, owner.change),
            ("owner", 1, owner.hold),
            ("owner", 1, self._maybe_drop),
            ("deaths", 2, self._die),
            ("deaths", 4, self._die_soon),
            ("deaths", 1, self._fill_disk),
            ("deaths", 2, self._die_twice),
            ("links", 3, self._lose_link),
            ("links", 2, self._blink),
            ("machines", 1, self._power_cut),
            ("machines", 1, self._kill_a_run),
            ("machines", 1, self._press_memory),
            ("time", 2, self._set_clock),
            ("git", 2, self._trouble_git),
            ("git", 1, self._remote_moves),
        ):
            yield weight * (5 if kind and kind == self.theme else 1), move

    # ------------------------------------------------------------ bad days

    async def _nothing(self) -> str:
        return "-"

    async def _maybe_drop(self) -> str:
        return await self.owner.drop() if self.luck.random() < 0.3 else ""

    async def _die(self) -> str:
        self.box.kill()
        return "kill -9 of the engine"

    async def _die_twice(self) -> str:
        """Die with much to read, and again while it is read."""
        machine = self._a_machine()
        machine.set_link(False)
        await asyncio.sleep(self.luck.choice(PAUSES_S))
        again = self.luck.randint(1, 150)
        self.disk.die_again_after(again)
        self.box.kill()
        machine.set_link(True)
        return f"kill -9 of the engine, and once more {again} boundaries later"

    async def _die_soon(self) -> str:
        after = self.luck.randint(1, 60)
        self.disk.die_after(after)
        return f"the engine dies {after} boundaries from here"

    async def _fill_disk(self) -> str:
        self.disk.full = not self.disk.full
        if self.disk.full:
            asyncio.get_running_loop().call_later(self.luck.random() * 60.0, self._free_disk)
        return f"the disk is {'full' if self.disk.full else 'free again'}"

    def _free_disk(self) -> None:
        self.disk.full = False

    def _a_machine(self) -> SimMachine:
        return self.luck.choice(list(self.machines.values()))

    async def _lose_link(self) -> str:
        machine = self._a_machine()
        machine.set_link(not machine.up)
        return f"the link to {machine.name} is {'up' if machine.up else 'down'}"

    async def _blink(self) -> str:
        machine = self._a_machine()
        machine.set_link(False)
        await asyncio.sleep(self.luck.random() * 4.0)
        machine.set_link(True)
        return f"the link to {machine.name} blinked"

    async def _power_cut(self) -> str:
        machine = self._a_machine()
        machine.power_cut()
        return f"{machine.name} lost its power"

    async def _kill_a_run(self) -> str:
        alive = self._a_machine().alive()
        if not alive:
            return ""
        run = self.luck.choice(alive)
        run.exit(None, "cut off", asyncio.get_running_loop().time())
        return f"the runner of {run.id} is killed"

    async def _press_memory(self) -> str:
        machine = self._a_machine()
        machine.free_mb = self.luck.choice((300, 900, 2_000, PLENTY_MB))
        return f"{machine.name} has {machine.free_mb} MB free"

    async def _set_clock(self) -> str:
        step = self.luck.choice((-3600.0, -30.0, 30.0, 3600.0, 6 * 3600.0, 86_400.0))
        self.box.skew += step
        self.set_back_s += max(0.0, -step)
        self.box.wake()
        return f"the clock is set by {step:+.0f} s"

    async def _trouble_git(self) -> str:
        self.git.trouble = 0.0 if self.git.trouble else 0.3
        return f"git answers {'always' if not self.git.trouble else 'not always'}"

    async def _remote_moves(self) -> str:
        self.git.remote_moves()
        return "somebody else pushed"

    # ------------------------------------------------------------ judging

    def _judge(self) -> bool:
        news = self.history.read_on()
        for item in news:
            self.told.kinds.add(type(item.event).__name__)
            self.told.kinds |= {type(effect).__name__ for effect in item.effects}
            self.note(f"    {item.stream} {type(item.event).__name__}")
        found = [*self.box.faults]
        if news:
            found += invariants.of_rules(self.history, self.box.world)
        found += invariants.always(self.git, self.machines.values(), self.box.world)
        found += invariants.ended_asking(self.history, self.machines.values())
        engine = self.box.engine
        if engine is not None and engine.loop._is_quiet():
            doing = engine.runs.following.doing
            found += invariants.quiet(engine.loop.world(), engine.door.cards(), doing)
            found += [f"{s} is set aside: {b.why}" for s, b in engine.loop.broken().items()]
        self.told.faults = found
        return bool(found)

    # ------------------------------------------------------------ a kind end

    async def _rest(self) -> None:
        self.note("from here on all is kind")
        vars(self.habits).update(vars(Habits()))
        self.git.trouble = self.git.red_share = self.git.conflict_share = 0.0
        self.disk.full = False
        for machine in self.machines.values():
            machine.set_link(True)
            machine.free_mb = PLENTY_MB
        until = asyncio.get_running_loop().time() + DAYS * 86_400
        while asyncio.get_running_loop().time() < until:
            self.git.red.clear()
            for line in await self.owner.patient():
                self.note(line)
            before = len(self.history.happened)
            await asyncio.sleep(PATIENCE_S)
            if self._judge():
                return
            self.told.faults = list(
                invariants.silent_for_ever(
                    self.machines.values(), self.box.world, self.set_back_s, self.box.began_at
                )
            )
            if self.told.faults:
                return
            if all(not goal.live for goal in board.goals(self.box.world)):
                break
            if len(self.history.happened) == before:
                for line in await self.owner.nudge():
                    self.note(line)
        await asyncio.sleep(7200.0)
        if self._judge():
            return
        world = self.box.world
        self.told.faults = [
            *invariants.at_rest(self.history, world),
            *invariants.owed_still(self.disk.file),
            *invariants.lines_lost(self.history, self.machines.values()),
            *invariants.runs_left(self.machines.values(), world),
            *invariants.kept(self.history, self.owner.said),
        ]

    # ------------------------------------------------------------ the same again?

    def sum_up(self) -> None:
        digest = hashlib.sha256("\n".join(self.told.lines).encode())
        for item in self.history.happened:
            digest.update(repr(item).encode())
        self.told.hash = digest.hexdigest()
        self.told.events = len(self.history.happened)


async def _told(seed: int, steps: int, folder: Path) -> Told:
    story = Story(seed, folder)
    database.boundary = story.disk.boundary
    try:
        told = await story.tell(steps)
    finally:
        story.sum_up()
        story.disk.file.close()
    return told


@contextmanager
def _ground() -> Iterator[Path]:
    memory = Path("/dev/shm")
    within = memory if memory.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-story-", dir=within))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def tell(seed: int, steps: int = 60) -> Told:
    """Tell the story of one seed."""
    before = database.boundary
    logging.disable(logging.CRITICAL)
    try:
        with _ground() as folder:
            return driven.run(_told(seed, steps, folder))
    finally:
        database.boundary = before
        logging.disable(logging.NOTSET)
