"""What a program wrote to its terminal, as the lines a person would read; and what is looked for in them.

Colours and the like go, a jump to a column is a blank, one to another line ends the line. Made for
programs that ask for a login (sign_in.py): it is no terminal, and what was overwritten stays.
"""

from __future__ import annotations

import re

_OSC = re.compile(r"\x1b[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)?")
_COLUMN = re.compile(r"\x1b\[[0-9;]*[GC`]")
_LINE = re.compile(r"\x1b\[[0-9;]*[ABEFHJfd]|\r")
_REST = re.compile(r"\x1b\[[0-9;:?<>=!]*[ -/]*[@-~]|\x1b[()][A-Za-z0-9]|\x1b[ -/]*[0-Z\\^-~]")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LINK = re.compile(r"(?<!\S)https?://[!#$%&()*+,./0-9:;=?@A-Z_a-z~\[\]-]{3,2000}(?=\s)")
_SAYS = re.compile(r"[^\W\d_]{2}")  # a line that says something: not a frame, not a spinner
_MASK = re.compile(r"[*•●]{3}")  # what was typed, as it is shown while it is typed
_LONG = re.compile(r"[\w+/=.~-]{32,}")  # in a sentence: a key, or nothing anybody reads
_HALF_ESCAPE = re.compile(r"\x1b[^\x07@-Z\\^-~]{0,40}$")

LONGEST = 300  # characters of a line that is told on


def plain(raw: bytes) -> str:
    """Return what was written as lines of text; a sequence that is not all there yet is left out."""
    text = raw.decode("utf-8", "replace")
    text = _COLUMN.sub(" ", _OSC.sub("", text))
    text = _REST.sub("", _LINE.sub("\n", text))
    return _UNSEEN.sub("", _HALF_ESCAPE.sub("", text))


def link(text: str) -> str:
    """Return the first address of a page in it that is whole: something follows it."""
    found = _LINK.search(text)
    return found.group(0).rstrip(".,;:)") if found else ""


def first(pattern: str, text: str) -> str:
    """Return what a pattern finds in it first, its group if it has one; "" for no pattern."""
    found = re.search(pattern, text) if pattern else None
    if found is None:
        return ""
    return found.group(1) if found.re.groups else found.group(0)


def last_line(text: str, without: str = "") -> str:
    """Return the last line that says something, without what was typed and what may be a key."""
    lines = (" ".join(line.split()) for line in reversed(text.split("\n")))
    says = (line for line in lines if _SAYS.search(line) and not _MASK.search(line))
    line = _LONG.sub("…", _without(next(says, ""), without))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _without(line: str, typed: str) -> str:
    for part in sorted({typed, *re.split(r"\W", typed)}, key=len, reverse=True):
        if len(part) >= 6:
            line = line.replace(part, "…")
    return line
