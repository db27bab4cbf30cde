"""Where a command that holds a key may find its program: never by a folder that what runs here can write.

A PATH may name folders by where one stands (`bin`, or nothing at all, which is the folder itself), and such
a command starts in its tree: the tree's own file would then run under a plain program's name. So would one
that a link leads to. Used by runner.py. Standard library only.
"""

from __future__ import annotations

import os

_MOVES = ("/proc", "/dev")  # what these name is another thing to every process


def safe_path(given: str, program: str, away: tuple[str, ...]) -> str:
    """Return the folders of a PATH in which `program` may be looked for.

    away    the folders whose files never run under a plain name: the tree, and the node's home
    """
    shut = tuple(os.path.realpath(folder) for folder in away if folder)
    usual = os.defpath.split(os.pathsep)
    kept = [folder for folder in given.split(os.pathsep) if _is_safe(folder, program, shut)]
    return os.pathsep.join(kept or [one for one in usual if _is_safe(one, program, shut)])


def _is_safe(folder: str, program: str, shut: tuple[str, ...]) -> bool:
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return False
    places = [os.path.normpath(folder), os.path.realpath(folder)]
    if "/" not in program:  # else it is not looked for
        places.append(os.path.realpath(os.path.join(folder, program)))
    return not any(_below(top, at) for at in places for top in (*shut, *_MOVES))


def _below(top: str, path: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")
