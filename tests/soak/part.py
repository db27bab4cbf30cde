"""What every part of a soak does alike: a folder of its own, kept at the first fault, and a line at its end."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

STOPPED = 130


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def run(name: str, work: Callable[[Path], Awaitable[str]]) -> int:
    """Do the work in a new folder and return the exit code; what it returns are its figures."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no process of ours behind
    folder = Path(tempfile.mkdtemp(prefix=f"quarterdeck-{name}-"))
    began = time.monotonic()
    try:
        figures = asyncio.run(_done(work, folder))
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        return STOPPED
    except Exception:  # noqa: BLE001 - whatever it is, the world it happened in is kept
        say(f"{traceback.format_exc()}\nkept: {folder}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    say(f"{name}: {figures}, 0 faults ({time.monotonic() - began:.0f} s)")
    return 0


async def _done(work: Callable[[Path], Awaitable[str]], folder: Path) -> str:
    return await work(folder)
