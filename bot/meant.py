"""What each pasted key was for: so that it can be given back where it was none, or told of by another name.

Kept by the key's name, as a fact of the bot's own file; no value is here. Neighbours: pasted.py notes it,
key_panel.py acts by it, engine/requests/given_keys.py does what is asked.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from stores.cards import CardStore

_FACT: Final = "meant "
_PLAIN: Final = "no secret "


class Meant(Struct, frozen=True, kw_only=True):
    """The message that held a key.

    goal   whose session was spoken to; "" also for a goal that this message itself gave
    card   what was replied to
    sure   the key has the shape of a known kind
    rest_of  the key that it may be the rest of, as long as its owner has not said
    over   what was said when it was given back, forgotten or renamed: then this is all that is left
    """

    chat: int
    message_id: int
    goal: str = ""
    card: str = ""
    sure: bool = False
    over: str = ""
    rest_of: str = ""


async def note(store: CardStore, name: str, meant: Meant) -> None:
    """Remember what a key was for."""
    await store.keep_fact(f"{_FACT}{name}", msgspec.json.encode(meant).decode())


async def of(store: CardStore, name: str) -> Meant | None:
    found = await store.fact(f"{_FACT}{name}")
    return msgspec.json.decode(found, type=Meant) if found else None


async def names(store: CardStore) -> list[str]:
    """Return every name that something is remembered of, also those that are over."""
    return list(await store.named_facts(_FACT))


async def goal_of(store: CardStore, meant: Meant) -> str:
    """Return the goal a message was for: it may have given that goal only after it was read."""
    if meant.goal:
        return meant.goal
    told = await store.told(meant.chat, meant.message_id)
    return told.goal if told is not None else ""


async def is_plain(store: CardStore, digest: str) -> bool:
    """Return whether its owner said of a text, by its SHA-256, that it is no secret."""
    return bool(await store.fact(f"{_PLAIN}{digest}"))


async def keep_plain(store: CardStore, digest: str) -> None:
    await store.keep_fact(f"{_PLAIN}{digest}", "1")
