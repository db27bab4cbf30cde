"""The backups there are: their names, their age, and what to say when one is needed.

    <home>/backups/quarterdeck-20261129T023000Z.tar.gz            made by hand
    <home>/backups/quarterdeck-20261129T023000Z-nightly.tar.gz    made by nightly.py, the last seven stay

The time stands in the name, since copying a file changes its date. One dated ahead of now was named by a
clock that was wrong: it is kept, and counts as the newest for nothing before its time. Neighbours: backup.py writes them,
restore.py reads them, nightly.py makes one each night; engine and bot ask here when their file is damaged.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from engine.paths import ENV, Home

AHEAD_S: Final = 3600.0  # as far as clocks differ that are well
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"quarterdeck-(\d{8}T\d{6}Z)(-nightly)?(?:-\d+)?\.tar\.gz")


@dataclass(frozen=True)
class Backup:
    """One backup in the home."""

    path: Path
    taken_at: float
    nightly: bool


def name(taken_at: float, *, nightly: bool = False, again: int = 0) -> str:
    """Return what a backup is called; `again` tells two of one second apart."""
    stamp = datetime.fromtimestamp(taken_at, UTC).strftime(_STAMP)
    return (
        f"quarterdeck-{stamp}{'-nightly' if nightly else ''}{f'-{again}' if again else ''}.tar.gz"
    )


def found(home: Home) -> list[Backup]:
    """Return the backups in the home, oldest first."""
    there = []
    for path in home.backups.iterdir() if home.backups.is_dir() else ():
        if match := _NAME.fullmatch(path.name):
            taken = datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC).timestamp()
            there.append(Backup(path, taken, bool(match[2])))
    return sorted(there, key=lambda one: (one.taken_at, one.path.name))


def is_ahead(at: float, now: float) -> bool:
    """Say whether a time that should be past can only be that of a wrong clock."""
    return at > now + AHEAD_S


def past(home: Home, now: float) -> list[Backup]:
    """Return those whose date can be true, oldest first."""
    return [one for one in found(home) if not is_ahead(one.taken_at, now)]


def ahead(home: Home, now: float) -> list[Backup]:
    """Return those named by a clock that ran ahead, the nearest first."""
    return [one for one in found(home) if is_ahead(one.taken_at, now)]


def said_ahead(there: list[Backup], said: Callable[[float], str]) -> str:
    """Tell of those that are dated ahead, "" of none."""
    if not there:
        return ""
    if len(there) == 1:
        return f"one is dated ahead: {said(there[0].taken_at)}"
    return f"{len(there)} are dated ahead: {said(there[0].taken_at)} and later"


def way_back(home: Home, now: float | None = None) -> str:
    """Return, for a home whose files are damaged, how the newest backup is put in their place.

    now   the time, if not this machine's
    """
    now = time.time() if now is None else now
    true, wrong = past(home, now), ahead(home, now)
    there = true or wrong
    if not there:
        return (
            f"No backup lies in {home.backups}. If you have one elsewhere: move {home.root} aside, "
            f"then {ENV}={shlex.quote(str(home.root))} quarterdeck restore FILE"
        )
    aside = home.root.with_name(f"{home.root.name}.damaged")
    moved = aside / there[-1].path.relative_to(home.root)
    root, aside_too, file, keys = (
        shlex.quote(str(path)) for path in (home.root, aside, moved, aside / home.secrets.name)
    )
    more = f" ({said_ahead(wrong, _clock)}, by a clock that was wrong)" if wrong else ""
    return (
        f"The newest backup is of {_clock(there[-1].taken_at)}{more}. End engine and bot, then:\n"
        f"  mv {root} {aside_too}\n"
        f"  {ENV}={root} quarterdeck restore {file} --secrets {keys}"
    )


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%d %b %Y %H:%M UTC")
