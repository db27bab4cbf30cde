"""What the zygote forks: runners that outlive it, scripts that do not, and what happens without one."""

from __future__ import annotations

import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.node import copies, fence, folder, trees, zygote
from engine.node.runs import Runs, code_folder
from tests.node.reading import ended, said, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is none elsewhere")


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Iterator[zygote.Zygote]:
    monkeypatch.setattr(zygote, "_ready", [])
    zygote.start(code_folder())
    made = zygote.ready()
    assert made is not None
    assert made.loaded.wait(20)
    yield made
    kill(made)


@pytest.fixture
def runs(tmp_path: Path, forks: zygote.Zygote) -> Runs:
    return Runs(str(tmp_path / "home"), fence.Probe(why="not asked for in this test"))


@pytest.fixture
def run() -> str:
    return f"r-{uuid.uuid4().hex[:12]}"


def kill(forks: zygote.Zygote) -> None:
    """End it and wait until all of its handle's own has noticed."""
    for listener in [thread for thread in threading.enumerate() if thread.name == "zygote"]:
        os.kill(forks.pid, signal.SIGKILL)
        listener.join(20)


def shell(runs: Runs, run: str, script: str) -> Path:
    runs.start({"run": run, "kind": "command", "argv": ["/bin/sh", "-c", script], "env": {}})
    return Path(runs.path(run))


def runner_of(path: Path) -> int:
    child = until(lambda: folder.read(str(path / "child.json")))
    return int(child["runner"])


def parent(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("PPid:")))


def test_a_runner_is_forked_and_says_how_it_ended(
    runs: Runs, run: str, forks: zygote.Zygote, tmp_path: Path
) -> None:
    told = threading.Event()
    runs.told = told.set
    os.mkfifo(tmp_path / "wait")
    path = shell(runs, run, f"echo hello; read -r line < {tmp_path}/wait; exit 3")
    assert parent(runner_of(path)) == forks.pid
    (tmp_path / "wait").write_text("go on\n")
    assert ended(path)["code"] == 3
    assert said(path) == ["hello"]
    assert told.wait(20)
    assert runs.reap() == [run]


def test_a_forked_runner_can_be_told_by_its_title(runs: Runs, run: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "wait")
    path = shell(runs, run, f"read -r line < {tmp_path}/wait")
    shown = Path(f"/proc/{runner_of(path)}/cmdline").read_bytes().rstrip(b"\0").decode()
    assert shown == f"quarterdeck-runner {run}"
    (tmp_path / "wait").write_text("go on\n")
    assert ended(path)["code"] == 0


def test_a_forked_runner_outlives_the_zygote(
    runs: Runs, run: str, forks: zygote.Zygote, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "wait")
    path = shell(runs, run, f"read -r line < {tmp_path}/wait; echo $line")
    runner_of(path)
    kill(forks)
    assert folder.alive(str(path))
    (tmp_path / "wait").write_text("on and on\n")
    assert ended(path)["code"] == 0
    assert said(path) == ["on and on"]


def test_a_run_that_was_started_is_there_though_the_zygote_ends_at_once(
    runs: Runs, run: str, forks: zygote.Zygote
) -> None:
    path = shell(runs, run, "echo hello")
    kill(forks)
    assert ended(path)["code"] == 0
    assert said(path) == ["hello"]


def test_without_a_zygote_runs_start_all_the_same(
    runs: Runs, run: str, forks: zygote.Zygote
) -> None:
    kill(forks)
    path = shell(runs, run, "echo hello")
    assert ended(path)["code"] == 0
    assert said(path) == ["hello"]
    assert until(runs.reap) == [run]


def test_a_script_says_what_it_printed_and_how_it_ended(
    forks: zygote.Zygote, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    view = fence.View(home=str(tmp_path / "home"), tree=str(tmp_path / "tree"))
    found = trees.fenced_git(view, "echo out; echo err >&2; exit 7")
    assert found == (7, b"out\n", "err")
    kill(forks)
    assert trees.fenced_git(view, "echo out; echo err >&2; exit 7") == found


def test_a_script_ends_with_the_zygote_and_is_to_be_tried_again(
    forks: zygote.Zygote, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree" / "up")
    view = fence.View(home=str(tmp_path / "home"), tree=str(tmp_path / "tree"))
    failed: queue.SimpleQueue[str] = queue.SimpleQueue()

    def work() -> None:
        with pytest.raises(copies.Failed) as found:
            trees.fenced_git(view, "echo up > up; exec sleep 600")
        failed.put(str(found.value))

    worker = threading.Thread(target=work)
    worker.start()
    assert (tmp_path / "tree" / "up").read_text() == "up\n"
    kill(forks)
    assert "ended on the way" in failed.get(timeout=20)
    worker.join(20)


def test_the_zygote_ends_with_the_process_that_started_it() -> None:
    code = (
        "import sys; from engine.node import runs, zygote; zygote.start(runs.code_folder()); "
        "print(zygote.ready().pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        started = fence.start_time(pid)
        process.kill()
    until(lambda: fence.start_time(pid) != started)


def test_one_whose_node_died_with_a_word_unread_ends_without_a_trace() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from engine.node.zygote import main\n"
        "main(int(sys.argv[2]), int(sys.argv[3]))"
    )
    argv = [sys.executable, "-c", code, code_folder(), str(theirs.fileno()), str(os.getpid())]
    with theirs:
        begun = subprocess.Popen(argv, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
    until(lambda: select.select([ours], [], [], 0)[0])  # its first word is there, and stays unread
    ours.close()
    assert begun.communicate(timeout=20)[1] == b""
    assert begun.returncode == 0
