"""Run folders as tests look at them: what was spooled, who lives, and waiting for either."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def until(look: Callable[[], T | None], within_s: float = 20.0) -> T:
    """Return the first true thing `look` gives; fail if there is none in time."""
    end = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines spooled so far."""
    try:
        data = (path / "out.jsonl").read_bytes()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def said(path: Path, kind: str = "out") -> list[Any]:
    """Return what was said in one kind of line."""
    return [line["d"] for line in lines(path) if line["k"] == kind]


def ended(path: Path) -> dict[str, Any]:
    """Wait for the run's end and return how it ended."""
    exit_file = path / "exit.json"
    until(exit_file.exists, 60)
    how: dict[str, Any] = json.loads(exit_file.read_text())
    assert lines(path)[-1]["k"] == "exit"
    assert lines(path)[-1]["d"] == how
    return how


def gone(pid: int) -> bool:
    """Say whether no such process runs; one that ended and was not fetched counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"
