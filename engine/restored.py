"""That this home was made from a backup: what its engine must know of it, and say once.

Whatever the ledger still owed when the backup was taken, the box it was taken from may have done since. So
nothing of it is pushed by itself: perform.py gives such a push back to its card, whose Proceed looks first.
Other machines know a restored home as another box (it has no box-id yet), and all numbers go on far above
those in the backup (restore.py); so neither box's work is ever taken for the other's.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.config import write_private
from engine.errors import Broken
from engine.paths import Home


class Restored(Struct, frozen=True, kw_only=True):
    """From which moment on we know nothing."""

    taken_at: float
    effects: int  # those up to this number were owed then
    told: bool = False  # the owner was


def read(home: Home) -> Restored | None:
    """Return which backup this home was made from, if it was."""
    try:
        return msgspec.json.decode(home.restored.read_bytes(), type=Restored)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as fault:
        raise Broken(
            f"{home.restored} cannot be read ({fault}): restore the backup again."
        ) from fault


def keep(home: Home, restored: Restored) -> None:
    write_private(home.restored, msgspec.json.encode(restored).decode())


def was_told(home: Home) -> None:
    """Remember that the owner knows."""
    if (known := read(home)) is not None:
        keep(home, replace(known, told=True))
