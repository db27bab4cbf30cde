"""A full disk under a run, and under its node: what was begun goes on, what cannot says why, nothing is half."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.adapters.machines import Local
from engine.errors import NoRoom
from engine.node import fence, folder, follow, room
from engine.node.runs import Runs
from tests.node.reading import ended, gone, said, until
from tests.small_disk import PAGE_KIB, SmallDisk, alone, small_disk

PATH = os.environ.get("PATH", os.defpath)
WORDS = [f"line {n} {'x' * 90}" for n in range(60)]
TALK = "read go; i=0; while [ $i -lt 60 ]; do echo line $i " + "x" * 90 + "; i=$((i+1)); done"
# Past the note that a run as root begins with; by single bytes of a line, then over many lines.
FILLS = [400 + 37 * n for n in range(8)] + [463 * n for n in range(2, 10)]


@pytest.fixture(scope="module")
def probe() -> fence.Probe:
    return fence.probe()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 8192) as disk:
        yield disk


@contextmanager
def runs_in(home: Path, probe: fence.Probe) -> Iterator[Runs]:
    (home / "trees" / "shop").mkdir(parents=True)
    made = Runs(str(home), probe)
    yield made
    for state in made.states():
        if state["alive"]:
            made.kill(state["run"])
    until(lambda: not made._started or (made.reap() == [] and not made._started))


@pytest.fixture
def runs(tmp_path: Path, probe: fence.Probe) -> Iterator[Runs]:
    with runs_in(tmp_path / "home", probe) as made:
        yield made


@pytest.fixture
def small(disk: SmallDisk, probe: fence.Probe) -> Iterator[Runs]:
    """Runs on the small disk."""
    with runs_in(disk.root / "home", probe) as made:
        yield made
        disk.free()


def order(home: Path, run: str, script: str, **more: Any) -> dict[str, Any]:
    return {
        "run": run,
        "kind": "agent",
        "argv": ["/bin/sh", "-c", script],
        "env": {"PATH": PATH},
        "fence": {"tree": str(home / "trees" / "shop")},
        **more,
    }


def start(runs: Runs, script: str, **more: Any) -> tuple[str, Path]:
    run = f"r-{uuid.uuid4().hex[:12]}"
    path = Path(runs.path(run))
    runs.start(order(path.parent.parent, run, script, **more))
    return run, path


def child_of(path: Path) -> dict[str, Any]:
    return until(lambda: folder.read(str(path / "child.json")))


def over(child: dict[str, Any]) -> bool:
    return gone(int(child["child_pid"] or child["pid"]))


def limit(pid: int, size: int) -> None:
    """Let no file of a process grow past so many bytes: a disk that is full at exactly that byte."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a spool as the engine is handed them."""
    found = follow.next_lines(str(path / "out.jsonl"), 0)
    return [json.loads(line) for line in found.data.splitlines()] if found else []


def judge_whole(path: Path) -> None:
    """Every line of the spool is one of ours, in order, and none is missing."""
    found = read(path)
    assert [line["n"] for line in found] == list(range(1, len(found) + 1))


# ---------------------------------------------------------------- a run


def test_a_run_goes_on_from_the_very_byte_at_which_there_was_no_room(runs: Runs) -> None:
    """Sixteen runs, each stopped at a byte of its own; then all have room."""
    begun = [start(runs, TALK) for _ in FILLS]
    for size, (run, path) in zip(FILLS, begun, strict=True):
        limit(child_of(path)["runner"], size)
        runs.input(run, "1", "line", "go")
    for size, (_, path) in zip(FILLS, begun, strict=True):
        spool = path / "out.jsonl"
        until(lambda spool=spool, size=size: spool.stat().st_size == size)  # type: ignore[misc]
        assert folder.alive(str(path))
        assert folder.ended(str(path)) is None
    for _, path in begun:
        limit(child_of(path)["runner"], resource.RLIM_INFINITY)
    for _, path in begun:
        assert ended(path)["code"] == 0
        assert said(path) == WORDS
        judge_whole(path)


def test_a_run_that_finds_no_room_for_long_is_ended_and_says_so_once_there_is_some(
    runs: Runs,
) -> None:
    run, path = start(runs, f"{TALK}; sleep 1000", hold_s=0.5)
    child = child_of(path)
    limit(child["runner"], FILLS[0])
    runs.input(run, "1", "line", "go")
    until(lambda: over(child))
    assert folder.ended(str(path)) is None
    assert runs.state(run)["alive"]
    limit(child["runner"], resource.RLIM_INFINITY)
    how = ended(path)
    assert (how["why"], how["signal"]) == ("no room", signal.SIGKILL)
    assert how["words"] == "Ended: the disk of its machine took nothing more for 0.5 seconds."
    judge_whole(path)


def test_a_run_can_be_stopped_though_nothing_can_be_put_into_its_inbox(
    disk: SmallDisk, small: Runs
) -> None:
    run, path = start(small, f"while :; do echo {'y' * 2000}; sleep 0.01; done", grace_s=0.5)
    until(lambda: said(path))
    disk.fill()
    with pytest.raises(OSError, match="No space left"):
        small.input(run, "1", "line", "z" * 100_000)
    child = child_of(path)
    small.end(run, 5)
    until(lambda: over(child))
    disk.free()
    assert ended(path)["why"] == "stopped"
    judge_whole(path)


def test_a_run_that_is_killed_on_a_full_disk_is_gone_and_its_end_is_told_later(
    disk: SmallDisk, small: Runs
) -> None:
    run, path = start(small, "trap '' TERM; while :; do sleep 1; done", grace_s=60)
    child = child_of(path)
    disk.fill()
    with pytest.raises(OSError, match="No space left"):
        small.kill(run)
    assert over(child)
    assert not folder.alive(str(path))
    disk.free()
    assert small.kill(run)["exit"]["why"] == "cut off"
    judge_whole(path)


def test_the_end_of_a_run_is_written_whole_at_every_fill_of_the_disk(
    disk: SmallDisk, small: Runs
) -> None:
    """Twelve fills, by pages, at the moment a killed runner's end is to be written by the node."""
    refused = 0
    for left in range(12):
        path = Path(small.path(f"r-{left}"))
        path.mkdir()
        spooled = b"".join(folder.line(n, "out", "x" * 97) for n in range(1, 28))
        torn = spooled + b'{"n":28,"t":1,"k":"out","d":"' + b"t" * 5000
        torn = torn[
            : 4096 + 31 - left
        ]  # the page it stands on has room for less and less of an end
        (path / "out.jsonl").write_bytes(torn)
        disk.fill(left // 4 * PAGE_KIB)
        try:
            small.finish(path.name)
        except OSError as error:
            refused += room.is_missing(error)
            left_there = (path / "out.jsonl").read_bytes()
            assert left_there == torn or (folder.last_line(str(path)) or {}).get("k") == "exit"
            assert folder.ended(str(path)) is None
        disk.free()
        small.finish(path.name)
        assert (folder.ended(str(path)) or {})["why"] == "cut off"
        assert [line["k"] for line in read(path)].count("exit") == 1
    assert refused >= 4


async def test_a_node_that_can_write_no_end_stays_and_tells_it_once_it_can(
    disk: SmallDisk,
) -> None:
    """Its follower waits, and does not turn in circles."""
    home = disk.root / "home"
    (home / "trees" / "shop").mkdir(parents=True)
    machine = Local(home)
    try:
        await machine.hello()
        node = machine.pid
        await machine.call("run.start", spec=order(home, "r-1", "echo up; read x"))
        path = home / "runs/r-1"
        await asyncio.to_thread(until, lambda: said(path))
        child = child_of(path)
        following = asyncio.create_task(_all_of(machine, "r-1"))
        disk.fill()
        os.kill(child["runner"], signal.SIGKILL)
        await asyncio.to_thread(until, lambda: not folder.alive(str(path)))
        before = _cpu_s(node)
        await asyncio.wait([following], timeout=2.5)
        assert not following.done()
        assert _cpu_s(node) - before < 1.0
        with pytest.raises(NoRoom, match="here: no room on its disk"):
            await machine.call("run.start", spec=order(home, "r-2", "true"))
        disk.free()
        told = await asyncio.wait_for(following, 20)
        assert json.loads(told[-1])["d"]["why"] == "cut off"
        assert machine.pid == node
    finally:
        await machine.close()


async def _all_of(machine: Local, run: str) -> list[bytes]:
    return [line async for chunk in machine.follow(run, 0) for line in chunk.lines]


def _cpu_s(pid: int | None) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_played_in_a_namespace_where_nobody_else_may_mount() -> None:
    alone(__file__)
