"""A Telegram without limits, and a bot that waits for none: for tests of what is said, not of how fast.

The pace has tests of its own, on a clock they drive: tests/bot/test_outbox.py, test_storm.py, test_deaf.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from bot import pace
from bot.emulator import Emulator


@contextmanager
def unhurried() -> Iterator[None]:
    """Have this process's bot say things as fast as they come: nobody's limit holds here."""
    before, pace.EVERY_S, pace.EDIT_EVERY_S = (pace.EVERY_S, pace.EDIT_EVERY_S), 0.001, 1.0
    try:
        yield
    finally:
        pace.EVERY_S, pace.EDIT_EVERY_S = before


@asynccontextmanager
async def telegram(token: str, owner: int, *, threaded: bool = False) -> AsyncIterator[Emulator]:
    """Run an emulated Bot API that sets no limit, for a bot that is not slowed by one."""
    with unhurried():
        async with Emulator(
            token=token, owner_id=owner, threaded=threaded, flood=False
        ) as emulator:
            yield emulator
