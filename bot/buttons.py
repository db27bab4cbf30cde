"""What a button carries: `c:<card>:<revision>:<verb>`, at most 64 bytes.

Nothing in it is trusted: a changed app sends any bytes. Who tapped is gate.py's matter, whether the
card still stands so is the engine's; here only the shape is judged.
"""

import re

from msgspec import Struct

MOST_BYTES = 64
_SHAPE = re.compile(r"c:([a-z][a-z0-9-]{0,31}):([0-9A-Za-z]{0,16}):([a-z][a-z0-9_-]{0,31})")


class Pressed(Struct, frozen=True):
    """A tap: which card, as it stood at which revision, and what was pressed."""

    card: str
    revision: str
    verb: str


def encode(card: str, revision: str, verb: str) -> str:
    """Return the data of one button.

    raises  ValueError for what would not come back as it went
    """
    data = f"c:{card}:{revision}:{verb}"
    if len(data.encode()) > MOST_BYTES or decode(data) != Pressed(card, revision, verb):
        raise ValueError(f"not a button's data: {data!r}")
    return data


def decode(data: str) -> Pressed | None:
    """Return what a tap says, or None for anything we never made."""
    match = _SHAPE.fullmatch(data) if len(data.encode(errors="replace")) <= MOST_BYTES else None
    return Pressed(*match.groups()) if match else None
