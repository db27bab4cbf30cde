"""Lines of an agent's that its driver does not know: told once for each version of it, and kept in view.

    a run is over ─> LinesUnknown(agent, version, kinds) ─> one silent line in its goal, /health

An agent's format changes with its releases. What is not known is passed over and costs a turn nothing;
that it happens tells its owner that their agent is newer than we are. Part of fleet.py's rule. Pure.
Neighbour: engine/adapters/reading.py counts them.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from engine.rules.effects import AnyEffect, Say
from engine.rules.events import LinesUnknown

SHOWN = 5  # kinds that are named
KEPT = 20  # of one version
VERSIONS = 10  # newest
_ODD = re.compile(r"[^A-Za-z0-9_./+-]")  # a kind is the agent's word, a version too


class Drift(Struct, frozen=True):
    """What one version of an agent says that we do not know."""

    agent: str
    version: str
    kinds: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.agent} {self.version}".strip()


def noted(
    known: tuple[Drift, ...], event: LinesUnknown
) -> tuple[tuple[Drift, ...], list[AnyEffect]]:
    """Keep what is new; say so the first time a version is heard of."""
    told = Drift(event.agent, _tame(event.version), tuple(map(_tame, event.kinds)))
    before = next((one for one in known if one.name == told.name), None)
    others = tuple(one for one in known if one.name != told.name)
    if before is None:
        return (*others, told)[-VERSIONS:], [Say(goal=event.goal, kind="news", text=words(told))]
    kinds = tuple(dict.fromkeys((*before.kinds, *told.kinds)))[:KEPT]
    return (*others, replace(before, kinds=kinds)), []


def words(drift: Drift) -> str:
    count = len(drift.kinds)
    kinds = "1 kind" if count == 1 else f"{count} kinds"
    return (
        f"{drift.name} says {kinds} of line not known here: {listed(drift)}. Passed over; "
        "nothing else was lost."
    )


def listed(drift: Drift) -> str:
    more = len(drift.kinds) - SHOWN
    return ", ".join(drift.kinds[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _tame(word: str) -> str:
    return _ODD.sub("?", word)[:40]
