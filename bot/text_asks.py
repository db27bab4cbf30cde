"""What the cards say by which somebody asks: a permission, a question, a project's command.

Pure wording, as text.py's. Neighbours: text_rules.py (what Always would keep), text_card.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot import text_rules, text_stakes
from bot.entities import Rich, markdown, one_line, said_line, tame, units, visible
from bot.text_buttons import LONG_LABEL
from bot.text_sheet import COMMAND_ROOM, Sheet, dotted, put, theirs
from engine.views import CommandCard, Document, PermissionCard, QuestionCard


def permission(card: PermissionCard, sheet: Sheet) -> None:
    sheet.fact(dotted(said_line(card.who), theirs(card.tool, 60)))
    text_stakes.lines(card.stakes, sheet)
    where = one_line(card.machine, 60)
    if card.fenced:
        sheet.line(f"{where} · fenced")
    else:
        sheet.line(f"⚠ {where} · unfenced: it can touch all that this user can", "bold")
    command = visible(card.command)
    text_stakes.hidden(command, sheet)
    if units(command) <= COMMAND_ROOM:
        sheet.add(command, "pre").line()
    else:
        sheet.file = Document(name="command.txt", text=command)
        sheet.line("Too long for a card: the whole of it is in the file below. Read that first.")
    why = tame(card.why).strip()
    if why.lower() not in {"run a command", f"use {card.tool}".lower(), card.tool.lower()}:
        sheet.foreign("It says why:", Rich(why), "why.txt", 400)
    if card.asks:
        sheet.fact(text_rules.offered(card))
        again = " Allow asks once more." if card.stakes else ""
        sheet.line(f"Allow runs it this once. Deny tells it no.{again}")
    sheet.fact(text_rules.kept(card))


def question(card: QuestionCard, sheet: Sheet) -> None:
    sheet.line(said_line(card.who))
    text_stakes.lines(card.stakes, sheet)
    for question, answer in zip(card.questions, card.answers, strict=False):
        asked = theirs(question.header or question.text, 80)
        sheet.rich(put("“", asked, "”: ", theirs(answer))).line()
    if len(card.answers) >= len(card.questions):
        return
    number = len(card.answers)
    question = card.questions[number]
    label = f"It asks ({number + 1} of {len(card.questions)}):" if len(card.questions) > 1 else ""
    sheet.foreign(label or "It asks:", markdown(question.text), "question.md", COMMAND_ROOM)
    listed(question.options, sheet)
    if card.stakes and card.asks:
        sheet.line("Only a button, tapped twice, gives leave. A line you write gives none.")


def listed(options: Sequence[str], sheet: Sheet) -> None:
    """Spell the options out where a button's label would cut them."""
    if any(len(option) > LONG_LABEL for option in options):
        for number, option in enumerate(options, 1):
            sheet.add(f"{number}. ").rich(theirs(option, 300)).line()


def command(card: CommandCard, sheet: Sheet) -> None:
    sheet.fact(dotted(one_line(card.project), theirs(card.source)))
    text_stakes.lines(card.stakes, sheet)
    command = visible(card.command)
    text_stakes.hidden(command, sheet)
    if units(command) <= COMMAND_ROOM:
        sheet.add(command, "pre").line()
    else:
        sheet.file = Document(name=f"{card.kind}.txt", text=command)
        sheet.line("Too long for a card: the whole of it is in the file below. Read that first.")
    if card.asks and card.kind == "copy":
        sheet.line(
            "From your own checkout, where it is on this box: agents can read all that is in it."
        )
    if card.asks and card.held_since:
        sheet.line("The plan is started and waits for this.", "bold")
    if card.asks:
        sheet.line("Asked once for exactly this; again when it changes.")
