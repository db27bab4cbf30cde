"""Messages in which there is nothing to find: what one writes to such a program all day.

said/ holds a message a line, code/ snippets, machine.py what is printed and pasted along.
"""

from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.intake.second import machine

_HERE = Path(__file__).parent
_EACH = 24  # messages of a family of machine.py
_PASTED = 6  # and of each, after a sentence
_SEED = "second hand: ordinary"


class Ordinary(NamedTuple):
    """One message, and where it comes from; a family of made ones is halved as a whole."""

    source: str
    text: str
    made: bool


def ordinary() -> list[Ordinary]:
    """Return all messages, none of them twice."""
    found: dict[str, Ordinary] = {}
    for path in sorted((_HERE / "said").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found.setdefault(line, Ordinary(path.stem, line, made=False))
    for path in sorted((_HERE / "code").glob("*.txt")):
        for snippet in path.read_text(encoding="utf-8").split("\n%%\n"):
            text = snippet.strip("\n")
            found.setdefault(text, Ordinary(path.stem, text, made=False))
    for family, text in machine.messages(_EACH, _SEED):
        found.setdefault(text, Ordinary(family, text, made=True))
    rng = Random(_SEED)
    said = [one.text for one in found.values() if one.source in ("english-1", "english-2")]
    for family, text in machine.messages(_PASTED, f"{_SEED}, pasted"):
        both = f"{rng.choice(said)}\n\n{text}"
        found.setdefault(both, Ordinary(family, both, made=True))
    return list(found.values())
