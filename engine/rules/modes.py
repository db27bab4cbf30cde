"""How far an agent may go unasked, and what that means for each agent's own command.

    plan < ask < edit < auto < full

plan   reads and plans; changes nothing before its approach is approved
ask    asks before every change and every command that is more than reading
edit   changes files of its tree unasked; asks for commands
auto   the agent's own judge decides what is safe to run unasked
full   asks for nothing

A lead is guarded whatever its mode: it never edits, and a command that is more than reading is asked
for. Its mode is only the bound of its workers'. `auto` and `full` need a fence: outside one, what an
agent runs unasked can reach all that the user can.

Pure. Neighbours: engine/adapters/agents/ turns a grant into arguments; session.py carries the mode.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from engine.rules.words import Role

Mode = Literal["plan", "ask", "edit", "auto", "full"]

MODES: Final[tuple[Mode, ...]] = ("plan", "ask", "edit", "auto", "full")

UNFENCED: Final[tuple[Mode, ...]] = ("plan", "ask", "edit")

# A worker's own commits are never asked for, in any mode, on any agent.
COMMITTING: Final = ("git add", "git commit")

_CLAUDE_FLAGS: Final[dict[Mode, str]] = {
    "plan": "plan",
    "ask": "default",
    "edit": "acceptEdits",
    "auto": "auto",
    "full": "bypassPermissions",
}

# All that changes a file by another door than a command, and the door to a plan of its own: the
# lead's plan is the one it proposes to the owner.
_CLAUDE_EDITS: Final = (
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Write",
    "EnterPlanMode",
    "ExitPlanMode",
)

# What outlives a turn or moves the work out of its tree: a process of ours serves one turn, schedules
# and trees are ours to keep.
_CLAUDE_ELSEWHERE: Final = (
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterWorktree",
    "ExitWorktree",
    "RemoteTrigger",
    "ScheduleWakeup",
)


class Grant(Struct, frozen=True):
    """What one session's agent is told it may do."""

    flag: str  # the agent's own name for the mode
    allowed: tuple[str, ...]  # its rules for what it never asks for
    denied: tuple[str, ...]  # tools it does not have at all


def claude(role: Role, mode: Mode, desk: str) -> Grant:
    """Return what `mode` means for Claude Code.

    desk   the desk's name among its MCP servers; its tools are never asked for
    """
    if role is Role.LEAD:
        # acceptEdits would also run touch, mv and rm unasked: a lead stays in the asking mode.
        return Grant("default", (f"mcp__{desk}",), _CLAUDE_EDITS + _CLAUDE_ELSEWHERE)
    commits = tuple(f"Bash({command}:*)" for command in COMMITTING)
    return Grant(_CLAUDE_FLAGS[mode], (f"mcp__{desk}", *commits), _CLAUDE_ELSEWHERE)


def within_fence(mode: str, fenced: bool) -> str:
    """Return the mode a machine can take: without a fence nothing goes past `edit`."""
    return mode if fenced or mode in UNFENCED else UNFENCED[-1]
