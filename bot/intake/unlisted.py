"""Keys of makers nobody listed: a short word of theirs, and a long tail by chance, as most write keys by now.

    acme_live_8Fq…   tool-pat-Zk3…   co_9d41…

Ids are written so too, but shorter; hashes stand behind a name without capitals. Pure. Neighbours:
shapes.py (makers who say how theirs look), judge.py, bot/keys.py (the door).
"""

import re
from collections.abc import Iterator
from typing import Final

from bot.intake.judge import entropy, placeholder, public
from bot.intake.nearby import Near

_WORD: Final = (
    r"(?<![\w./@:-])(?!sha[0-9]|md5|pk_|rsa|uuid)[a-z][a-z0-9]{0,11}(?:[_-][a-z0-9]{1,10}){0,2}"
)
_FORMS: Final = (
    re.compile(rf"{_WORD}_(?P<tail>[a-f0-9]{{40,80}})(?![\w+/=.-])"),
    re.compile(rf"{_WORD}[_-](?P<tail>[A-Za-z0-9]{{30,200}})(?![\w+/=-])"),
    re.compile(rf"{_WORD}[_-](?P<tail>[A-Za-z0-9_-]{{38,200}})(?![\w+/=-])"),
)
_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def unlisted(text: str) -> Iterator[Near]:
    """Return what looks like a key of a maker that is not known here."""
    for form in _FORMS:
        for found in form.finditer(text):
            tail = found["tail"]
            if not (placeholder(found[0]) or public(found[0])) and (
                form is _FORMS[0] or _by_chance(tail)
            ):
                yield Near("SECRET", found[0], *found.span())


def _by_chance(tail: str) -> bool:
    """Return whether a tail has all kinds of characters, and changes between them all the time."""
    kinds = all(re.search(kind, tail) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return kinds and entropy(tail) >= 4.0 and len(_PIECES.findall(tail)) * 3 >= len(tail)
