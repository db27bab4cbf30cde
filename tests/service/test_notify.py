"""What a process tells systemd of itself, heard on a socket of ours."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import notify
from tests.service.systemd_ear import Ear


@pytest.mark.parametrize("abstract", [False, True])
async def test_it_is_ready_alive_and_ending_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool
) -> None:
    address = f"@quarterdeck-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    breaths = asyncio.Queue[None]()

    async def breathe() -> None:
        breaths.put_nowait(None)

    with Ear(address) as ear:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        monkeypatch.setenv("WATCHDOG_USEC", "4000")
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
        async with notify.alive(breathe):
            assert ear.heard() == {"READY": "1", "STATUS": "Running"}
            for _ in range(3):
                await breaths.get()
        assert ear.left()[:2] == ["WATCHDOG", "WATCHDOG"]


async def test_what_is_stuck_shows_no_life_though_its_event_loop_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-41: alive in one part and dead in another must not pass for alive."""
    lock = asyncio.Lock()
    tried = asyncio.Event()

    async def breathe() -> None:
        tried.set()
        async with lock:
            pass

    with Ear(tmp_path / "notify") as ear:
        monkeypatch.setenv("NOTIFY_SOCKET", ear.address)
        monkeypatch.setenv("WATCHDOG_USEC", "4000")
        async with lock, notify.alive(breathe):
            await tried.wait()
            for _ in range(100):
                await asyncio.sleep(0)
        assert ear.left() == ["READY"]


async def test_without_a_watchdog_there_is_no_beat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ear(tmp_path / "notify") as ear:
        monkeypatch.setenv("NOTIFY_SOCKET", ear.address)
        monkeypatch.delenv("WATCHDOG_USEC", raising=False)
        async with notify.alive():
            await asyncio.sleep(0)
        assert ear.left() == ["READY"]


def test_a_watchdog_set_for_another_process_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "2000000")
    assert notify.watchdog_s() == 2.0
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert notify.watchdog_s() is None


def test_nobody_listening_harms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify.tell(READY="1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    notify.tell(READY="1")


def test_an_end_that_is_held_up_comes_all_the_same() -> None:
    """BR-44: a drain has an end, even with the event loop itself stuck."""
    stuck = (
        "import threading; from engine import notify; notify.ending(0.01); threading.Event().wait()"
    )
    done = subprocess.run([sys.executable, "-c", stuck], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "cut off" in done.stderr
