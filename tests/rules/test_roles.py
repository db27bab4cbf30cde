"""What an agent is told about its part before anything else."""

from __future__ import annotations

from engine.node.desk import TOOLS
from engine.rules import roles

GOAL = "  Add orders\n\n```\nexactly so\n```  "


def rundown(*checks: str, note: str = "") -> str:
    return roles.rundown(
        project="shop",
        branch="quarterdeck/g-1-orders",
        base="main",
        base_commit="0123456789abcdef",
        checks=checks,
        note=note,
        goal=GOAL,
    )


def test_the_goal_stands_word_for_word_below_the_rundown() -> None:
    assert rundown().endswith(f"The owner's goal:\n\n{GOAL}")
    assert rundown().startswith("[Quarterdeck] Rundown\n")


def test_the_rundown_says_project_branch_check_and_next_step() -> None:
    said = rundown("check: `make test` (waits for the owner's word)", note="two settings files")
    assert "project: shop, base branch main at 0123456789ab\n" in said
    assert "your branch: quarterdeck/g-1-orders" in said
    assert "- check: `make test` (waits for the owner's word)\n- note: two settings files" in said
    assert "Next step: read, then propose_plan" in said
    assert "- the project names no check" in rundown()


def test_a_workers_preface_names_its_branch_and_the_check_if_there_is_one() -> None:
    assert "on branch quarterdeck/worker-x" in roles.worker("quarterdeck/worker-x", "")
    assert "check before you finish (`make test`)" in roles.worker("b", "make test")
    assert "check before you finish. " in roles.worker("b", "")


def test_a_task_stands_word_for_word() -> None:
    assert roles.task(3, "Page", "Do {this} \\n so") == (
        '[Quarterdeck] Your piece is number 3, "Page". Its task:\n\nDo {this} \\n so'
    )


def test_every_tool_a_preface_names_is_one_the_desk_has() -> None:
    listed = roles.LEAD.partition("Tools of your desk:")[2].strip(" .\n")
    named = {name.strip() for name in listed.split(",")}
    assert named <= {tool.name for tool in TOOLS["lead"]}
