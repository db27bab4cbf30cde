"""The host keys the owner accepted: one line a machine, its name and its key.

Ours alone: what ~/.ssh/known_hosts trusts, an agent or a careless script may have written. Neighbours:
ssh.py speaks to no machine that shows another key, engine/requests/machines.py has the owner accept one.
"""

from __future__ import annotations

import os
from pathlib import Path


def trusted(file: Path, machine: str) -> list[str]:
    """Return the host keys the owner accepted for a machine."""
    return [key for name, key in _lines(file) if name == machine]


def trust(file: Path, machine: str, key: str) -> None:
    """Keep a machine's host key in place of any other."""
    _write(file, [*_others(file, machine), (machine, " ".join(key.split()[:2]))])


def forget(file: Path, machine: str) -> None:
    """Trust a machine no more; nothing if it was not trusted."""
    if trusted(file, machine):
        _write(file, _others(file, machine))


def _lines(file: Path) -> list[tuple[str, str]]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    pairs = [line.partition(" ") for line in lines]
    return [(name, key) for name, _, key in pairs if key]


def _others(file: Path, machine: str) -> list[tuple[str, str]]:
    return [(name, key) for name, key in _lines(file) if name != machine]


def _write(file: Path, lines: list[tuple[str, str]]) -> None:
    rough = file.with_suffix(".new")
    rough.unlink(missing_ok=True)
    handle = os.open(rough, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as writing:
        writing.write("".join(f"{name} {key}\n" for name, key in lines))
    rough.replace(file)
