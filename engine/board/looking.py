"""How the states are looked into: one stream's, all of a kind, one goal's own.

Pure. A world is every stream's state by name; the rest of this room reads it through here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from engine.rules import ask as ask_rule
from engine.rules import session_state
from engine.rules.ask import Ask
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session
from engine.rules.words import AskKind

World = Mapping[str, object]
Doing = Callable[[str], str]  # run id -> what its agent does now, one line; "" if not known
S = TypeVar("S")


def state_of(world: World, stream: str, kind: type[S]) -> S | None:
    found = world.get(stream)
    return found if isinstance(found, kind) else None


def all_of(world: World, prefix: str, kind: type[S]) -> Iterator[S]:
    for stream, state in world.items():
        if stream.startswith(prefix) and isinstance(state, kind):
            yield state


def goals(world: World) -> list[Goal]:
    """Every goal ever opened, oldest first."""
    return sorted(
        (goal for goal in all_of(world, "goal/", Goal) if goal.stage is not None),
        key=lambda goal: goal.opened_at,
    )


def of_goal(world: World, goal: str, streams: Iterable[str]) -> World:
    """What a goal's cards are made of: its own streams, and what lies beside them."""
    own = {stream: world[stream] for stream in streams}
    found = own.get(f"goal/{goal}")
    if isinstance(found, Goal):
        for beside in ("fleet", f"project/{found.project}"):
            if beside in world:
                own[beside] = world[beside]
    return own


def each_goal(world: World) -> Iterator[tuple[Goal, World]]:
    """Every goal, oldest first, with its own streams: all of the world is gone through but once."""
    streams: dict[str, list[str]] = {}
    for stream in world:
        streams.setdefault(goal_of(world, stream), []).append(stream)
    for goal in goals(world):
        yield goal, of_goal(world, goal.id, streams[goal.id])


def goal_of(world: World, stream: str) -> str:
    """The goal whose cards a change of `stream` may change; "" = General."""
    kind, _, name = stream.partition("/")
    if kind in ("goal", "landing", "ship"):
        return name
    state = world.get(stream)
    if isinstance(state, Session | Ask):
        return state.goal
    return ""


def lead_of(world: World, goal: Goal) -> Session | None:
    lead = state_of(world, f"session/{goal.session}", Session)
    return lead if lead and lead.stage is not session_state.Stage.NEW else None


def open_asks(world: World, goal: Goal) -> list[Ask]:
    return [
        ask
        for ask in all_of(world, "ask/", Ask)
        if ask.goal == goal.id and ask.stage is ask_rule.Stage.OPEN
    ]


def holding_asks(world: World, goal: Goal) -> list[Ask]:
    """The open asks that work may wait for: all but whether what is brought along is trusted."""
    return [ask for ask in open_asks(world, goal) if ask.kind is not AskKind.BROUGHT]


def fence_of(world: World, machine: str) -> tuple[bool, str]:
    fleet = state_of(world, "fleet", Fleet)
    known = fleet.machine(machine or "here") if fleet else None
    return (known.fenced, known.fence) if known else (False, "")


def cost_of(world: World, goal: Goal) -> float:
    sessions = {goal.session, *(piece.session for piece in (*goal.pieces, *goal.earlier))}
    costs = (s.cost_usd for s in all_of(world, "session/", Session) if s.id in sessions)
    return math.fsum(costs)  # the same in any order: a start must not change a card
