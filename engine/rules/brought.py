"""What a repository brings that would run or steer an agent by itself, and the owner's word on it.

It is decided about as a project's check is: once, word for word, again when it changes (project.py).
Nothing waits for the answer, and until it is Trust nothing of it is given to any session. Its text holds
a hash of exactly the files it is made of, so that no other state of them is ever taken for it.

Some things stay off whatever is answered, each for one of the reasons in `Off`: they would decide in the
owner's place, or set what is ours to set. Pure. Neighbours: engine/adapters/agents/claude_brings.py finds
it among a commit's files, engine/adapters/kits.py gives what is trusted to a session.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

import msgspec

from engine.rules.words import BROUGHT, Brought, BroughtItem, Command

PLURALS = {
    "hook": "hooks",
    "server": "MCP servers",
    "rule": "rules",
    "agent": "agents",
    "skill": "skills",
    "command": "commands",
}
SINGULARS = {"server": "MCP server"}
RULES = ("allow", "deny", "ask")


class Off(StrEnum):
    """Why something stays off even where the rest is trusted."""

    DECIDES = "decides"  # it answers in the owner's place
    WIDE = "wide"  # it allows more than Always ever would
    OURS = "ours"  # what is ours to set
    NEEDS = "needs"  # it takes a value of an environment that sessions do not have
    TANGLED = "tangled"  # what of the repository it runs cannot be followed for certain
    UNKNOWN = "unknown"  # written in a way that is not known here


def as_command(brought: Brought) -> Command:
    """Return what the owner is asked about, as a command is: equal text is the same thing."""
    return Command(BROUGHT, msgspec.json.encode(brought).decode())


def told(command: Command | None) -> Brought | None:
    """Return what a command of this kind stands for; None for any other."""
    if command is None or command.kind != BROUGHT:
        return None
    return msgspec.json.decode(command.text, type=Brought)


def given(brought: Brought) -> tuple[BroughtItem, ...]:
    """What a session is given of it once it is trusted."""
    return tuple(item for item in brought.items if not item.why)


def counted(brought: Brought) -> str:
    """What there is of each kind that would be given: "2 hooks and 1 MCP server"."""
    numbers = Counter("rule" if i.kind in RULES else i.kind for i in given(brought))
    parts = [
        f"{numbers[kind]} {SINGULARS.get(kind, kind) if numbers[kind] == 1 else plural}"
        for kind, plural in PLURALS.items()
        if numbers[kind]
    ]
    *first, last = parts or ["nothing"]
    return f"{', '.join(first)} and {last}" if first else last
