"""What is seen of a silent run: real processes that sleep, burn, are stopped, or are not there at all.

As root the runs here are unfenced; one in a fence is tried as an ordinary user by test_in_a_fence.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.node import fence, folder
from engine.node.pulse import Pulse
from engine.node.runs import Runs
from tests.node.reading import ended, said, until
from tests.node.test_fence import ORDINARY, SOURCES
from tests.node.test_runner import PYTHON, shell

BURNS = f"{PYTHON} -c 'while True: pass'"
FELT_S = 0.5


@pytest.fixture(scope="module")
def probe() -> fence.Probe:
    return fence.probe()


@pytest.fixture
def runs(tmp_path: Path, probe: fence.Probe) -> Iterator[Runs]:
    (tmp_path / "home" / "trees" / "shop").mkdir(parents=True)
    made = Runs(str(tmp_path / "home"), probe)
    yield made
    for state in made.states():
        if state["alive"]:
            made.kill(state["run"])
    until(lambda: not made._started or (made.reap() == [] and not made._started))


@pytest.fixture
def run() -> str:
    return f"r-{uuid.uuid4().hex[:12]}"


def felt(pulse: Pulse, path: Path) -> dict[str, Any]:
    """What is told the second time, when it is known what was used since the first."""
    pulse.of(str(path))
    time.sleep(FELT_S)
    return pulse.of(str(path))


def works(pulse: Pulse, path: Path) -> dict[str, Any] | None:
    """What is told once it shows work; this machine may have others that are in a hurry."""
    seen = felt(pulse, path)
    return seen if seen["cpu_s"] > 0.1 * seen["over_s"] > 0 else None


def up(path: Path, word: str = "up") -> Path:
    until(lambda: word in said(path))
    return path


def test_a_tool_that_sleeps_is_there_and_uses_nothing(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "sleep 300 & echo up; wait"))
    seen = felt(Pulse(), path)
    assert (seen["others"], seen["stopped"]) == (1, "")
    assert seen["cpu_s"] < 0.1 * seen["over_s"]
    assert 0 <= seen["youngest_s"] < 60
    assert seen["spooled"] == (path / "out.jsonl").stat().st_size
    assert seen["silent_s"] >= FELT_S / 2


def test_a_tool_that_burns_is_told_by_name_and_by_what_it_used(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, f"{BURNS} & echo up; wait"))
    pulse = Pulse()
    seen = until(lambda: works(pulse, path))
    assert seen["others"] == 1
    assert seen["busiest"].startswith("python")


def test_many_short_commands_are_work_as_well(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "echo up; while :; do /bin/true; done"))
    pulse = Pulse()
    until(lambda: works(pulse, path))


def test_an_agent_that_hangs_has_nothing_beside_it(runs: Runs, run: str) -> None:
    """BR-67: a tool gave its result, and then there is silence."""
    path = up(shell(runs, run, "sh -c 'sleep 0.01'; echo up; read never"))
    seen = felt(Pulse(), path)
    assert (seen["others"], seen["busiest"], seen["stopped"]) == (0, "", "")
    assert seen["cpu_s"] < 0.1 * seen["over_s"]


def test_one_that_never_says_a_word_is_silent_since_it_began(runs: Runs, run: str) -> None:
    """BR-67."""
    path = shell(runs, run, "exec sleep 300")
    until((path / "child.json").exists)
    seen = felt(Pulse(), path)
    assert (seen["others"], seen["stopped"]) == (0, "")
    assert seen["silent_s"] >= FELT_S / 2


def test_the_first_answer_says_that_it_cannot_tell_yet_what_was_used(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, f"{BURNS} & echo up; wait"))
    seen = Pulse().of(str(path))
    assert (seen["cpu_s"], seen["over_s"], seen["busiest"]) == (0.0, 0.0, "")


def test_the_desk_is_none_of_its_own(runs: Runs, run: str, tmp_path: Path) -> None:
    node = tmp_path / "home" / "trees" / "shop" / "node"
    node.mkdir()
    (node / "__main__.py").write_text("import time\ntime.sleep(300)\n")
    path = up(shell(runs, run, f"{PYTHON} -I -S {node} desk & echo up; wait"))
    until(lambda: any(words.endswith("desk ") for words in commands_of(path)))
    assert felt(Pulse(), path)["others"] == 0


def commands_of(path: Path) -> list[str]:
    """The command lines of all that says it is of this run."""
    mark = f"{fence.MARK}={path.name}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_what_made_a_session_of_its_own_and_lost_its_parent_is_seen(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "(setsid sleep 300 &) ; echo up; read never"))
    until(lambda: felt(Pulse(), path)["others"] == 1)


def test_a_stopped_agent_is_told(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "echo $$; echo up; read never"))
    pulse = Pulse()
    (agent,) = agents(path)
    os.kill(agent, signal.SIGSTOP)
    until(lambda: pulse.of(str(path))["stopped"] == "sh")
    os.kill(agent, signal.SIGCONT)
    until(lambda: pulse.of(str(path))["stopped"] == "")


def test_a_stopped_runner_is_told(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "echo up; read never"))
    runner = until(lambda: folder.read(str(path / "child.json")))["runner"]
    os.kill(runner, signal.SIGSTOP)
    try:
        until(lambda: Pulse().of(str(path))["stopped"])
    finally:
        os.kill(runner, signal.SIGCONT)


def test_a_stopped_process_that_was_left_behind_does_not_stop_the_agent(
    runs: Runs, run: str
) -> None:
    path = up(shell(runs, run, "sleep 300 & kill -STOP $!; echo up; read never"))
    seen = until(lambda: (seen := felt(Pulse(), path))["halted"] and seen)
    assert (seen["others"], seen["halted"], seen["stopped"]) == (1, 1, "")


@pytest.mark.parametrize("pid", ["x", [1], {}, None, True, -1, 1e400, 2**80])
def test_where_notes_of_a_run_were_spoilt_nothing_is_made_up(
    runs: Runs, run: str, pid: object
) -> None:
    path = up(shell(runs, run, "echo up; read never"))
    kept = (path / "child.json").read_text()
    for spoilt in ({"fenced": True, "child_pid": pid}, {"runner": pid, "runner_started": ""}):
        (path / "child.json").write_text(json.dumps(spoilt))
        assert set(Pulse().of(str(path))) == {"spooled", "silent_s"}
    (path / "child.json").write_text(json.dumps({**json.loads(kept), "pid": pid}))
    assert Pulse().of(str(path))["stopped"] == ""
    (path / "child.json").write_text(kept)


def agents(path: Path) -> list[int]:
    """The agent's process as it is known outside."""
    mark = f"{fence.MARK}={path.name}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if words[:2] == [b"/bin/sh", b"-c"] and mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_other_runs_are_not_mixed_up_with_it(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "echo up; read never"))
    beside = up(shell(runs, f"{run}-2", f"{BURNS} & sleep 300 & echo up; wait"))
    pulse = Pulse()
    assert felt(pulse, path)["others"] == 0
    assert felt(pulse, beside)["others"] == 2


def test_of_a_run_that_is_over_only_its_silence_is_told(runs: Runs, run: str) -> None:
    path = shell(runs, run, "echo over")
    ended(path)
    until(lambda: set(Pulse().of(str(path))) == {"spooled", "silent_s"})


def test_where_there_is_no_proc_nothing_is_made_up(runs: Runs, run: str, tmp_path: Path) -> None:
    path = up(shell(runs, run, "echo up; read never"))
    assert set(Pulse(str(tmp_path / "none")).of(str(path))) == {"spooled", "silent_s"}


IN_A_FENCE = """
import json, sys, time
from engine.node import fence
from engine.node.pulse import Pulse
from engine.node.runs import Runs
home, told = sys.argv[1], []
runs = Runs(home, fence.probe())
path = runs.path("s-1-t1")
script = "(setsid sleep 300 &); python3 -c 'while True: pass' & echo up; wait"
runs.start({
    "run": "s-1-t1", "kind": "agent", "argv": ["/bin/sh", "-c", script],
    "env": {"PATH": "/usr/bin:/bin"}, "fence": {"tree": home + "/trees/shop"},
})
until = time.monotonic() + 30
pulse = Pulse()
while time.monotonic() < until:
    told.append(pulse.of(path))
    if told[-1].get("others") == 2 and told[-1]["busiest"]:
        break
    time.sleep(0.3)
print(json.dumps([runs.probe.fenced, told[-1]]))
runs.kill("s-1-t1")
"""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="unfenced: bubblewrap is not installed")
def test_in_a_fence_the_same_is_seen_from_outside() -> None:
    """Processes inside have numbers of their own there, and the kernel's here."""
    who: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="quarterdeck-pulse-") as name:
        stage = Path(name)
        shutil.copytree(SOURCES / "engine" / "node", stage / "lib" / "engine" / "node")
        (stage / "home" / "trees" / "shop").mkdir(parents=True)
        python = sys.executable
        if os.geteuid() == 0:
            python = "/usr/bin/python3"
            who = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
            for path in (stage, *stage.rglob("*")):
                os.chown(path, ORDINARY, ORDINARY)
        told = subprocess.run(
            [python, "-c", IN_A_FENCE, str(stage / "home")],
            cwd=stage / "lib",
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(stage)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            **who,
        )
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("[true, "), told.stdout
    assert '"others": 2' in told.stdout
    assert '"busiest": "python3"' in told.stdout


def test_a_torn_last_line_is_none_that_is_waited_for(runs: Runs, run: str) -> None:
    path = up(shell(runs, run, "echo up; read never"))
    whole = Pulse().of(str(path))["spooled"]
    with (path / "out.jsonl").open("ab") as spool:
        spool.write(b'{"n": 99, "t"')
    assert Pulse().of(str(path))["spooled"] == whole
