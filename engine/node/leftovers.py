"""What a node that fell left behind, let go of by the next one that may write on its machine.

    runs/.new-*                  a run that was being prepared        trees/<project>/making-*
    copies/*.new                 a copy that was being made           trees/<project>/gone-*
    .gone-* in any of these      a folder that was being removed
    logins/*                     settings of a login that ended with its node
    copies/*.git                 locks and half packs of a git that was cut off
    git in a tree or a copy      ended: nobody takes what it does any more

A process is known to be of ours by two marks in its environment, never by its number. Nothing here may
be called while another node writes: engine/node/serve.py calls `take_over` once it holds the lock, and
before it carries out the first order.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator

from engine.node import fence, points

ROUGH = ".new-"  # a run's folder while it is put together
GONE = ".gone-"  # a folder while it is removed
_ARRIVES_S = 3600.0  # a node's own code that is not whole by then never will be

MARKS: dict[str, str] = {}  # what the git of this process's copies and trees is started with


def mark(home: str) -> None:
    """Have whatever git this node starts be known as its own."""
    MARKS.update({fence.MARK: "node", fence.PLACE: fence.place(home)})


def remove(path: str) -> None:
    """Remove a folder: at once from its place, then from the disk."""
    if os.path.lexists(path):
        discard(aside(path))


def aside(path: str) -> str:
    """Move what lies at `path` out of the way, under a name by which it is found again."""
    if os.path.basename(path).startswith(GONE):
        return path
    gone = os.path.join(os.path.dirname(path), f"{GONE}{uuid.uuid4().hex}")
    os.rename(path, gone)
    points.passed("moved aside to be removed")
    return gone


def discard(path: str) -> None:
    """Remove what was moved aside; what cannot be removed is left."""
    if os.path.islink(path) or not os.path.isdir(path):
        with contextlib.suppress(OSError):
            os.unlink(path)
        return
    shutil.rmtree(path, ignore_errors=True)
    if os.path.isdir(path):  # a folder its agent took the rights of
        for folder, names, _ in os.walk(path):
            for name in names:
                inner = os.path.join(folder, name)
                if not os.path.islink(inner):
                    with contextlib.suppress(OSError):
                        os.chmod(inner, 0o700)
        shutil.rmtree(path, ignore_errors=True)
    points.passed("removed")


def take_over(home: str) -> list[str]:
    """End and set aside what nodes before us left half done; return what is to be discarded."""
    fence.kill_placed(fence.place(home), _is_at_work)
    points.passed("left processes ended")
    copies = os.path.join(home, "copies")
    for store in _stores(copies):
        _unlock(store)
    found = []
    for path in _left(home):
        with contextlib.suppress(FileNotFoundError):
            found.append(aside(path))
    return found


def _is_at_work(pid: int) -> bool:
    """Say whether a process of a former node is what it started, and not what outlives that by design.

    For submodules git runs with its owner's settings: an ssh connection it left open for others, or what
    keeps their passwords, was started by it and is the owner's.
    """
    if not fence.is_marked(pid, fence.MARK, "node"):
        return True  # a script in a tree, which knows no settings of anybody's
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            name = file.read()
    except OSError:
        return False
    return name.startswith("git") and not name.startswith("git-credential")


def _left(home: str) -> Iterator[str]:
    """Yield what is of use to nobody."""
    copies, code = os.path.join(home, "copies"), os.path.join(home, "node")
    yield from _named(os.path.join(home, "runs"), (ROUGH, GONE))
    yield from _named(os.path.join(home, "sessions"), (GONE,))
    yield from _named(os.path.join(home, "accounts"), (GONE,))
    yield from _named(os.path.join(home, "logins"), ("",))  # they ended with their node
    trees = os.path.join(home, "trees")
    for project in _names(trees):
        yield from _named(os.path.join(trees, project), ("making-", "gone-", GONE))
    for folder in (copies, *(os.path.join(copies, name) for name in _names(copies))):
        if folder == copies or folder.endswith(".modules"):
            yield from (p for p in _named(folder, ("",)) if p.endswith(".new"))
            yield from _named(folder, (GONE,))
    for path in _named(code, ("",)):
        if path.endswith(".new") and time.time() - os.lstat(path).st_mtime > _ARRIVES_S:
            yield path


def _named(folder: str, prefixes: tuple[str, ...]) -> Iterator[str]:
    for name in _names(folder):
        if name.startswith(prefixes):
            yield os.path.join(folder, name)


def _names(folder: str) -> list[str]:
    """Return what lies in a folder of ours; nothing where there is none, or a link in its place."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        return []
    return sorted(os.listdir(folder))


def _stores(copies: str) -> Iterator[str]:
    for name in _names(copies):
        path = os.path.join(copies, name)
        if name.endswith(".git"):
            yield path
        elif name.endswith(".modules"):
            yield from (p for p in _named(path, ("",)) if p.endswith(".git"))


def _unlock(store: str) -> None:
    """Take away what a git that was cut off left in a copy: git itself would wait for it for ever."""
    with _at_rest(store) as at_rest:
        if not at_rest:
            return
        for folder, _, names in os.walk(os.path.join(store, "refs")):
            _unlink(folder, [name for name in names if name.endswith(".lock")])
        _unlink(store, [name for name in _names(store) if name.endswith(".lock")])
        packs = os.path.join(store, "objects", "pack")
        _unlink(packs, [name for name in _names(packs) if name.startswith("tmp_")])


def _unlink(folder: str, names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, name))


@contextlib.contextmanager
def _at_rest(store: str) -> Iterator[bool]:
    """Say whether no link of another machine is bringing commits into this copy (supply.py)."""
    try:
        lock = os.open(f"{store}.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield True
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)
