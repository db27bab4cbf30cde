"""Whether a database is whole: asked at once, or ahead of need while the process still loads.

Looking a file over takes milliseconds for each megabyte and no lock of Python's, so a process that
is about to open one can have it looked over on a thread of its own meanwhile. Only "it is whole" is
kept, and for one opening: whatever else was found, or went wrong, is found again by who opens it,
who can say what to do.

Neighbours: database.py asks at each opening; engine/__main__.py looks ahead.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from threading import Thread

_ahead: dict[Path, Future[bool]] = {}


def look_ahead(path: Path) -> None:
    """Begin to look the file over, on a thread; `fault` then takes what it found."""
    found: Future[bool] = Future()
    _ahead[path] = found
    Thread(target=lambda: found.set_result(_whole(path)), name="soundness", daemon=True).start()


def seen_whole(path: Path) -> bool:
    """Whether a look ahead found the file whole; waits for its end. True once a look."""
    found = _ahead.pop(path, None)
    return found is not None and found.result()


def fault(connection: sqlite3.Connection) -> str:
    """Return what is wrong with the open file, "" for nothing. Raises sqlite3.DatabaseError."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return "" if found == "ok" else str(found)


def _whole(path: Path) -> bool:
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
        ) as connection:
            return not fault(connection)
    except sqlite3.Error:
        return False
