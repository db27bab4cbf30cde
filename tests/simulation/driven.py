"""An event loop whose clock jumps: nothing waits, and one seed gives one order of things.

Timers fire in their order as fast as they can be run. What waits for something real, a file descriptor
or a thread, would make the order a matter of luck: then the loop says so and stops.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

Ready = list[tuple[selectors.SelectorKey, int]]


class Stuck(AssertionError):
    """Everything waits, and no timer will ever fire."""


class _Jumping(selectors.BaseSelector):
    """Instead of waiting for files, moves the clock to the next timer."""

    def __init__(self) -> None:
        self.now = 0.0
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        fd = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        key = selectors.SelectorKey(fileobj, fd, events, data)
        self._keys[fileobj] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def close(self) -> None:
        self._keys.clear()

    def select(self, timeout: float | None = None) -> Ready:
        if timeout is None:
            raise Stuck("everything waits for what is not part of the simulation")
        self.now += max(timeout, 0.0)
        return []


class Driven(asyncio.SelectorEventLoop):
    """The loop; its time starts at 0."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(story: Coroutine[Any, Any, T]) -> T:
    """Play a story to its end on a loop of its own."""
    loop = Driven()
    # A life that was cut off leaves errors nobody asks for: that is what dying is.
    loop.set_exception_handler(lambda _loop, _context: None)
    try:
        return loop.run_until_complete(story)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
