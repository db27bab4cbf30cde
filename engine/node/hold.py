"""A run whose disk takes nothing more: what it printed waits for room, and the run with it.

    a write finds no room ──> it is tried again each second ──> it goes through, nothing is lost
                                  └── all this for HOLD_S ──> the run is ended with that reason

What it had printed, and how it ended, is written once there is room, however long that takes. Whoever
waits is asked each second whether the run is to end for another reason meanwhile. Imports little, since
every run pays for it. Part of runner.py.
"""

from __future__ import annotations

import os
import time

from engine.node.room import TAKES_NOTHING

NO_ROOM = "no room"  # why a run ended that waited for too long
AGAIN_S = 1.0
HOLD_S = 120.0

TYPE_CHECKING = False  # as typing's own, which every run would pay for
if TYPE_CHECKING:
    from typing import Callable, TypeVar

    T = TypeVar("T")


class Hold:
    """Writes for a run, however long there is no room.

    asked   called each second without room, with how many seconds it has been
    """

    def __init__(self) -> None:
        self.asked: Callable[[float], None] = lambda waited_s: None
        self._since = 0.0

    def write(self, file: int, data: memoryview) -> None:
        """Write all of it: a line that was begun is gone on with where it ended."""
        while data:
            rest = data
            data = data[self.done(lambda: os.write(file, rest)) :]  # noqa: B023 - called at once

    def done(self, do: Callable[[], T]) -> T:
        """Return what `do` returns, which may be called again and again."""
        while True:
            try:
                result = do()
            except OSError as error:
                if error.errno not in TAKES_NOTHING:
                    raise
            else:
                self._since = 0.0
                return result
            now = time.monotonic()
            self._since = self._since or now
            self.asked(now - self._since)
            time.sleep(AGAIN_S)
