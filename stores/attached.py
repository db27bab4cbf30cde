"""Files on their way between the chat and the agents, kept by the hash of their content.

    <home>/attached/<sha256>      0600, in a folder of our user's only

The bot keeps here what the owner sent, and the engine what the owner asked to see; each names it to the
other by its hash. A file is there whole or not at all. The calls block for as long as a disk does: they
are made in threads. Neighbours: engine/retention.py lets go of what is old.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Container
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{64}")


class Attached:
    """One folder of files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str) -> Path:
        """Return where a file lies, whether it is there or not."""
        if not _HASH.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is no hash")
        return self._folder / sha256

    def keep(self, data: bytes) -> str:
        """Keep some bytes and return their hash; what is there already counts as kept just now."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if self.size(digest) == len(data):
            os.utime(path)
            return digest
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, rough = tempfile.mkstemp(dir=self._folder, prefix=".")  # 0600, and nobody else's
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(rough, path)
        except OSError:  # a full disk most likely: half a file is nobody's
            os.unlink(rough)
            raise
        return digest

    def size(self, sha256: str) -> int:
        """Return a file's size, -1 if it is not there."""
        try:
            return self.path(sha256).stat().st_size
        except FileNotFoundError:
            return -1

    def read(self, sha256: str) -> bytes | None:
        """Return a file's bytes; None if it is not there, or not what it was."""
        try:
            data = self.path(sha256).read_bytes()
        except FileNotFoundError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def touch(self, sha256: str) -> bool:
        """Count a file as used just now; return whether it is there."""
        try:
            os.utime(self.path(sha256))
        except FileNotFoundError:
            return False
        return True

    def retain(
        self, needed: Container[str], named: Container[str], now: float, after_s: float
    ) -> int:
        """Let go of what is old; return how many.

        needed    hashes that stay
        named     hashes that go `after_s` after their last use; all others after a day
        """
        gone = 0
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            limit_s = after_s if path.name in named else min(after_s, 86_400.0)
            if path.name not in needed and now - path.stat().st_mtime >= limit_s:
                path.unlink(missing_ok=True)
                gone += 1
        return gone
