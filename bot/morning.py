"""Once quiet hours are over, one message with a sound for each owner: what waits on them.

It comes only where something came silently that would have sounded, and to those for whom something
still waits, about their own goals. Neighbours: outbox.py notes what it hushed, text.py has the words.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any, Protocol

from bot import text
from bot.outbox import HUSHED, Outbox
from bot.unsaid import Say, Weight, packed
from engine.errors import Refused, Unavailable
from engine.views import Row
from stores.cards import CardStore

log = logging.getLogger(__name__)

LOOK_S = 20.0


class Engine(Protocol):
    """engine.api.Client, as far as it is used here. Raises Refused and Unavailable."""

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any: ...


class Morning:
    """Says what waits since the quiet hours, once.

    whose   the chat of the owner on whom a row waits
    """

    def __init__(
        self,
        outbox: Outbox,
        store: CardStore,
        engine: Engine,
        whose: Callable[[Row], int],
        zone: Callable[[], tzinfo | None],
    ) -> None:
        self._outbox = outbox
        self._store = store
        self._engine = engine
        self._whose = whose
        self._zone = zone
        self._done = ""

    async def run(self) -> None:
        """Look again and again until cancelled; so a clock that jumps is seen too."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Say what waits, if quiet hours are over and it was not said yet."""
        until = await self._store.fact(HUSHED)
        now = self._outbox.wall()
        if until in ("", self._done) or float(until) > now or self._outbox.quiet_until():
            return
        try:
            rows: tuple[Row, ...] = await self._engine.call("asks")
        except (Refused, Unavailable) as away:
            log.info("catch-up put off: %s", away)
            return
        theirs: dict[int, list[Row]] = {}
        for row in rows:
            theirs.setdefault(self._whose(row), []).append(row)
        queue = [
            line
            for chat, waiting in theirs.items()
            for line in packed(chat, Weight.DECISION, self._says(waiting, now))
        ]
        await self._store.first(f"catch-up {until}", queue, self._outbox.take_up)
        self._done = until

    def _says(self, rows: Sequence[Row], now: float) -> list[Say]:
        waits = text.catch_up(rows, self._zone(), now)
        return [Say(words=words, sounds=number == 0) for number, words in enumerate(waits)]
