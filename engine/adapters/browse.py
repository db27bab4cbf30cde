"""One commit of the hub, looked into: what lies in its tree, and the bytes of one file.

Git's own tree is read and nothing else: no checkout, no link followed, no filter run. Neighbours: hub.py
keeps the clones, engine/requests/files.py asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from engine.adapters.git import git

LISTING_BYTES = 64 * 1024 * 1024

FILES = ("100644", "100755")
LINK, MODULE, FOLDER = "120000", "160000", "040000"


class Entry(NamedTuple):
    """One thing in a tree."""

    mode: str
    blob: str
    size: int  # -1 for what has none
    path: str


async def listing(hub: Path, commit: str, *only: str) -> list[Entry]:
    """Return all that lies in a commit's tree, or of it below these paths; folders too."""
    answer = await git(
        *("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit, "--", *only),
        at=hub,
        keep=LISTING_BYTES,
    )
    entries = []
    for line in answer.out.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _, blob, size = about.decode("ascii").split()
        name = path.decode("utf-8", "surrogateescape")
        entries.append(Entry(mode, blob, int(size) if size.isdigit() else -1, name))
    return entries


async def content(hub: Path, entry: Entry, most: int) -> bytes:
    """Return the bytes of a file, unchanged; `most` is known to be enough for it."""
    return (await git("cat-file", "blob", entry.blob, at=hub, keep=most)).out


async def contents(hub: Path, entries: Sequence[Entry]) -> dict[str, bytes]:
    """Return the bytes of several files by their paths, from one git process."""
    if not entries:
        return {}
    asked = "".join(f"{entry.blob}\n" for entry in entries).encode()
    answer = await git("cat-file", "--batch", at=hub, stdin=asked)
    found: dict[str, bytes] = {}
    at = 0
    for entry in entries:
        start = answer.out.index(b"\n", at) + 1
        size = int(answer.out[at : start - 1].rsplit(b" ", 1)[1])
        found[entry.path] = answer.out[start : start + size]
        at = start + size + 1
    return found


async def target(hub: Path, entry: Entry) -> str:
    """Return what a link says, which is not followed."""
    said = await git("cat-file", "blob", entry.blob, at=hub, keep=1000)
    return said.out.decode("utf-8", "backslashreplace")
