"""What a disk says when it takes nothing more, in the words of the kernel and of git; what lies on it.

Standard library only: the node's, and used by the engine for its own disk as well. Neighbours: runner.py
waits for room, serve.py tells the engine of the want of it, tidy.py makes some.
"""

from __future__ import annotations

import errno
import os

# Full, over a quota or past a limit for one file; and what became read-only, as after a fault.
TAKES_NOTHING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_WORDS = ("no space left on device", "disk quota exceeded", "read-only file system")
LOW_MB = 1000  # less than this is nearly full; so is less than the share below, up to so much
LOW_SHARE = 0.02
LOW_MOST_MB = 5000
NOTHING_MB = 2  # less than this is none: whoever failed for want of it has tidied up since


def is_missing(error: BaseException, home: str = "") -> bool:
    """Say whether something failed since a disk took nothing.

    home   where to look when neither the error's number nor its words tell
    """
    if isinstance(error, OSError) and error.errno in TAKES_NOTHING:
        return True
    return is_said(str(error)) or bool(home and 0 <= free_mb(home)[0] < NOTHING_MB)


def is_said(words: str) -> bool:
    """Say whether a command's words tell that a disk of this machine took nothing."""
    own = [line for line in words.lower().splitlines() if not line.startswith("remote:")]
    return any(sign in line for line in own for sign in _WORDS)


def free_mb(*paths: str) -> tuple[int, int]:
    """Return the room left for an ordinary user and the size of the disk, in MB, where least is left."""
    found = []
    for path in paths:
        try:
            disk = os.statvfs(path)
        except OSError:
            continue
        writable = 0 if disk.f_flag & os.ST_RDONLY else disk.f_bavail
        found.append(
            (writable * disk.f_frsize // 1_000_000, disk.f_blocks * disk.f_frsize // 1_000_000)
        )
    return min(found, default=(-1, -1))


def needed_mb(total_mb: int) -> int:
    """Return how much must be free on a disk of that size for new work to begin there."""
    return max(LOW_MB, min(int(total_mb * LOW_SHARE), LOW_MOST_MB))


def is_low(free: int, total_mb: int) -> bool:
    """Say whether a disk is nearly full; one of which nothing is known is not."""
    return 0 <= free < needed_mb(total_mb)
