"""How a stake is told, and what all judges of programs are written with.

A word of a command may hold holes (shell_reader.py): what a variable or a command stands for there. Pure.
Neighbours: stakes.py (the door), stake_lines.py (what runs), stake_programs.py and stake_data.py (the judges).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from engine.rules.shell_reader import HOLE, MARK
from engine.rules.words import Peril, Stake

_NAME: Final = 120  # characters kept of a name

Told = Stake | None
Judge = Callable[[str, Sequence[str]], Told]


def stake(what: str, *names: str, peril: Peril = Peril.IRREVERSIBLE) -> Stake:
    """Tell a stake, with the names of what it is about."""
    shown = (HOLE.sub(_shown, name)[:_NAME] for name in names)
    return Stake(peril, what, tuple(name for name in shown if name))


def _shown(hole: re.Match[str]) -> str:
    name = hole[1]
    return f"${name}" if name and name[0] not in "(<>" else "…"


TANGLED: Final = Stake(Peril.IRREVERSIBLE, "tangled")
FETCHED: Final = Stake(Peril.IRREVERSIBLE, "fetched")


def plain(words: Sequence[str]) -> list[str]:
    """Return the words that are no options."""
    return [word for word in words if not word.startswith("-")]


def worked_out(word: str) -> bool:
    """Return whether some of a word is only known when it runs."""
    return MARK in word


def after(words: Sequence[str], *flags: str) -> str:
    """Return the value of one of these options, apart or joined to it."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in flags:
            return value if equals else (words[at + 1] if at + 1 < len(words) else "")
        for flag in flags:
            if not flag.startswith("--") and word.startswith(flag) and len(word) > len(flag):
                return word[len(flag) :]
    return ""
