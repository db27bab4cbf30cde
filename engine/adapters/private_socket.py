"""A socket in a folder of ours, for processes of ours alone: a git, or the ssh it started.

Neighbours: ssh.py (commits of a machine), key_agent.py (signing in at a forge).
"""

from __future__ import annotations

import itertools
import socket
from pathlib import Path

_numbers = itertools.count(1)


def listen(folder: Path) -> tuple[socket.socket, Path]:
    """Bind a socket that this user alone can connect to; its path is whoever listens' to remove."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    path = folder / f"{next(_numbers)}.sock"
    path.unlink(missing_ok=True)  # left by one that was killed
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.setblocking(False)
    return listener, path
