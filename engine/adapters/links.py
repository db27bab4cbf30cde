"""Where a program lies, link by link: all of it must be there for it to start inside a fence.

Neighbours: runs.py (an agent's own command), sign_in.py (its login).
"""

from __future__ import annotations

import os
from pathlib import Path

MOST = 40  # links: as many as Linux follows


def folders(program: Path) -> list[str]:
    """Return the folders of a path and of each one it points to, in that order, none twice.

    npm's `bin/claude`, say, points into `.bin`, and that to where the package is.
    """
    found: dict[str, None] = {}
    for _ in range(MOST):
        found.setdefault(str(program.parent))
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
    found.setdefault(str(program.resolve().parent))
    return list(found)
