"""A machine whose agents run in real fences, whoever runs the tests: as root its node is another user's.

A fence that root starts is none. So as root the node of `here` is started as a user nobody has, with a
home of its own; the hub is opened for it to read. As anybody else it is the ordinary node. Neighbours:
test_keyed.py, phone.py and chat.py (which take a machine).
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.adapters.machines import Local
from engine.paths import Home

ORDINARY = 64321  # a user id nobody has; it needs no name
PYTHON = "/usr/bin/python3"  # ours may lie where only root can look


class Here(Local):
    """This machine, which can be away."""

    away = False

    async def _start(self) -> Any:
        if self.away:
            raise OSError("it is away")
        return await super()._start()

    def leave(self) -> None:
        """Be away from now on; what runs goes on."""
        self.away = True
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)


class Ordinary(Here):
    """Likewise, its node started as an ordinary user."""

    def __init__(self, stage: Path) -> None:
        env = {"PATH": os.defpath, "HOME": str(stage / "user"), "LANG": "C.UTF-8"}
        super().__init__(stage / "user/node", python=str(stage / "python"), env=env)


def lay(stage: Path) -> None:
    """Make the user's folders, and what starts a Python as them."""
    folders = (stage / "user", stage / "user/node", stage / "user/node/node")
    for folder in folders:
        folder.mkdir()
        os.chown(folder, ORDINARY, ORDINARY)
    who = f"--reuid={ORDINARY} --regid={ORDINARY} --clear-groups --inh-caps=-all"
    begin = stage / "python"
    begin.write_text(f'#!/bin/sh\nexec setpriv {who} {PYTHON} "$@"\n')
    begin.chmod(0o755)


@contextmanager
def staged() -> Iterator[tuple[Path, Here]]:
    """Give a folder that every user can get at, and the machine; the home is to be `folder/home`."""
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-fenced-"))
    folder.chmod(0o755)
    try:
        if os.geteuid() != 0:
            yield folder, Here(Home(folder / "home").make().root)
            return
        lay(folder)
        yield folder, Ordinary(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def opened(home: Home) -> None:
    """Let the node's user read the hub, and nothing else."""
    if os.geteuid() == 0:
        home.root.chmod(0o711)
        for path in (home.hubs, *home.hubs.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def runs_of(folder: Path) -> Path:
    """Where the node keeps its runs."""
    own = folder / "user/node"
    return (own if own.exists() else folder / "home") / "runs"
