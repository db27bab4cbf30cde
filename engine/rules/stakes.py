"""What a request would do that only its owner may allow: it cannot be undone, costs money, opens an account.

    git push -f origin main      overwrites a branch        gh release create v2   publishes
    psql -c 'drop table orders'  deletes data               terraform apply        changes a cloud
    mcp__stripe__create_charge   spends                     mail you@example.org   sends

Told from names, by a table: in doubt it says more, since that costs one tap, and it never says that
anything is harmless. What cannot be read to its end is a stake itself ("tangled": too long, too deep, a
quote left open, a program that a variable names), and so is what nobody can have read ("fetched",
"statements"). What a file of the tree or a package does when it is run is not seen, nor said.
No lead, mode or rule kept by Always answers what is found here. Pure. Neighbours: asking.py asks it of
every permission, stake_lines.py goes through a command, irreversible.py is wider and says what Always
never keeps, bot/text_stakes.py words it.
"""

from __future__ import annotations

import json
import shlex
from typing import Any, Final

from engine.rules import stake_lines
from engine.rules.irreversible import words_of
from engine.rules.shell import named
from engine.rules.stake_told import FETCHED, TANGLED, Told, stake
from engine.rules.words import Peril, Stake

MOST: Final = 3  # stakes of one request that are told
_LIGHTER: Final = ("push", "sends", "fetched", "statements", "tangled")  # after what is surer
_OF_THE_MACHINE: Final = ("files", "disk")


def of_request(tool: str, input_json: str, *, unfenced: bool = False) -> tuple[Stake, ...]:
    """Return what a tool's use puts at stake, the surest first; () where nothing known is."""
    try:
        given: Any = json.loads(input_json or "{}")
    except (ValueError, RecursionError):
        if '"command"' in input_json or '"cmd"' in input_json:
            return (TANGLED,)
        given = {}
    command = given.get("command", given.get("cmd")) if isinstance(given, dict) else None
    if isinstance(command, list):
        command = shlex.join(str(word) for word in command)
    if isinstance(command, str):
        return of_command(command, unfenced=unfenced)
    found = _tool(tool)
    return (found,) if found else ()


def of_command(text: str, *, unfenced: bool = False) -> tuple[Stake, ...]:
    """Return what a command line puts at stake; within a fence no files but its own tree's are."""
    found = dict.fromkeys(
        one for one in stake_lines.in_text(text) if unfenced or one.what not in _OF_THE_MACHINE
    )
    if FETCHED in found:
        found.pop(TANGLED, None)  # says the same, and less
    ordered = sorted(found, key=_lightness)
    return tuple(ordered[:MOST])


def _lightness(one: Stake) -> int:
    return _LIGHTER.index(one.what) + 1 if one.what in _LIGHTER else 0


# ---------------------------------------------------------------- a tool, by its name

_SPENDS: Final = named(
    "pay payment payments charge charges purchase buy refund checkout invoice payout"
)
_ACCOUNTS: Final = named("signup register")
_STAYS: Final = named(
    "delete remove destroy drop purge wipe erase truncate publish release deploy send email mail merge "
    "push force transfer revoke post tweet reply comment submit close archive cancel order"
)
_LOOKING: Final = named("get list read search find describe show view count status")


def _tool(tool: str) -> Told:
    """What a server's tool puts at stake, by its name; our own and the agent's are none of these."""
    kind, _, rest = tool.partition("__")
    server, _, name = rest.partition("__")
    if kind != "mcp" or not name or server == "quarterdeck":
        return None
    told = words_of(name)
    parts = set(told)
    if told and told[0] in _LOOKING and not parts & _STAYS:
        return None
    if parts & _SPENDS:
        return stake("tool", name, server, peril=Peril.SPEND)
    if parts & _ACCOUNTS or ({"create", "open"} & parts and "account" in parts):
        return stake("tool", name, server, peril=Peril.ACCOUNT)
    return stake("tool", name, server) if parts & _STAYS else None
