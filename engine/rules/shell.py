"""A shell command line taken apart, as far as it says what it does.

    cd web && npm test 2>&1 | tail -5   ->   (cd web) (npm test) (tail -5, piped)

Plain words, quoted words in which nothing is expanded, `&&`, `;`, `|`, and output thrown away or joined.
Whatever a shell would work out when it runs (variables, substitutions, patterns, other redirections,
escapes, background jobs) or that is no printable ASCII is not taken apart at all: None. Pure.
Neighbours: always.py and irreversible.py judge the parts.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_ASCII: Final = re.compile(r"[ -~]+")
_TOKEN: Final = re.compile(
    r"""(?P<space>\ +)
    | (?P<quiet>(?:2>&1|[12]?>/dev/null)(?=[ ;|&]|$))
    | (?P<end>&&|;|\|(?!\|))
    | (?P<word>(?:[A-Za-z0-9_@%+=:,./-]|'[^']*'|"[^"$`\\!]*")+)""",
    re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_+./-]+")


def named(text: str) -> frozenset[str]:
    """A set of names, written as prose."""
    return frozenset(text.split())


class Part(Struct, frozen=True):
    """One simple command: its program, unquoted as it was written, and its arguments."""

    words: tuple[str, ...]
    piped: bool = False  # reads what the part before it prints

    @property
    def program(self) -> str:
        return self.words[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[1:]


def parts(command: str) -> tuple[Part, ...] | None:
    """Return the simple commands of a line, None where it may do more than it shows."""
    if not _ASCII.fullmatch(command):
        return None
    found: list[Part] = []
    words: list[str] = []
    piped, at = False, 0
    while at < len(command):
        token = _TOKEN.match(command, at)
        if token is None:
            return None
        at = token.end()
        if token.lastgroup == "word":
            if not words and not _PROGRAM.fullmatch(token[0]):
                return None  # set before it (A=1), or spelt so as not to be seen
            words.append(_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", token[0]))
        elif token.lastgroup == "end":
            if not words:
                return None
            found.append(Part(tuple(words), piped))
            words, piped = [], token[0] == "|"
        elif token.lastgroup == "quiet" and not words:
            return None
    if not words:
        return None
    return (*found, Part(tuple(words), piped))
