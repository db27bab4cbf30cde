"""All rules together, without a disk or an outside: what streams tell each other is carried on the spot.

`World.post` decides one event and everything that follows from it by `Tell`; what is owed to the
outside is kept in `owed`, for a test to look at and to answer. Tells due later wait in `later` until
`pass_time`. The real loop does the same with a ledger under it (engine/loop.py).
"""

from __future__ import annotations

from collections import deque
from typing import Any, TypeVar

from msgspec.structs import replace

from engine.board import cards
from engine.rules import ask, fleet, goal, landing, project, session, ship
from engine.rules.effects import AnyEffect, Say, StartRun, Tell
from engine.rules.events import (
    AnyEvent,
    BaseRead,
    GoalOpened,
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
    "project": project,
    "session": session,
    "ship": ship,
}

E = TypeVar("E", bound=AnyEffect)


class World:
    """Every stream's state, and what is owed to the outside."""

    def __init__(self) -> None:
        self.states: dict[str, Any] = {}
        self.owed: list[tuple[str, AnyEffect]] = []
        self.later: list[tuple[float, str, Tell]] = []
        self.said: list[Say] = []
        self.now = 1000.0

    def post(self, stream: str, event: AnyEvent) -> None:
        todo = deque([(stream, event)])
        while todo:
            to, what = todo.popleft()
            kind, _, name = to.partition("/")
            rule = RULES[kind]
            state = self.states.get(to) or rule.begin(name)
            stamped = replace(what, at=self.now) if not what.at else what
            self.states[to], effects = rule.decide(state, stamped)
            for effect in effects:
                if isinstance(effect, Tell) and effect.due_at > self.now:
                    self.later.append((effect.due_at, to, effect))
                elif isinstance(effect, Tell):
                    todo.append((effect.stream, effect.event))
                elif isinstance(effect, Say):
                    self.said.append(effect)
                else:
                    self.owed.append((to, effect))

    def pass_time(self, seconds: float) -> None:
        """Let time go by, and what was due in it happen."""
        until = self.now + seconds
        while due := sorted((tell for tell in self.later if tell[0] <= until), key=lambda t: t[0]):
            first = due[0]
            self.later.remove(first)
            self.now = max(self.now, first[0])
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
