"""An agent's words where ours could stand: an option that reads like a button of ours is quoted.

Pure. What looks alike counts as alike: case, signs around it, letters of other scripts. text_buttons.py
labels the buttons.
"""

import unicodedata
from collections.abc import Iterable

# Letters of other scripts that a phone shows as these.
_TWINS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u0475"
    "\u043a\u043c\u0442\u0432\u043d\u0433\u0438\u043f\u044c"
    "\u03b1\u03b5\u03bf\u03c1\u03c5\u03c7\u03b9\u03ba\u03bd\u03c4\u03c9\u03b7\u03bc\u0131\u0251\u0261",
    "aeopcyxijsdqwhvkmtbhrunbaeopuxikvtwnuiag",
)


def quoted(option: str, ours: Iterable[str]) -> str:
    """Return an option as a button's label: in quotes where it could be taken for one of ours."""
    known = {_seen(label) for label in ours}
    seen = _seen(option)
    return f"“{option}”" if seen in known or not seen else option


def _seen(label: str) -> str:
    """What a label says to whoever reads it in haste."""
    plain = unicodedata.normalize("NFKD", label).casefold().translate(_TWINS)
    return "".join(char for char in plain if char.isalnum())
