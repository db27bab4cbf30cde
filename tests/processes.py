"""Which processes of this machine are of a run: told by the run's folder, not by its name alone.

Every Quarterdeck has an s-2-t1, and others may play theirs beside a test, or a person work. Used by
tests/engine/scenario.py and tests/real_agents/quarterdeck.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine.node import fence


def of_runs(folders: Iterable[Path]) -> dict[int, dict[str, str]]:
    """Return the environment of each process of the runs kept there that can be seen, by pid."""
    wanted = {(folder.name, fence.place(str(folder))) for folder in folders}
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            raw = (entry / "environ").read_bytes()
        except OSError:
            continue
        pairs = (one.partition("=") for one in raw.decode(errors="replace").split("\0") if one)
        variables = {name: value for name, _, value in pairs}
        if (variables.get(fence.MARK), variables.get(fence.PLACE)) in wanted:
            found[int(entry.name)] = variables
    return found
