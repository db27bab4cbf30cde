"""`quarterdeck up`, with real processes that stand in for engine and bot."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

UP = """
import asyncio, sys
from engine.foreground import run
ended = asyncio.run(run(tuple(sys.argv[1:])))
print("up", ended.first or "told", ended.code, flush=True)
"""

STAYS = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print(__spec__.name, "ready", flush=True)
signal.sigwait([signal.SIGTERM])
print(__spec__.name, "ends", flush=True)
"""
ENDS = """
import sys
print(__spec__.name, "ready", flush=True)
sys.stdin.readline()
sys.exit(3)
"""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    root = Path(__file__).resolve().parents[2]
    started: list[subprocess.Popen[str]] = []

    def begin(**modules: str) -> subprocess.Popen[str]:
        for name, source in modules.items():
            (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-c", UP, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": f"{root}:{tmp_path}"},
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


def output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def both_ready(process: subprocess.Popen[str]) -> set[str]:
    return {output(process).readline().strip() for _ in range(2)}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_the_bot_ends_first_and_the_engine_after_it(
    start: Start, number: signal.Signals
) -> None:
    process = start(one=STAYS, two=STAYS)
    assert both_ready(process) == {"one ready", "two ready"}
    process.send_signal(number)
    assert output(process).read().splitlines() == ["two ends", "one ends", "up told 0"]
    assert process.wait() == 0


def test_when_one_ends_the_other_is_ended_too_and_neither_starts_again(start: Start) -> None:
    process = start(one=STAYS, two=ENDS)
    assert both_ready(process) == {"one ready", "two ready"}
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    assert output(process).read().splitlines() == ["one ends", "up two 3"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie a child to its parent")
def test_killed_hard_it_leaves_nothing_running(start: Start) -> None:
    process = start(one=STAYS, two=STAYS)
    assert both_ready(process) == {"one ready", "two ready"}
    process.kill()
    # The pipe closes only when the last of them is gone.
    assert set(output(process).read().splitlines()) == {"one ends", "two ends"}
