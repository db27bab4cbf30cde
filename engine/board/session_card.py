"""The card of a goal and of its lead: one card, the first that a goal has.

Pure. Neighbours: waits.py and doing.py (its two lines), engine/progress.py (its workers, a line each).
"""

from __future__ import annotations

from engine.board.doing import (
    cut_off_line,
    goal_doing,
    owner_lines,
    session_doing,
    silent,
    steered,
)
from engine.board.looking import Doing, World, cost_of, fence_of, holding_asks, lead_of, state_of
from engine.board.waits import YOUR_LINE, decision_waits, lead_waits, may_be_resumed
from engine.rules import goal_state as goal_rule
from engine.rules import plan as plan_rule
from engine.rules import session_state, steering
from engine.rules.goal_state import Goal, PlanStage
from engine.rules.plan import Piece
from engine.rules.session_state import Session
from engine.views import INTERRUPTED, SessionCard

GOAL_WORDS = {
    goal_rule.Stage.OPENING: "starting",
    goal_rule.Stage.PLANNING: "planning",
    goal_rule.Stage.BUILDING: "building",
    goal_rule.Stage.REVIEW: "in review",
    goal_rule.Stage.SHIPPING: "shipping",
    goal_rule.Stage.SHIPPED: "shipped",
    goal_rule.Stage.DROPPED: "dropped",
}


def _stage_word(world: World, goal: Goal) -> str:
    if goal.stage is None:
        return ""
    if goal.held and goal.live:
        return "stopped"
    if goal.failure and goal.live:
        return "waits for you"
    if holding_asks(world, goal) or decision_waits(world, goal):
        return "waits for you"
    if any(
        wait.what in (YOUR_LINE, INTERRUPTED)
        for wait in lead_waits(world, goal, lead_of(world, goal))
    ):
        return "waits for you"
    return GOAL_WORDS[goal.stage]


def _check_line(goal: Goal) -> str:
    if goal.undecided:
        return f"{goal.undecided[0].kind}: waits for your Allow"
    check = goal.command("check")
    if not check:
        refused = any(state.command.kind == "check" for state in goal.commands)
        return "no check: you said Not this" if refused else "no check in the settings"
    if goal.check_by_owner:
        check = f"{check} (set by you)"
    verdict = goal.base_verdict
    if verdict is None:
        return f"check: {check}"
    if verdict.failure:
        return f"check: {check} · could not run on {goal.base}"
    state = f"passes on {goal.base}" if verdict.passed else f"already red on {goal.base}"
    return f"check: {check} · {state}"


def _counted(goal: Goal) -> list[Piece]:
    """The pieces of a goal's progress: the current plan's, and what landed of earlier ones."""
    earlier = [piece for piece in goal.earlier if piece.stage is plan_rule.Stage.LANDED]
    return [*earlier, *goal.pieces] if goal.plan_stage is PlanStage.STARTED else []


def session_card(world: World, goal: Goal, doing: Doing) -> SessionCard:
    lead = lead_of(world, goal)
    fenced, fence = fence_of(world, lead.machine if lead else "here")
    buttons: list[str] = []
    if goal.live:
        if lead and lead.stage is session_state.Stage.RUNNING:
            buttons += ["now"] if steering.may_say_now(lead) else []
            buttons += ["interrupt", "peek"]
        sessions = (goal.session, *(piece.session for piece in goal.at_work))
        past = any(may_be_resumed(state_of(world, f"session/{s}", Session)) for s in sessions)
        resting = ["resume", "stop"] if past else ["stop"]
        waits = lead_waits(world, goal, lead)
        if any(wait.what == YOUR_LINE for wait in waits):
            resting.append("drop")
        buttons += ["resume", "drop"] if goal.held else resting
        buttons.append("settings")
    decided = ""
    if goal.stage is goal_rule.Stage.SHIPPED:
        decided = f"Shipped: {goal.where}"
    elif goal.stage is goal_rule.Stage.DROPPED:
        decided = "Dropped by you"
    return SessionCard(
        id=goal.id,
        goal=goal.id,
        at=goal.opened_at,
        project=goal.project,
        title=goal.title,
        text=goal.text,
        files=len(goal.files),
        stage=_stage_word(world, goal),
        doing=session_doing(world, lead, doing) or goal_doing(world, goal),
        silence=silent(lead, lead_waits(world, goal, lead)),
        agent=goal.account.agent,
        model=(lead.model if lead else "") or goal.model,
        mode=goal.mode,
        machines=goal.machines,
        machine=lead.where if lead and lead.live else "here",
        fence="fenced" if fenced else fence,
        branch=goal.branch,
        base=goal.base,
        check=_check_line(goal) if goal.branch else "",
        waits=lead_waits(world, goal, lead),
        cut_off=cut_off_line(lead) if goal.live else "",
        pieces=len(_counted(goal)),
        landed=sum(piece.stage is plan_rule.Stage.LANDED for piece in _counted(goal)),
        cost_usd=cost_of(world, goal),
        queued=owner_lines(lead),
        steered=steered(lead),
        whose=goal.whose,
        rehearsal=goal.account.agent == "rehearsal",
        buttons=tuple(buttons),
        decided=decided,
    )
