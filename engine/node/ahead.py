"""Trees made ready ahead of whoever needs them, and what of a project is copied into them.

    tree.ready   one more free tree into the pool, at a commit, as long as there are fewer than `count`
    tree.fill    paths that git does not keep (node_modules, .venv), from another tree of the project
    tree.set_up  this session's tree went through the project's setup: the next may be filled from it

A copy is made inside the tree's own fence, which shows the other side as a whole and nothing else. A
path inside it is never mounted: its agent may be at work and put a link there after any look at it,
which inside the fence leads nowhere. It is a copy of every byte (or shares them as the file system does, until one
side writes), never a hard link, which an agent could write through. What is copied is no work of
anybody's: git is told to leave it alone. Neighbours: trees.py, engine/ahead.py, engine/adapters/runs.py.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
from dataclasses import replace
from typing import Callable

from engine.node import copies, points, room, trees
from engine.node.copies import Fields

MOST = trees.POOLED
_LAST = "set-up"  # names the session whose tree went through the setup last

# Beside .git first and moved whole: what was cut off half-way is never taken for the real thing.
_FILL = """
source=$1
shift
mkdir -p .git/info .git/quarterdeck-copy
rm -rf .git/quarterdeck-copy/*
for path in "$@"; do
    if [ -e "./$path" ] || [ -L "./$path" ]; then continue; fi
    above=$(dirname "./$path")
    step=$above
    while [ "$step" != . ]; do
        if [ -L "$step" ]; then printf '%s: %s is a link here\\n' "$path" "$step" >&2; continue 2; fi
        step=$(dirname "$step")
    done
    mkdir -p "$above"
    if cp -a --reflink=auto "$source/$path" .git/quarterdeck-copy/copied 2>.git/quarterdeck-copy/why \\
        || { [ ! -e .git/quarterdeck-copy/copied ] \\
            && cp -R -P -p "$source/$path" .git/quarterdeck-copy/copied 2>.git/quarterdeck-copy/why; }
    then
        mv .git/quarterdeck-copy/copied "./$path"
        grep -qxF "/$path" .git/info/exclude 2>/dev/null || printf '/%s\\n' "$path" >> .git/info/exclude
    else
        printf '%s: ' "$path" >&2
        head -n 1 .git/quarterdeck-copy/why >&2
        rm -rf .git/quarterdeck-copy/copied
    fi
done
rm -rf .git/quarterdeck-copy
"""


def ready(home: str, args: Fields) -> Fields:
    """Lay one free tree at `commit` if the pool has fewer than `count`; return how many there are."""
    project, commit = copies.name(args, "project"), copies.commit_id(args.get("commit"))
    count = min(int(args.get("count", 0)), MOST)
    folder = os.path.join(home, "trees", project)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with copies.alone(os.path.join(folder, "ahead")):
        free = trees.free_trees(folder)
        if len(free) >= count or room.is_low(*room.free_mb(folder)):
            return {"free": len(free), "made": False}
        names = (f"pool-ahead-{number}" for number in range(1, MOST + 1))
        name = next(name for name in names if name not in free)
        tree = os.path.join(folder, name)
        trees.lay(home, project, tree, "", commit, trees.NOBODY, pooled=False)
    return {"free": len(trees.free_trees(folder)), "made": True}


def fill(home: str, args: Fields) -> Fields:
    """Copy `paths` into a session's tree from `source`, else from the tree that was set up last.

    A path that is there already is left, one that the other side does not have is passed over.
    Returns {"note": what could not be copied, and why}.
    """
    project, tree = trees.find(home, args)
    paths = [_path(path) for path in args.get("paths", [])]
    source = copies.string(args, "source", "") or _last(home, project, tree)
    if not source or not os.path.isdir(source):
        return {"note": ""}
    found, notes = _there(os.path.realpath(source), paths)
    with copies.alone(tree):
        if found:
            notes += _copied(home, project, tree, os.path.realpath(source), found)
    return {"note": "; ".join(notes)}


def set_up(home: str, args: Fields) -> Fields:
    """Remember that a session's tree went through the project's setup."""
    project, tree = trees.find(home, args)
    path = os.path.join(home, "trees", project, _LAST)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(os.path.basename(tree))
    points.passed("set-up tree about to be named")
    os.rename(f"{path}.new", path)
    points.passed("set-up tree named")
    return {}


def _last(home: str, project: str, tree: str) -> str:
    """Return the tree that went through the setup last, if it is another one and still is there."""
    folder = os.path.join(home, "trees", project)
    with contextlib.suppress(OSError), open(os.path.join(folder, _LAST), encoding="utf-8") as file:
        other = os.path.join(folder, os.path.basename(file.read()))
        return other if os.path.isdir(other) and other != tree else ""
    return ""


def _path(value: object) -> str:
    """Return a path below a tree, as the settings name it; they were looked at before."""
    if not isinstance(value, str) or not value or "\0" in value or "\n" in value:
        raise copies.refusal(f"{value!r} cannot be a path to copy.")
    path = posixpath.normpath(value)
    if path.startswith(("/", "../", ".git/")) or path in (".", "..", ".git"):
        raise copies.refusal(f"{value!r} cannot be a path to copy.")
    return path


def _there(source: str, paths: list[str]) -> tuple[list[str], list[str]]:
    """Return the paths that can be copied, and why others cannot."""
    found, notes = [], []
    for path in paths:
        whole = os.path.join(source, path)
        if not os.path.lexists(whole):
            continue
        if os.path.realpath(whole) != whole:
            notes.append(f"{path}: a link, and links are not followed")
        else:
            found.append(path)
    return found, notes


def _copied(home: str, project: str, tree: str, source: str, paths: list[str]) -> list[str]:
    view = trees.view_of(home, project, tree)
    view = replace(view, read=(*view.read, source))
    said = trees.fenced_git(view, _FILL, (source, *paths))
    if said.code:
        return [f"{', '.join(paths)}: {copies.why(said.words)}"]
    return [line.replace(source, "").strip() for line in said.words.splitlines() if line.strip()]


OPS: dict[str, Callable[[str, Fields], Fields]] = {
    "tree.ready": ready,
    "tree.fill": fill,
    "tree.set_up": set_up,
}
