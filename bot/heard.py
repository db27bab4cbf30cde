"""One message of the owner's, whole and with its keys taken out, and the few words it is answered with.

Neighbours: messages.py makes it of what came, commands.py and panels.py act on it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bot import text
from bot.panels import verdict
from bot.unsaid import File, Item, Prompt, React, Say
from engine.views import Attachment

T = TypeVar("T")

# A verdict of so few words ("on it", "Started in shop") is said by a reaction alone.
BRIEF = 4


class Heard(Struct, frozen=True, kw_only=True):
    """One message, whole, with its keys taken out; `line`: what an edit finds it by, "" for none."""

    cause: str
    chat: int
    message_id: int
    date: float
    text: str
    quoted: bool  # the words are not the owner's own
    goal: str
    card: str
    prompt: Prompt | None
    files: tuple[Attachment, ...] = ()
    line: str = ""

    @property
    def along(self) -> dict[str, Any]:
        """What is passed on with the words, if anything is."""
        return {"files": self.files} if self.files else {}


def said(sentence: str, reply_to: int = 0) -> Say:
    return Say(words=text.said(sentence), reply_to=reply_to)


def receipt(heard: Heard, result: object) -> list[Item]:
    """Confirm a line with the least there is: what became of it, its card shows anyway."""
    words = verdict(result)
    if len(words.split()) > BRIEF:
        return [said(words, heard.message_id)]
    return [React(message_id=heard.message_id)]


def opened(heard: Heard, result: object) -> list[Item]:
    """Say where a goal that was just opened goes on: its topic is another place than this."""
    title = result.get("title") if isinstance(result, dict) else ""
    if not title:
        return receipt(heard, result)
    return [said(text.topic_of(verdict(result), str(title)), heard.message_id)]


def done(heard: Heard, result: object) -> list[Item]:
    """Say what a command did."""
    return [said(verdict(result) or "Done.", heard.message_id)]


def prompt_for(prompt: Prompt, goal: str) -> Say:
    sentence, placeholder = text.PROMPTS[prompt.verb]
    return Say(words=text.said(sentence), goal=goal, prompt=prompt, placeholder=placeholder)


def asked_again(refusal: str, prompt: Prompt, goal: str = "") -> Say:
    """Say why a typed line will not do, as the prompt that the next one answers."""
    words = text.said(f"{refusal.rstrip()}\n{text.AGAIN}")
    return Say(words=words, goal=goal, prompt=prompt, placeholder=text.AGAIN_FIELD)


def answered_in(goal: str, items: Iterable[Item]) -> tuple[Item, ...]:
    """Return what is answered to a line written in a goal's topic: there, not in General."""
    return tuple(
        replace(item, goal=goal) if isinstance(item, Say | File) and not item.goal else item
        for item in items
    )


def composed(whole: str, quoted: str, files: Sequence[str]) -> str:
    """Return a message as the session gets it: what it is about, the words, the files."""
    about = "\n".join(f"> {line}" for line in quoted.split("\n")) if quoted.strip() else ""
    return "\n\n".join(part for part in (about, whole, *files) if part)


def as_view(result: object, kind: type[T]) -> T:
    """Return what the engine answered as the view it is."""
    return msgspec.convert(msgspec.to_builtins(result), kind)
