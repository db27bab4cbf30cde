"""A program's text that is given in a command (`python -c`, a here-document): looked through, not understood.

Words that name a program are tried elsewhere; here is what a language does by itself: it asks a server to
change something, sends mail, has statements run, or hides what it is. Pure. Neighbour: stake_lines.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engine.rules import stake_data
from engine.rules.shell import named
from engine.rules.stake_told import TANGLED, stake
from engine.rules.words import Stake

_WORD: Final = re.compile(r"[\w./:@+=-]+")
_QUOTES: Final = ("'", '"', "`")
_LIST: Final = re.compile(r"[\"'], ?[\"']")
_AWKS: Final = named("awk gawk mawk nawk")
_NEAR: Final = re.compile(r"https?://(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)\b")
_SENDS: Final = re.compile(
    r"\b(?:requests|httpx|axios|session|client|got|superagent)\.(post|put|patch|delete)\s*\(|"
    r"\bmethod[\"']?\s*[:=]\s*[\"'](POST|PUT|PATCH|DELETE)\b",
    re.IGNORECASE,
)
_MAILS: Final = re.compile(r"\b(?:smtplib|nodemailer|Net::SMTP|sendmail\s*\()")
_HIDES: Final = re.compile(
    r"\b(?:exec|eval|system|popen|Function)\s*\(?[^)\n]{0,80}(?:b64decode|fromhex|decompress|unhexlify|"
    r"atob|base64|rot_?13|pack\s*\(|urlopen|requests\.get|marshal)",
    re.IGNORECASE,
)
_FED: Final = re.compile(r"\bsystem\s*\(\s*\$")  # an awk that runs what it reads
_CLOUD: Final = re.compile(r"\bboto3\b.*\.(?:delete|terminate|put|create|run)_\w+", re.DOTALL)


def words(text: str) -> tuple[list[str], frozenset[int]]:
    """Return the words of a program's text, and at which of them a command line may begin."""
    found = list(_WORD.finditer(text))
    begins = (at for at, word in enumerate(found) if _may_begin(text, word))
    return [word[0] for word in found], frozenset(begins)


def _may_begin(text: str, word: re.Match[str]) -> bool:
    """Return whether a string of the program begins with this word and goes on, or a list of them does."""
    if text[word.start() - 1 : word.start()] not in _QUOTES:
        return False
    return text[word.end() : word.end() + 1] not in _QUOTES or bool(_LIST.match(text, word.end()))


def runs_words(name: str, arguments: Sequence[str]) -> bool:
    """Return whether this is an awk that has its program run something."""
    return name in _AWKS and any("system" in word or "|" in word for word in arguments)


def told(text: str) -> Iterator[Stake]:
    """Return what a program's own words say that it does."""
    if (found := stake_data.in_code(text)) is not None:
        yield found
    if _MAILS.search(text):
        yield stake("mail")
    if (sends := _SENDS.search(text)) and not _NEAR.search(text):
        yield stake("sends", (sends[1] or sends[2]).upper())
    if (cloud := _CLOUD.search(text)) is not None:
        yield stake("cloud", cloud[0].rpartition(".")[2])
    if _HIDES.search(text) or _FED.search(text):
        yield TANGLED
