"""One line of a run's spool, as it can be relied on; and how much of a spool cannot be read.

A disk may have lost or altered any of it, and where an agent runs unfenced it may have written there
itself. So a line counts only if it is what a runner writes: else it is counted as damage, and the next
one is read. engine/node/folder.py says what a line holds. Neighbours: reading.py and tail.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_MOST = 2**53  # of a number: what a machine's clock or count never reaches


def entry(raw: bytes | str) -> dict[str, Any] | None:
    """Return one line; None for what a torn disk left there."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):  # the runner's own stack had room for more brackets
        return None
    if not isinstance(found, dict) or not isinstance(found.get("k"), str):
        return None
    for name in ("n", "size", "lost"):
        if name in found and not _is_count(found[name]):
            return None
    if not _is_time(found.get("t", 0.0)) or not isinstance(found.get("blob", ""), str):
        return None
    return found if _is_whole(raw, found) else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _is_time(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -_MOST < value < _MOST and math.isfinite(value)


def _is_whole(raw: bytes | str, found: dict[str, Any]) -> bool:
    """Say whether all its text can be written down again: a half character cannot."""
    text = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
    if b"\\ud" not in text and b"\\uD" not in text:
        return True
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


class Damage:
    """What could not be read of one spool, as it is read."""

    def __init__(self) -> None:
        self.lines = 0
        self.size = 0

    def read(self, raw: bytes) -> dict[str, Any] | None:
        """Return one line, having counted it where it is no line of ours, or tells of one."""
        found = entry(raw)
        if found is None:
            self._count(len(raw) + 1)
        elif found["k"] == "note" and found.get("lost"):
            self._count(found["lost"])
        return found

    def _count(self, size: int) -> None:
        self.lines += 1
        self.size += size


def is_no_text(found: Mapping[str, Any]) -> bool:
    """Say whether an agent printed this line in bytes that are no text."""
    return bool(found.get("bad"))
