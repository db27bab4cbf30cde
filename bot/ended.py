"""What the last message of somebody in one place ended on: the rest of a key may be in their next one.

Known in memory; of a key also on disk, sealed for the engine alone, so that a restart between two halves
loses nothing. Neighbours: two_goes.py (what goes on), pasted.py (asks and tells).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bot.inbox import Arrived
from bot.panels import Engine
from bot.two_goes import GOES_ON_S, Tail
from engine.errors import Refused
from stores.cards import CardStore
from stores.sealing import seal

Place = tuple[int, int, int]  # chat, topic, who wrote
MOST_PLACES = 200
_FACT = "ended "


class Ended(Struct, frozen=True):
    """A message's end; `earlier`: that of the one before, for when this one is handled again."""

    update: int
    at: float
    tail: Tail | None
    earlier: Ended | None = None


class Ends:
    """Knows the last message of each place.

    public   the vault's public key
    """

    def __init__(self, engine: Engine, store: CardStore, public: bytes) -> None:
        self._engine = engine
        self._store = store
        self._public = public
        self._last: dict[Place, Ended] = {}
        self._kept: set[Place] = set()  # places of which something lies on the disk

    async def before(self, one: Arrived) -> Tail | None:
        """Return what the message before this one ended on, where this may go on with it."""
        if not is_line(one):
            return None
        last = await self._of(_place(one))
        if last is not None and last.update == one.update_id:
            last = last.earlier  # asked again
        near = last is not None and 0 <= _sent(one) - last.at <= GOES_ON_S
        return last.tail if last is not None and near else None

    async def _of(self, place: Place) -> Ended | None:
        if place in self._last:
            return self._last[place]
        kept = await self._store.fact(_name(place))
        found = Ended(0, 0.0, None)
        if kept:
            self._kept.add(place)
            try:
                opened = await self._engine.call("unseal", sealed=base64.b64decode(kept))
                found = msgspec.json.decode(bytes(opened), type=Ended)
            except Refused:
                pass  # sealed for a key that is gone
        self._last[place] = found
        return found

    async def end(self, parts: Sequence[Arrived], tail: Tail | None) -> None:
        """Know for the next message what this one ended on; nothing older than the last is kept."""
        if not is_line(parts[0]):
            return
        place, update = _place(parts[0]), parts[0].update_id
        before = await self._of(place)
        if before is not None and before.update == update:
            before = before.earlier
        earlier = replace(before, earlier=None) if before is not None else None
        last = Ended(update, _sent(parts[-1]), tail, earlier)
        self._last.pop(place, None)
        self._last[place] = last
        while (
            len(self._last) > MOST_PLACES
        ):  # what matters of one that is forgotten lies on the disk
            self._last.pop(next(iter(self._last)))
        if tail is not None and tail.name:
            box = seal(self._public, msgspec.json.encode(last))
            await self._store.keep_fact(_name(place), base64.b64encode(box).decode())
            self._kept.add(place)
        elif place in self._kept:
            await self._store.keep_fact(_name(place), "")
            self._kept.discard(place)


def is_line(one: Arrived) -> bool:
    return one.by.kind == "message" and "text" in one.body


def _place(one: Arrived) -> Place:
    return one.by.chat, int(one.body.get("message_thread_id") or 0), one.by.owner


def _name(place: Place) -> str:
    return _FACT + " ".join(map(str, place))


def _sent(one: Arrived) -> float:
    return float(one.body.get("date", 0))
