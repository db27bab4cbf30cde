"""A disk of a few megabytes, filled and emptied at will: what a full one does is the kernel's own doing.

Mounting takes root. An ordinary user has it in a namespace of their own: `alone` plays a file of tests
there, so that those tests are played by whoever may start one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MOUNT = ("mount", "-t", "tmpfs")
ALONE = "PLAYED_ALONE"  # set where `alone` plays the tests
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


class SmallDisk:
    """One, and what fills it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._filler = root / "filler"

    def fill(self, left_kib: int = 0) -> None:
        """Leave so much room and no more."""
        self.free()
        with self._filler.open("wb", buffering=0) as file:
            while (more := self._left_kib() - left_kib) > 0:
                file.write(bytes(min(more, 256) * 1024))

    def free(self) -> None:
        """Take away what fills it."""
        self._filler.unlink(missing_ok=True)

    def read_only(self, yes: bool) -> None:
        # Of this mount alone: a namespace's root may change no more.
        how = "ro" if yes else "rw"
        subprocess.run(["mount", "-o", f"remount,bind,{how}", str(self.root)], check=True)

    def _left_kib(self) -> int:
        disk = os.statvfs(self.root)
        return disk.f_bavail * disk.f_frsize // 1024


@contextmanager
def small_disk(at: Path, kib: int) -> Iterator[SmallDisk]:
    at.mkdir(parents=True, exist_ok=True)
    how = [*MOUNT, "-o", f"size={kib}k,mode=755", "none", str(at)]
    done = subprocess.run(how, capture_output=True, text=True)
    if done.returncode and ALONE in os.environ:
        pytest.fail(f"not even in a namespace: {_why(done)}")
    if done.returncode:
        pytest.skip(f"nobody may mount here: {_why(done)}")
    try:
        yield SmallDisk(at)
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


def alone(file: str) -> None:
    """Play a file of tests as root of a namespace, for a user who may not mount.

    In there none of them is skipped for want of a mount: that would be a pass that shows nothing.
    """
    if os.geteuid() == 0 or ALONE in os.environ:
        return
    new = [shutil.which("unshare") or "unshare", "-Urm"]
    tried = subprocess.run([*new, *MOUNT, "none", "/tmp"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no user namespace that may mount here: {_why(tried)}")
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file)
    done = subprocess.run(
        [*new, *words], capture_output=True, text=True, env=os.environ | {ALONE: "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _why(refused: subprocess.CompletedProcess[str]) -> str:
    return next(iter(refused.stderr.splitlines()), "no reason given")
