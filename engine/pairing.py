"""The one-time code that makes whoever presses its link the first owner: made on the box alone.

A code of another kind lies in a file of its own, so that none passes for the other: an owner's lets in no
group, a group's no owner. Only its hash is kept, for a quarter of an hour. Whoever sent five wrong codes is heard no more; nobody
else is locked out by that. A try is counted before it is judged, and a code that was seen to be over stays so,
whatever the clock says later. Neighbours: cli.py prints the link, bot/pairing.py hears it pressed, config.py keeps the owner.
"""

import hashlib
import hmac
import secrets
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.config import write_private
from engine.paths import Home

LASTS_S = 15 * 60.0
SET_BACK_S = 60.0  # a clock is corrected by so much without a code being old
MOST_WRONG = 5  # of one sender's
MOST_SENDERS = 1000  # counted one by one; those after them share a count


class Judged(StrEnum):
    """What became of a code that was pressed."""

    RIGHT = "right"
    LATE = "late"  # it was ours, but no longer
    TRIED = "tried"  # it is right, but whoever sent it had guessed too often
    WRONG = "wrong"


class _Kept(Struct, frozen=True):
    hash: str
    until: float
    tries: dict[str, int] = {}  # of each sender, by Telegram id
    since: float = 0.0  # when it was made
    over: bool = False  # was seen to be too late, or by a clock from before it was made


def make(home: Home, now: float, lasts_s: float = LASTS_S, *, at: Path | None = None) -> str:
    """Return a new code; an earlier one is no good any more. `at`: the file of another kind."""
    code = secrets.token_urlsafe(18)
    _keep(at or home.pairing, _Kept(_hash(code), now + lasts_s, since=now))
    return code


def open_until(at: Path, now: float) -> float:
    """Return until when a code of this file is good; 0 where there is none, or it is over."""
    kept = _read(at)
    if kept is None or kept.over or not kept.since - SET_BACK_S <= now <= kept.until:
        return 0.0
    return kept.until


def judge(home: Home, code: str, now: float, sender: int = 0, *, at: Path | None = None) -> Judged:
    """Say what a code is worth that somebody sent."""
    file = at or home.pairing
    kept = _read(file)
    if kept is None:
        return Judged.WRONG
    who = str(sender)
    if who not in kept.tries and len(kept.tries) >= MOST_SENDERS:
        who = "others"
    tried = kept.tries.get(who, 0)
    over = kept.over or not kept.since - SET_BACK_S <= now <= kept.until
    counted = {**kept.tries, who: min(tried + 1, MOST_WRONG)}
    if over != kept.over or counted != kept.tries:
        _keep(file, replace(kept, tries=counted, over=over))
    if not hmac.compare_digest(kept.hash, _hash(code)):
        return Judged.WRONG
    if over:
        return Judged.LATE
    return Judged.TRIED if tried >= MOST_WRONG else Judged.RIGHT


def forget(home: Home, *, at: Path | None = None) -> None:
    """Take the code away: it did what it was for."""
    (at or home.pairing).unlink(missing_ok=True)


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()


def _read(file: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return None


def _keep(file: Path, kept: _Kept) -> None:
    write_private(file, msgspec.json.encode(kept).decode())
