"""All rules together, without a disk or an outside: what streams tell each other is carried on the spot.

`World.post` decides one event and everything that follows from it by `Tell`; what is owed to the
outside is kept in `owed`, for a test to look at and to answer. Tells due later wait in `later` until
`pass_time`. The real loop does the same with a ledger under it (engine/loop.py). Neighbour:
outside.py answers at random.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from engine.board import cards
from engine.errors import Refused
from engine.rules import ask, fleet, goal, landing, owner, project, session, ship
from engine.rules.effects import AfterLimit, AnyEffect, Say, StartRun, Tell
from engine.rules.events import (
    AnyEvent,
    BaseRead,
    GoalOpened,
    LimitOver,
    LimitSettled,
    MachineSeen,
    PieceCollected,
    PlanProposed,
    PlanStarted,
    ProjectAdded,
    RunExited,
    RunStarted,
    SessionNamed,
    TurnEnded,
)
from engine.rules.words import Account, Collected, Command, PieceDraft, TurnError
from engine.views import AnyCard

RULES: dict[str, Any] = {
    "ask": ask,
    "fleet": fleet,
    "goal": goal,
    "landing": landing,
    "owner": owner,
    "project": project,
    "session": session,
    "ship": ship,
}

E = TypeVar("E", bound=AnyEffect)


class Happened(NamedTuple):
    """One decided event, and what followed from it."""

    stream: str
    event: AnyEvent
    effects: tuple[AnyEffect, ...]


class World:
    """Every stream's state, and what is owed to the outside.

    patient   what a stream tells another stays on its way until `deliver`, as in the real loop
    """

    def __init__(self, *, patient: bool = False) -> None:
        self.states: dict[str, Any] = {}
        self.owed: list[tuple[str, AnyEffect]] = []
        self.later: list[tuple[float, str, Tell]] = []
        self.told: dict[str, deque[Tell]] = {}
        self.said: list[Say] = []
        self.history: list[Happened] = []
        self.now = 1000.0
        self.patient = patient
        self.after_limit = "go on"  # the owner's default
        self.morning_at = 0.0  # when this night ends
        self.limits = 0

    def post(self, stream: str, event: AnyEvent) -> None:
        """Decide an event, and all that follows from it on the spot; Refused as the rule says."""
        self._decide(stream, event)
        if not self.patient:
            self.settle()

    def settle(self) -> None:
        """Deliver all that is on its way, oldest first."""
        while self.told:
            self.deliver(next(iter(self.told)))

    def deliver(self, sender: str) -> None:
        """Deliver what a stream said first; what is told cannot be refused, only logged."""
        lane = self.told[sender]
        tell = lane.popleft()
        del self.told[sender]
        if lane:
            self.told[sender] = lane  # its turn comes again behind the others'
        with suppress(Refused):
            self._decide(tell.stream, tell.event)

    def _decide(self, stream: str, event: AnyEvent) -> None:
        kind, _, name = stream.partition("/")
        rule = RULES[kind]
        state = self.states.get(stream) or rule.begin(name)
        stamped = event if event.at else replace(event, at=self.now)
        self.states[stream], effects = rule.decide(state, stamped)
        self.history.append(Happened(stream, stamped, effects))
        for effect in effects:
            if isinstance(effect, Tell) and effect.due_at > self.now:
                self.later.append((effect.due_at, stream, effect))
            elif isinstance(effect, Tell):
                self.told.setdefault(stream, deque()).append(effect)
            elif isinstance(effect, Say):
                self.said.append(effect)
            elif isinstance(effect, AfterLimit) and not self.patient:
                self.told.setdefault(stream, deque()).append(self.limit_over(effect))
            else:
                self.owed.append((stream, effect))

    def limit_over(self, effect: AfterLimit) -> Tell:
        """What comes of it outside: the owner's default and the hour; a session alone goes on."""
        goal = self.states.get(f"goal/{effect.goal}")
        if goal is None or goal.stage is None:
            return Tell(stream=f"session/{effect.session}", event=LimitSettled())
        self.limits += 1
        over = LimitOver(
            session=effect.session,
            account=effect.account,
            default=self.after_limit,
            morning_at=self.morning_at if self.morning_at > self.now else 0.0,
            ask=f"a-limit-{self.limits}",
        )
        return Tell(stream=f"goal/{effect.goal}", event=over)

    def pass_time(self, seconds: float) -> None:
        """Let time go by, and what was due in it happen."""
        until = self.now + seconds
        while due := sorted((tell for tell in self.later if tell[0] <= until), key=lambda t: t[0]):
            first = due[0]
            self.later.remove(first)
            self.now = max(self.now, first[0])
            with suppress(Refused):
                self.post(first[2].stream, first[2].event)
        self.now = until

    def take(self, kind: type[E]) -> E:
        """Return the oldest effect of a kind that is still owed, and owe it no more."""
        for item in self.owed:
            if isinstance(item[1], kind):
                self.owed.remove(item)
                return item[1]
        raise AssertionError(f"no {kind.__name__} is owed, only {self.names()}")

    def owes(self, kind: type[E]) -> list[E]:
        return [effect for _, effect in self.owed if isinstance(effect, kind)]

    def names(self) -> list[str]:
        return [type(effect).__name__ for _, effect in self.owed]

    def card(self, card_id: str) -> AnyCard:
        return next(
            card for card in cards(self.states, "g-1", lambda _run: "") if card.id == card_id
        )

    # ------------------------------------------------------------ the usual course of things

    def turn(self, text: str = "", *, error: str = "", kind: TurnError = TurnError.NONE) -> str:
        """Start the run that is owed, let its agent end the turn; return what it was asked."""
        start = self.begin_turn()
        self.end_turn(start, text, error=error, kind=kind)
        return start.prompt

    def begin_turn(self) -> StartRun:
        start = self.take(StartRun)
        stream = f"session/{start.session}"
        self.post(stream, RunStarted(run=start.run))
        self.post(stream, SessionNamed(run=start.run, agent_session=start.agent_session))
        return start

    def end_turn(
        self,
        start: StartRun,
        text: str = "",
        *,
        error: str = "",
        kind: TurnError = TurnError.NONE,
    ) -> None:
        stream = f"session/{start.session}"
        self.post(stream, TurnEnded(run=start.run, text=text, error=error, kind=kind))
        self.post(stream, RunExited(run=start.run))


ACCOUNT = Account("main", "rehearsal")
CHECK = Command("check", "make test")


def opened(*commands: Command, go: str = "ask") -> World:
    """A goal whose base is read and whose lead was started."""
    world = World()
    world.post("fleet", MachineSeen(machine="here", fenced=True, fence="fenced"))
    world.post("project/shop", ProjectAdded(source="/shop", push_url="/shop.git", base="main"))
    world.post(
        "goal/g-1",
        GoalOpened(
            project="shop", text="Add orders", session="s-1", base="main", account=ACCOUNT, go=go
        ),
    )
    world.owed.clear()
    asks = tuple(f"a-{90 + index}" for index in range(len(commands)))
    read = BaseRead(base_commit="b0", branch="quarterdeck/g-1-x", commands=commands, asks=asks)
    world.post("goal/g-1", read)
    return world


def proposed(world: World, *drafts: PieceDraft) -> World:
    """The lead, in its running turn, proposes pieces."""
    count = len(drafts)
    world.post(
        "goal/g-1",
        PlanProposed(
            plan="pl-1",
            summary="Do it",
            pieces=drafts,
            call="s-1-t1#1",
            piece_ids=tuple(f"p-{n}" for n in range(1, count + 1)),
            session_ids=tuple(f"s-{n + 1}" for n in range(1, count + 1)),
        ),
    )
    return world


def draft(title: str, *after: int) -> PieceDraft:
    return PieceDraft(title=title, task=f"Build {title}", after=after)


def started(*drafts: PieceDraft) -> World:
    """A plan that the owner started; the lead's first turn is over."""
    world = proposed(opened(), *drafts)
    world.turn("planned")
    world.owed.clear()
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    return world


def collected(world: World, piece: str, commit: str, commits: int = 1) -> None:
    """The worker's branch was read and holds `commits` commits."""
    world.post(
        "goal/g-1", PieceCollected(piece=piece, found=Collected(head=commit, commits=commits))
    )
