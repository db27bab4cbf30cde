"""Room made on a machine without asking anybody, and what its owner may delete there.

    disk.tidy    free trees, and what is on its way out, go: the next ones are laid anew. Returns what was
                 freed, and what of ours could go, the largest first

Nothing goes that holds work: a session's tree, a damaged one that was kept aside, what runs printed. Adding up
sizes stops after some seconds: then a size is at least that. Neighbours: room.py, engine/load.py.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import Callable

from engine.node import copies, folder, leftovers, room
from engine.node.copies import Fields

_ADDS_S = 4.0
_WORTH_MB = 1


def tidy(home: str, args: Fields) -> Fields:
    """Make what room can be made; return {"freed_mb", "disk_free_mb", "disk_needs_mb", "ours"}."""
    before = disk(home)["disk_free_mb"]
    top = os.path.join(home, "trees")
    for project in _listed(top):
        place = os.path.join(top, project)
        with copies.alone(place):
            for name in _listed(place):
                if name.startswith(("pool-", "gone-", leftovers.GONE)):
                    shutil.rmtree(os.path.join(place, name), ignore_errors=True)
    now = disk(home)
    return {**now, "freed_mb": max(0, now["disk_free_mb"] - before), "ours": ours(home)}


def disk(home: str) -> Fields:
    """Return the room on the disk of the home, or of the trees if less is left, and what work needs."""
    free, total = room.free_mb(home, os.path.join(home, "trees"))
    return {"disk_free_mb": free, "disk_needs_mb": room.needed_mb(total)}


def ours(home: str) -> list[tuple[str, int]]:
    """Return what of ours could be deleted by hand and how many MB it has, the largest first."""
    until = time.monotonic() + _ADDS_S
    found = {
        "backups": [os.path.join(home, "backups")],
        "logs": [os.path.join(home, "logs")],
        "output of past runs": _past_runs(os.path.join(home, "runs")),
        "damaged trees that were kept": _damaged(os.path.join(home, "trees")),
    }
    sizes = [(name, _size(paths, until) // 1_000_000) for name, paths in found.items()]
    return sorted((one for one in sizes if one[1] >= _WORTH_MB), key=lambda one: -one[1])


def _past_runs(top: str) -> list[str]:
    paths = [os.path.join(top, name) for name in _listed(top)]
    return [path for path in paths if folder.ended(path) is not None]


def _damaged(top: str) -> list[str]:
    places = [os.path.join(top, project) for project in _listed(top)]
    return [
        os.path.join(place, name)
        for place in places
        for name in _listed(place)
        if name.startswith("damaged-")
    ]


def _listed(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _size(paths: list[str], until: float) -> int:
    total = 0
    for path in paths:
        for at, _, names in os.walk(path):
            if time.monotonic() >= until:
                return total
            total += sum(_size_of(os.path.join(at, name)) for name in names)
    return total


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0  # gone meanwhile


OPS: dict[str, Callable[[str, Fields], Fields]] = {"disk.tidy": tidy}
