"""An agent's line written on another machine -> known here, over a real SSH server on loopback.

Ours: spooled by the runner, seen by the node, pushed over the one channel there is. The floor: `tail -f` of
a file on an open channel of a connection of its own. Beside the times, the processes that the server
started for us while it went on: none, if nothing is run a time. Needs openssh-server.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh

from engine.adapters import ssh
from engine.adapters.ssh import Ssh
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import folder
from tests.machines.sshd import SSHD, Sshd, sshd

ROUNDS = 60
RUN = "bench"
TELL = "import sys, time\nfor line in sys.stdin:\n    print(time.time(), flush=True)\n"


async def measure() -> list[Line]:
    if SSHD is None:
        raise FileNotFoundError("openssh-server is not installed here")
    with folder() as where, _client(where / "client") as client, sshd(where / "box") as there:
        there.let_in(client)
        keys = [await ssh.look(there.address)]
        home = where / "home"
        home.mkdir()
        machine = Ssh("box", there.address, home, box="bench", keys=lambda: keys)
        try:
            ours, floor, grown = await _compared(machine, there, where / "tailed")
        finally:
            await machine.call("run.kill", run=RUN)
            await machine.close()
    return [
        compared(
            "a line on another machine → known here",
            ours,
            floor,
            "tail -f on an open channel",
            most=3,
            why="the line is on disk there first, and passes a process more: runner, spool, node.",
        ),
        Line(
            "the same: commands run over SSH meanwhile",
            f"{grown} for {ROUNDS} lines",
            "0: one channel, kept open",
            None,
            "0",
            grown == 0,
            "something is asked by a command of its own.",
            ROUNDS,
        ),
    ]


@contextmanager
def _client(home: Path) -> Iterator[Path]:
    """A home of the client's own: no key of whoever runs this is looked at."""
    home.mkdir()
    before = {name: os.environ.pop(name, None) for name in ("HOME", "SSH_AUTH_SOCK")}
    os.environ["HOME"] = str(home)
    try:
        yield home
    finally:
        del os.environ["HOME"]
        os.environ.update({name: value for name, value in before.items() if value is not None})


async def _compared(machine: Ssh, there: Sshd, tailed: Path) -> tuple[Times, Times, int]:
    ours, floor = Times(), Times()
    python = os.path.realpath(sys.executable)
    spec = {"run": RUN, "argv": [python, "-I", "-S", "-u", "-c", TELL], "env": {}}
    await machine.call("run.start", spec=spec)
    lines = _heard(machine)
    tailed.touch()
    options = {"known_hosts": None, "username": there.address.user}
    async with (
        asyncssh.connect("127.0.0.1", there.address.port, **options) as connection,
        connection.create_process(f"echo; exec tail -n+1 -f {tailed}") as tail,
    ):
        begun = 0
        for number in range(-5, ROUNDS):
            if number == 0:
                begun = len(there.sessions())
            took = await _ours(machine, lines, number)
            beside = await _floor(tailed, tail)
            if number >= 0:
                ours.add(took)
                floor.add(beside)
        grown = len(there.sessions()) - begun
        tail.terminate()
    return ours, floor, grown


def _heard(machine: Ssh) -> asyncio.Queue[tuple[float, bytes]]:
    """Follow the run; its lines come with when they were known."""
    lines: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def follow() -> None:
        async for chunk in machine.follow(RUN, 0):
            for line in chunk.lines:
                lines.put_nowait((time.time(), line))

    _following.add(task := asyncio.create_task(follow()))
    task.add_done_callback(_following.discard)
    return lines


_following: set[asyncio.Task[None]] = set()


async def _ours(machine: Ssh, lines: asyncio.Queue[tuple[float, bytes]], number: int) -> float:
    await machine.call("run.input", run=RUN, key=str(number), kind="line", data="x")
    while True:
        at, line = await lines.get()
        entry = json.loads(line)
        if entry["k"] == "out":
            return at - float(entry["d"])


async def _floor(tailed: Path, tail: asyncssh.SSHClientProcess[str]) -> float:
    with tailed.open("a") as file:
        file.write(f"{time.time()}\n")
    while not (line := (await tail.stdout.readline()).strip()).replace(".", "").isdigit():
        pass  # the banner
    return time.time() - float(line)
