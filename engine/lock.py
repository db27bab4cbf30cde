"""One engine to a home: who would start a second one is told so.

Neighbours: engine/engine.py holds it while it runs, engine/loop.py may rely on being alone.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from engine.errors import Refused


class EngineLock:
    """The kernel's lock on a home: one engine at a time, whatever pids say."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1

    def __enter__(self) -> Self:
        """Take the lock. Raises Refused when another engine holds it."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise Refused(
                f"Another engine (process {pid}) already runs on this home. Stop it first."
            ) from None
        with suppress(OSError):  # no room for the number: the lock holds without
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle
        return self

    def __exit__(self, *_: object) -> None:
        # The file stays: taking it away would let two engines lock two files of one name.
        os.close(self._handle)
