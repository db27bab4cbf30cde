"""The card of a goal that failed and waits for the owner.

Pure. Neighbours: engine/rules/turn_ends.py (the kinds), login_card.py (an account's login).
"""

from __future__ import annotations

from engine.rules import goal_state as goal_rule
from engine.rules.goal_state import Goal
from engine.rules.words import TurnError
from engine.views import FailureCard

FAILURE_WORDS = {
    TurnError.START: "The lead could not start",
    TurnError.CUT_OFF: "The lead keeps being cut off",
}


def _sign_in(goal: Goal) -> str:
    """What an owner can do about it from where they are; the agent's own advice is for its terminal."""
    account = goal.account
    return (
        f"Give account {account.name} a new login on the box (quarterdeck account add "
        f"{account.name} --agent {account.agent} …), then press Retry."
    )


def failure_card(goal: Goal) -> FailureCard:
    opening = goal.stage is goal_rule.Stage.OPENING
    signed_out = goal.failure_kind is TurnError.LOGIN and not opening
    what = (
        "The goal could not start"
        if opening
        else FAILURE_WORDS.get(goal.failure_kind, "The lead's turn failed")
    )
    return FailureCard(
        id=f"{goal.id}-failed-{int(goal.failed_at)}",
        goal=goal.id,
        at=goal.failed_at,
        what=what,
        why=f"{goal.failure}\n{_sign_in(goal)}" if signed_out else goal.failure,
        buttons=() if goal.held else ("retry", "stop"),
        asks=not goal.held,
        decided="Stopped by you: Resume goes on" if goal.held else "",
    )
