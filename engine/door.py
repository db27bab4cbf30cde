"""What the owner asks for, done: each verb of engine/api/ as one method, and the views they see.

A request becomes one event of one stream (the rule says yes or no), a view is computed from the
streams' states (board/). A tap is judged by the card as it is now. Decides nothing itself.
Neighbours: shown.py (the cards, kept current), requests/ (the verbs, by subject), api/ (the socket),
loop.py (posts).
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from engine import board, retention
from engine.adapters.runs import CHECK_LIMIT_S
from engine.node import tidy
from engine.requests.edits import Edits
from engine.requests.given_keys import GivenKeys
from engine.requests.key_use import KeyUse
from engine.requests.locking import Locking
from engine.requests.machines import Machines
from engine.requests.peeks import Peeks
from engine.requests.plans import Plans
from engine.requests.projects import Projects
from engine.requests.settings import Settings
from engine.room import FULL
from engine.rules import asking, damage, disks, drift, silence
from engine.rules.plan import MAX_ATTEMPTS
from engine.shown import Shown
from engine.views import AnyCard, Board, Note, Row

UNLOCK_THERE = "unlock at the box: quarterdeck unlock"
# As /health tells them.
PATIENCE = {
    "a check": f"{CHECK_LIMIT_S / 60:.0f} min",
    "a turn held for your answer": f"{asking.HOLD_S / 60:.0f} min",
    "a turn that hangs": f"{silence.QUIET_S / 60:.0f} min",
    "attempts of a piece": str(MAX_ATTEMPTS),
}


class Door(GivenKeys, Peeks, Edits, Plans, Projects, Machines, KeyUse, Settings, Locking):
    """The owner's requests and views."""

    # ------------------------------------------------------------ cards, kept current

    def open(self, shown: Shown | None = None) -> None:
        """Keep the cards; once `tell` runs, `shown` hears what changes of them."""
        self._cards.open(shown)
        if shown is not None:
            self._loop.watch(
                lambda stream: shown.owner_changed(self.owner()) if stream == "owner" else None
            )

    async def tell(self) -> None:
        """Tell who follows how cards change, until cancelled."""
        await self._cards.run()

    def cards(self) -> Iterable[AnyCard]:
        """Every card there is."""
        return self._cards.all()

    def on_doing(self, run: str) -> None:
        """An agent does something else now: its card follows."""
        self._cards.on_doing(run)

    async def notes(self, after: int) -> Sequence[Note]:
        """The next lines for the owner past number `after`."""
        return [
            Note(
                n=row.n,
                goal=row.goal,
                kind=row.kind,
                text=row.text,
                who=row.who,
                sounds=row.sounds,
                at=row.at,
            )
            for row in await self._ledger.notes(after)
        ]

    # ------------------------------------------------------------ looking

    async def board(self) -> Board:
        found = board.board(self.world(), self._doing, self._asides())
        return replace(found, locked=self._locked())

    async def asks(self) -> tuple[Row, ...]:
        """What waits for the owner."""
        return (await self.board()).now

    async def _full_in_words(self, lacks: str) -> str:
        if lacks != FULL:
            return "it is read-only, as after a fault"
        ours = await asyncio.to_thread(tidy.ours, str(self._home.root))
        return (
            f"it is full; may be deleted: {disks.sizes(tuple(ours)) or 'nothing of ours is large'}"
        )

    async def health(self) -> dict[str, Any]:
        """How the box is: machines, what is set aside, disk, limits."""
        fleet = self._fleet()
        lacks = self._room_lacks()
        disk = shutil.disk_usage(self._home.root)
        return {
            "locked": self._locked()
            and f"{self._locked().removeprefix('Locked ')}; {UNLOCK_THERE}",
            "machines": list((await self.board()).machines),
            "keys_refused": await self.refused_keys(),
            "set_aside": self._asides_in_words(),
            "given_up_today": await self._given_up_in_words(),
            "disk_free_gb": round(disk.free / 1e9, 1),
            "disk_takes_nothing": lacks and await self._full_in_words(lacks),
            "disk_nearly_full": {
                machine.name: disks.in_words(machine.disk)
                for machine in fleet.machines
                if machine.disk.low
            },
            "running": len(fleet.running),
            "waiting": len(fleet.wanting),
            "decisions": len(await self.asks()),
            "held": fleet.held,
            "kept": retention.LIMITS,
            "patience": PATIENCE,
            "backup": self._backups(),
            "backup_not_copied": self._not_copied(),
            "heartbeat": self._heartbeat() or "none",
            "usage": {account.name: self._usage(account.name) for account in fleet.accounts},
            "reserve": fleet.reserve,
            "unknown_lines": {one.name: drift.listed(one) for one in fleet.drifts},
            "damaged_output": {one.machine: damage.listed(one) for one in fleet.damages},
            "accounts_at_rest": {rest.account: rest.reason for rest in fleet.rests},
            "limits": {machine.name: machine.max_runs for machine in fleet.machines},
        }
