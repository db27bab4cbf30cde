"""A message while it is written, and what all our wording is written with.

Pure. What agents and repositories wrote stands in a quote or a code block under the speaker's name,
so that it cannot pass for a card; what does not fit goes into a file beside it. Neighbours: entities.py
(formatting), text_buttons.py (what can be pressed).
"""

from __future__ import annotations

from datetime import tzinfo

from msgspec import Struct

from bot.entities import (
    TEXT_LIMIT,
    Builder,
    Rich,
    Span,
    one_line,
    said_line,
    split,
    tame,
    units,
    unlinked_rich,
)
from engine.moments import to_come
from engine.views import Document

HEADING = 60
QUOTE_ROOM = 900
COMMAND_ROOM = 3000
OPEN_QUOTE = 350  # longer quotes are folded
# Room is left for the goal's name, which is put on where there are no topics.
ROOM = TEXT_LIMIT - 2 * HEADING


class Button(Struct, frozen=True):
    """A label and the verb it stands for; buttons.py makes the data it carries."""

    label: str
    verb: str
    style: str = ""  # success, danger


class Words(Struct, frozen=True):
    """One message: what is written, what can be pressed, and a file that belongs under it."""

    rich: Rich
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: Document | None = None


class Sheet(Builder):
    """A message being written; what does not fit goes into one file beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.file: Document | None = None

    def fact(self, text: str | Rich, *kinds: str) -> None:
        """Write a line, if there is anything to write."""
        rich = text if isinstance(text, Rich) else Rich(text)
        if rich.text:
            self.rich(rich, *kinds).line()

    def foreign(self, label: str, said: Rich, name: str, room: int = QUOTE_ROOM) -> None:
        """Quote somebody who is not us; whole in a file where it does not fit."""
        if not said.text:
            return
        self.line(label, "italic")
        said = unlinked_rich(said)
        shown, more = said, ""
        if units(said.text) > room:
            shown, more = split(said, room)[0], "… cut here."
            if self.file is None:  # one that is there already weighs more: the command itself
                self.file = Document(name=name, text=said.text)
                more = "… the rest is in the file below."
        kind = "blockquote" if units(shown.text) <= OPEN_QUOTE else "expandable_blockquote"
        self.rich(shown, kind).line()
        self.fact(more)


def printed(report: str, sheet: Sheet) -> None:
    """The last lines of what a command printed; whole in a file where they do not fit."""
    if not report.strip():
        return
    text = tame(report).strip("\n")
    if units(text) > 1000:
        sheet.file = Document(name="report.txt", text=text)
        text = _tail(text, 700)
    sheet.line("What it printed last:", "italic").add(text, "pre").line()


def _tail(text: str, room: int) -> str:
    """Return the last whole lines that fit, or the end of the last one."""
    lines: list[str] = []
    for line in reversed(text.split("\n")):
        if units("\n".join([line, *lines])) > room:
            break
        lines.insert(0, line)
    return "\n".join(lines) or f"…{text[-room // 2 :]}"


def in_messages(sheet: Builder) -> list[Words]:
    return [Words(part) for part in split(sheet.done(), ROOM)]


def promise(at: float, zone: tzinfo | None, now: float) -> str:
    """Return when something is to come, with its day where that is not plain; `now` 0: not known."""
    return to_come(at, now or at, zone)


def theirs(text: str, most: int = 120) -> Rich:
    """Return somebody else's words for a line of ours: short, and as code, so that they end where it does."""
    line = said_line(text, most)
    return Rich(line, (Span("code", 0, units(line)),) if line else ())


def put(*parts: str | Rich) -> Rich:
    """Return one line made of our words and theirs."""
    sheet = Builder()
    for part in parts:
        sheet.rich(part if isinstance(part, Rich) else Rich(part))
    return sheet.whole()


def dotted(*parts: str | Rich) -> Rich:
    """Return what `dots` does, where some of it is theirs."""
    lines = (part if isinstance(part, Rich) else Rich(one_line(part, 160)) for part in parts)
    pieces = [piece for line in lines if line.text for piece in (Rich(" · "), line)]
    return put(*pieces[1:])


def labelled(text: str, most: int = 160) -> Rich:
    """Return "down: no route", a label of ours and what somebody else says of it."""
    label, colon, rest = text.partition(": ")
    return put(f"{one_line(label, 40)}{colon}", theirs(rest, most)) if rest else theirs(text, most)


def count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def agent_and_model(agent: str, model: str) -> str:
    return one_line(agent if model in {"", agent} else f"{agent} {model}", 60)


def dots(*parts: str) -> str:
    return " · ".join(one_line(part, 160) for part in parts if part)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
