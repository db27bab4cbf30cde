"""An account's stored login, handed to one session: one file copied, its folder never shown.

Each session has a folder of settings of its own, which its agent may write. So the copy is put in
place by a rename, which follows no link laid there, and nothing is ever taken back out of it: what an
agent made of its login is no login of the owner's. A copy that is newer than the account's stays,
since agents renew theirs while they run.

engine/adapters/runs.py asks for it before a run; engine/node/serve.py answers.
"""

from __future__ import annotations

import os
import re
import stat
from typing import Any, Callable

from engine.node import points
from engine.node.link import Refusal

Fields = dict[str, Any]

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FILE = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST = 1024 * 1024


def hand(home: str, given: Fields) -> Fields:
    """Copy the account's login into the session's own settings, unless that has a newer one.

    session   whose settings
    source    the folder the account signed in with, on this machine
    name      the file in it that is the login
    """
    session, source, name = (str(given.get(key)) for key in ("session", "source", "name"))
    if not _SESSION.fullmatch(session) or not _FILE.fullmatch(name):
        raise Refusal(f"{session!r} is no session, or {name!r} no name of a login.")
    theirs = os.path.join(source, name)
    try:
        with open(theirs, "rb") as file:
            body, signed_in = file.read(_MOST), os.fstat(file.fileno()).st_mtime
    except OSError as error:
        raise Refusal(
            f"There is no login at {theirs} ({error.strerror}): sign in with that folder, or name "
            "another with quarterdeck account add … --config-dir DIR"
        ) from None
    folder = os.path.join(home, "sessions", session, "config")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, name)
    if _newer(target, signed_in):
        return {"copied": False}
    _put(target, body)
    return {"copied": True}


def _newer(path: str, than: float) -> bool:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_mtime >= than


def _put(target: str, body: bytes) -> None:
    rough = f"{target}.new"
    if os.path.lexists(rough):
        os.unlink(rough)
    file = os.open(rough, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "wb") as writing:
        writing.write(body)
    points.passed("login written aside")
    os.rename(rough, target)
    points.passed("login handed")


OPS: dict[str, Callable[[str, Fields], Fields]] = {"session.login": hand}
