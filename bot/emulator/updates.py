"""The queue of updates the bot has not confirmed, and who waits for them.

An update comes again with every call until a call with a higher offset confirms it.
Messages are kept for a day, taps for 150 seconds. When two pollers meet, the one that
already waited is sent away. Left out: the server's pauses for pollers that come too
often, since they only cost time.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from bot.emulator.refusal import Refusal
from bot.emulator.world import Waiting, World

MESSAGE_LIFE_S = 86_400
TAP_LIFE_S = 150
LONGEST_POLL_S = 50
_UNASKED = ("chat_member", "message_reaction", "message_reaction_count")
_CONFLICT = (
    "Conflict: terminated by other getUpdates request; "
    "make sure that only one bot instance is running"
)


class Updates:
    """Belongs to one bot; `lose`, `reverse` and `repeat` are the tests' mischief.

    made   the ids of all there ever were, as far back as this process lives
    """

    def __init__(
        self, world: World, clock: Callable[[], float], changed: Callable[[], None]
    ) -> None:
        self._world = world
        self._clock = clock
        self._changed = changed
        self._poller: asyncio.Future[bool] | None = None
        self._arrived = asyncio.Event()
        self._last: list[Waiting] = []
        self.made: list[int] = []
        self.lose = 0
        self.reverse = 0
        self.closed = False

    def add(self, kind: str, body: dict[str, Any]) -> int | None:
        """Queue an update and return its id; None if the bot did not ask for its kind."""
        update_id = self._queue(kind, body)
        if update_id is not None:
            self._wake(True)
        self._changed()
        return update_id

    def _queue(self, kind: str, body: dict[str, Any]) -> int | None:
        allowed = self._world.allowed
        if kind not in allowed if allowed else kind in _UNASKED:
            return None
        update_id = self._world.next_update
        self._world.next_update += 1
        self.made.append(update_id)
        if self.lose:
            self.lose -= 1
            return update_id
        life = TAP_LIFE_S if kind == "callback_query" else MESSAGE_LIFE_S
        self._world.updates.append(Waiting(update_id, kind, body, self._clock() + life))
        return update_id

    def count(self) -> int:
        """Return how many updates wait."""
        self._expire()
        return len(self._world.updates)

    def clear(self) -> None:
        self._world.updates.clear()

    def begin_anew(self, number: int) -> None:
        """Count on from another number, as Telegram does after a week without updates."""
        self._world.next_update = number

    def repeat(self, count: int = 1) -> None:
        """Deliver the last `count` confirmed updates once more, with their old ids."""
        waiting = {update.id for update in self._world.updates}
        again = [update for update in self._last if update.id not in waiting][-count:]
        self._world.updates = [*again, *self._world.updates]
        self._wake(True)

    async def polled(self) -> None:
        """Return as soon as a poller waits: what a test wants before it makes news."""
        while self._poller is None:
            await self._arrived.wait()

    def interrupt(self) -> bool:
        """Send the waiting poller away as a second one would; False if none waits."""
        return self._wake(False)

    def close(self) -> None:
        """Let the waiting poller go with nothing, and keep no other."""
        self.closed = True
        self._wake(True)

    async def get(
        self, offset: int, limit: int, timeout_s: float, allowed: list[str] | None
    ) -> list[dict[str, Any]]:
        """Return up to `limit` updates from `offset` on, waiting for the first one.

        raises  Refusal 409 if another poller came meanwhile
        """
        self.interrupt()
        if allowed is not None:
            self._world.allowed = allowed
        self._confirm(offset)
        if not self.count() and timeout_s > 0 and not self.closed:
            await self._wait(min(timeout_s, LONGEST_POLL_S))
        batch = self._world.updates[: limit if 1 <= limit <= 100 else 100]
        if self.reverse and len(batch) > 1:
            self.reverse -= 1
            batch = batch[::-1]
        return [{"update_id": update.id, update.kind: update.body} for update in batch]

    def _confirm(self, offset: int) -> None:
        self._expire()
        waiting = self._world.updates
        if offset < 0:
            confirmed, kept = waiting[:offset], waiting[offset:]
        else:
            confirmed = [update for update in waiting if update.id < offset]
            kept = [update for update in waiting if update.id >= offset]
        self._last = [*self._last, *confirmed][-100:]
        self._world.updates = kept
        if confirmed:
            self._changed()

    def _expire(self) -> None:
        now = self._clock()
        self._world.updates = [u for u in self._world.updates if u.until > now]

    async def _wait(self, timeout_s: float) -> None:
        poller = asyncio.get_running_loop().create_future()
        self._poller = poller
        self._arrived.set()
        try:
            async with asyncio.timeout(timeout_s):
                stays = await poller
        except TimeoutError:
            return
        finally:
            if self._poller is poller:
                self._poller = None
                self._arrived.clear()
        if not stays:
            raise Refusal(409, _CONFLICT)

    def _wake(self, stays: bool) -> bool:
        poller, self._poller = self._poller, None
        self._arrived.clear()
        if poller is None or poller.done():
            return False
        poller.set_result(stays)
        return True
