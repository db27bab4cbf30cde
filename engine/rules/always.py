"""Always: the narrowest rule that would answer a request like this one from now on, or why there is none.

    Bash         exactly this command          WebFetch   one host, over https
    mcp__x__y    this one tool                 all else   none (edits are what the mode is for)

A rule holds for one project, and one kept of a card that said "fenced" holds within a fence alone. What
is asked is judged by the same function each time, so nothing that would not be offered is ever answered
by a rule kept earlier. A command is kept only where every part of it is known and every word understood;
a tool only where its name says that it reads, and nothing else. None for what cannot be taken back, costs
money, or names keys, known or not. In doubt: none. Pure.

Neighbours: asking.py puts the rule beside the request, keyed_rule.py has those of commands with keys, project.py keeps rules and answers by them,
known_commands.py is the table of what may be kept, public_hosts.py judges hosts, irreversible.py what
stays, shell.py takes a line apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from engine.rules import irreversible, keyed_rule, known_commands, public_hosts, shell
from engine.rules.shell import Part, named
from engine.rules.words import AlwaysKind, AlwaysRule

LONGEST: Final = 500  # characters: what is allowed for good must be read at a glance
OURS: Final = "mcp__quarterdeck__"


class Never(StrEnum):
    """Why no rule is offered."""

    EDIT = "edit"
    TOOL = "tool"
    LONG = "long"
    SHELL = "shell"  # a shell works out what it does only when it runs
    UNKNOWN = "unknown"  # not all of it is in the table of what we know
    FILE = "file"  # it runs a file of the tree
    STAYS = "stays"  # it cannot be taken back, or costs money
    KEYS = "keys"
    SITE = "site"  # no public host over https that we may name
    NO_READ = "no_read"  # a tool whose name does not say that it only reads


_EDITS: Final = ("Edit", "MultiEdit", "NotebookEdit", "Write")
_HARMLESS: Final = {"command", "description", "timeout"}  # what a request to run a command holds

_MCP: Final = re.compile(
    r"mcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__([A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*)"
)
_READS: Final = named("get list read search find describe show view count status")
# What a tool's name may say beside its reading: that it changes something, or takes what it is handed.
_CHANGES: Final = named(
    "run exec execute eval evaluate shell bash command commands terminal script code query sql invoke "
    "call write create update insert set add edit move copy fork clone comment reply forward say share "
    "invite buy buying spend pay sell sale sales book apply scale alter start stop restart launch navigate "
    "click type fill submit modify change rename replace assign unassign label lock unlock enable disable "
    "mark archive open approve reject vote star save store sync import export backup restore clear cancel "
    "kill ack pop consume dequeue receive claim increment subscribe unsubscribe install append toggle "
    "kick ban block mute pin follow book schedule trigger notification notifications "
    "and or then url urls uri http web page browser"
)


def rule(tool: str, input_json: str, *, unfenced: bool = False) -> AlwaysRule | Never:
    """Return the rule that Always would keep of a request, or why it would keep none."""
    if tool in _EDITS:
        return Never.EDIT
    given = _given(input_json)
    if tool == "Bash" and given is not None:
        return _command(given, unfenced=unfenced)
    if tool == "WebFetch" and given is not None:
        return _site(given, unfenced=unfenced)
    found = _MCP.fullmatch(tool)
    if found is not None and not tool.startswith(OURS):
        return _tool(tool, found[1], found[2], unfenced=unfenced)
    return Never.TOOL


def holds(kept: AlwaysRule) -> bool:
    """Whether a rule that was kept once would still be offered, and so still answers."""
    match kept.kind:
        case AlwaysKind.COMMAND:
            return rule("Bash", json.dumps({"command": kept.text})) == replace(kept, unfenced=False)
        case AlwaysKind.SITE:
            return public_hosts.of(f"https://{kept.text}") == kept.text
        case AlwaysKind.TOOL:
            return isinstance(rule(kept.text, ""), AlwaysRule)
        case AlwaysKind.KEYED:
            return keyed_rule.holds(kept)


def _given(input_json: str) -> dict[str, Any] | None:
    try:
        given = json.loads(input_json)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _command(given: dict[str, Any], *, unfenced: bool) -> AlwaysRule | Never:
    """A command word for word; what else the request asks for is either harmless or in doubt."""
    command = given.get("command")
    if not isinstance(command, str) or any(
        value for name, value in given.items() if name not in _HARMLESS
    ):
        return Never.SHELL
    if len(command) > LONGEST:
        return Never.LONG
    parts = shell.parts(command)
    if parts is None:
        return Never.SHELL
    if (why := _never(parts)) is not None:
        return why
    return AlwaysRule(AlwaysKind.COMMAND, command, unfenced)


def _never(parts: Sequence[Part]) -> Never | None:
    """Return why a command is never allowed for good, None where all of it is known."""
    if any(irreversible.about_keys(part.words) for part in parts):
        return Never.KEYS
    if any(irreversible.undone_by_nobody(part.words) for part in parts):
        return Never.STAYS
    if known_commands.understood(parts):
        return None
    files = any("/" in part.program or "." in part.program for part in parts)
    return Never.FILE if files else Never.UNKNOWN


def _site(given: dict[str, Any], *, unfenced: bool) -> AlwaysRule | Never:
    host = public_hosts.of(given.get("url"))
    return AlwaysRule(AlwaysKind.SITE, host, unfenced) if host else Never.SITE


def _tool(tool: str, server: str, name: str, *, unfenced: bool) -> AlwaysRule | Never:
    """A tool whose name begins with that it reads, maybe behind its server's, and says nothing else."""
    if irreversible.tool_undone_by_nobody(tool):
        return Never.STAYS
    told = irreversible.words_of(name)
    own = irreversible.pieces(server)
    while len(told) > 1 and told[0] in own:
        told = told[1:]
    if told[0] not in _READS or not _CHANGES.isdisjoint(told):
        return Never.NO_READ
    return AlwaysRule(AlwaysKind.TOOL, tool, unfenced)
