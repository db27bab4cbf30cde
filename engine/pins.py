"""A PIN as it is kept: its scrypt hash with a salt of its own, and never itself.

Few digits are soon tried through by whoever holds the hash: it keeps them from being read, and a phone
in the wrong hand from being enough; docs/security.md says so. Neighbours: rules/pin.py counts wrong ones,
requests/pins.py asks here, off the loop's thread.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import re
import secrets
from typing import Final

from engine.errors import Refused

COST: Final = 2**15  # 32 MiB and a tenth of a second a try
_SHAPE: Final = re.compile(r"[0-9]{4,8}", re.ASCII)
WRONG_SHAPE: Final = "A PIN has 4 to 8 digits."
EASY: Final = "That PIN is among the first that anybody tries. Choose another."


def checked(pin: str) -> str:
    """Return a PIN that may be set."""
    if not _SHAPE.fullmatch(pin):
        raise Refused(WRONG_SHAPE)
    steps = {int(after) - int(before) for before, after in itertools.pairwise(pin)}
    if steps <= {0} or steps == {1} or steps == {-1}:
        raise Refused(EASY)
    return pin


def salted(pin: str) -> str:
    """Return what is kept of a PIN."""
    salt = secrets.token_bytes(16)
    return f"scrypt${COST}${salt.hex()}${_hash(pin, salt, COST).hex()}"


def fits(kept: str, pin: str) -> bool:
    """Whether it is the PIN that was kept so."""
    kind, cost, salt, found = kept.split("$")
    if kind != "scrypt" or not _SHAPE.fullmatch(pin):
        return False
    return hmac.compare_digest(bytes.fromhex(found), _hash(pin, bytes.fromhex(salt), int(cost)))


def _hash(pin: str, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(pin.encode(), salt=salt, n=cost, r=8, p=1, maxmem=2**27, dklen=32)
