"""What the owner asks for, done: each verb of engine/api/ as one method, and the views they see.

A request becomes one event of one stream (the rule says yes or no), a view is computed from the
streams' states (board/). The door keeps the cards as last shown, so that a tap is judged by what
was on the phone, and tells the server which of them changed. Decides nothing itself. Neighbours:
requests/ (the verbs, by subject), api/ (the socket), loop.py (posts).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from engine import board, retention
from engine.adapters.runs import CHECK_LIMIT_S
from engine.loop import NOTES
from engine.requests.accounts import Accounts
from engine.requests.edits import Edits
from engine.requests.files import Files
from engine.requests.inside import Shown
from engine.requests.machines import Machines
from engine.requests.peeks import Peeks
from engine.requests.plans import Plans
from engine.requests.projects import Projects
from engine.requests.settings import Settings
from engine.requests.taps import Taps
from engine.rules import asking, drift, turn_ends
from engine.rules.plan import MAX_ATTEMPTS
from engine.rules.session_state import Session
from engine.views import AnyCard, Board, Note, Row

# As /health tells them.
PATIENCE = {
    "a check": f"{CHECK_LIMIT_S / 60:.0f} min",
    "a turn held for your answer": f"{asking.HOLD_S / 60:.0f} min",
    "a silent turn": f"{turn_ends.QUIET_S / 60:.0f} min",
    "attempts of a piece": str(MAX_ATTEMPTS),
}


class Door(Taps, Peeks, Edits, Plans, Projects, Machines, Accounts, Settings, Files):
    """The owner's requests and views."""

    # ------------------------------------------------------------ cards, kept current

    def open(self, shown: Shown | None = None) -> None:
        """Take the cards up as the states have them; from now on tell `shown` what changes."""
        world = self.world()
        for stream in world:
            self._streams.setdefault(board.goal_of(world, stream), set()).add(stream)
        all_cards = [*board.everything(world, self._doing), *self._asides()]
        self._cards = {card.id: card for card in all_cards}
        for card in self._cards.values():
            self._of_goal.setdefault(card.goal, set()).add(card.id)
        self._machines = self._fleet().machines
        self._rests = self._fleet().rests
        self._aside = self._loop.broken()
        self._shown = shown
        self._loop.watch(self._on_change)

    def cards(self) -> Iterable[AnyCard]:
        """Every card there is."""
        return list(self._cards.values())

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

    def _general(self, world: board.World) -> list[AnyCard]:
        return [*board.general(world), *self._asides()]

    def _on_change(self, stream: str) -> None:
        if stream != NOTES and self._loop.broken() != self._aside:
            self._aside = self._loop.broken()
            self._show("", self._general(self.world()))
        if stream == NOTES:
            if self._shown:
                self._shown.noted()
            return
        world = self.world()
        goal = board.goal_of(world, stream)
        self._streams.setdefault(goal, set()).add(stream)
        if goal:
            self._refresh(goal)
        elif stream.startswith(("ask/", "project/")):
            self._show("", self._general(world))
        elif stream == "fleet":
            self._on_fleet(world)
        elif stream == "owner" and self._shown:
            self._shown.owner_changed(self.owner())

    def _on_fleet(self, world: board.World) -> None:
        fleet = self._fleet()
        if fleet.rests is not self._rests:
            self._rests = fleet.rests
            self._show("", self._general(world))
        if fleet.machines is not self._machines:
            self._machines = fleet.machines
            for live in board.goals(world):
                if live.live:
                    self._refresh(live.id)

    def _refresh(self, goal_id: str) -> None:
        """Make a goal's cards anew, from its own streams: the cost must not grow with age."""
        own = board.of_goal(self.world(), goal_id, self._streams.get(goal_id, ()))
        self._show(goal_id, board.cards(own, goal_id, self._doing))

    def on_doing(self, run: str) -> None:
        """An agent does something else now: its card follows."""
        session = self._loop.state(f"session/{run.rpartition('-t')[0]}")
        if isinstance(session, Session) and session.run == run:
            self._refresh(session.goal)

    def _show(self, goal: str, now: list[AnyCard]) -> None:
        ids = {card.id for card in now}
        before, self._of_goal[goal] = self._of_goal.get(goal, set()), ids
        for card_id in before - ids:
            del self._cards[card_id]
            if self._shown:
                self._shown.gone(card_id)
        for card in now:
            if self._cards.get(card.id) != card:
                self._cards[card.id] = card
                if self._shown:
                    self._shown.changed(card)

    # ------------------------------------------------------------ looking

    async def board(self) -> Board:
        return board.board(self.world(), self._doing, self._asides())

    async def asks(self) -> tuple[Row, ...]:
        """What waits for the owner."""
        return (await self.board()).now

    async def health(self) -> dict[str, Any]:
        """How the box is: machines, what is set aside, disk, limits."""
        fleet = self._fleet()
        disk = shutil.disk_usage(self._home.root)
        return {
            "machines": list((await self.board()).machines),
            "set_aside": self._asides_in_words(),
            "given_up_today": await self._given_up_in_words(),
            "disk_free_gb": round(disk.free / 1e9, 1),
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
            "accounts_at_rest": {rest.account: rest.reason for rest in fleet.rests},
            "limits": {machine.name: machine.max_runs for machine in fleet.machines},
        }
