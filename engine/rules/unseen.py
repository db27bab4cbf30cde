"""What nobody sees in a text, made seen: before an agent or the owner reads it as somebody else's words.

A model reads what a person's screen leaves out: text in tag characters, in zero-width ones, behind an
escape. Spelled out it is data like the rest. Left alone is what a script or an emoji is put together
with, where it stands between just those. Pure. Neighbours: news.py; bot/entities.py, which shows more of
what the owner decides on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

MOST_MARKS = 4  # on one letter
_QUOTES = re.compile("[\u201c\u201d\u201e\u201f\u275d\u275e\u301d\u301e\u301f\uff02]")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
# Marks and letters to Unicode that draw nothing.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0000-\U000e0fff]"
)
_DRAWN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\U000110bd")
_NEW_EMOJI = re.compile("[\U0001f000-\U0001fbff]")  # perhaps younger than this Python's tables

# Scripts whose letters a joiner or a non-joiner shapes: Arabic to Indic ones, Myanmar, Khmer, Mongolian.
_SHAPED = (
    "\u0620-\u06dc\u06de-\u070d\u0710-\u08e1\u08e3-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
    "\u1820-\u18aa\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
_PICTURE = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_PICTURED = f"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2300-\u23ff\u24c2\u25a0-\u25ff\u3030\u303d\u3297\u3299{_PICTURE}"
_FLAG = "\U0001f3f4\U000e0067\U000e0062"  # of England, Scotland and Wales; there are no others
_NEEDED = re.compile(
    f"(?<=[{_SHAPED}])\u200c(?=[{_SHAPED}])|(?<=[{_SHAPED}])\u200d|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
    f"|(?:(?<=[{_PICTURE}])|(?<=[{_PICTURED}]\ufe0f))\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_PICTURED}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|{_FLAG}(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)"
    "\U000e007f"
)


def shown(text: str) -> str:
    """Return a text in which each character can be seen; runs of unseen ones are told once, with their length."""
    text = _LINE_ENDS.sub("\n", text)
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_parts(text))


def in_quotes(text: str, most: int = 80) -> str:
    """Return somebody's words as one short line between quotes, which no sign of theirs closes."""
    line = " ".join(_QUOTES.sub("'", shown(text)).split())
    return f"“{line if len(line) <= most else line[: most - 1].rstrip() + '…'}”"


def _parts(text: str) -> Iterator[str]:
    at = 0
    for needed in _NEEDED.finditer(text):
        yield from _told(text[at : needed.start()])
        yield needed[0]
        at = needed.end()
    yield from _told(text[at:])


def _told(text: str) -> Iterator[str]:
    for hidden, run in groupby(text, is_hidden):
        chars = "".join(run)
        if not hidden:
            yield _without_floods(chars)
        elif len(chars) == 1:
            yield f"⟨U+{ord(chars):04X}⟩"
        else:
            yield f"⟨{len(chars)} unseen characters from U+{ord(chars[0]):04X}⟩"


def is_hidden(char: str) -> bool:
    """Return whether a character shows nothing of itself, wherever it stands."""
    if " " <= char <= "~" or char in "\n\t":
        return False
    kind = unicodedata.category(char)
    if kind == "Cn":
        return _NEW_EMOJI.match(char) is None
    return (kind in {"Cc", "Cf", "Cs", "Co"} and char not in _DRAWN) or bool(_BLANK.match(char))


def _without_floods(chars: str) -> str:
    if chars.isascii():
        return chars
    kept, marks = [], 0
    for char in chars:
        marks = marks + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)
