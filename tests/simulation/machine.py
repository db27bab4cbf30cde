"""A machine that is played: trees, runs and their spools, behind a link that breaks.

What is here outlives every life of the engine, as runners and trees do. `Machine.call` loses orders
and answers while the link is down, and passes the points where the engine may die before, in and after
each of them. What must not be on a machine is noted as it happens, in `Git.faults`: two agents of one
session, a check in a tree that its worker writes in. Neighbour: agents.py plays what runs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from engine.adapters.machines import Chunk, Link, NodeRefused, Transport
from engine.errors import Unreachable
from engine.node.link import PROTOCOL
from tests.simulation.disk import Disk
from tests.simulation.repositories import Git

if TYPE_CHECKING:
    from tests.simulation.agents import Player

Fields = dict[str, Any]

PLENTY_MB = 20_000
DIAL_S = 20.0  # at most, until a try to reach it has failed


class Plays(Protocol):
    """Who plays what runs (agents.py)."""

    def __call__(self, machine: SimMachine, run: Run) -> Player: ...


@dataclass(eq=False)
class Run:
    """One run: what its runner keeps."""

    id: str
    spec: Fields
    tree: str  # whose
    lines: list[bytes] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    over: Fields | None = None
    player: Player | None = None
    changed: list[asyncio.Event] = field(default_factory=list)
    has_tool: bool = False  # a process of the agent's own lives beside it
    felt_at: float = 0.0  # when it was last asked how it does
    is_ending: bool = False
    last_at: float = 0.0  # when it began, or printed last

    @property
    def is_agent(self) -> bool:
        return bool(self.spec["kind"] == "agent")

    @property
    def state(self) -> Fields:
        return {"run": self.id, "alive": self.over is None, "exit": self.over}

    def put(self, kind: str, said: object, at: float) -> None:
        self.last_at = at
        line = {"n": len(self.lines) + 1, "t": at, "k": kind, "d": said}
        self.lines.append(json.dumps(line).encode())
        self.tell()

    def tell(self) -> None:
        for changed in self.changed:
            changed.set()

    def exit(self, code: int | None, why: str, at: float) -> None:
        """The runner's last line; nothing of the run lives any more."""
        if self.over is None:
            self.over = {"code": code, "signal": None, "why": why, "words": ""}
            self.put("exit", self.over, at)
            if self.player is not None:
                self.player.stop()


@dataclass
class Tree:
    """A session's tree, or a clean one of a check."""

    head: str
    checking: str = ""


class SimMachine:
    """The machine, and the engine's link to it."""

    def __init__(
        self,
        name: str,
        git: Git,
        disk: Disk,
        luck: Random,
        plays: Plays,
        clock: Callable[[], float],
    ) -> None:
        self.name = name
        self.clock = clock
        self.git = git
        self.luck = luck
        self.up = True
        self.free_mb = PLENTY_MB
        self.cores = 2
        self.runs: dict[str, Run] = {}
        self.trees: dict[str, Tree] = {}
        self.link = Link(name, _never)
        self.most = 0  # agents that were alive together
        self.ended_asking: list[str] = []  # runs ended at once that waited for an answer
        self._disk = disk
        self._plays = plays
        self._epoch = 1
        self._back: list[asyncio.Event] = []
        self._ops: Mapping[str, Callable[..., Fields]] = {
            "copy.update": lambda **_: {},
            "files.lacks": lambda **_: {"lacks": []},
            "load": lambda **_: {"free_mb": self.free_mb},
            "tree.ready": lambda **_: {"free": 0, "made": False},
            "tree.set_up": lambda **_: {},
            "tree.make": self._make,
            "tree.move": self._move,
            "tree.keep": self._keep,
            "tree.collect": self._collect,
            "tree.check_out": self._check_out,
            "tree.check_back": self._check_back,
            "tree.fresh": self._fresh,
            "tree.remove": self._remove,
            "run.start": self._start,
            "run.input": self._input,
            "run.end": self._end,
            "run.pulse": self._pulse,
            "run.alone": lambda **_: {"left": []},
            "run.tail": self._tail,
            "run.list": lambda runs: {"runs": [self.runs[r].state for r in runs if r in self.runs]},
        }

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    # ------------------------------------------------------------ bad days

    def set_link(self, up: bool) -> None:
        if up and not self.up:
            self._epoch += 1
        self.up = up
        for back in self._back:
            back.set()
        for changed in self.link.changed:
            changed()

    def power_cut(self) -> None:
        """End all that runs, as the node finds it when there is power again."""
        for run in self.runs.values():
            run.exit(None, "cut off", self.now)

    def alive(self) -> list[Run]:
        return [run for run in self.runs.values() if run.is_agent and run.over is None]

    # ------------------------------------------------------------ the link

    async def hello(self) -> Fields:
        await self._dialled()
        await self._way()
        return {
            "protocol": PROTOCOL,
            "epoch": self._epoch,
            "fenced": True,
            "why": "fenced",
            "agents": {"rehearsal": "rehearse"},
            "home": "/home",
            "user_home": "/nobody",
            "path": "/bin",
            "toolchains": [],
            "desk": ["desk"],
            "rehearse": ["rehearse"],
            "cores": self.cores,
            "free_mb": self.free_mb,
        }

    async def call(self, op: str, **arguments: Any) -> Fields:
        self._disk.boundary(f"before {op}")
        await self._dialled()
        await self._way()
        answer = self._ops[op](**arguments)
        self._disk.boundary(f"in {op}")
        await self._way()
        self._disk.boundary(f"after {op}")
        return answer

    async def _dialled(self) -> None:
        """Wait for the try to reach it that is under way."""
        if not self.up:
            await asyncio.sleep(self.luck.random() * DIAL_S)

    async def _way(self) -> None:
        """Take the way there, or back, which may break meanwhile."""
        if self.up:
            await asyncio.sleep(self.luck.random() * 0.3)
        if not self.up:
            await asyncio.sleep(0.05)
            raise Unreachable(f"{self.name}: no way to it")

    async def _is_up(self) -> None:
        """Wait for the link to be back, as who follows a run does."""
        back = asyncio.Event()
        self._back.append(back)
        try:
            while not self.up:
                back.clear()
                await back.wait()
        finally:
            self._back.remove(back)

    async def bring(
        self, project: str, hub: Path, commits: Sequence[str], base: str = "", source: str = ""
    ) -> None:
        await self.call("copy.update")

    @asynccontextmanager
    async def serving(self, project: str, session: str) -> AsyncIterator[tuple[Sequence[str], str]]:
        await self._way()
        yield ["serve"], session

    async def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        """Yield lines in parts of any size; nothing while the link is down."""
        await self._is_up()
        await self._way()
        if run not in self.runs:
            raise NodeRefused(f"There is no run {run} on this machine.")
        found = self.runs[run]
        changed = asyncio.Event()
        found.changed.append(changed)
        self._back.append(changed)
        try:
            while True:
                changed.clear()
                left = len(found.lines) - offset
                if self.up and left:
                    await asyncio.sleep(self.luck.random() * 0.3)
                    taken = self.luck.randint(1, left)
                    lines = found.lines[offset : offset + taken]
                    offset += taken
                    yield Chunk(lines, offset)
                elif found.over is not None and not left:
                    return
                else:
                    await changed.wait()
        finally:
            found.changed.remove(changed)
            self._back.remove(changed)

    async def close(self) -> None:
        pass

    # ------------------------------------------------------------ trees

    def _tree(self, name: str) -> Tree:
        if name not in self.trees:
            raise NodeRefused(f"There is no tree of {name} on this machine.")
        return self.trees[name]

    def _make(self, *, session: str, commit: str, **_: Any) -> Fields:
        made = session not in self.trees
        if made:
            self.trees[session] = Tree(commit)
        return {"tree": session, "read": [], "made": made, "note": ""}

    def _move(self, *, session: str, commit: str, **_: Any) -> Fields:
        self._tree(session).head = commit
        return {"rescue": ""}

    def _keep(self, *, session: str, **_: Any) -> Fields:
        if any(run.tree == session for run in self.alive()):
            self.git.faults.append(f"the tree of {session} is taken from under its agent")
        self.trees.pop(session, None)
        return {"rescue": "", "commit": "", "note": ""}

    def _collect(self, *, session: str, base: str, **_: Any) -> Fields:
        tree = self._tree(session)
        dirty = ["being checked"] if tree.checking else []
        return {"head": tree.head, "commits": int(tree.head != base), "dirty": dirty, "failure": ""}

    def _check_out(self, *, session: str, commit: str, **_: Any) -> Fields:
        self._tree(session).checking = commit
        if any(run.tree == session for run in self.alive()):
            self.git.faults.append(f"{commit} is checked where {session}'s agent writes")
        return {"tree": session, "read": [], "made": False}

    def _check_back(self, *, session: str, **_: Any) -> Fields:
        self._tree(session).checking = ""
        return {}

    def _fresh(self, *, name: str, commit: str, **_: Any) -> Fields:
        self.trees[name] = Tree(commit, commit)
        return {"tree": name, "read": [], "made": True}

    def _remove(self, *, name: str, **_: Any) -> Fields:
        self.trees.pop(name, None)
        return {}

    # ------------------------------------------------------------ runs

    def _start(self, *, spec: Fields, secrets: Fields | None = None) -> Fields:
        name = str(spec["run"])
        if name in self.runs:
            return {**self.runs[name].state, "started": False}
        run = self.runs[name] = Run(name, spec, str(spec["fence"]["tree"]), last_at=self.now)
        if run.is_agent:
            beside = [other.id for other in self.alive() if other.tree == run.tree]
            if len(beside) > 1:
                self.git.faults.append(f"{name} starts beside {beside}")
            self.most = max(self.most, len(self.alive()))
        run.player = self._plays(self, run)
        return {**run.state, "started": True}

    def _input(self, *, run: str, key: str, kind: str, data: Any) -> Fields:
        if run not in self.runs:
            raise NodeRefused(f"There is no run {run} on this machine.")
        found = self.runs[run]
        if found.over is None and key not in found.keys and found.player is not None:
            found.keys.add(key)
            found.player.hear(kind, data)
        return found.state

    def _pulse(self, *, run: str) -> Fields:
        if run not in self.runs:
            raise NodeRefused(f"There is no run {run} on this machine.")
        found = self.runs[run]
        over_s = self.now - found.felt_at if found.felt_at else 0.0
        found.felt_at = self.now
        return {
            "spooled": len(found.lines),
            "silent_s": self.now - found.last_at,
            "others": int(found.has_tool),
            "youngest_s": 0.0,
            "busiest": "",
            "cpu_s": 0.0,
            "over_s": over_s,
            "stopped": "",
        }

    def _tail(self, *, run: str, length: int) -> Fields:
        if run not in self.runs:
            raise NodeRefused(f"There is no run {run} on this machine.")
        data = b"".join(line + b"\n" for line in self.runs[run].lines)
        return {"data": data.decode(), "start": 0, "now": self.now}

    def _end(self, *, run: str, grace_s: float | None = None, unless_past: int = 0) -> Fields:
        known = self.runs.get(run)
        alive = known is not None and known.over is None and not known.is_ending
        if known is not None and alive and unless_past and len(known.lines) > unless_past:
            return {**known.state, "went_on": True}
        if known is not None and alive:
            known.is_ending = True
            if grace_s == 0 and known.player is not None and known.player.asks():
                self.ended_asking.append(run)
        if run not in self.runs:
            fence = {"tree": ""}
            self.runs[run] = Run(run, {"run": run, "kind": "command", "fence": fence}, "")
            self.runs[run].exit(None, "not started", self.now)
        elif (player := self.runs[run].player) is not None:
            player.end()
        return self.runs[run].state


async def _never() -> Transport:
    raise OSError("nobody dials here")
