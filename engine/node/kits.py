"""A copy of what a repository brings for its agents, laid beside a session, outside its tree.

    kit.lay   put a copy in place under its digest; with no files, say whether it is there

The copy is of the commit its owner decided about. A fence shows it read-only, so nothing an agent does
in its tree or its settings changes what it is given. It has its name only once it is whole.
engine/adapters/kits.py asks; engine/node/serve.py answers.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from typing import Any, Callable

from engine.node import points
from engine.node.link import Refusal

Fields = dict[str, Any]

MOST_FILES = 400
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def lay(home: str, given: Fields) -> Fields:
    """Return {"folder": path, "there": whether it is}; `files` are {"path", "data", "runs"}."""
    session, digest = str(given.get("session")), str(given.get("digest"))
    if not _SESSION.fullmatch(session) or not _DIGEST.fullmatch(digest):
        raise Refusal(f"{session!r} is no session, or {digest!r} no digest.")
    kits = os.path.join(home, "sessions", session, "kit")
    folder = os.path.join(kits, digest[:16])
    files = given.get("files") or []
    if os.path.isdir(folder) or not files:
        return {"folder": folder, "there": os.path.isdir(folder)}
    if len(files) > MOST_FILES:
        raise Refusal(f"{len(files)} files are more than a kit holds.")
    os.makedirs(kits, mode=0o700, exist_ok=True)
    rough = f"{folder}.new"
    shutil.rmtree(rough, ignore_errors=True)
    for file in files:
        _write(rough, str(file["path"]), base64.b64decode(file["data"]), bool(file.get("runs")))
        points.passed("file of a kit written")
    os.rename(rough, folder)
    points.passed("kit laid")
    return {"folder": folder, "there": True}


def _write(root: str, path: str, body: bytes, runs: bool) -> None:
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise Refusal(f"{path!r} is no path in a kit.")
    target = os.path.join(root, *parts)
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        file.write(body)
    os.chmod(target, 0o500 if runs else 0o400)


OPS: dict[str, Callable[[str, Fields], Fields]] = {"kit.lay": lay}
