"""Locks of a git that died in a tree, taken away before the next run starts there.

A git that finds one does not wait: it ends with an error, and so would a setup, a check or a turn that
uses it. Whether anybody still works in the tree is for runs.py to say, which calls this as it starts a
run; git itself has no way to know. Folders are listed here and names removed, but no file of a tree is
opened, and no link in it followed. Neighbour: trees.py, whose own scripts do the same inside a fence.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from engine.node import points

_PLACE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def left(tree: str) -> bool:
    """Say whether a lock lies in a tree's git."""
    return any(True for _ in _found(tree))


def remove(tree: str) -> None:
    """Take away all locks in a tree's git. Only where nothing is at work in it."""
    for folder, name in _found(tree):
        with contextlib.suppress(OSError):  # not ours to remove: git will say that it is there
            os.unlink(name, dir_fd=folder)
    points.passed("locks in a tree removed")


def _found(tree: str) -> Iterator[tuple[int, str]]:
    """Find each lock: a descriptor of the folder it lies in, good until the next, and its name."""
    with contextlib.ExitStack() as opened:
        try:
            place = os.open(tree, _PLACE)
            opened.callback(os.close, place)
            git = os.open(".git", _PLACE, dir_fd=place)
            opened.callback(os.close, git)
        except OSError:  # nothing that git could use: what is started there will say so
            return
        for path, folders, names, folder in os.fwalk(".", dir_fd=git):
            if path == "./objects":  # the objects themselves bear no locks, and are many
                folders[:] = [name for name in folders if len(name) != 2]
            for name in names:
                if name.endswith(".lock") and _is_file(folder, name):
                    yield folder, name


def _is_file(folder: int, name: str) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISREG(os.lstat(name, dir_fd=folder).st_mode)
    return False
