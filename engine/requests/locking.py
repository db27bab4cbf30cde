"""/lock: from then on nothing is decided, until `quarterdeck unlock` at the box; and what was decided so far.

Looking still works, and what is under way goes on. A key pasted meanwhile is sealed all the same: it is
kept out of reach by that, and used by nobody. Neighbours: engine/audit.py refuses while it holds, and
writes decisions down; rules/owner.py keeps the lock; engine/cli_audit.py unlocks and prints.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from engine import audit
from engine.asker import BOX, asker
from engine.errors import Refused
from engine.night import zone_of
from engine.requests.files import Files
from engine.requests.owners import Owners
from engine.rules.events import OwnerLocked, OwnerUnlocked
from engine.rules.owner import LOCKED
from engine.rules.owners import NO_OWNER
from engine.views import DecisionView
from stores.ledger import DecisionRow

# What may be asked for while it is locked; the last two tell what happened in Telegram.
STILL: Final = ("lock", "unlock", "keep_secret", "group_left", "group_moved")
NOW_LOCKED: Final = (
    "Locked: no tap and no line decides anything until you run quarterdeck unlock at the box. "
    "What is under way goes on, and looking works."
)


class Locking(Files, Owners):
    """Requests about the lock, and the list of decisions."""

    async def permits(self, verb: str, cause: str) -> None:
        """Refuse what would decide anything while it is locked; what was done before is said again."""
        if self.no_owner(verb):
            raise Refused(NO_OWNER)
        locked = self._owner().locked_at
        if locked and verb not in STILL and not await self._ledger.knows(cause):
            raise Refused(LOCKED)

    async def lock(self, cause: str = "") -> dict[str, str]:
        """Have nothing decided from now on: {"verdict": words}."""
        before = self._locked()
        await self._loop.post(audit.OWNER, OwnerLocked(), cause)
        return {"verdict": f"{before}. {LOCKED.partition(' ')[2]}" if before else NOW_LOCKED}

    async def unlock(self, cause: str = "") -> dict[str, str]:
        """Have decisions count again: {"verdict": words}."""
        who = asker()
        if who is None or who.who != BOX:
            raise Refused(LOCKED)
        await self._loop.post(audit.OWNER, OwnerUnlocked(), cause)
        return {"verdict": "Unlocked: taps and lines decide again."}

    def _locked(self) -> str:
        """Since when it is locked, in words; "" where it is not."""
        at = self._owner().locked_at
        when = datetime.fromtimestamp(at, zone_of(self._owner()))
        return f"Locked since {when:%d %b %H:%M}" if at else ""

    async def audit(
        self, since: float = 0.0, goal: str = "", after: int = 0
    ) -> tuple[DecisionView, ...]:
        """The next decisions since then, oldest first; what the vault keeps is taken out."""
        rows = await self._ledger.decisions(since, goal, after)
        secrets = await self._secrets()
        return tuple(_without(secrets, _view(row)) for row in rows)


def _view(row: DecisionRow) -> DecisionView:
    made = audit.read(row)
    return DecisionView(
        n=row.n,
        at=row.at,
        cause=row.cause,
        goal=row.goal,
        who=made.who,
        through=made.through,
        verb=made.verb,
        card=made.card,
        revision=made.revision,
        made=made.made,
        verdict=made.verdict,
        shown=made.shown,
        shown_hash=made.shown_hash,
    )


def _without(secrets: dict[str, str], view: DecisionView) -> DecisionView:
    shown, verdict = view.shown, view.verdict
    for name, value in secrets.items():
        shown = shown.replace(value, f"{{{{{name}}}}}")
        verdict = verdict.replace(value, f"{{{{{name}}}}}")
    return replace(view, shown=shown, verdict=verdict)
