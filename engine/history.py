"""What landed before, read from the states: the ground on which a plan's cost and time are estimated.

Rehearsals count for rehearsals alone: what they cost says nothing of a real agent. Pure. Neighbours:
engine/rules/estimates.py makes medians of it, calls.py asks when a plan is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine import board
from engine.rules.estimates import Landed
from engine.rules.fleet import REHEARSAL
from engine.rules.plan import Stage
from engine.rules.session_state import Session


def landed(world: board.World, agent: str) -> Iterator[Landed]:
    """Every piece that landed, of agents that `agent` can be compared with."""
    for goal in board.goals(world):
        for piece in (*goal.earlier, *goal.pieces):
            alike = (piece.agent == REHEARSAL) == (agent == REHEARSAL)
            timed = 0 < piece.started_at <= piece.landed_at
            if piece.stage is Stage.LANDED and alike and timed:
                session = world.get(f"session/{piece.session}")
                cost_usd = session.cost_usd if isinstance(session, Session) else 0.0
                took_s = piece.landed_at - piece.started_at
                yield Landed(goal.project, piece.size, cost_usd, took_s)
