"""Files of a run, opened as what they should be: ordinary files, in that very folder.

Where there is no fence an agent could lay anything in their place. A link would have us read or write
elsewhere, a pipe would have us wait for ever, a folder is an error nobody expects. None of them is
followed or waited for: reading finds nothing, and what we write is put in the place of it.
Imports little, since every run pays for it. Neighbour: folder.py.
"""

from __future__ import annotations

import errno
import os
import stat
import time

_ODD = (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR, errno.ENODEV)
_PLACE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Odd(OSError):
    """What lies there is no file of ours."""


def opened(path: str, flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of the file at `path`; raises Odd, or FileNotFoundError.

    Neither the file nor the folder it is in may be a link.
    """
    folder, name = os.path.split(path)
    try:
        place = os.open(folder, _PLACE)
        try:
            handle = os.open(
                name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=place
            )
        finally:
            os.close(place)
    except OSError as error:
        if error.errno not in _ODD:
            raise
        raise Odd(error.errno, "no file of ours", path) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Odd(errno.ENODEV, "no file of ours", path)
    return handle


def written(path: str, flags: int) -> int:
    """Return a descriptor to write to the file at `path`, with whatever else lies there moved aside."""
    try:
        return opened(path, flags)
    except Odd:
        aside(path)
    return opened(path, flags)


def aside(path: str) -> None:
    """Move what lies at `path` and is no file away, if there is anything."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            os.rename(path, f"{path}.{time.time_ns()}.odd")
    except FileNotFoundError:
        return
