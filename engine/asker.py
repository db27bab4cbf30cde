"""Who asks for what is being done, and what they had before their eyes: carried beside a request.

Whoever takes an order up (the bot an update, the command line a command) says so by `on_behalf_of`; the
client sends it along with every request made meanwhile, the server has it hold while the request is done,
and audit.py writes it down with what was decided. A cause says which order it was, this says whose.
What is not asked for by anybody (a run's news, an effect's result) has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

BOX = "box"
UNSAID = "somebody with this user's rights"
MOST_SHOWN = 8_000  # characters; a message holds half of that


class Asker(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who asks.

    who        the number of an owner, or BOX: a command typed there
    through    the message it came by: "tap 42:118", chat and number
    shown      the words it was decided under, as they stood on the phone
    verb       what was asked for, and of a card its button; this and what follows the engine adds
    card       the card it was about, with the revision that was on the phone
    made       the hash of that card as it was made
    """

    who: str = UNSAID
    through: str = ""
    shown: str = ""
    verb: str = ""
    card: str = ""
    revision: str = ""
    made: str = ""


_ASKER: ContextVar[Asker | None] = ContextVar("asker", default=None)


def asker() -> Asker | None:
    """Return who asks for what is being done here; None: nobody does, it follows."""
    return _ASKER.get()


def asked_by() -> str:
    """Return the number of the owner who asks; "" where it is none."""
    now = _ASKER.get()
    return now.who if now is not None and now.who.isdigit() else ""


@contextmanager
def on_behalf_of(who: Asker | None) -> Iterator[None]:
    """Have all that is done in this block be asked for by `who`."""
    before = _ASKER.set(who)
    try:
        yield
    finally:
        _ASKER.reset(before)


def saw(shown: str) -> None:
    """Add what they had before their eyes, where that is known only now."""
    if (now := _ASKER.get()) is not None:
        _ASKER.set(replace(now, shown=shown[:MOST_SHOWN]))


def pressed(card: Struct, verb: str) -> None:
    """Add which card it is about, as it is made now, and which of its buttons."""
    now = _ASKER.get()
    if now is None:
        return
    made = hashlib.sha256(msgspec.json.encode(card)).hexdigest()
    about = {name: str(getattr(card, name, "")) for name in ("id", "revision")}
    _ASKER.set(replace(now, verb=verb, card=about["id"], revision=about["revision"], made=made))
