"""One commit of the hub, looked into: what lies in its tree, and the bytes of one file.

Git's own tree is read and nothing else: no checkout, no link followed, no filter run. Neighbours: hub.py
keeps the clones, engine/requests/files.py asks.
"""

from __future__ import annotations

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


async def listing(hub: Path, commit: str) -> list[Entry]:
    """Return all that lies in a commit's tree, folders too, in git's order."""
    answer = await git(
        "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit, at=hub, keep=LISTING_BYTES
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


async def target(hub: Path, entry: Entry) -> str:
    """Return what a link says, which is not followed."""
    said = await git("cat-file", "blob", entry.blob, at=hub, keep=1000)
    return said.out.decode("utf-8", "backslashreplace")
