"""A backup each night, at half past three by the owner's clock, and a word when there is none.

A night that was slept through is made up for soon after the start. The last seven stay; what is made by hand
is never removed, nor what a clock that ran ahead has named, before its time comes. /health says whether they lie on this machine alone: what is to outlive its disk goes to
another one (elsewhere.py) or is copied away (`quarterdeck backup --to`). Neighbours: backup.py makes it,
backups.py knows the others, rules/owner.py the words.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable, Callable
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine import backups
from engine.errors import Refused
from engine.paths import Home

log = logging.getLogger(__name__)

AT: Final = time(3, 30)
KEPT: Final = 7
OLD_S: Final = 48 * 3600.0
FIRST_S: Final = 120.0  # after a start, which has enough to do
FAR_S: Final = 180 * 86400.0
LOOK_S: Final = 600.0  # a clock may jump
AGAIN_S: Final = 3600.0
SPARE_BYTES: Final = 1_000_000_000  # that must be left beside it


class Nightly:
    """Looks again and again whether a backup is due.

    zone        the owner's, "" = this machine's
    old         told from when the newest backup is, and why there is no newer one
    made        called once there is a newer one
    elsewhere   where else it lies, for /health; "" = nowhere
    """

    def __init__(
        self,
        home: Home,
        clock: Callable[[], float],
        *,
        zone: Callable[[], str],
        old: Callable[[float, str], Awaitable[None]],
        made: Callable[[], None] = lambda: None,
        elsewhere: Callable[[], str] = lambda: "",
    ) -> None:
        self._home = home
        self._clock = clock
        self._zone = zone
        self._old = old
        self._told_made = made
        self._elsewhere = elsewhere
        self._turn = asyncio.Lock()
        self._failure = ""
        self._again_at = 0.0
        self._began = clock()

    async def run(self) -> None:
        """Do so until cancelled."""
        await asyncio.sleep(FIRST_S)
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Make a backup if one is due, and say so if there was none for long."""
        now = self._clock()
        self._again_at = min(self._again_at, now + AGAIN_S)  # the clock was set back
        async with self._turn:
            if self._newest() < last_due(now, self._zone()) and now >= self._again_at:
                await self._make(now)
        if now - (newest := self._newest()) > OLD_S:
            await self._old(newest, self._failure)

    async def first(self) -> None:
        """Make one before it is due, where there is none at all."""
        async with self._turn:
            now = self._clock()
            if not backups.past(self._home, now) and now >= self._again_at:
                await self._make(now)

    async def _make(self, now: float) -> None:
        try:
            path = await asyncio.to_thread(self._made)
        except Refused as no:
            self._failure, self._again_at = no.sentence, now + AGAIN_S
            log.error("no backup: %s", no.sentence)
            return
        self._failure = ""
        log.info("backed up to %s", path)
        self._told_made()

    def _made(self) -> str:
        from engine import backup  # once a day: not loaded at every start

        needed = size(self._home) + SPARE_BYTES
        if (free := shutil.disk_usage(self._home.root).free) < needed:
            raise Refused(
                f"there is no room for a backup: it may need {needed / 1e9:.1f} GB, and "
                f"{free / 1e9:.1f} GB are free"
            )
        path = backup.take(self._home, nightly=True, clock=self._clock)
        for one in _nightly(backups.past(self._home, self._clock()))[:-KEPT]:
            one.path.unlink(missing_ok=True)
        return path.name

    def _newest(self) -> float:
        """Return when the last backup was made; before the first, when all this began."""
        now = self._clock()
        if there := backups.past(self._home, now):
            return there[-1].taken_at
        self._began = min(self._began, now)
        try:
            half = self._home.vault_key  # systemd may give it: then the public one tells
            half = half if half.exists() else self._home.vault_pub
            return min(half.stat().st_mtime, self._began)
        except FileNotFoundError:
            return now  # never set up: there is nothing to lose

    def health(self) -> str:
        """Return when the newest was made and where it lies, for /health."""
        now, zone = self._clock(), self._zone()
        there, wrong = backups.past(self._home, now), backups.ahead(self._home, now)
        also = self._elsewhere()
        parts = ["none yet: the first comes at 03:30", *([also] if also else [])]
        if there:
            newest = there[-1]
            at = moment(newest.taken_at, now, zone)
            megabytes = newest.path.stat().st_size / 1e6
            parts = [
                f"{at} here, {also or 'on this machine only'}",
                f"{megabytes:.1f} MB, {len(there)} kept",
            ]
        if wrong:
            parts.append(backups.said_ahead(wrong, lambda at: moment(at, now, zone)))
        if not self._home.recovery.exists():
            parts.append("without a recovery code: quarterdeck key recovery")
        if self._failure:
            parts.append(f"last try: {self._failure}")
        return "; ".join(parts)


def moment(at: float, now: float, zone: str) -> str:
    """Return a moment as the owner reads it: the time of day, with its date if that is not today's.

    A date that lies far away has its year.
    """
    where = ZoneInfo(zone) if zone else None
    then, today = datetime.fromtimestamp(at, where), datetime.fromtimestamp(now, where)
    if then.date() == today.date():
        return then.strftime("%H:%M")
    far = abs(at - now) > FAR_S
    return then.strftime("%d %b %Y %H:%M" if far else "%d %b %H:%M")


def _nightly(there: list[backups.Backup]) -> list[backups.Backup]:
    return [one for one in there if one.nightly]


def last_due(now: float, zone: str) -> float:
    """Return when the last backup before `now` was due."""
    where = ZoneInfo(zone) if zone else None
    today = datetime.fromtimestamp(now, where).date()
    due = (datetime.combine(today - timedelta(days=days), AT, where) for days in (0, 1))
    return next(at.timestamp() for at in due if at.timestamp() <= now)


def size(home: Home) -> int:
    """Return how many bytes a backup has at most."""
    from engine import backup

    total = sum(
        path.stat().st_size * 2 for path in backup.databases(home).values() if path.exists()
    )
    for folder in (home.hubs, home.attached):
        for at, _, names in os.walk(folder):
            total += sum(_size(os.path.join(at, name)) for name in names)
    return total


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0  # let go of meanwhile
