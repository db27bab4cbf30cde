"""A file the owner asks for by a line: "send me docs/plan.md", or /file docs/plan.md.

Plain code answers it, and no agent hears of it. What only may be a path ("send README") is looked for,
and is a line like any other where there is none of that name. Neighbours: messages.py hears, the engine's
`file` finds, outbox.py sends.
"""

import re

import msgspec
from msgspec import Struct

from bot import text, text_files
from bot.cards import Cards
from bot.panels import Engine
from bot.unsaid import File, Item, Say
from engine.views import FoundFile, QuestionCard, SessionCard

OVER = ("shipped", "dropped")  # as a session's card says it

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


class FileBack:
    """Answers who asks for a file."""

    def __init__(self, engine: Engine, cards: Cards) -> None:
        self._engine = engine
        self._cards = cards

    async def wished(self, wanted: Wish, goal: str, card: str, reply_to: int) -> list[Item] | None:
        """Answer a line; None where it is a line for an agent after all."""
        asking = self._cards.live.get(card)
        if isinstance(asking, QuestionCard) and asking.asks:
            return None  # then it is the answer
        if not wanted.sure and not goal:
            return None
        found = await self._found(wanted.path, goal, card)
        if not wanted.sure and found is not None and _is_nothing(found):
            return None
        return _answer(wanted.path, found, goal, reply_to)

    async def asked(self, path: str, goal: str, card: str, reply_to: int) -> list[Item]:
        """Answer /file."""
        return _answer(path, await self._found(path, goal, card), goal, reply_to)

    async def _found(self, path: str, goal: str, card: str) -> FoundFile | None:
        """Return what is there; None where nobody can tell whose file is meant."""
        goal = goal or self._only_live()
        if not goal:
            return None
        result = await self._engine.call("file", path=path, goal=goal, card=card)
        return msgspec.convert(msgspec.to_builtins(result), FoundFile)

    def _only_live(self) -> str:
        """Return the one goal that is not over, else the one there is; or nothing."""
        every = [card for card in self._cards.live.values() if isinstance(card, SessionCard)]
        found = [card for card in every if card.stage not in OVER] or every
        return found[0].id if len(found) == 1 else ""


def _is_nothing(found: FoundFile) -> bool:
    return found.document is None and not found.path and not found.folder


def _answer(asked: str, found: FoundFile | None, goal: str, reply_to: int) -> list[Item]:
    """Return what is sent: the file, a folder's lines, or a sentence with what is near."""
    if found is None:
        words = text.said(text_files.WHICH_GOAL)
    elif found.document is not None and found.document.size:
        return [File(document=found.document, goal=goal)]
    elif found.document is not None:
        words = text.said(f"{found.path} is empty: 0 bytes. ({found.where})")
    elif _is_nothing(found):
        words = text.said(text_files.not_there(asked, found))
    else:
        (words,) = text_files.folder(found)
    return [Say(words=words, goal=goal, reply_to=reply_to)]
