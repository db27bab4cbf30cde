"""The newest backup, on a second machine of the owner's: what is to outlive this disk.

    nightly.py made one, or the machine is back ──> begin ─> part ─> part … ─> finish ──> the owner's stream

The owner names one of their machines (a setting; rules/owner.py keeps which). What goes there is closed
first (stores/sealed_file.py): agents run on that machine too. It counts as copied once the node there has
read back what was sent; a link that breaks goes on where it broke, a machine that is away is made up for
when it is back. What only the owner can mend is told once, and so is a copy that grew old; `health` has
both. Neighbours: engine/node/keep.py is the other end, nightly.py and backups.py what is copied.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine import backups
from engine.adapters.machines import Machine
from engine.errors import Refused, Unavailable, Unreachable, ended
from engine.nightly import AGAIN_S, KEPT, OLD_S
from engine.paths import Home
from engine.rules.events import AnyEvent, BackupCopied, BackupNotCopied
from engine.rules.owner import Owner
from stores.sealed_file import Closing

log = logging.getLogger(__name__)

LOOK_S: Final = 600.0
SUFFIX: Final = ".sealed"
NO_CODE: Final = (
    "Nothing would open a backup there: there is no recovery code yet. On the box, quarterdeck key "
    "recovery makes one."
)

Post = Callable[[AnyEvent, str], Awaitable[bool]]  # to the owner's stream, with a cause


@dataclass
class _Sending:
    """One backup on its way; lives as long as we do, so that a broken link costs no second start."""

    machine: str
    path: Path
    closing: Closing
    digest: Any = field(default_factory=hashlib.sha256)
    hashed: int = 0  # pieces that are in the digest

    def piece(self, number: int) -> bytes:
        body = self.closing.piece(number)
        if number == self.hashed:
            self.digest.update(body)
            self.hashed += 1
        return body


class Elsewhere:
    """Keeps the newest backup on the machine the owner chose.

    owner      the owner's settings as they stand
    machines   how machines are reached, by name
    first      makes the first backup there is, for an owner who does not wait for the night
    said       a moment as the owner reads it
    """

    def __init__(
        self,
        home: Home,
        machines: Mapping[str, Machine],
        clock: Callable[[], float],
        *,
        owner: Callable[[], Owner],
        post: Post,
        first: Callable[[], Awaitable[None]],
        said: Callable[[float], str],
    ) -> None:
        self._home = home
        self._machines = machines
        self._clock = clock
        self._owner = owner
        self._post = post
        self._first = first
        self._said = said
        self._sending: _Sending | None = None
        self._why = ""  # the last try did not do it
        self._away = False  # which is only that the machine did not answer
        self._refused = False  # which was told at once
        self._again_at = 0.0
        self._noticed = 0.0  # that the last copy is dated ahead of now
        self._chosen = ("", 0.0)
        self.wake = asyncio.Event()  # a backup was made, a machine came, another was chosen

    async def run(self) -> None:
        """Do so until cancelled."""
        while True:
            self.wake.clear()
            await self.look()
            try:
                async with asyncio.timeout(LOOK_S):
                    await self.wake.wait()
            except TimeoutError:
                continue  # a clock may have jumped, and what failed is tried again

    async def look(self) -> None:
        """Copy the newest backup if it is not there yet, and say what is wrong for long."""
        owner = self._owner()
        machine = self._machines.get(owner.backup_on)
        if machine is None:
            self._sending, self._why = None, ""
            return
        if self._chosen != (owner.backup_on, owner.backup_at):
            self._chosen = (owner.backup_on, owner.backup_at)
            self._sending, self._why, self._again_at = None, "", 0.0
            self._refused = False
        now = self._clock()
        self._again_at = min(self._again_at, now + AGAIN_S)  # the clock was set back
        if not backups.past(self._home, now):
            await self._first()
        there = backups.past(self._home, self._clock())
        if not there or self._is_there(owner, there[-1]):
            return  # that none was made here for long is nightly.py's to say
        if self._clock() >= self._again_at:
            await self._try(machine, there[-1])
        await self._say_if_old(there[-1])

    def _is_there(self, owner: Owner, newest: backups.Backup) -> bool:
        copied = owner.copied
        return (
            copied is not None
            and copied.machine == owner.backup_on
            and copied.name == newest.path.name
        )

    async def _try(self, machine: Machine, newest: backups.Backup) -> None:
        try:
            copied = await self._copy(machine, newest)
        except (Refused, OSError) as error:  # the node's no, or ours: the owner can mend it
            no = error if isinstance(error, Refused) else _unread(newest, error)
            self._sending, self._why, self._away = None, no.sentence, False
            self._refused = True
            self._again_at = self._clock() + AGAIN_S
            log.error("backup not copied machine=%s why=%s", machine.name, self._why)
            if self._owner().backup_on == machine.name:
                await self._tell(machine.name, away=False)
        except Unavailable as away:  # it goes on when the machine is back
            self._why = away.sentence.removeprefix(f"{machine.name}: ")
            self._away, self._refused = isinstance(away, Unreachable), False
            log.warning("backup not copied machine=%s why=%s", machine.name, self._why)
        else:
            self._sending, self._why, self._refused = None, "", False
            log.info("backup copied machine=%s file=%s", machine.name, copied.name)
            await self._post(copied, f"backup copied:{machine.name}:{copied.at:.3f}")

    async def _copy(self, machine: Machine, newest: backups.Backup) -> BackupCopied:
        sending = await asyncio.to_thread(self._begun, machine.name, newest)
        closing, starts = sending.closing, sending.closing.starts()
        name = f"{newest.path.name}{SUFFIX}"
        about = {"name": name, "sending": closing.name}
        begun = await machine.call("backup.begin", size=closing.size, **about)
        at, puts = int(begun["at"]), 0
        while at < closing.size:
            puts += 1
            if puts > 2 * len(starts):
                raise Unavailable(f"{machine.name}: what is sent does not stay there")
            number = max(n for n, start in enumerate(starts) if start <= at)
            body = await asyncio.to_thread(sending.piece, number)
            data = base64.b64encode(body).decode("ascii")
            put = await machine.call("backup.put", offset=starts[number], data=data, **about)
            at = int(put["at"])
        for number in range(sending.hashed, len(starts)):  # sent by an earlier try
            await asyncio.to_thread(sending.piece, number)
        sha256 = sending.digest.hexdigest()
        done = await machine.call(
            "backup.finish",
            size=closing.size,
            sha256=sha256,
            keep=KEPT,
            now=self._clock(),
            **about,
        )
        if (done["size"], done["sha256"]) != (closing.size, sha256):
            raise Refused(f"{name} was read back there as something else")
        return BackupCopied(
            at=self._clock(),
            machine=machine.name,
            name=newest.path.name,
            taken_at=newest.taken_at,
            size=closing.size,
            kept=int(done["kept"]),
            folder=str(begun["folder"]),
        )

    def _begun(self, machine: str, newest: backups.Backup) -> _Sending:
        """Return the sending of this backup, the one that was under way if it is that."""
        now = self._sending
        if now is None or (now.machine, now.path) != (machine, newest.path):
            if not (self._home.recovery.exists() and self._home.vault_pub.exists()):
                raise Refused(NO_CODE)
            closing = Closing(
                newest.path,
                public=self._home.vault_pub.read_bytes(),
                recovery=self._home.recovery.read_bytes(),
            )
            now = self._sending = _Sending(machine, newest.path, closing)
        return now

    # ------------------------------------------------------------ said

    async def _say_if_old(self, newest: backups.Backup) -> None:
        owner = self._owner()
        old = self._clock() - self._since(owner) > OLD_S
        if old and not self._refused and not self._is_there(owner, newest):
            await self._tell(owner.backup_on, away=True)

    async def _tell(self, machine: str, *, away: bool) -> None:
        since = self._since(self._owner())
        event = BackupNotCopied(machine=machine, since=self._said(since), why=self._why, away=away)
        await self._post(event, f"backup {'old' if away else 'refused'}:{machine}:{since:.0f}")

    def _since(self, owner: Owner) -> float:
        """Return from when on there is nothing newer there; as noticed, if that is dated ahead."""
        since, now = _since(owner), self._clock()
        if not backups.is_ahead(since, now):
            self._noticed = 0.0
            return since
        self._noticed = min(self._noticed or now, now)
        return self._noticed

    def health(self) -> str:
        """Return when it was last copied and where to, "" where no machine was chosen."""
        owner = self._owner()
        if not owner.backup_on:
            return ""
        if owner.backup_on not in self._machines:
            return f"{owner.backup_on} is no machine of yours any more: /settings, Backup"
        if owner.copied is None or owner.copied.machine != owner.backup_on:
            return f"none on {owner.backup_on} yet"
        return f"{self._said(owner.copied.at)} {owner.backup_on}"

    def trouble(self) -> str:
        """Return why the newest is not there, if it is not."""
        machine = self._owner().backup_on
        if not self._why or not machine:
            return ""
        if self._away:
            return f"{machine} is away; the newest goes there once it is back"
        return f"{machine}: {ended(self._why)} It is tried again by itself."


def _unread(newest: backups.Backup, error: OSError) -> Refused:
    return Refused(f"{newest.path.name} cannot be read here ({error.strerror or error})")


def _since(owner: Owner) -> float:
    """Return from when on there is nothing newer there."""
    copied = owner.copied
    there = copied.at if copied is not None and copied.machine == owner.backup_on else 0.0
    return max(there, owner.backup_at)
