"""An agent's words where ours could stand: an option that reads like a button of ours is quoted.

    Push · P u s h · ✓ Push · Push now · Yes, allow always   ->   quoted, whatever letters they are made of

Pure. What looks alike counts as alike: case, signs around it, letters of other scripts, digits for
letters. Quoting one too many does no harm. text_buttons.py labels the buttons.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from bot.entities import UNSEEN

# Letters that a phone shows as these: Cyrillic, Greek, Armenian, Cherokee, Lisu, phonetic ones, digits.
# Capitals stand beside small ones, as the two may look like different letters of ours.
_ALIKE: Final = {
    "a": "\u0430\u0410\u0391\u03b1\u13aa\ua4ee\u1d00\u02514",
    "b": "\u0432\u0412\u044c\u042c\u0392\u03b2\u13f4\u13cf\ua4d0\u0299\u0253\u0184\u0185",
    "c": "\u0441\u0421\u03f2\u03f9\u13df\ua4da\u1d04\u00a2\u037c",
    "d": "\u0501\u0500\u13a0\u13e7\ua4d3\ua4d2\u1d05\u0257\u0111\u0110",
    "e": "\u0435\u0415\u0395\u03b5\u03f5\u13ac\ua4f0\u1d07\u0454\u0404\u212e3",
    "f": "\u03dc\u03dd\ua4dd\ua730\u0192\u0584\u0493\u0492",
    "g": "\u050d\u050c\u13c0\u13f3\ua4d6\u0262\u0261\u0581",
    "h": "\u043d\u041d\u04bb\u04ba\u0397\u13bb\u13c2\ua4e7\u029c\u0570\u0127\u0266",
    "j": "\u0458\u0408\u03f3\u037f\u13ab\ua4d9\u1d0a\u0575\u0237",
    "k": "\u043a\u041a\u039a\u03ba\u13e6\ua4d7\u1d0b\u0199\u049b",
    "l": "i1\u0456\u0406\u04cf\u04c0\u0399\u03b9\u13a5\ua4f2\ua4e1\u13de\u026a\u029f\u0131\u0269\u01c0"
    "\u0142\u0141\u056c\u053c\u05c0\u05d5\u05df\u0627\u217c",
    "m": "\u043c\u041c\u039c\u13b7\ua4df\u1d0d\u03fa\u028d",
    "n": "\u043f\u039d\u03b7\ua4e0\u0274\u0578\u057c\u0548\u0273\u014b",
    "o": "0\u043e\u041e\u039f\u03bf\u03c3\u03c2\ua4f3\u1d0f\u0585\u0555\u00f8\u00d8\u0275\u04e9\u04e8\u0e50",
    "p": "\u0440\u0420\u03a1\u03c1\u03f1\u13e2\ua4d1\u1d18\u00fe\u00de\u03fc\u01bf\u048f",
    "q": "\u051b\u051a\u0566\u0563\u02a0",
    "r": "\u0433\u0413\u13a1\u13d2\ua4e3\u0280\u027e\u1d26\u0580",
    "s": "5\u0455\u0405\u13da\u13d5\ua4e2\ua731\u054f\ua645\ua644\u01bd\u0282",
    "t": "7\u0442\u0422\u03a4\u03c4\u13a2\ua4d4\u1d1b\u0167\u0166",
    "u": "\u0438\u057d\u054d\u03c5\ua4f4\u1d1c\u028b\u03bc\u0446",
    "v": "\u0475\u0474\u03bd\u13d9\ua4e6\u1d20\u0667",
    "w": "\u051d\u051c\u0461\u0448\u0428\u13b3\u13d4\ua4ea\u1d21\u03c9\u0561\u026f",
    "x": "\u0445\u0425\u03a7\u03c7\ua4eb\u00d7",
    "y": "\u0443\u0423\u04af\u04ae\u03a5\u13a9\u13bd\ua4ec\u028f\u0263\u03b3",
    "z": "\u0396\u03b6\u13c3\ua4dc\u1d22\u01b6",
}
_SIGN_LETTERS: Final = "\u01c1\u01c2\u01c3\ua78c"  # letters to Unicode, bars and signs to the eye
_TWINS: Final = str.maketrans(
    {other: letter for letter, them in _ALIKE.items() for other in them}
    | dict.fromkeys(_SIGN_LETTERS, " ")
)
# What we set before what is done, allowed or in danger, and what passes for it.
_SIGNS: Final = re.compile(
    "[\u2611\u2705\u2713\u2714\u2717\u2718\u274c\u274e\u26a0\u2757\u203c\u26d4\u26aa\u26ab\u25b6"
    "\U0001f197\U0001f44d\U0001f512\U0001f513\U0001f534\U0001f535\U0001f5f8\U0001f5f9\U0001f680"
    "\U0001f6ab\U0001f6d1\U0001f7e0-\U0001f7eb]"
)
_UNSEEN: Final = ("Cf", "Mn", "Me", "Lm", "Cc")  # nothing, marks on letters, letters like signs
_INSTEAD: Final = {"|": "l", "!": "l", "$": "s", "@": "a"}
_INSIDE: Final = re.compile(r"(?<=\w)[|!$@](?=\w)")


def quoted(option: str, ours: Iterable[str]) -> str:
    """Return an option as a button's label: in quotes where it could be taken for one of ours."""
    return f"“{option}”" if _SIGNS.search(option) or _reads_like(option, ours) else option


def _reads_like(option: str, ours: Iterable[str]) -> bool:
    """Whether it begins as one of ours does, is one with gaps in it, or tells a decision."""
    labels = [_seen(label) for label in ours]
    for seen in (_seen(option), _seen(re.sub(r"\d+", " ", option))):
        if not _DECIDING.isdisjoint(seen):
            return True
        for label in labels:
            if label and (seen[: len(label)] == label or "".join(seen) == "".join(label)):
                return True
    return not _seen(option)


def _seen(label: str) -> list[str]:
    """The words that whoever reads a label in haste sees in it."""
    plain = unicodedata.normalize("NFKD", label.translate(_TWINS)).translate(_TWINS)
    plain = plain.casefold().translate(_TWINS)
    shown = "".join(
        char for char in plain if unicodedata.category(char) not in _UNSEEN and char not in UNSEEN
    )
    shown = _INSIDE.sub(lambda sign: _INSTEAD[sign.group()], shown)
    return re.findall(r"[^\W_]+", shown)


# Wherever one of these stands, somebody decides.
_DECIDING: Final = frozenset(
    _seen("allow allowed always approve approved deny proceed push pushed ship shipped trust")
)
