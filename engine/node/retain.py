"""What a machine lets go of: output of runs that ended long ago, folders of sessions that are over.

A run's age is that of its end. After a while its output is compressed, later the folder goes; a
session's folder, which holds a copy of its account's login, goes sooner. What the engine names as
still needed stays, and so does all that has no end. A turn of this takes some seconds at most and says
whether there is more, so that one order never keeps a link waiting.

engine/retention.py asks for it once a day; engine/node/serve.py answers.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import stat
import time
from collections.abc import Iterator
from typing import Any, Callable

from engine.node import folder, leftovers, points
from engine.node.link import Refusal
from engine.node.opening import opened, written

Fields = dict[str, Any]

DAY_S = 86_400.0
_TURN_S = 5.0
_SPOOL = "out.jsonl"


def retain(home: str, given: Fields) -> Fields:
    """Let go of what is old; return {"packed", "removed", "more"}.

    kept          sessions and runs still needed; a session stands for its runs
    packed_days   age at which output is compressed and a session's folder goes
    gone_days     age at which a run goes
    """
    kept = given.get("kept")
    packed_days, gone_days = given.get("packed_days"), given.get("gone_days")
    if not isinstance(kept, list) or not all(isinstance(name, str) and name for name in kept):
        raise Refusal("`kept` lists the sessions and runs that are still needed.")
    for days in (packed_days, gone_days):
        if not isinstance(days, (int, float)) or days < 1:
            raise Refusal("`packed_days` and `gone_days` are at least one day.")
    needed = _Needed(kept)
    until = time.monotonic() + _TURN_S
    counts = {"packed": 0, "removed": 0}
    for what, do in _old(home, needed, float(packed_days or 0), float(gone_days or 0)):
        if time.monotonic() >= until:
            return {**counts, "more": True}
        do()
        counts[what] += 1
    return {**counts, "more": False}


class _Needed:
    """What may not go."""

    def __init__(self, kept: list[str]) -> None:
        self._names = frozenset(kept)
        self._runs = tuple(f"{name}-" for name in kept)

    def __contains__(self, name: object) -> bool:
        return name in self._names or str(name).startswith(self._runs)


def _old(
    home: str, needed: _Needed, packed_days: float, gone_days: float
) -> Iterator[tuple[str, Callable[[], None]]]:
    now = time.time()
    runs, sessions = os.path.join(home, "runs"), os.path.join(home, "sessions")
    for path in _others(runs, needed):
        age_s = now - _changed(os.path.join(path, "exit.json"), now)
        if age_s >= gone_days * DAY_S and not folder.alive(path):
            yield "removed", lambda path=path: leftovers.remove(path)  # type: ignore[misc]
        elif age_s >= packed_days * DAY_S and _is_file(os.path.join(path, _SPOOL)):
            yield "packed", lambda path=path: _pack(path)  # type: ignore[misc]
    for path in _others(sessions, needed):
        if now - _changed(path, now) >= packed_days * DAY_S:
            yield "removed", lambda path=path: leftovers.remove(path)  # type: ignore[misc]


def _others(parent: str, needed: _Needed) -> Iterator[str]:
    """Yield the folders in `parent` that nobody needs, in a settled order."""
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(parent)):
            path = os.path.join(parent, name)
            if name not in needed and os.path.isdir(path) and not os.path.islink(path):
                yield path


def _changed(path: str, otherwise: float) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return otherwise


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _pack(path: str) -> None:
    """Compress a run's output; at any moment it is there whole, in one form or the other."""
    spool = os.path.join(path, _SPOOL)
    packed, rough = f"{spool}.gz", f"{spool}.gz.new"
    with open(opened(spool), "rb") as reading:
        handle = written(rough, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(handle, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb") as writing:
            shutil.copyfileobj(reading, writing, 1024 * 1024)
    handle = os.open(rough, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    points.passed("output packed aside")
    os.replace(rough, packed)
    points.passed("output packed")
    os.unlink(spool)
    points.passed("packed output let go of")


OPS: dict[str, Callable[[str, Fields], Fields]] = {"runs.retain": retain}
