"""A shell command line taken apart, as far as it says what it does.

    cd web && npm test 2>&1 | tail -5   ->   (cd web) (npm test) (tail -5, piped)

Plain words, quoted words in which nothing is expanded, `&&`, `;`, `|`, and output thrown away or joined.
Whatever a shell would work out when it runs (variables, substitutions, patterns, other redirections,
escapes, background jobs) or that is no printable ASCII is not taken apart at all: None. Pure.
Neighbours: shell_reader.py reads it, always.py and irreversible.py judge the parts.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from engine.rules import shell_reader
from engine.rules.shell_reader import Command

_ASCII: Final = re.compile(r"[ -~]+")
_PLAIN: Final = re.compile(r"""(?:[A-Za-z0-9_@%+=:,./-]|'[^']*'|"[^"$`\\!]*")+""")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_+./-]+")
_QUIET: Final = ("2>&1", ">/dev/null", "1>/dev/null", "2>/dev/null")
_BETWEEN: Final = ("", "&&", ";", "|")


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
    reading = shell_reader.read(command)
    if not (reading.whole and reading.bare and all(map(_shows_all, reading.commands))):
        return None
    return tuple(
        Part(tuple(word.text for word in one.words), one.piped) for one in reading.commands
    )


def _shows_all(command: Command) -> bool:
    """Whether a simple command does no more than its words say, none of them spelt so as not to be seen."""
    return (
        command.before in _BETWEEN
        and bool(command.words)
        and _PROGRAM.fullmatch(command.words[0].raw) is not None
        and all(_PLAIN.fullmatch(word.raw) for word in command.words)
        and all(one.at and one.sign + one.target.raw in _QUIET for one in command.redirects)
    )
