"""A file closed for another disk: whoever finds it there reads nothing, its owner's recovery code opens it.

    b"qdf1" | length of the head, 4 bytes | head | part | part | … | last part

The head names the recovery file (recovery.py: the vault's key under the owner's code) and this file's own
key, sealed for the vault's (sealing.py); both are needed, and the code opens both. A part is 1 MiB of the
file and 16 bytes that prove it; its number and whether it is the last are proven too, so none can be left
out, moved or cut off. The same part closed twice is the same: what was sent half-way can be sent on.
Neighbours: engine/elsewhere.py sends it, engine/restore.py opens it.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from msgspec import Struct

from stores.recovery import open_with
from stores.sealing import KEY_BYTES, NotOpened, Opener, seal

MARK: Final = b"qdf1"
PART: Final = 1024 * 1024
PROOF: Final = 16
_MOST_HEAD: Final = 64 * 1024
_LENGTH: Final = struct.Struct(">I")


class Head(Struct, frozen=True, kw_only=True):
    """What stands before the parts; nothing of it opens anything by itself."""

    public: bytes  # of the vault the file's key is sealed for
    recovery: bytes
    key: bytes

    def private(self, code: str) -> bytes:
        """Return the vault's key by the owner's recovery code; raises NotOpened."""
        return self.fitting(open_with(code, self.recovery))

    def fitting(self, private: bytes) -> bytes:
        """Return a vault's key if it is this one's; raises NotOpened."""
        if Opener(private).public != self.public:
            raise NotOpened("That key is not of this backup's vault: it belongs to another box.")
        return private


class Closing:
    """One file on its way into a closed one, part by part; parts are read when they are asked for."""

    def __init__(self, file: Path, *, public: bytes, recovery: bytes) -> None:
        key = os.urandom(KEY_BYTES)
        head = msgspec.msgpack.encode(Head(public=public, recovery=recovery, key=seal(public, key)))
        self._file = file
        self._head = MARK + _LENGTH.pack(len(head)) + head
        self._parts = _Parts(key, self._head)
        self._size = file.stat().st_size
        self._count = max(1, -(-self._size // PART))
        self.name = hashlib.sha256(self._head).hexdigest()[:16]  # of this closing alone

    @property
    def size(self) -> int:
        """How many bytes all of it has."""
        return len(self._head) + self._size + self._count * PROOF

    def starts(self) -> list[int]:
        """Return where each piece begins: the head, then the parts."""
        return [0, *(len(self._head) + n * (PART + PROOF) for n in range(self._count))]

    def piece(self, number: int) -> bytes:
        """Return the head for 0, else that part, closed."""
        if number == 0:
            return self._head
        with self._file.open("rb") as file:
            file.seek((number - 1) * PART)
            body = file.read(PART)
        return self._parts.close(number - 1, body, last=number == self._count)


def head(file: Path) -> Head | None:
    """Return the head of a closed file, None for one that is not closed; raises NotOpened."""
    try:
        with file.open("rb") as source:
            found = _head(source)
    except OSError:
        return None  # who reads it says why it cannot be read
    return found[0] if found else None


def opened(file: Path, private: bytes) -> io.BufferedReader:
    """Return what was closed, to be read once from its beginning; NotOpened where it was changed."""
    return io.BufferedReader(_Opened(file, private), PART)


def _head(source: BinaryIO) -> tuple[Head, bytes] | None:
    mark = source.read(len(MARK) + _LENGTH.size)
    if not mark.startswith(MARK) or len(mark) < len(MARK) + _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(mark[len(MARK) :])
    body = source.read(length) if length <= _MOST_HEAD else b""
    try:
        return msgspec.msgpack.decode(body, type=Head), mark + body
    except msgspec.MsgspecError:
        raise NotOpened(f"{_CHANGED} its head cannot be read.") from None


_CHANGED: Final = "This copy is damaged or cut off:"


class _Opened(io.RawIOBase):
    def __init__(self, file: Path, private: bytes) -> None:
        self._source = file.open("rb")
        found = _head(self._source)
        if found is None:
            raise NotOpened(f"{_CHANGED} it has no head.")
        about, body = found
        key = Opener(about.fitting(private)).open(about.key)
        self._pieces = _Parts(key, body).open(self._source)
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = piece
        taken = self._left[: len(into)]
        into[: len(taken)] = taken
        self._left = self._left[len(taken) :]
        return len(taken)

    def close(self) -> None:
        self._source.close()
        super().close()


class _Parts:
    """Closes and opens the parts of one file."""

    def __init__(self, key: bytes, head: bytes) -> None:
        self._cipher = ChaCha20Poly1305(key)
        self._about = hashlib.sha256(head).digest()

    def close(self, number: int, body: bytes, *, last: bool) -> bytes:
        return self._cipher.encrypt(_nonce(number, last), body, self._about)

    def open(self, source: BinaryIO) -> Iterator[bytes]:
        number, body = 0, source.read(PART + PROOF)
        while True:
            after = source.read(PART + PROOF)
            try:
                yield self._cipher.decrypt(_nonce(number, not after), body, self._about)
            except InvalidTag:
                raise NotOpened(f"{_CHANGED} part {number + 1} is not as it was sent.") from None
            if not after:
                return
            number, body = number + 1, after


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes((last,))
