"""How far an agent may go unasked."""

from __future__ import annotations

import pytest

from engine.rules import stakes
from engine.rules.modes import ASKED_ANYWAY, MODES, Mode, claude, within_fence
from engine.rules.words import Role


@pytest.mark.parametrize("mode", MODES)
def test_a_lead_is_guarded_whatever_its_mode(mode: Mode) -> None:
    grant = claude(Role.LEAD, mode, "quarterdeck")
    assert grant.flag == "default"
    assert grant.allowed == ("mcp__quarterdeck",)
    assert {"Write", "Edit", "MultiEdit", "NotebookEdit", "ExitPlanMode"} <= set(grant.denied)


@pytest.mark.parametrize("mode", MODES)
def test_a_worker_is_never_asked_for_its_commits_and_nothing_more(mode: Mode) -> None:
    grant = claude(Role.WORKER, mode, "quarterdeck")
    assert grant.allowed == ("mcp__quarterdeck", "Bash(git add:*)", "Bash(git commit:*)")


def test_each_mode_has_a_flag_of_its_own() -> None:
    flags = [claude(Role.WORKER, mode, "d").flag for mode in MODES]
    assert flags == ["plan", "default", "acceptEdits", "auto", "bypassPermissions"]


def test_outside_a_fence_nothing_goes_past_edits() -> None:
    assert [within_fence(mode, fenced=False) for mode in MODES] == [
        "plan",
        "ask",
        "edit",
        "edit",
        "edit",
    ]
    assert [within_fence(mode, fenced=True) for mode in MODES] == list(MODES)


@pytest.mark.parametrize("start", ASKED_ANYWAY)
def test_what_is_asked_for_in_every_mode_is_at_stake_for_its_owner(start: str) -> None:
    assert stakes.of_command(f"{start} x -X DELETE", unfenced=True)
