"""A detached runner: ordered -> its agent runs, one by one and thirty at once; and what thirty weigh.

Ours: an order over the link to the node, the run's folder, a fork of the zygote, a fence, the agent. Two
floors beside it (bare.py), with no link, no folder and no fence: a runner that a small zygote forks, and
one that is a new interpreter.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from engine.adapters.machines import Local
from tests.bench.crowd import agents
from tests.bench.figures import Line, Times, compared
from tests.bench.idles import pss_mb
from tests.bench.stage import compiled, ended, folder, until

ROUNDS = 20
COUNT = 30
BARE = str(Path(__file__).with_name("bare.py"))
STARTED = re.compile(r"started (\d+) done")


async def measure() -> list[Line]:
    with folder() as where:
        async with _Bench.on(where) as bench:
            singles = {kind: Times() for kind in bench.kinds}
            for number in range(-2, ROUNDS):
                for kind, start in bench.kinds.items():
                    took = await bench.timed(start, [f"{kind}-{number + 2}"])
                    if number >= 0:
                        singles[kind].add(took)
            bursts = {kind: Times() for kind in bench.kinds}
            for kind, start in bench.kinds.items():
                bursts[kind].add(await bench.timed(start, _names(f"{kind}-b")))
            sizes = await _sizes(bench)
    return [
        compared(
            "a run ordered → its agent runs",
            singles["ours"],
            singles["cold"],
            "a new interpreter as its runner, no fence",
            most=0.25,
            why=(
                "the fence: bubblewrap takes several times as long as the fork, and what it shows is "
                "looked at first; the run's folder is on disk before anything is started."
            ),
        ),
        compared(
            f"{COUNT} runs ordered at once → the last agent runs",
            bursts["ours"],
            bursts["forked"],
            "forked by a small zygote, no fence",
            most=2,
            why=(
                "a folder on disk and a fence for each, on the cores there are; and the node forks one "
                "after the other, since it waits until each depends on nobody."
            ),
        ),
        _weight("forked", "a bare one forked by a small zygote", 1.3, sizes),
        _weight("cold", "a new interpreter each", 0.35, sizes),
    ]


def _weight(floor: str, over: str, most: float, sizes: dict[str, float]) -> Line:
    ratio = sizes["ours"] / sizes[floor]
    return Line(
        f"a runner's memory, of {COUNT}, over {over}",
        f"{sizes['ours']:.2f} MB PSS",
        f"{sizes[floor]:.2f} MB: no fence, no desk",
        ratio,
        f"≤ {most:g}×",
        ratio <= most,
        "what it does before its agent runs (its order read, what the fence shows put together, the desk's "
        "socket opened) is done in pages of its own, and they stay; the bare one does nothing of that.",
        COUNT,
    )


def _names(prefix: str) -> list[str]:
    return [f"{prefix}-{number}" for number in range(COUNT)]


async def _sizes(bench: _Bench) -> dict[str, float]:
    """Have thirty of each kind live, and return what one weighs."""
    sizes: dict[str, float] = {}
    env = {"BENCH_SIGNAL": "1"}
    known: set[int] = set()
    found: dict[str, set[int]] = {}
    for kind, start in bench.kinds.items():
        await start(_names(f"{kind}-m"), env)
        await until(lambda: len(agents(bench.agent)) == COUNT * (len(found) + 1))
        living = {_runner(pid) for pid in agents(bench.agent)}
        found[kind] = living - known
        known = living
    for kind, pids in found.items():
        sizes[kind] = sum(map(pss_mb, pids)) / len(pids)
    return sizes


def _runner(pid: int) -> int:
    """Return the Python above an agent: fences stand between them."""
    while True:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(stat[1])
        if "python" in os.path.basename(os.readlink(f"/proc/{pid}/exe")):
            return pid


class _Bench:
    """A node of ours, a bare zygote, and a folder for both."""

    def __init__(self, where: Path) -> None:
        self.agent = compiled(where)
        self._home = where / "home"
        self._spools = where / "spools"
        self._tree = where / "tree"
        for made in (self._home, self._spools, self._tree):
            made.mkdir(mode=0o700)
        self._machine = Local(self._home)
        self._zygote: Process
        self._cold: list[Process] = []
        self.kinds = {"ours": self._ours, "forked": self._forked, "cold": self._new}

    @classmethod
    @asynccontextmanager
    async def on(cls, where: Path) -> AsyncIterator[_Bench]:
        bench = cls(where)
        words = ("-I", "-S", BARE, "zygote")
        bench._zygote = await asyncio.create_subprocess_exec(
            sys.executable, *words, stdin=PIPE, stdout=PIPE
        )
        assert bench._zygote.stdout is not None
        await bench._zygote.stdout.readline()
        await bench._machine.hello()
        try:
            yield bench
        finally:
            await bench._end()

    async def timed(self, start: object, names: Sequence[str]) -> float:
        """Start so many, and return how long it took until the last of their agents ran."""
        began = time.time()
        await start(names, {})  # type: ignore[operator]
        last = 0.0

        def told() -> bool:
            nonlocal last
            said = [STARTED.search(self._said(name)) for name in names]
            if all(said):
                last = max(int(found[1]) for found in said if found) / 1e9
            return all(said)

        await until(told)
        return last - began

    def _said(self, name: str) -> str:
        for spool in (self._spools / name, self._home / "runs" / name / "out.jsonl"):
            with suppress(FileNotFoundError):
                return spool.read_text()
        return ""

    async def _ours(self, names: Sequence[str], env: dict[str, str]) -> None:
        about = await self._machine.hello()
        await asyncio.gather(*(self._order(name, env, about) for name in names))

    async def _order(self, name: str, env: dict[str, str], about: dict[str, object]) -> None:
        scratch = f"{self._home}/sessions/{name}"
        view = {
            "tree": str(self._tree),
            "tree_read_only": True,
            "tmp": f"{scratch}/tmp",
            "config_dir": f"{scratch}/config",
            "read": [*about["toolchains"], str(Path(self.agent).parent)],  # type: ignore[misc]
        }
        spec = {
            "run": name,
            "kind": "agent",
            "argv": [self.agent],
            "env": {"PATH": str(about["path"]), **env},
            "desk": True,
            "fence": view,
        }
        await self._machine.call("run.start", spec=spec)

    async def _forked(self, names: Sequence[str], env: dict[str, str]) -> None:
        assert self._zygote.stdin is not None
        for name in names:
            order = {"spool": str(self._spools / name), "argv": [self.agent], "env": env}
            self._zygote.stdin.write(json.dumps(order).encode() + b"\n")
        await self._zygote.stdin.drain()

    async def _new(self, names: Sequence[str], env: dict[str, str]) -> None:
        for name in names:
            words = ("-I", "-S", BARE, "run", str(self._spools / name), self.agent)
            self._cold.append(
                await asyncio.create_subprocess_exec(
                    sys.executable,
                    *words,
                    stdin=DEVNULL,
                    env={**os.environ, **env},
                    start_new_session=True,
                )
            )

    async def _end(self) -> None:
        for pid in agents(self.agent):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        runs = self._home / "runs"
        await until(lambda: all((run / "exit.json").exists() for run in runs.iterdir()))
        await self._machine.close()
        for process in (*self._cold, self._zygote):
            await ended(process, signal.SIGTERM)
