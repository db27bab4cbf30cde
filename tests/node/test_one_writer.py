"""A session has one writer, ever: its next turn begins on a machine only where nothing of the last one lives.

The engine orders turns one after the other and waits for each one's end; here it is the machine that holds
it, whatever was ordered. Ours is what we can prove to have started: by its marks, or by a pid together with
the moment it began. Neighbours: test_runner.py, test_fence.py (how a run is ended).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.node import fence, folder
from engine.node.runs import WAITS, Runs
from tests.node.reading import ended, lines, said, until
from tests.node.test_runner import probe, run, runs
from tests.node.test_serve import PATH, Node, Open, home, open_node

__all__ = ["home", "open_node", "probe", "run", "runs"]

ORDINARY = 65534
STUBBORN = "trap '' TERM HUP INT; setsid sh -c \"trap '' TERM; echo up; sleep 1000\" & "
STUBBORN += "while :; do sleep 1; done"


def turn(session: str, number: int, script: str) -> dict[str, Any]:
    return {
        "run": f"{session}-t{number}",
        "session": session,
        "kind": "agent",
        "argv": ["/bin/sh", "-c", script],
        "env": {"PATH": PATH, "HOME": os.path.expanduser("~")},
    }


async def alive(node: Node) -> list[str]:
    runs = (await node.ask("run.list"))["ok"]["runs"]
    return [state["run"] for state in runs if state["alive"]]


async def begun(node: Node, home: Path, run: str) -> int:
    """Wait until a run's agent is up; return its runner's pid."""
    child = until(lambda: folder.read(str(home / "runs" / run / "child.json")))
    until(lambda: "up" in said(home / "runs" / run))
    return int(child["runner"])


@pytest.mark.parametrize("whose", ["its runner lives", "its runner was killed"])
async def test_the_next_turn_begins_once_a_stubborn_process_of_the_last_is_ended(
    open_node: Open, home: Path, run: str, whose: str
) -> None:
    """BR-51: it hears no SIGTERM, and has made a session of its own."""
    node = await open_node()
    await node.hello(1)
    await node.ask("run.start", spec=turn(run, 1, STUBBORN))
    runner = await begun(node, home, f"{run}-t1")
    if whose == "its runner was killed":
        os.kill(runner, signal.SIGKILL)
    await node.ask("run.start", spec=turn(run, 2, "echo up; cat"))
    place = fence.place(str(home / "runs" / f"{run}-t1"))
    assert fence.marked(f"{run}-t1", place) == []
    assert ended(home / "runs" / f"{run}-t1")["why"] in ("stopped", "cut off")
    assert await alive(node) == [f"{run}-t2"]


async def test_of_two_turns_ordered_at_once_the_later_one_is_left(
    open_node: Open, home: Path, run: str
) -> None:
    """BR-51."""
    node = await open_node()
    await node.hello(1)
    for number in (1, 2, 3):
        order = {"spec": turn(run, number, "echo up; cat")}
        await node.channel.send({"id": 100 + number, "op": "run.start", "args": order})
    while not all(100 + number in node._early for number in (1, 2, 3)):
        await node._receive()
    assert await alive(node) == [f"{run}-t3"]
    late = await node.ask("run.start", spec=turn(run, 2, "echo up; cat"))
    assert "A later turn" in late["no"]
    assert await alive(node) == [f"{run}-t3"]


async def test_other_sessions_and_checks_are_left_alone(
    open_node: Open, home: Path, run: str
) -> None:
    """BR-64."""
    node = await open_node()
    await node.hello(1)
    others = [
        turn(f"{run}0", 1, "cat"),
        turn(f"{run}-t1", 1, "cat"),
        turn(f"check-{run}", 1, "cat"),
    ]
    for other in others:
        await node.ask("run.start", spec=other)
    await node.ask("run.start", spec=turn(run, 2, "cat"))
    assert sorted(await alive(node)) == sorted([f"{run}-t2", *(str(o["run"]) for o in others)])


@contextmanager
def as_ordinary(folder: Path) -> Iterator[None]:
    """Be a user who may not end what root has started."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, ORDINARY, ORDINARY)
    os.setresgid(ORDINARY, ORDINARY, 0)
    os.setresuid(ORDINARY, ORDINARY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can get at."""
    made = Path(tempfile.mkdtemp(prefix="quarterdeck-"))
    yield made
    shutil.rmtree(made)


@pytest.mark.skipif(os.geteuid() != 0, reason="what cannot be ended is another user's")
def test_the_end_of_a_run_waits_for_a_process_that_does_not_end_and_says_so(
    open_folder: Path, probe: fence.Probe
) -> None:
    """BR-51: its exit is what the next turn waits for."""
    path = open_folder / "runs" / "s-1-t1"
    path.mkdir(parents=True)
    path.joinpath("out.jsonl").write_bytes(folder.line(1, "out", "at it"))
    with subprocess.Popen(["sleep", "1000"]) as stuck:
        child = {"runner": 1, "pid": stuck.pid, "started": fence.start_time(stuck.pid)}
        folder.write(str(path / "child.json"), child)
        runs = Runs(str(open_folder), probe)
        with as_ordinary(open_folder):
            for _ in range(2):
                assert not runs.finish("s-1-t1")
        assert folder.ended(str(path)) is None
        assert runs.writers_beside("s-1", "s-1-t2") == ["s-1-t1"]
        note = f"{WAITS}process {stuck.pid} (sleep) was killed and does not end; "
        note += "nothing starts beside it"
        assert [(line["k"], line["d"]) for line in lines(path)] == [
            ("out", "at it"),
            ("note", note),
        ]
        assert stuck.poll() is None
        assert runs.finish("s-1-t1")
        assert stuck.wait() == -signal.SIGKILL
    assert [line["k"] for line in lines(path)] == ["out", "note", "exit"]
    assert runs.writers_beside("s-1", "s-1-t2") == []
