"""The cards as the owner may see them: made from the states when somebody looks, told when they change.

    loop ── a stream changed ──> its goal lags ── run ──> made anew ──> shown.changed, shown.gone
                                       └──── get, all ──> made anew first: a tap is judged by what is

However often a goal changes at once, its cards are made once for all of it; and while nobody follows,
as just after a start, only when they are asked for. Neighbours: board/ makes cards, door.py asks for
them, api/server.py is who is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from engine import board
from engine.loop import NOTES, Loop
from engine.rules.fleet import Fleet
from engine.rules.session_state import Session
from engine.views import AnyCard, OwnerView


class Shown(Protocol):
    """Where changed cards are told (engine/api/'s Server)."""

    @property
    def followed(self) -> bool:
        """Whether anybody hears it. Who begins to follow is given all cards first."""
        ...

    def changed(self, card: AnyCard) -> None: ...

    def gone(self, card: str) -> None: ...

    def owner_changed(self, owner: OwnerView) -> None: ...

    def noted(self) -> None: ...


class Cards:
    """Every card there is, kept as it was last shown.

    doing   what a run's agent does now
    """

    def __init__(self, loop: Loop, doing: Callable[[str], str]) -> None:
        self._loop = loop
        self._doing = doing
        self._cards: dict[str, AnyCard] = {}
        self._of_goal: dict[str, dict[str, None]] = {}  # ids of a goal's cards; "" = General
        self._streams: dict[str, dict[str, None]] = {}  # a goal's streams, in the order they began
        self._behind: dict[str, None] = {}  # goals whose cards are not what the states say
        self._noted = False
        self._changed = asyncio.Event()
        self._machines: object = None  # as the fleet had them when cards were last made
        self._rests: object = None  # likewise
        self._logins: object = None  # likewise
        self._aside: object = None  # the streams set aside, likewise
        self._shown: Shown | None = None

    def open(self, shown: Shown | None) -> None:
        """Know what there are cards of, and hear of all that changes from now on."""
        world = self._loop.world()
        for stream in world:
            self._streams.setdefault(board.goal_of(world, stream), {})[stream] = None
        self._behind = dict.fromkeys(["", *(goal.id for goal in board.goals(world))])
        self._machines = self._fleet().machines
        self._rests = self._fleet().rests
        self._logins = self._fleet().logins
        self._aside = self._loop.broken()
        self._shown = shown
        self._loop.watch(self._on_change)

    async def run(self) -> None:
        """Tell who follows what changes, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            noted, self._noted = self._noted, False
            behind = list(self._behind) if self._is_followed() else []
            for goal in behind:
                if goal in self._behind:
                    self._make(goal)
                if len(behind) > 1:
                    await asyncio.sleep(0)  # a hundred goals must not hold up a tap
            if noted and self._shown:
                self._shown.noted()  # after the cards it is about

    def all(self) -> list[AnyCard]:
        """Every card, as the states are now."""
        while self._behind:
            self._make(next(iter(self._behind)))
        return list(self._cards.values())

    def get(self, card: str) -> AnyCard | None:
        """A card as the states are now; None if there is none of that id."""
        while self._behind:
            self._make(next(iter(self._behind)))
        return self._cards.get(card)

    def on_doing(self, run: str) -> None:
        """An agent does something else now: its card follows."""
        session = self._loop.state(f"session/{run.rpartition('-t')[0]}")
        if isinstance(session, Session) and session.run == run:
            self._lag(session.goal)

    def _is_followed(self) -> bool:
        return self._shown is not None and self._shown.followed

    def _on_change(self, stream: str) -> None:
        if stream == NOTES:
            self._noted = True
            self._changed.set()
            return
        world = self._loop.world()
        if (aside := self._loop.broken()) != self._aside:
            self._aside = aside
            self._lag("")
        goal = board.goal_of(world, stream)
        self._streams.setdefault(goal, {})[stream] = None
        if goal or stream.startswith(("ask/", "project/")):
            self._lag(goal)
        elif stream == "fleet":
            self._on_fleet(world)

    def _on_fleet(self, world: board.World) -> None:
        fleet = self._fleet()
        if fleet.rests is not self._rests:
            self._rests = fleet.rests
            self._lag("")
        if fleet.logins is not self._logins:
            self._logins = fleet.logins
            self._lag("")
        if fleet.machines is not self._machines:
            self._machines = fleet.machines
            for live in board.goals(world):
                if live.live:
                    self._lag(live.id)

    def _fleet(self) -> Fleet:
        fleet = self._loop.state("fleet")
        return fleet if isinstance(fleet, Fleet) else Fleet()

    def _lag(self, goal: str) -> None:
        self._behind[goal] = None
        self._changed.set()

    def _make(self, goal: str) -> None:
        """Make a goal's cards anew, from its own streams: the cost must not grow with age."""
        self._behind.pop(goal, None)
        world = self._loop.world()
        if goal:
            own = board.of_goal(world, goal, self._streams.get(goal, ()))
            now = board.cards(own, goal, self._doing)
        else:
            now = [*board.general(world), *board.aside_cards(world, self._loop.broken())]
        ids = dict.fromkeys(card.id for card in now)
        before, self._of_goal[goal] = self._of_goal.get(goal, {}), ids
        for card_id in before:
            if card_id not in ids:
                del self._cards[card_id]
                if self._shown:
                    self._shown.gone(card_id)
        for card in now:
            if self._cards.get(card.id) != card:
                self._cards[card.id] = card
                if self._shown:
                    self._shown.changed(card)
