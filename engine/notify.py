"""What systemd is told of this process: ready, alive, ending (its sd_notify, in a datagram each).

    async with notify.alive(loop.breathe):     READY=1, then WATCHDOG=1 for as long as it breathes
        await stop.wait()
        notify.ending(within_s=5.0)            STOPPING=1; the end comes by then, whatever still waits

Where nobody asked ($NOTIFY_SOCKET is not set: a terminal, `quarterdeck up`) nothing is told.
Neighbours: __main__.py here and in bot/; systemd/*.service say what is expected.
"""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)

BEATS = 4  # in the time the watchdog allows
ANSWER_S = 2.0


def tell(**said: str) -> None:
    """Send `NAME=value` lines to whoever started us and asked for them."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    lines = "\n".join(f"{name}={value}" for name, value in said.items())
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as datagram:
        datagram.settimeout(ANSWER_S)
        try:
            datagram.sendto(lines.encode(), "\0" + address[1:] if address[0] == "@" else address)
        except OSError as error:
            log.warning("systemd was not told %s: %s", " ".join(said), error)


def watchdog_s() -> float | None:
    """Return how long we may be silent before we are taken for dead; None: as long as we like."""
    limit = os.environ.get("WATCHDOG_USEC", "")
    whose = os.environ.get("WATCHDOG_PID", "")
    if not limit.isdigit() or int(limit) == 0 or whose not in ("", str(os.getpid())):
        return None
    return int(limit) / 1e6


async def _turn() -> None:
    """Take one turn of the event loop: all that a process without a heart of its own can show."""


@asynccontextmanager
async def alive(breathe: Callable[[], Awaitable[None]] = _turn) -> AsyncIterator[None]:
    """Be ready, and show life while the block runs.

    breathe   does a little of what must never be stuck; no beat goes out before it returns
    """
    tell(READY="1", STATUS="Running")
    beating = asyncio.create_task(_beat(breathe), name="heartbeat")
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.wait([beating])


async def _beat(breathe: Callable[[], Awaitable[None]]) -> None:
    limit_s = watchdog_s()
    while limit_s is not None:
        await breathe()
        tell(WATCHDOG="1")
        await asyncio.sleep(limit_s / BEATS)


def ending(within_s: float) -> None:
    """Say that we end, and see to it: what is still held up by then is cut off, as by a kill.

    Whatever that is can bear it. A thread, since it may be the event loop that is held up.
    """
    tell(STOPPING="1", STATUS="Ending")
    timer = threading.Timer(within_s, _cut_off, (within_s,))
    timer.daemon = True
    timer.start()


def _cut_off(within_s: float) -> None:
    log.warning("not ended by itself after_s=%.0f: cut off, nothing is lost by that", within_s)
    logging.shutdown()
    os._exit(0)
