"""What is said once and not kept current: notes, an agent's words, a text that was asked for.

Pure wording, as text.py's. Neighbour: lane_lines.py joins what one speaker has to say by then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.entities import Builder, cut, markdown, one_line, said_line, split, tame, units, unlinked
from bot.text_sheet import COMMAND_ROOM, HEADING, QUOTE_ROOM, ROOM, Words, in_messages, theirs
from engine.views import Document, Note

MOST_MESSAGES = 3
NOTE = 3000  # characters: one message
_QUOTED = re.compile("“[^”]*”")


def note(note: Note) -> list[Words]:
    """Return a note as messages to be sent once, in order."""
    if note.kind == "words":
        return spoken(note.who or "An agent", note.text)
    sheet = Builder()
    if note.sounds:
        sheet.line("News that needs you", "bold")
    mark = "⚠ " if note.kind in ("warning", "stuck") else ""
    # One paragraph: whatever it quotes (a title, a machine's words) cannot begin a line.
    text = one_line(note.text, NOTE)
    # Of our own lines only what they quote (a group's title, a name) must not be tapped.
    quoted = _QUOTED.sub(lambda found: unlinked(found[0]), text)
    sheet.add(mark).add(unlinked(text) if note.goal else quoted)
    return in_messages(sheet)


def spoken(who: str, said: str) -> list[Words]:
    """Return an agent's words, each message under its name and within a quote."""
    text = markdown(said)
    if not text.text:
        return []
    parts = split(text, ROOM - 100)
    file = None
    if len(parts) > MOST_MESSAGES:
        file = Document(name="words.md", text=tame(said))
        parts = split(text, QUOTE_ROOM)[:1]
    messages = []
    for number, part in enumerate(parts, 1):
        sheet = Builder()
        count = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        sheet.line(f"{said_line(who, HEADING)}{count}:", "italic")
        kind = "expandable_blockquote" if units(part.text) > QUOTE_ROOM else "blockquote"
        sheet.rich(part, kind).line()
        if file:
            sheet.line("… all of it is in the file below.")
        messages.append(Words(sheet.done(), file=file))
    return messages


# What a lead answers to news when it has nothing to add.
_ROUTINE = re.compile(
    r"acknowledged|got it|heard|noted|ok|okay|standing by|thank you|thanks|understood|waiting"
)
ROUTINE_UNITS = 40


def routine(said: str) -> bool:
    """Return whether words only say that they were heard; any other word in them is a message."""
    parts = [part.strip() for part in re.split(r"[.,;!…\n]+", said.lower())]
    brief = units(said) <= ROUTINE_UNITS
    return brief and all(_ROUTINE.fullmatch(part) for part in parts if part)


def joined(messages: Sequence[Words]) -> Words:
    """Return one speaker's messages as one, the name once and a quote for each."""
    sheet, last = Builder(), ""
    for words in messages:
        name, _, _ = words.rich.text.partition("\n")
        at = units(name) + 1 if name == last else 0
        sheet.rich(cut(words.rich, at, units(words.rich.text))).line()
        last = name
    file = next((words.file for words in messages if words.file), None)
    return Words(sheet.done(), file=file)


def document(document: Document) -> list[Words]:
    """Return a text somebody asked for: in a block where it fits, else as a file."""
    text = tame(document.text).strip("\n")
    sheet = Builder()
    sheet.rich(theirs(document.caption or document.name, 200)).line()
    if not text.strip():
        return [Words(sheet.line("It is empty.").done())]
    if units(text) > COMMAND_ROOM:
        return [Words(sheet.done(), file=document)]
    language = document.name.rpartition(".")[2] if document.name.endswith(".diff") else ""
    return [Words(sheet.add(text, "pre", language=language).done())]


def topic_of(told: str, title: str) -> str:
    """Return what became of a line that opened a goal, and where to read on."""
    return f"{told}: its topic is “{one_line(title, HEADING)}”."


def said(sentence: str) -> Words:
    """Return one sentence of ours as a message."""
    return Words(split(Builder().add(tame(sentence)).done(), ROOM)[0])
