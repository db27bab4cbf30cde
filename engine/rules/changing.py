"""The owner's hand on a plan before Start: one piece dropped, resized, sent elsewhere, put in order.

Whatever is changed, what is left is a plan that can start as a whole: no circle, no piece that waits
for one that is gone, no place or agent there is none of. Numbers stay what they were. The lead's own
plan is kept beside it, so that it can be told what became of it (news.py). Part of goal.py's rule,
pure; neighbours: planning.py (asks only while the plan is PROPOSED), plan.py (what is sound).
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import models, plan
from engine.rules.events import PlanChanged
from engine.rules.goal_state import Goal
from engine.rules.plan import Piece
from engine.rules.words import Reach


def change(now: Goal, event: PlanChanged) -> Goal:
    """Return the goal with its plan changed, or refuse with what to do instead."""
    piece = next((piece for piece in now.pieces if piece.number == event.piece), None)
    if piece is None:
        raise Refused(f"There is no piece {event.piece} in this plan.")
    if event.what == "drop":
        pieces = _without(now.pieces, piece)
    else:
        changed = _changed(now, piece, event)
        pieces = tuple(changed if other is piece else other for other in now.pieces)
    if pieces == now.pieces:
        return now
    return replace(
        now,
        pieces=pieces,
        plan_edits=now.plan_edits + 1,
        as_proposed=now.as_proposed or now.pieces,
    )


def may_wait_for(pieces: tuple[Piece, ...], number: int) -> tuple[int, ...]:
    """The pieces that one of them can wait for without a circle."""
    after = {piece.number: piece.after for piece in pieces}
    return tuple(
        other
        for other in after
        if other != number and not plan.circle({**after, number: (*after[number], other)})
    )


def _without(pieces: tuple[Piece, ...], gone: Piece) -> tuple[Piece, ...]:
    """Take a piece out; who waited for it waits for what it waited for itself."""
    if len(pieces) == 1:
        raise Refused("It is the only piece left: Discard the plan instead.")
    return tuple(
        replace(piece, after=_sorted(({*piece.after} - {gone.number}) | {*gone.after}))
        if gone.number in piece.after
        else piece
        for piece in pieces
        if piece is not gone
    )


def _sorted(numbers: set[int]) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def _changed(now: Goal, piece: Piece, event: PlanChanged) -> Piece:
    value = event.value.strip()
    match event.what:
        case "size":
            if value not in plan.SIZES:
                raise Refused("A piece is small, medium or large: S, M or L.")
            return replace(piece, size=value)
        case "model":
            return replace(piece, model=_model(now, piece, value))
        case "agent":
            return _driven_by(now, piece, value, event.reach)
        case "machine":
            return replace(piece, machine=_machine(now, piece, value, event.reach))
        case "after":
            return replace(piece, after=_after(now, piece, event.after))
        case _:
            raise Refused("Of a piece, its size, model, agent, machine and order can be changed.")


def _model(now: Goal, piece: Piece, model: str) -> str:
    if not model:
        return now.model if piece.agent == now.account.agent else ""
    if wrong := models.fault(model):
        raise Refused(wrong)
    return model


def _driven_by(now: Goal, piece: Piece, agent: str, reach: Reach) -> Piece:
    """Give the piece another agent, and that one's account; a model belongs to its agent."""
    if agent == piece.agent:
        return piece
    account = None if agent == now.account.agent else reach.account(agent)
    if account is None and agent != now.account.agent:
        known = ", ".join(dict.fromkeys((now.account.agent, *reach.agents)))
        raise Refused(f"No account drives {agent or 'that'}. Add one first; there are: {known}.")
    agents = dict(reach.machines).get(piece.machine, ())
    if piece.machine and agent not in agents:
        raise Refused(f"{piece.machine} has no {agent}. Choose another machine for it first.")
    model = now.model if account is None else ""
    return replace(piece, agent=agent, account=account, model=model)


def _machine(now: Goal, piece: Piece, machine: str, reach: Reach) -> str:
    known = dict(reach.machines)
    if machine and machine not in known:
        raise Refused(f"There is no machine {machine}. There are: {', '.join(known)}.")
    if machine and machine not in (now.machines or (machine,)):
        raise Refused(f"{machine} is not ticked for this goal: /settings in its topic ticks it.")
    if machine and piece.agent not in known[machine]:
        raise Refused(f"{machine} has no {piece.agent}. Install it there, or choose another.")
    return machine


def _after(now: Goal, piece: Piece, after: tuple[int, ...]) -> tuple[int, ...]:
    wanted = {*after}
    unknown = _sorted(wanted - {other.number for other in now.pieces})
    if unknown:
        raise Refused(f"There is no {plan.numbers(unknown)} in this plan.")
    if piece.number in wanted:
        raise Refused("A piece cannot wait for itself.")
    order = {other.number: other.after for other in now.pieces}
    if wrong := plan.circle({**order, piece.number: _sorted(wanted)}):
        raise Refused(wrong)
    return _sorted(wanted)
