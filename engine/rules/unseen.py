"""What nobody sees in a text, made seen, before an agent is given it as somebody else's words.

A model reads what a person's screen leaves out: text in tag characters, in zero-width ones, behind an
escape. Spelled out it is data like the rest. Pure. Neighbour: news.py; bot/entities.py is the same for
what people read.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

MOST_MARKS = 4  # on one letter
# What scripts and emoji are put together with.
_NEEDED = frozenset("\u200c\u200d\ufe0e\ufe0f")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")


def shown(text: str) -> str:
    """Return a text in which each character can be seen; runs of one kind are told once, with their length."""
    text = _LINE_ENDS.sub("\n", text)
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    parts: list[str] = []
    for hidden, run in groupby(text, _is_hidden):
        chars = "".join(run)
        parts.append(_told(chars) if hidden else _without_floods(chars))
    return "".join(parts)


def _is_hidden(char: str) -> bool:
    if char in "\n\t" or char in _NEEDED:
        return False
    kind = unicodedata.category(char)
    return (
        kind in {"Cc", "Cf", "Cs", "Co", "Cn"}
        or char in _BLANK
        or "\U000e0100" <= char <= "\U000e01ef"
    )


def _told(chars: str) -> str:
    if len(chars) == 1:
        return f"⟨U+{ord(chars):04X}⟩"
    return f"⟨{len(chars)} unseen characters from U+{ord(chars[0]):04X}⟩"


def _without_floods(chars: str) -> str:
    kept, marks = [], 0
    for char in chars:
        marks = marks + 1 if unicodedata.category(char) in {"Mn", "Me"} or char in _NEEDED else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)
