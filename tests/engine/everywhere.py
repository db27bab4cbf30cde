"""Looks for words in everything that lies on a disk: byte by byte, and inside what is packed.

    within(folder, words) -> ["home/engine.sqlite3: as it is", …]      [] = they are nowhere

Files are read whole, so free pages, journals and what was only half written over count too. Archives,
compressed files, git's objects and databases' rows are looked into as well, and each word is looked for
in the forms in which programs write things down. Used by test_ten_ways.py, here and with real agents.
"""

from __future__ import annotations

import base64
import gzip
import io
import sqlite3
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

PIECE = 7  # characters of a key that are the key, whoever finds them


def pieces(key: str) -> list[str]:
    """Return the parts of a key by which it is looked for: all that lies behind its known beginning."""
    secret = key[4:]
    return [secret[at : at + PIECE] for at in range(0, len(secret) - PIECE + 1, 2)]


def forms(words: str) -> dict[str, bytes]:
    """Return how words may have been written down."""
    plain = words.encode()
    found = {
        "as it is": plain,
        "backwards": plain[::-1],
        "in UTF-16": words.encode("utf-16-le"),
        "in hex": plain.hex().encode(),
    }
    for shift in range(3):  # where it stands among the bytes that were encoded
        coded = base64.b64encode(bytes(shift) + plain)
        found[f"in base64 {shift}"] = coded[(0, 2, 3)[shift] : len(plain) * 4 // 3]
    return found


def in_bytes(data: bytes, words: Iterable[str]) -> list[str]:
    """Return the forms in which some of these words stand in bytes."""
    return sorted({form for one in words for form, coded in forms(one).items() if coded in data})


def within(folder: Path, words: Iterable[str]) -> list[str]:
    """Return where below a folder some of these words lie, and in which form."""
    wanted = list(words)
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            continue
        if path.is_file():
            there = path.relative_to(folder)
            for name, data in _unpacked(str(there), path.read_bytes()):
                found += [f"{name}: {form}" for form in in_bytes(data, wanted)]
            found += [f"{there}, its rows: {form}" for form in in_bytes(_rows(path), wanted)]
        elif (path / "objects").is_dir() and (path / "HEAD").is_file():
            found += [f"{path}, git: {form}" for form in in_bytes(_objects(path), wanted)]
    return found


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file, and all that is in it."""
    yield name, data
    if data[:2] == b"\x1f\x8b":
        yield from _unpacked(f"{name}, unpacked", gzip.decompress(data))
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                inside = tar.extractfile(member) if member.isfile() else None
                if inside is not None:
                    yield from _unpacked(f"{name}/{member.name}", inside.read())
    elif data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from _unpacked(f"{name}/{inner}", archive.read(inner))
    elif data[:1] == b"\x78":
        try:
            yield f"{name}, inflated", zlib.decompressobj().decompress(data)
        except zlib.error:
            return


def _rows(path: Path) -> bytes:
    """Return every value of a database: a long one lies in pieces on its pages."""
    with path.open("rb") as file:
        if file.read(15) != b"SQLite format 3":
            return b""
    values: list[bytes] = []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as there:
        there.text_factory = bytes
        tables = there.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in there.execute(f'SELECT * FROM "{table.decode()}"'):
                values += [value for value in row if isinstance(value, bytes)]
    return b"\0".join(values)


def _objects(git: Path) -> bytes:
    """Return every object of a repository, reachable or not."""
    every = ["git", "--git-dir", str(git), "cat-file", "--batch-all-objects", "--batch"]
    safe = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    done = subprocess.run(
        every, capture_output=True, check=False, env={**safe, "PATH": "/usr/bin:/bin"}
    )
    return done.stdout
