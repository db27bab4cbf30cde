"""What the card of a plan says.

Pure wording, as text.py's. Neighbours: text_plan.py (the panel behind Change…), text_estimate.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot import text_estimate
from bot.entities import markdown, one_line, tame, units, unlinked
from bot.text_sheet import ROOM, Sheet, agent_and_model, dots, theirs
from engine.views import Document, PieceLine, PlanCard

SIZES = {"S": "small", "M": "medium", "L": "large"}


def plan(card: PlanCard, sheet: Sheet) -> None:
    sheet.foreign("The lead:", markdown(card.summary), "plan.md", 700)
    places = {_place(piece) for piece in card.pieces}
    same = len(card.pieces) > 1 and len(places) == 1
    sheet.fact(dots(f"All {len(card.pieces)}", places.pop()) if same else "")
    shown = 0
    for piece in card.pieces:
        if sheet.size > ROOM - 700:
            break
        _piece(piece, sheet, placed=same)
        shown += 1
    if card.asks or card.estimate:
        sheet.line(text_estimate.whole(card.estimate, len(card.pieces)))
    if card.changed and not card.decided:
        sheet.line("Changed by you: the lead hears so at Start.")
    if card.first and not card.decided:
        sheet.line(_first(card))
    if card.decided and shown == len(card.pieces):
        return
    tasks = "\n\n".join(f"{p.number}. {unlinked(tame(p.task)).strip()}" for p in card.pieces)
    if shown == len(card.pieces) and sheet.size + units(tasks) < ROOM - 200:
        sheet.line("The tasks, in the lead's words:", "italic")
        sheet.add(tasks, "expandable_blockquote").line()
    else:
        sheet.file = Document(name="plan.md", text=_whole_plan(card))
        more = (
            f"{len(card.pieces) - shown} more pieces, and the"
            if shown < len(card.pieces)
            else "The"
        )
        sheet.line(f"{more} tasks are in the file below.")
    if card.asks:
        sheet.line("Nothing is written before Start.")


def _first(card: PlanCard) -> str:
    where = "/asks tells where its card is" if card.first_elsewhere else "its card is above"
    return f"Start is not all: nothing begins before your word on {card.first} ({where})."


def _place(piece: PieceLine) -> str:
    return dots(one_line(piece.where, 100), agent_and_model(piece.agent, piece.model))


def _piece(piece: PieceLine, sheet: Sheet, *, placed: bool) -> None:
    """List a piece; `placed`: where it runs was said for all of them."""
    sheet.add(f"{piece.number}  ", "bold").rich(theirs(piece.title, 80))
    stage = "" if piece.stage in {"", "proposed"} else piece.stage
    sheet.line(f" · {dots(_size(piece), stage, text_estimate.about(piece.cost_usd))}")
    if not placed:
        sheet.fact(_place(piece))
    if piece.after:
        sheet.line(f"     {after(piece.after)}")


def _size(piece: PieceLine) -> str:
    return SIZES.get(piece.size, piece.size)


def after(numbers: Sequence[int]) -> str:
    """Return "After: pieces 1 and 2 (starts once landed)"."""
    return f"After: {numbered(numbers)} (starts once landed)"


def numbered(numbers: Sequence[int]) -> str:
    """Return "pieces 1 and 2"."""
    *head, last = [str(number) for number in numbers]
    return f"pieces {', '.join(head)} and {last}" if head else f"piece {last}"


def _whole_plan(card: PlanCard) -> str:
    parts = [f"# Plan\n\n{tame(card.summary).strip()}"]
    for piece in card.pieces:
        facts = [_size(piece), tame(piece.where), agent_and_model(piece.agent, piece.model)]
        lines = [f"## {piece.number}. {one_line(piece.title)}", dots(*facts)]
        lines += [after(piece.after)] if piece.after else []
        parts.append("\n".join(lines) + f"\n\n{tame(piece.task).strip()}")
    return "\n\n".join(parts) + "\n"
