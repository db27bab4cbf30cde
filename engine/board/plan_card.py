"""The card of a plan: its pieces, where each will run, what it may cost.

Pure. Neighbours: engine/rules/planning.py (who may start it), worker_card.py (a piece once it began).
"""

from __future__ import annotations

from engine.board.looking import World, holding_asks, state_of
from engine.rules import estimates, news, session_state
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal, PlanStage
from engine.rules.plan import Piece
from engine.rules.session_state import Session
from engine.rules.words import COPY
from engine.views import PieceLine, PlanCard


def _named(goal: Goal, piece: Piece) -> str:
    drawn = next((other for other in goal.as_proposed if other.id == piece.id), piece)
    return "named in the plan" if drawn.machine == piece.machine else "chosen by you"


def where_of(world: World, goal: Goal, piece: Piece) -> str:
    session = state_of(world, f"session/{piece.session}", Session)
    # While it waits for a place, why it does stands among its waits.
    if session and session.where and session.stage is not session_state.Stage.WANTING:
        return session.where
    fleet = state_of(world, "fleet", Fleet)
    names = [machine.name for machine in fleet.machines] if fleet else ["here"]
    names = [name for name in names if name in (goal.machines or (name,))]
    if piece.machine and piece.machine in (goal.machines or (piece.machine,)):
        return f"{piece.machine}: {_named(goal, piece)}"
    return f"{names[0]}: only machine ticked" if len(names) == 1 else "where fewest agents run"


COMMANDS = {"check": "the check", "setup": "the setup", COPY: "the folders to copy"}


def commands_first(goal: Goal) -> str:
    """The commands that wait for the owner's word, which nothing starts without."""
    kinds = (command.kind for command in goal.undecided)
    names = list(dict.fromkeys(COMMANDS.get(kind, kind) for kind in kinds))
    return " and ".join(names) if goal.live else ""


PLAN_WORDS = {"owner": "you", "lead": "the lead", "correction": "your correction"}


def _asked_here(world: World, goal: Goal) -> bool:
    return any(ask.command is not None for ask in holding_asks(world, goal))


def plan_card(world: World, goal: Goal) -> PlanCard:
    proposed = goal.plan_stage is PlanStage.PROPOSED and goal.live
    decided = {
        PlanStage.STARTED: f"Started by {PLAN_WORDS.get(goal.plan_by, goal.plan_by)}",
        PlanStage.DISCARDED: "Discarded by you",
    }.get(goal.plan_stage, "" if goal.live else "The goal is over")
    first = commands_first(goal)
    if first and goal.plan_stage is PlanStage.STARTED:
        decided = f"{decided}: it waits for your word on {first}"
    lines = tuple(
        PieceLine(
            number=piece.number,
            title=piece.title,
            task=piece.task,
            size=piece.size,
            after=piece.after,
            where=where_of(world, goal, piece),
            agent=piece.agent,
            model=piece.model,
            stage=piece.stage.value if proposed else "",
            cost_usd=found.cost_usd if (found := estimates.of(piece, goal.estimates)) else 0.0,
        )
        for piece in goal.pieces
    )
    return PlanCard(
        id=goal.plan,
        goal=goal.id,
        at=goal.plan_at,
        summary=goal.plan_summary,
        pieces=lines,
        estimate=estimates.total(goal.pieces, goal.estimates),
        edits=goal.plan_edits,
        changed=bool(news.plan_changes(goal.as_proposed, goal.pieces)),
        first=first if proposed else "",
        first_elsewhere=bool(first) and not _asked_here(world, goal),
        buttons=("start", "change", "discard") if proposed else (),
        asks=proposed and goal.go == "ask",
        decided=decided,
        decided_at=goal.plan_at if decided else 0.0,
    )
