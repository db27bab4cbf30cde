"""This machine as the engine has it: calls, following, and a node that dies under both."""

import asyncio
import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engine.adapters import machines, zipapp
from engine.adapters.machines import Chunk, Local, Machine, NodeRefused
from engine.errors import Unavailable
from engine.node import folder
from tests.node.reading import ended, gone, said, until

PATH = os.environ.get("PATH", os.defpath)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "проект with a space").mkdir()
    return tmp_path / "проект with a space"


@pytest.fixture
async def here(home: Path) -> AsyncIterator[Local]:
    machine = Local(home)
    yield machine
    await machine.close()
    last = Local(home)
    for state in (await last.call("run.list"))["runs"]:
        if state["alive"]:
            await last.call("run.kill", run=state["run"])
    await last.close()


@pytest.fixture
def run() -> str:
    return f"r-{uuid.uuid4().hex[:12]}"


def shell(run: str, script: str, **more: Any) -> dict[str, Any]:
    env = {"PATH": PATH, "HOME": os.path.expanduser("~")}
    return {"run": run, "argv": ["/bin/sh", "-c", script], "env": env, **more}


class Reader:
    """Follows one run in the background and keeps what came."""

    def __init__(self, machine: Machine, run: str, offset: int = 0) -> None:
        self.offset = offset
        self.raw = b""
        self.more = asyncio.Event()
        self.task = asyncio.create_task(self._read(machine.follow(run, offset)))

    async def _read(self, chunks: AsyncIterator[Chunk]) -> None:
        async for chunk in chunks:
            self.raw += b"".join(line + b"\n" for line in chunk.lines)
            self.offset = chunk.offset
            self.more.set()

    @property
    def out(self) -> list[str]:
        spooled = [json.loads(line) for line in self.raw.splitlines()]
        return [line["d"] for line in spooled if line["k"] == "out"]

    async def has(self, line: str) -> None:
        while line not in self.out:
            self.more.clear()
            await self.more.wait()


def kill_node(machine: Local) -> None:
    assert machine.pid is not None
    os.kill(machine.pid, signal.SIGKILL)


async def test_a_run_is_started_fed_and_read_to_its_end(here: Local, home: Path, run: str) -> None:
    state = await here.call("run.start", spec=shell(run, "read a; echo heard $a; exit 3"))
    assert (state["run"], state["started"]) == (run, True)
    await here.call("run.input", run=run, key="1", kind="line", data="é")
    reader = Reader(here, run)
    await reader.task
    assert reader.out == ["heard é"]
    assert reader.raw == (home / "runs" / run / "out.jsonl").read_bytes()
    (state,) = (await here.call("run.list", runs=[run, "r-none"]))["runs"]
    assert state["exit"]["code"] == 3


async def test_a_reader_starts_again_where_it_stopped(here: Local, home: Path, run: str) -> None:
    await here.call("run.start", spec=shell(run, "echo one; read a; echo two"))
    first = Reader(here, run)
    await first.has("one")
    first.task.cancel()
    await here.call("run.input", run=run, key="1", kind="line", data="")
    second = Reader(here, run, first.offset)
    await second.task
    assert first.raw + second.raw == (home / "runs" / run / "out.jsonl").read_bytes()


async def test_a_killed_node_loses_and_doubles_no_line(here: Local, home: Path, run: str) -> None:
    """BR-97."""
    script = "i=0; while read a; do i=$((i+1)); for j in 1 2 3 4 5; do echo $i.$j; done; done"
    await here.call("run.start", spec=shell(run, script))
    reader = Reader(here, run)
    count = 0
    for _ in range(5):
        for _ in range(20):
            count += 1
            key = str(count)
            try:
                await here.call("run.input", run=run, key=key, kind="line", data="x")
            except Unavailable:
                await here.call("run.input", run=run, key=key, kind="line", data="x")
        kill_node(here)
    await reader.has(f"{count}.5")
    try:  # the node before the last one may have told all of it
        await here.call("run.end", run=run, grace_s=20)
    except Unavailable:
        await here.call("run.end", run=run, grace_s=20)
    await reader.task
    assert reader.out == [f"{i}.{j}" for i in range(1, count + 1) for j in range(1, 6)]
    assert reader.raw == (home / "runs" / run / "out.jsonl").read_bytes()


async def test_each_new_link_has_a_newer_epoch(here: Local) -> None:
    first = (await here.hello())["epoch"]
    down = asyncio.Event()
    here.link.changed.append(down.set)
    kill_node(here)
    await down.wait()
    assert (await here.hello())["epoch"] > first


async def test_a_node_that_was_warmed_is_the_one_that_is_asked(here: Local) -> None:
    await here.warm()
    assert (await here.hello())["epoch"] == 1
    down = asyncio.Event()
    here.link.changed.append(down.set)
    kill_node(here)
    await down.wait()
    assert (await here.hello())["epoch"] == 2


async def test_what_a_node_says_fits_whatever_its_user_has_of_pipes(here: Local) -> None:
    await here.hello()  # through a pipe it were two pages at a time, beside two hundred runs
    assert os.readlink(f"/proc/{here.pid}/fd/1").startswith("socket:")


async def test_a_node_that_was_never_asked_ends_with_its_engine(home: Path) -> None:
    machine = Local(home)
    await machine.warm()
    await machine.close()
    with pytest.raises(Unavailable, match="closed"):
        await machine.hello()


async def test_a_question_under_way_when_the_node_dies_is_unavailable(here: Local) -> None:
    await here.hello()
    assert here.pid is not None
    os.kill(here.pid, signal.SIGSTOP)
    asked = asyncio.create_task(here.call("run.list"))
    await asyncio.sleep(0)
    kill_node(here)
    with pytest.raises(Unavailable, match="here: "):
        await asked
    assert (await here.call("run.list"))["runs"] == []


async def test_a_no_is_told_from_no_answer(here: Local) -> None:
    with pytest.raises(NodeRefused, match="no run r-none") as no:
        await here.call("run.input", run="r-none", key="1", kind="line", data="")
    assert no.value.sentence == "There is no run r-none on this machine."
    with pytest.raises(NodeRefused, match="no run r-none"):
        async for _ in here.follow("r-none", 0):
            pass


async def test_an_interpreter_that_is_not_there_is_said_to_be(home: Path) -> None:
    machine = Local(home, python="/nowhere/python3")
    with pytest.raises(Unavailable, match="/nowhere/python3"):
        await machine.hello()
    await machine.close()


async def test_a_node_that_cannot_work_is_dialled_with_patience(home: Path) -> None:
    machine = Local(home, python="/bin/false")
    for _ in range(3):
        with pytest.raises(Unavailable, match="here: "):
            await machine.hello()
    await machine.close()
    with pytest.raises(Unavailable, match="closed"):
        await machine.hello()


async def test_closing_leaves_the_runs_alone(here: Local, home: Path, run: str) -> None:
    await here.call("run.start", spec=shell(run, "echo here; read a; echo bye"))
    reader = Reader(here, run)
    await reader.has("here")
    node = here.pid
    assert node is not None
    await here.close()
    assert gone(node)
    with pytest.raises(Unavailable):
        await reader.task
    assert folder.alive(str(home / "runs" / run))
    later = Local(home)
    await later.call("run.input", run=run, key="1", kind="line", data="")
    rest = Reader(later, run, reader.offset)
    await rest.task
    assert rest.out == ["bye"]
    await later.close()


async def test_a_runner_killed_under_its_reader_ends_cut_off(
    here: Local, home: Path, run: str
) -> None:
    script = "setsid sleep 1000 & echo here; sleep 1000"
    await here.call("run.start", spec=shell(run, script))
    reader = Reader(here, run)
    await reader.has("here")
    child = until(lambda: folder.read(str(home / "runs" / run / "child.json")))
    os.kill(child["runner"], signal.SIGKILL)
    await reader.task
    assert ended(home / "runs" / run)["why"] == "cut off"
    until(lambda: gone(child["pid"]))


async def test_a_newer_engine_takes_the_machine_and_the_older_starts_nothing(
    here: Local, home: Path, run: str
) -> None:
    await here.hello()
    other = Local(home)
    await other.hello()
    with pytest.raises(NodeRefused, match="may only read"):
        await here.call("run.start", spec=shell(run, "true"))
    assert (await other.call("run.start", spec=shell(run, "true")))["started"]
    await other.close()


async def test_a_desk_call_made_while_the_engine_is_away_is_there_when_it_is_back(
    here: Local, home: Path, run: str
) -> None:
    """M15."""
    desk = (await here.hello())["desk"]
    script = 'read go; exec "$@" done --json \'{"summary": "all"}\''
    spec = shell(run, script, desk=True, call_s=0.2)
    spec["argv"] += ["sh", *desk]
    spec["env"]["QUARTERDECK_ROLE"] = "worker"
    await here.call("run.start", spec=spec)
    await here.call("run.input", run=run, key="1", kind="line", data="go")
    await here.close()
    path = home / "runs" / run
    assert ended(path)["code"] == 0
    assert said(path)[0].startswith("Kept: it runs once Quarterdeck is back")
    later = Local(home)
    reader = Reader(later, run)
    await reader.task
    await later.close()
    assert said(path, "desk") == [
        {"call": "c1", "tool": "done", "args": {"summary": "all"}},
        {"call": "c1", "kept": True},
    ]


async def test_a_long_line_is_fetched_in_parts(here: Local, run: str) -> None:
    size = 3_000_000
    script = f"head -c {size} /dev/zero | tr '\\0' x; echo"
    await here.call("run.start", spec=shell(run, script, kind="command"))
    reader = Reader(here, run)
    await reader.task
    marker = next(line for line in map(json.loads, reader.raw.splitlines()) if "blob" in line)
    got = b""
    while len(got) < marker["size"]:
        part = await here.call(
            "run.blob", run=run, name=marker["blob"], offset=len(got), length=1_000_000
        )
        got += machines.blob(part)
    assert got == b"x" * size


async def test_a_reader_that_is_slow_gets_all_of_a_noisy_run(here: Local, run: str) -> None:
    script = "for i in $(seq 9000); do printf '%01000d\\n' $i; done"
    await here.call("run.start", spec=shell(run, script, kind="command"))
    numbers: list[int] = []
    async for chunk in here.follow(run, 0):
        numbers += [int(json.loads(x)["d"]) for x in chunk.lines if b'"k":"out"' in x]
        await here.call("run.list", runs=[run])  # the link is free all the while
    assert numbers == list(range(1, 9001))


def test_the_same_sources_make_the_same_file(tmp_path: Path) -> None:
    first, second = (zipapp.build(tmp_path / name) for name in ("a", "b"))
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    when = first.stat().st_mtime_ns
    assert zipapp.build(tmp_path / "a").stat().st_mtime_ns == when


async def test_what_is_secret_in_our_environment_stays_here(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-102."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "s3cr3t")
    monkeypatch.setenv("QUARTERDECK_HOME", "/somewhere")
    machine = Local(home, python=sys.executable)
    await machine.hello()
    environ = Path(f"/proc/{machine.pid}/environ").read_bytes()
    assert b"s3cr3t" not in environ
    assert b"QUARTERDECK" not in environ
    await machine.close()
