"""The disk our home is on, as our own writes find it: full, read-only, or well.

    a write finds no room ──> it waits, and is tried again each AGAIN_S ──> it goes through
                └──> a request that waits for it hears why after PATIENCE_S, and nothing of it is done

Nothing is lost meanwhile and nothing is answered that is not on the disk: who asked asks again under the
same cause. Neighbours: stores/database.py asks here, api/server.py has requests wait, bot/full_disk.py is
the bot's own; rules/disks.py has no work begin long before it comes to this.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from engine import notify
from engine.errors import NoRoom
from engine.node import room

log = logging.getLogger(__name__)

AGAIN_S: Final = 1.0
PATIENCE_S: Final = 1.0
STARTS_US: Final = 60_000_000  # systemd waits so much longer for a start that waits for room

FULL: Final = "The box's disk is full: /health says what of ours may be deleted there."
READ_ONLY: Final = (
    "The box's disk became read-only, as it does after a fault: look at it there, and start the box "
    "again."
)


class Room:
    """What the engine's files ask when the disk takes no write.

    root    where they lie
    why     what is the matter, in a sentence; "" = all is well
    pause   how to wait before the next try
    """

    def __init__(
        self, root: Path, *, pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._root = root
        self._pause = pause
        self._requests: set[asyncio.Timeout] = set()
        self.told: Callable[[], None] = lambda: None  # called when the disk begins to take nothing
        self.why = ""

    @property
    def short(self) -> bool:
        return bool(self.why)

    def lacks(self) -> str:
        """Say what is the matter just now, whether anything is to be written or not; "" = nothing."""
        free, _ = room.free_mb(str(self._root))
        return "" if self.why == FULL and free >= room.NOTHING_MB else self.why

    async def none(self, read_only: bool) -> None:
        """There is no room: whoever waits for a write hears so, and the write waits a while."""
        if not self.why:
            log.error("%s: writes wait", "read-only disk" if read_only else "no room on the disk")
            now = asyncio.get_running_loop().time()
            self._give(now + PATIENCE_S)
            self.told()
        self.why = READ_ONLY if read_only else FULL
        notify.tell(STATUS=self.why, EXTEND_TIMEOUT_USEC=str(STARTS_US))
        await self._pause(AGAIN_S)

    async def again(self) -> None:
        """A write went through again."""
        if self.why:
            log.warning("the disk takes writes again")
            notify.tell(STATUS="Running")
            self.why = ""
            self._give(None)

    def _give(self, until: float | None) -> None:
        for request in self._requests:
            if not request.expired():
                request.reschedule(until)

    @asynccontextmanager
    async def patience(self) -> AsyncIterator[None]:
        """Let the block wait for a write, but not for long. Raises NoRoom: it is not done."""
        try:
            async with asyncio.timeout(PATIENCE_S if self.why else None) as request:
                self._requests.add(request)
                try:
                    yield
                finally:
                    self._requests.discard(request)
        except TimeoutError as late:
            if not request.expired():
                raise
            raise NoRoom(self.why or FULL) from late
