"""A file the owner asks for by a line: "send me docs/plan.md", or /file docs/plan.md.

Plain code answers it, and no agent hears of it. What only may be a path ("send README") is looked for,
and is a line like any other where there is none of that name. Neighbours: requests.py hears, the engine's
`file` finds, outbox.py sends.
"""

import re

from msgspec import Struct

from bot import text, text_files
from bot.outbox import File, Item, Say
from engine.views import FoundFile

_LINE = re.compile(
    r"(?:please\s+)?send(?:\s+me)?(?:\s+(?:the\s+)?file)?\s+"
    r"(?:[`'\"“](?P<quoted>[^`'\"“”\n]+)[`'\"”]|(?P<plain>\S+?))[.!?]?",
    re.IGNORECASE,
)
_NO_PATH = re.compile(r"://|@")
_ENDING = re.compile(r"[^/\s]\.[A-Za-z0-9]{1,10}$|^\.[A-Za-z0-9]")


class Wish(Struct, frozen=True):
    """A path somebody may want; `sure` where it can be nothing else."""

    path: str
    sure: bool


def wish(line: str) -> Wish | None:
    """Return what a line asks to be sent, if it asks for a file and nothing more."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        return None
    path = found["quoted"] or found["plain"]
    if _NO_PATH.search(path):
        return None
    return Wish(path, "/" in path or _ENDING.search(path.rstrip(".!?")) is not None)


def is_nothing(found: FoundFile) -> bool:
    """Return whether there is no such thing."""
    return found.document is None and not found.path and not found.folder


def answer(asked: str, found: FoundFile, goal: str, reply_to: int) -> list[Item]:
    """Return what is sent: the file, a folder's lines, or a sentence with what is near."""
    if found.document is not None and found.document.size:
        return [File(document=found.document, goal=goal)]
    if found.document is not None:
        words = text.said(f"{found.path} is empty: 0 bytes. ({found.where})")
    elif is_nothing(found):
        words = text.said(text_files.not_there(asked, found))
    else:
        (words,) = text_files.folder(found)
    return [Say(words=words, goal=goal, reply_to=reply_to)]
