"""Backups of the box, kept on this machine: closed there before they were sent, so nobody here reads them.

    backup.begin    there is room, and how much of this very file came already
    backup.put      the next part of it
    backup.finish   all of it is on the disk and is what was sent: it gets its name, the oldest go
    backup.list     what is kept

A file has its name only when all of it was read back and found to be what was sent; until then it is a
rough one that begins with a dot, and the next other file takes its place. Whoever fills the disk here is
told, and the rough one goes, so that the machine has its room back. engine/elsewhere.py is the other end;
engine/node/serve.py answers.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from typing import Any, Callable

from engine.node.link import Refusal

Fields = dict[str, Any]

SPARE_BYTES = 500_000_000  # that must be left beside it
_NAME = re.compile(r"quarterdeck-\d{8}T\d{6}Z(-nightly)?(-\d+)?\.tar\.gz\.sealed")
_SENDING = re.compile(r"[0-9a-f]{16}")
_STEP = 1024 * 1024
_STAMP = "%Y%m%dT%H%M%SZ"
_AHEAD_S = 3600.0  # as far as clocks differ that are well
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _File:
    """One backup, as it is sent."""

    def __init__(self, home: str, given: Fields) -> None:
        name, sending = str(given.get("name")), str(given.get("sending"))
        if not _NAME.fullmatch(name):
            raise Refusal(f"{name!r} is no name of a backup.")
        if not _SENDING.fullmatch(sending):
            raise Refusal(f"{sending!r} is no sending.")
        self.folder = _folder(home)
        self.name = name
        self.path = os.path.join(self.folder, name)
        self.rough = os.path.join(self.folder, f".{name}.{sending}")


def _folder(home: str) -> str:
    return os.path.join(home, "backups")


@contextlib.contextmanager
def _writing(folder: str, rough: str) -> Iterator[None]:
    """Say in words that this disk takes nothing; one that is full is not left full by us."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            with contextlib.suppress(OSError):
                os.unlink(rough)
            raise Refusal(f"there is no room for it on its disk ({error.strerror})") from error
        raise Refusal(f"{folder} takes no backup: {error.strerror or error}") from error


def begin(home: str, given: Fields) -> Fields:
    """Return {"at": bytes of this file that are here already, "folder": where}."""
    file, size = _File(home, given), int(given.get("size", 0))
    with _writing(file.folder, file.rough):
        os.makedirs(file.folder, mode=0o700, exist_ok=True)
        for other in os.listdir(file.folder):
            path = os.path.join(file.folder, other)
            if other.startswith(".quarterdeck-") and path != file.rough:
                os.unlink(path)  # of a sending that was given up
        at = _size(file.rough)
        free = shutil.disk_usage(file.folder).free
    if free < size - at + SPARE_BYTES:
        raise Refusal(
            f"there is no room for it on its disk: it has {size / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are free"
        )
    return {"at": at, "folder": file.folder}


def put(home: str, given: Fields) -> Fields:
    """Take the part that begins at `offset`; return {"at": bytes that are here now}."""
    file, offset = _File(home, given), int(given.get("offset", 0))
    part = base64.b64decode(given.get("data", ""))
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with _writing(file.folder, file.rough):
        handle = os.open(file.rough, flags, 0o600)
        try:
            there = os.fstat(handle).st_size
            if there < offset:
                return {"at": there}  # a part of it was lost: it is asked for again
            os.ftruncate(handle, offset)
            os.lseek(handle, offset, os.SEEK_SET)
            left = memoryview(part)
            while left:
                left = left[os.write(handle, left) :]
        finally:
            os.close(handle)
    return {"at": offset + len(part)}


def finish(home: str, given: Fields) -> Fields:
    """Name a file that is whole; return {"size", "sha256"} as read back, and {"kept": how many are}.

    keep   as many stay, the newest by their names
    now    the time there: names ahead of it are of a wrong clock, and let none that is true go
    """
    file, keep = _File(home, given), max(1, int(given.get("keep", 1)))
    with _writing(file.folder, file.rough):
        found = _read_back(file.rough if os.path.lexists(file.rough) else file.path)
        if found != {"size": given.get("size"), "sha256": given.get("sha256")}:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file.rough)
            raise Refusal(f"{file.name} did not arrive as it was sent")
        if os.path.lexists(file.rough):
            os.replace(file.rough, file.path)
        _settle(file.folder)
        now = float(given.get("now") or time.time())
        for old in _spare(_kept(file.folder), file.name, keep, now):
            os.unlink(os.path.join(file.folder, old))
    return {**found, "kept": len(_kept(file.folder))}


def listed(home: str, given: Fields) -> Fields:
    """Return {"files": {name: size}}, the oldest first."""
    folder = _folder(home)
    return {"files": {name: _size(os.path.join(folder, name)) for name in _kept(folder)}}


def _kept(folder: str) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))
    return []


def _spare(kept: list[str], new: str, keep: int, now: float) -> list[str]:
    """Return what may go: all but the newest, counted apart for names that are ahead of now."""
    latest = time.strftime(_STAMP, time.gmtime(now + _AHEAD_S))
    past = [name for name in kept if _stamp(name) <= latest]
    ahead = [name for name in kept if _stamp(name) > latest]
    old = []
    for names in (past, ahead):
        others = [name for name in names if name != new]
        room = keep - (len(names) - len(others))
        old += others[: max(0, len(others) - room)]
    return old


def _stamp(name: str) -> str:
    return name.split("-")[1].split(".")[0]


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def _read_back(path: str) -> Fields:
    """Have a file on the disk, then read what is there."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        while True:
            chunk = file.read(_STEP)
            if not chunk:
                return {"size": size, "sha256": digest.hexdigest()}
            digest.update(chunk)
            size += len(chunk)


def _settle(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


OPS: dict[str, Callable[[str, Fields], Fields]] = {
    "backup.begin": begin,
    "backup.put": put,
    "backup.finish": finish,
    "backup.list": listed,
}
