"""A backup is brought to another machine and kept there: under its name it is whole, or it is not there.

Both ends are in one process here and die together; that each goes on without the other is
tests/engine/test_elsewhere.py's. What the ledger would hold is a file of the test's.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any, cast

from engine import backups
from engine.adapters.machines import Machine, NodeRefused
from engine.elsewhere import SUFFIX, Elsewhere
from engine.node import keep
from engine.node.link import Refusal
from engine.paths import Home
from engine.rules.events import AnyEvent, BackupCopied
from engine.rules.owner import Copied, Owner
from stores.recovery import close, new_code
from stores.sealed_file import PART, opened
from stores.sealing import Opener
from tests.strace.walk import Story

NAS = "nas"
KEY = bytes(range(32))
TAKEN = 1_796_000_000.0
OLD = f"{backups.name(TAKEN - 86_400, nightly=True)}{SUFFIX}"
NEW = f"{backups.name(TAKEN, nightly=True)}{SUFFIX}"


def _body() -> bytes:
    return random.Random(3).randbytes(PART + 1000)


def lay(folder: Path) -> None:
    home = Home(folder / "home")
    home.backups.mkdir(parents=True)
    home.secrets.mkdir()
    home.vault_pub.write_bytes(Opener(KEY).public)
    home.recovery.write_bytes(close(new_code(), KEY))
    (home.backups / backups.name(TAKEN, nightly=True)).write_bytes(_body())
    (folder / NAS / "backups").mkdir(parents=True)
    (folder / NAS / "backups" / OLD).write_bytes(b"of the night before")


class Nas:
    """Answers as the node there would."""

    name = NAS

    def __init__(self, home: Path) -> None:
        self._home = home

    async def call(self, op: str, **given: Any) -> dict[str, Any]:
        try:
            return keep.OPS[op](str(self._home), given)
        except Refusal as no:
            raise NodeRefused(str(no)) from no


async def play(folder: Path) -> None:
    told = folder / "copied"

    async def post(event: AnyEvent, _cause: str) -> bool:
        if isinstance(event, BackupCopied):
            rough = folder / ".copied"
            rough.write_text(event.name)
            os.replace(rough, told)
        return True

    def owner() -> Owner:
        copied = None
        if told.exists():
            name = told.read_text()
            copied = Copied(machine=NAS, name=name, at=TAKEN, size=0, kept=2, folder="")
        return Owner(backup_on=NAS, backup_at=1.0, copied=copied)

    async def first() -> None:
        raise AssertionError("there is one")

    machines = {NAS: cast(Machine, Nas(folder / NAS))}
    one = Elsewhere(
        Home(folder / "home"),
        machines,
        lambda: TAKEN,
        owner=owner,
        post=post,
        first=first,
        said=lambda _at: "",
    )
    await one.look()


def left(folder: Path) -> None:
    """Assert that what has a backup's name is one, and that the older one is still there."""
    there = folder / NAS / "backups"
    assert (there / OLD).read_bytes() == b"of the night before"
    if (there / NEW).exists():
        _whole(there / NEW)
    elif (folder / "copied").exists():
        raise AssertionError("it counts as copied, and is not there")


def judge(folder: Path) -> None:
    there = folder / NAS / "backups"
    assert sorted(path.name for path in there.iterdir()) == [OLD, NEW]
    _whole(there / NEW)
    assert (folder / "copied").read_text() == backups.name(TAKEN, nightly=True)


def _whole(file: Path) -> None:
    with opened(file, KEY) as source:
        assert source.read() == _body()


STORY = Story("keep", lay, play, judge, left)
