"""How one value of the vault is closed, and what it is bound to.

A body is a nonce and a ciphertext. It opens only as what it was kept as: this name, version, scope and
time. So a row that was changed, moved or renumbered opens no more, and one written over by an older one of
the same name does not either. `used` alone is bound to nothing: it says when, and decides nothing.

Form 1 is how rows were bound before there were scopes (name and version); such a row is good everywhere, and
nowhere else: with a scope written to it, it is refused. Neighbours: vault.py reads and writes the rows,
rotation.py closes them anew for another key.
"""

from __future__ import annotations

import os
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from msgspec import Struct

from stores.sealing import NotOpened, Opener

NONCE_BYTES: Final = 12
FIRST_FORM: Final = 1
FORM: Final = 2
COLUMNS: Final = "name, version, scope, form, body, at, used"


class Kept(Struct, frozen=True):
    """A row of the vault, in the order of COLUMNS."""

    name: str
    version: int
    scope: str
    form: int
    body: bytes
    at: float
    used: float = 0.0

    @property
    def bound(self) -> bytes | None:
        """What the body is bound to; None: no row of ours looks like that."""
        if self.form == FORM:
            return _said("row", self.name, self.version, self.scope, self.at)
        if self.form == FIRST_FORM and not self.scope:
            return f"{self.name}\0{self.version}".encode()
        return None


class Cipher:
    """Closes and opens bodies with one key of the vault."""

    def __init__(self, private: bytes) -> None:
        opener = Opener(private)
        self.public = opener.public
        self._cipher = ChaCha20Poly1305(opener.derive(b"vault rows"))

    def row(self, name: str, version: int, scope: str, value: str, at: float) -> Kept:
        """Return a value as a row."""
        bare = Kept(name, version, scope, FORM, b"", float(at))
        return msgspec.structs.replace(bare, body=self._close(value.encode(), bare.bound or b""))

    def value(self, row: Kept) -> str:
        """Return a row's value; raises NotOpened."""
        try:
            if row.bound is None:
                raise ValueError("no row of ours")
            return self._open(row.body, row.bound).decode()
        except (InvalidTag, ValueError):
            raise NotOpened(
                f"The secret {row.name} cannot be opened: it was changed on disk, or kept under "
                "another vault key. Forget it and give it again; the others are not touched."
            ) from None

    def newest(self, name: str, version: int) -> bytes:
        """Return the sealed word on which version of a name is its newest."""
        return self._close(str(version).encode(), _said("newest", name))

    def is_newest(self, name: str, body: bytes) -> int:
        """Return that version; 0: the word was changed, or is another key's."""
        try:
            return int(self._open(body, _said("newest", name)))
        except (InvalidTag, ValueError):
            return 0

    def retire(self, private: bytes) -> bytes:
        """Return an earlier key of the vault, closed."""
        return self._close(private, _said("retired", Opener(private).public.hex()))

    def retired(self, public: bytes, body: bytes) -> bytes:
        """Return an earlier key; raises NotOpened."""
        try:
            return self._open(body, _said("retired", public.hex()))
        except (InvalidTag, ValueError):
            raise NotOpened("An earlier key of the vault cannot be opened.") from None

    def _close(self, plain: bytes, bound: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, bound)

    def _open(self, body: bytes, bound: bytes) -> bytes:
        return self._cipher.decrypt(body[:NONCE_BYTES], body[NONCE_BYTES:], bound)


def _said(*parts: str | float) -> bytes:
    """Return what something is bound to, so that no two things are written alike."""
    return msgspec.json.encode(parts)
