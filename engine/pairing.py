"""The one-time code that makes whoever presses its link the first owner: made on the box alone.

Only its hash is kept, for a quarter of an hour and five wrong tries; a try is counted before it is
judged. Neighbours: cli.py prints the link, bot/pairing.py hears it pressed, config.py keeps the owner.
"""

import hashlib
import hmac
import secrets
from enum import StrEnum

import msgspec
from msgspec import Struct

from engine.config import write_private
from engine.paths import Home

LASTS_S = 15 * 60.0
MOST_WRONG = 5


class Judged(StrEnum):
    """What became of a code that was pressed."""

    RIGHT = "right"
    LATE = "late"  # it was ours, but no longer
    WRONG = "wrong"


class _Kept(Struct, frozen=True):
    hash: str
    until: float
    wrong: int = 0


def make(home: Home, now: float) -> str:
    """Return a new code; an earlier one is no good any more."""
    code = secrets.token_urlsafe(18)
    _keep(home, _Kept(_hash(code), now + LASTS_S))
    return code


def judge(home: Home, code: str, now: float) -> Judged:
    """Say what a code is worth that somebody sent."""
    try:
        kept = msgspec.json.decode(home.pairing.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return Judged.WRONG
    over = now > kept.until or kept.wrong >= MOST_WRONG
    if not over:
        _keep(home, _Kept(kept.hash, kept.until, kept.wrong + 1))
    if not hmac.compare_digest(kept.hash, _hash(code)):
        return Judged.WRONG
    return Judged.LATE if over else Judged.RIGHT


def forget(home: Home) -> None:
    """Take the code away: it did what it was for."""
    home.pairing.unlink(missing_ok=True)


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()


def _keep(home: Home, kept: _Kept) -> None:
    write_private(home.pairing, msgspec.json.encode(kept).decode())
