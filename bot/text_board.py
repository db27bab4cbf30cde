"""Answers to commands: what waits, runs and landed; projects.

Pure wording, as text.py's; the views are the engine's. Neighbour: text_help.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from msgspec.structs import replace

from bot import text_silence
from bot.entities import Builder, Rich, one_line, said_line
from bot.text_buttons import side_by_side
from bot.text_card import first_line
from bot.text_sheet import (
    HEADING,
    Button,
    Words,
    count,
    dotted,
    in_messages,
    promise,
    put,
    theirs,
)
from bot.wordless import wordless
from engine.moments import clock
from engine.views import AnyCard, Board, ProjectView, Row

UNSHOWN = "This row cannot be shown: the log says why."
ROW = 90  # a goal's name
PIECE = 50  # and that of one of its pieces


SHOW = "show"  # stands in a button for a card; what it shows is the verb
MOST_SHOWN = 24
BELOW = "It comes once more, below."
IN_TOPIC = "It comes once more, at the end of its topic."


def board(board: Board, zone: tzinfo | None = None, now: float = 0.0) -> list[Words]:
    """Return /status: what waits on the owner, runs, comes next, has landed."""
    sheet = Builder()
    if board.locked:
        sheet.line(f"{board.locked}. Unlock at the box: quarterdeck unlock", "bold").line()
    if board.now:
        sheet.line("Waits on you", "bold")
        _numbered(board.now, sheet, zone, now)
        sheet.line()
    parts = {"Running": board.running, "Next": board.next, "Landed": board.landed[:10]}
    for title, rows in parts.items():
        if rows:
            sheet.line(title, "bold")
            for row in rows:
                _row(row, sheet, zone, now)
            sheet.line()
    if not any((board.now, board.running, board.next, board.landed)):
        sheet.line("Nothing waits on you and nothing runs.").line()
    for machine in board.machines:
        sheet.line(said_line(machine, 160))
    return _with_ways(in_messages(sheet), board.now)


def _with_ways(messages: list[Words], rows: Sequence[Row]) -> list[Words]:
    """Return these with a button for each decision, under the last: it shows its card again."""
    shown = [row for row in rows if row.card][:MOST_SHOWN]
    only = len(rows) == 1
    numbers = {id(row): number for number, row in enumerate(rows, 1)}
    named = {row.card: "Show" if only else f"Show {numbers[id(row)]}" for row in shown[::-1]}
    ways = [Button(label, card) for card, label in list(named.items())[::-1]]
    *before, last = messages
    return [*before, replace(last, buttons=side_by_side(ways, 4))]


def _numbered(rows: Sequence[Row], sheet: Builder, zone: tzinfo | None, now: float) -> None:
    for number, row in enumerate(rows, 1):
        _row(row, sheet, zone, now, f"{number}." if len(rows) > 1 else "•")


def _row(row: Row, sheet: Builder, zone: tzinfo | None, now: float, mark: str = "•") -> None:
    line = Rich(UNSHOWN)
    with wordless(f"a row of {row.goal or row.card}"):
        until = f" · {promise(row.until, zone, now)}" if row.until else ""
        silent = text_silence.words(row.silence, zone, now=now) if row.silence else ""
        name = put(said_line(row.title, ROW), theirs(row.piece, PIECE))
        text = said_line(row.text, 160)
        why = put(f"{text}: ", theirs(row.why, 160)) if row.why else text
        line = put(dotted(name, silent, theirs(row.doing, 160), why), until)
    sheet.rich(put(f"{mark} ", line)).line()


def asks(rows: Sequence[Row], zone: tzinfo | None = None, now: float = 0.0) -> list[Words]:
    """Return /asks: only what waits on the owner."""
    sheet = Builder()
    if not rows:
        sheet.line("Nothing waits on you.")
    else:
        sheet.line(f"{count(len(rows), 'decision')} {_wait(len(rows))} on you", "bold")
        _numbered(rows, sheet, zone, now)
    return _with_ways(in_messages(sheet), rows)


def catch_up(rows: Sequence[Row], zone: tzinfo | None = None, now: float = 0.0) -> list[Words]:
    """Return what is said when quiet hours are over and something waits."""
    sheet = Builder()
    waits = f"{count(len(rows), 'decision')} {_wait(len(rows))} on you"
    sheet.line(f"Quiet hours are over: {waits}", "bold")
    for row in rows:
        _row(row, sheet, zone, now)
    return in_messages(sheet)


def reminder(cards: Sequence[AnyCard], zone: tzinfo | None = None) -> Words:
    """Return that decisions still wait, in our words alone: it sounds."""
    still = "still waits" if len(cards) == 1 else "still wait"
    sheet = Builder().line(f"{count(len(cards), 'decision')} {still} on you", "bold")
    for card in cards[:20]:
        line = UNSHOWN
        with wordless(f"card {card.id}"):
            line = first_line(card) + (f" · since {clock(card.at, zone)}" if card.at else "")
        sheet.line(f"• {line}")
    return Words(sheet.done())


def projects(views: Sequence[ProjectView]) -> list[Words]:
    """Return /projects."""
    sheet = Builder()
    for view in views:
        sheet.add(one_line(view.name, HEADING), "bold").line(f" · {one_line(view.base)}")
        sheet.add(one_line(view.source, 200), "code").line()
        if view.push and view.push != view.source:
            sheet.add("pushes to ").add(one_line(view.push, 200), "code").line()
        for command in view.commands:
            sheet.line(one_line(command, 160))
        if not view.check and not any(c.kind == "check" and c.allowed for c in view.decided):
            sheet.line("no check yet: without one in its settings work lands unchecked", "italic")
    if not views:
        sheet.line("No project yet.")
    sheet.line().line("Add one: /projects add NAME PATH_OR_URL")
    return in_messages(sheet)


def _wait(number: int) -> str:
    return "waits" if number == 1 else "wait"
