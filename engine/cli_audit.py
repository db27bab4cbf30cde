"""`quarterdeck audit` and `quarterdeck unlock`: what was decided, and having decisions count again.

Much of what is printed are words of agents and repositories: whatever could steer a terminal or hide in it
is printed as its number. Neighbours: cli.py, which these are added to; audit.py writes what is read here.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from engine.cli_ask import with_engine

UNITS: Final = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
SHORT_HASH: Final = 16


def add_to(app: typer.Typer) -> None:
    """Give the command its subcommands."""
    app.command("audit")(audit)
    app.command("unlock")(unlock)


def audit(
    since: Annotated[
        str, typer.Option("--since", metavar="2d", help="How far back: 90m, 12h, 2d, 4w.")
    ] = "",
    goal: Annotated[str, typer.Option("--goal", metavar="g-1", help="Of one goal alone.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Print every decision: who, when, by which message, on which card, and what that showed."""
    if goal and not re.fullmatch(r"g-[0-9]+", goal):
        raise typer.BadParameter("--goal takes a goal's id, as `quarterdeck status` shows it: g-1")
    found = list(_decisions(time.time() - _seconds(since) if since else 0.0, goal))
    if as_json:
        # Escaped to ASCII: nothing in it steers a terminal.
        typer.echo(json.dumps(found, indent=2))
        return
    for one in found:
        typer.echo("\n".join(lines(one)))
    if not found:
        typer.echo("Nothing was decided" + (" since then." if since else "."))


def unlock() -> None:
    """End a /lock: taps and lines decide again."""
    typer.echo(with_engine("unlock")["verdict"])


def _decisions(since: float, goal: str) -> Iterator[dict[str, Any]]:
    after = 0
    while page := with_engine("audit", since=since, goal=goal, after=after):
        yield from page
        after = page[-1]["n"]


def _seconds(since: str) -> float:
    found = re.fullmatch(r"([0-9]{1,6})([mhdw])", since.strip().lower())
    if found is None:
        raise typer.BadParameter("--since takes a number and m, h, d or w: 90m, 12h, 2d, 4w")
    return int(found[1]) * UNITS[found[2]]


def lines(one: dict[str, Any]) -> list[str]:
    """Return a decision as it is printed: its head, what was decided, and what was shown."""
    when = f"{datetime.fromtimestamp(one['at']):%Y-%m-%d %H:%M:%S}"
    who = f"owner {one['who']}" if one["who"].isdigit() else one["who"]
    revision = f" at {one['revision']}" if one["revision"] else ""
    about = f"{one['card']}{revision}" if one["card"] else ""
    parts = (who, one["through"], one["goal"], about, one["verb"], one["cause"])
    said = [
        f"{one['n']}  {when}  {plain(' · '.join(part for part in parts if part))}",
        f"    {plain(one['verdict'])}",
    ]
    if one["made"]:
        said.append(f"    card made {one['made'][:SHORT_HASH]}")
    if one["shown"]:
        said.append(f"    shown {one['shown_hash'][:SHORT_HASH]}")
        said += [f"    | {plain(line)}" for line in one["shown"].split("\n")]
    return said


def plain(text: str) -> str:
    """Return text on one line, what is no plain character in it as its number."""
    return "".join(map(_plain, text))


def _plain(char: str) -> str:
    odd = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return f"<U+{ord(char):04X}>" if odd else char
