"""The seam for crash tests: every point at which a process of ours may die and it would matter.

Named between any two steps of which the first leaves something behind: a file, a folder, a process, an
answer. `passed` does nothing but in a test, which puts in what ends the process at the k-th of them.
The engine's own seam is stores/database.py's `boundary`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's own, which every run would pay for
if TYPE_CHECKING:
    from typing import Callable


def _nothing(what: str) -> None:
    """Do nothing: outside of crash tests nobody is called."""


# Looked up at each call.
passed: Callable[[str], None] = _nothing
