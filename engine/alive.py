"""Our own sign of life: a file touched once a minute, and a URL of the owner's that is called with it.

Whoever comes back finds in the file when it was last alive, and tells the owner that it was away: after
a power cut as after a sleep of the machine. The file's time is all there is to it, and nothing waits
for the disk. The URL is for a service that raises an alarm when it is called no more; that it could not
be reached is seen in /health only. Neighbours: engine.py says who is told, rules/owner.py the words.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from engine.node import room

log = logging.getLogger(__name__)

BEAT_S: Final = 60.0
AWAY_S: Final = 300.0
CALL_S: Final = 10.0


class Alive:
    """Beats until cancelled.

    path   the file whose time is when we last lived
    away   told from when to when nobody lived, if that was long
    url    what is called with each beat; "" = nothing
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float],
        *,
        away: Callable[[float, float], Awaitable[None]],
        url: Callable[[], str],
    ) -> None:
        self._path = path
        self._clock = clock
        self._away = away
        self._url = url
        self._heard = ""

    async def run(self) -> None:
        while True:
            await self.beat()
            await self.call()
            await asyncio.sleep(BEAT_S)

    async def beat(self) -> None:
        """Say that we live; before that, that we did not."""
        now = self._clock()
        last = self._last()
        if last > now:
            return  # a clock that was not set yet: it comes to it
        if last and now - last > AWAY_S:
            await self._away(last, now)
        try:
            if not last:
                self._path.touch(mode=0o600)
            os.utime(self._path, (now, now))
        except OSError as fault:  # a disk that takes nothing: whoever writes more tells of it
            if fault.errno not in room.TAKES_NOTHING:
                raise

    def _last(self) -> float:
        try:
            return self._path.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    async def call(self) -> None:
        """Call the owner's URL, if there is one; how that went is kept for /health."""
        url = self._url()
        if not url:
            self._heard = ""
            return
        try:
            async with asyncio.timeout(CALL_S):
                status = await _get(url)
            self._heard = "heard" if 200 <= status < 400 else f"answered {status}"
        except TimeoutError:
            self._heard = f"no answer within {CALL_S:.0f} s"
        except (OSError, ValueError) as error:
            self._heard = f"not reached: {type(error).__name__}"
        if self._heard != "heard":
            log.info("heartbeat %s", self._heard)

    def heard(self) -> str:
        """How the last call went; "" if none is wanted."""
        if not (url := self._url()):
            return ""
        return f"{urlsplit(url).hostname}: {self._heard or 'not called yet'}"


async def _get(url: str) -> int:
    """Ask for a page and return the status; what it says is nobody's business."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or (443 if secure else 80), ssl=secure or None
    )
    try:
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        host = parts.netloc.rpartition("@")[2]
        asked = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        writer.write(asked.encode("ascii"))
        await writer.drain()
        line = await reader.readline()
        return int(line.split()[1]) if line.startswith(b"HTTP/") else 0
    except IndexError:
        return 0
    finally:
        writer.close()


def usable(url: str) -> bool:
    """Whether it is a URL that can be called."""
    try:
        parts = urlsplit(url)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = url.isascii() and not any(sign.isspace() for sign in url)
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname) and port_fits
