"""What the owner sent along, laid into a session's own folder: outside its tree, read-only in its fence.

    files.lacks   which of these are not there yet
    files.put     one part of one file; with its last part the whole is judged by its hash

A file has its name only once all of it is there and is what was sent: a link that broke half-way leaves
a rough one, which the next try writes over. engine/adapters/handing.py brings them;
engine/node/serve.py answers.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from typing import Any, Callable

from engine.node import points
from engine.node.link import Refusal

Fields = dict[str, Any]

PART = 1024 * 1024  # bytes at a time: a part never holds up a small answer for long

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST = 250  # bytes of a name: five more stand around it while it is rough


def _folder(home: str, given: Fields) -> str:
    session = given.get("session")
    if not isinstance(session, str) or not _SESSION.fullmatch(session):
        raise Refusal(f"{session!r} is no session.")
    return os.path.join(home, "sessions", session, "files")


def _name(given: Fields) -> str:
    name = given.get("name")
    fits = isinstance(name, str) and 0 < len(os.fsencode(name)) <= _MOST
    if not fits or str(name).startswith(".") or any(bad in str(name) for bad in "/\0\n"):
        raise Refusal(f"{name!r} is no name of a file here.")
    return str(name)


def lacks(home: str, given: Fields) -> Fields:
    """Return {"lacks": names} of those of `files` ({"name", "size"}) that are not there whole."""
    folder = _folder(home, given)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    wanted = [(_name(file), int(file["size"])) for file in given.get("files", [])]
    return {"lacks": [name for name, size in wanted if _size(folder, name) != size]}


def _size(folder: str, name: str) -> int:
    try:
        return os.lstat(os.path.join(folder, name)).st_size
    except FileNotFoundError:
        return -1


def put(home: str, given: Fields) -> Fields:
    """Take one part of a file; return {"done": whether it is there whole now}.

    offset   where the part belongs; 0 begins anew
    size     of the whole
    sha256   what the whole must be
    """
    folder, name = _folder(home, given), _name(given)
    offset, size = int(given.get("offset", 0)), int(given.get("size", 0))
    part = base64.b64decode(given.get("data", ""))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    rough = os.path.join(folder, f".{name}.new")
    if offset == 0 and os.path.lexists(rough):
        os.unlink(rough)
    flags = (
        os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if offset == 0 else 0)
    )
    with os.fdopen(os.open(rough, flags, 0o600), "r+b") as file:
        if file.seek(0, os.SEEK_END) != offset:
            raise Refusal(f"{name} goes on at {file.tell()}, not at {offset}: begin anew.")
        file.write(part)
        file.flush()
        points.passed("part of a file written")
        if file.tell() < size:
            return {"done": False}
        file.seek(0)
        digest = hashlib.sha256(file.read()).hexdigest()
    if digest != given.get("sha256"):
        os.unlink(rough)
        raise Refusal(f"{name} did not arrive as it was sent.")
    os.chmod(rough, 0o400)
    points.passed("file written aside")
    os.rename(rough, os.path.join(folder, name))
    points.passed("file put")
    return {"done": True}


OPS: dict[str, Callable[[str, Fields], Fields]] = {"files.lacks": lacks, "files.put": put}
