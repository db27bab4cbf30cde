"""How far an agent may go unasked, and what that means for each agent's own command.

    plan < ask < edit < auto < full

plan   reads and plans; changes nothing before its approach is approved
ask    asks before every change and every command that is more than reading
edit   changes files of its tree unasked; asks for commands
auto   the agent's own judge decides what is safe to run unasked
full   asks for nothing but what is listed below

What cannot be undone is asked for in every mode, as far as a command begins with it (ASKED_ANYWAY).

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


# What is asked for whatever the mode. The agent's own rules know how a command begins and no more, so that this
# is less than rules/stakes.py finds in a command that is asked for.
_BEGINS: Final[dict[str, str]] = {
    "git": "push, send-email, branch -D, tag -d",
    "npm": "publish, unpublish, adduser",
    "pnpm": "publish",
    "yarn": "publish, npm publish",
    "cargo": "publish, yank",
    "gem": "push",
    "uv": "publish",
    "poetry": "publish",
    "docker": "push, volume rm, system prune",
    "mvn": "deploy",
    "python": "-m twine",
    "npx": "semantic-release",
    "gh release": "create, delete, edit, upload",
    "gh repo": "create, delete, archive, rename",
    "gh pr": "create, merge, close, comment, review, edit",
    "gh issue": "create, close, comment, delete, edit",
    "gh": "api, workflow run, secret set, secret delete, gist create",
    "glab": "mr, issue, release, repo, api",
    "terraform": "apply, destroy, import, state",
    "tofu": "apply, destroy, import, state",
    "pulumi": "up, destroy",
    "kubectl": "apply, create, delete, patch, replace, scale, rollout, exec, drain",
    "helm": "install, upgrade, uninstall, rollback, push",
    "fly": "deploy, apps, scale, secrets, destroy",
    "flyctl": "deploy, apps, scale, secrets, destroy",
    "crontab": "-r",
}
_WHOLE: Final = (
    "twine goreleaser semantic-release mail mailx sendmail mutt msmtp dropdb stripe aws gcloud az heroku "
    "vercel netlify wrangler firebase doctl hcloud ansible-playbook gsutil rclone serverless"
)
ASKED_ANYWAY: Final = (
    *(f"{program} {verb}" for program, verbs in _BEGINS.items() for verb in verbs.split(", ")),
    *_WHOLE.split(),
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
