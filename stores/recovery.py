"""The recovery code: what opens the vault's key again on another box, written down by the owner.

    new_code()                      ABCD-EFGH-…, 130 bits drawn here, shown once, kept nowhere
    close(code, private) -> bytes   the vault's key, closed: lies in secrets/ and in every backup
    open_with(code, closed) -> bytes  the key again
    codes_in(text)                  where such a code stands in a text: nobody is to send one

The code's letters are those that cannot be mistaken for each other, and its last two prove that it was
typed as it was shown: a slip is told from another box's code. With 130 random bits a slow hash would add
nothing. Neighbours: sealing.py (the key itself), engine/backup.py and engine/restore.py.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from stores.sealing import KEY_BYTES, NotOpened

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DRAWN = 26
PROVING = 2
GROUP = 4
MARK = b"qdr1"
SALT_BYTES = 16
_LOOK_ALIKE = str.maketrans("OIL", "011")
_STANDS = re.compile(
    r"(?<![A-Za-z0-9])(?=(?P<code>[A-Za-z0-9]{4}(?:[-\s.\u2010-\u2014]{0,3}[A-Za-z0-9]{4}){6})(?![A-Za-z0-9]))"
)
_AS_SHOWN = re.compile(rf"[{LETTERS}]{{4}}(?:-[{LETTERS}]{{4}}){{6}}")
_BETWEEN = re.compile(r"[^A-Za-z0-9]+")
_NONCE = bytes(12)  # each salt makes a key of its own


def new_code() -> str:
    """Draw a code, in groups of four."""
    drawn = "".join(secrets.choice(LETTERS) for _ in range(DRAWN))
    whole = drawn + _proof(drawn)
    return "-".join(whole[at : at + GROUP] for at in range(0, len(whole), GROUP))


def close(code: str, private: bytes) -> bytes:
    """Return the vault's key closed with a code."""
    salt = os.urandom(SALT_BYTES)
    return MARK + salt + _cipher(_read(code), salt).encrypt(_NONCE, private, MARK)


def open_with(code: str, closed: bytes) -> bytes:
    """Return the vault's key.

    raises  NotOpened when the code is mistyped, is another box's, or what was closed is damaged
    """
    drawn = _read(code)
    salt, body = (
        closed[len(MARK) : len(MARK) + SALT_BYTES],
        closed[len(MARK) + SALT_BYTES :],
    )
    try:
        if not closed.startswith(MARK):
            raise ValueError("no closed key")
        private = _cipher(drawn, salt).decrypt(_NONCE, body, MARK)
    except (InvalidTag, ValueError):
        raise NotOpened(
            "This recovery code does not open this backup: it is an older code, a newer one, or of "
            "another box. Each backup is opened by the code that was the newest when it was made."
        ) from None
    if len(private) != KEY_BYTES:
        raise NotOpened("What this recovery code opens is no key of a vault.")
    return private


def codes_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a code stands, however it was typed; one written as it is shown even if mistyped."""
    done = 0
    for found in _STANDS.finditer(text):
        start, end = found.span("code")
        if start >= done and _is_code(found["code"]):
            done = end
            yield start, end


def _is_code(typed: str) -> bool:
    if not re.search("[0-9]", typed):
        return False
    if _AS_SHOWN.fullmatch(typed):
        return True
    plain = _BETWEEN.sub("", typed)
    if plain[1:] not in (plain[1:].upper(), plain[1:].lower()):
        return False
    try:
        _read(plain)
    except NotOpened:
        return False
    return True


def _read(code: str) -> str:
    """Return the drawn part of a code as a person types it."""
    plain = "".join(code.split()).replace("-", "").upper().translate(_LOOK_ALIKE)
    drawn, proof = plain[:DRAWN], plain[DRAWN:]
    fits = len(plain) == DRAWN + PROVING and set(plain) <= set(LETTERS)
    if not fits or _proof(drawn) != proof:
        raise NotOpened(
            f"That is no recovery code: it has {(DRAWN + PROVING) // GROUP} groups of {GROUP} letters "
            "and digits, and one of them is mistyped or missing."
        )
    return drawn


def _proof(drawn: str) -> str:
    found = hashlib.sha256(drawn.encode("ascii")).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in found[:PROVING])


def _cipher(drawn: str, salt: bytes) -> ChaCha20Poly1305:
    key = HKDF(SHA256(), KEY_BYTES, salt, b"recovery code").derive(drawn.encode("ascii"))
    return ChaCha20Poly1305(key)
