"""What the owner can still change of a plan: the view behind Change… on its card.

Pure. Neighbours: engine/rules/changing.py decides what is taken, board/plan_card.py makes the
card itself.
"""

from __future__ import annotations

from engine.rules import changing, fleet, models
from engine.rules.goal_state import Goal
from engine.views import PieceChoice, PlanCard, PlanChoices


def of_plan(goal: Goal, scarce: fleet.Fleet, card: PlanCard) -> PlanChoices:
    """What there is to choose, for a plan as its card shows it."""
    agents = tuple(dict.fromkeys((goal.account.agent, *fleet.reach(scarce).agents)))
    pieces = tuple(
        PieceChoice(line, piece.machine, changing.may_wait_for(goal.pieces, piece.number))
        for line, piece in zip(card.pieces, goal.pieces, strict=True)
    )
    offered = [m for m in scarce.machines if m.name in (goal.machines or (m.name,))]
    return PlanChoices(
        plan=card.id,
        goal=goal.id,
        revision=card.revision,
        pieces=pieces,
        machines=tuple(machine.name for machine in offered),
        away=tuple((machine.name, machine.why) for machine in offered if not machine.up),
        agents=agents,
        models={agent: models.KNOWN.get(agent, ()) for agent in agents},
        estimate=card.estimate,
        over=card.decided,
    )
