"""What the panel behind Change… says: a plan, one of its pieces, and what there is to choose.

Pure wording, as text.py's; plan_panel.py reads, and does what a button says. Titles are the lead's
words: they stand behind their number, so that none can pass for a button of ours.
"""

from collections.abc import Iterable

from bot import text_estimate
from bot.entities import Builder, one_line
from bot.panels import Question, mark
from bot.text_buttons import side_by_side
from bot.text_plan_card import SIZES, after, numbered
from bot.text_sheet import Button, Words
from engine.views import PieceChoice, PieceLine, PlanChoices

BACK = Button("← Back", "back")
DONE = Button("Done", "done")
TYPE = Button("Type it…", "type")
TITLE = 28
FEW = 6  # so many pieces have their title on their button

MODEL = Question("Which model? Reply to this message with its name.", "opus")
CLOSED = "The plan above is as you left it. Start begins exactly its pieces."
CHANGED = "The plan changed since this was shown. Look at it again."


def over(now: PlanChoices) -> str:
    return f"{now.over}: nothing can be changed any more."


def pieces(now: PlanChoices) -> Words:
    """Ask which piece is to be changed."""
    sheet = Builder().line("Change the plan: which piece?", "bold")
    for choice in now.pieces:
        line = choice.line
        size, place = SIZES.get(line.size, line.size), line.where.partition(":")[0]
        sheet.line(_dots(_title(line, 60), size, _agent(line), one_line(place, 40)))
        if line.after:
            sheet.line(f"     {after(line.after)}")
    if now.estimate:
        sheet.line(text_estimate.whole(now.estimate, len(now.pieces)))
    sheet.line("Or write to the lead what to change: it then plans anew.")
    few = len(now.pieces) <= FEW
    named = [
        Button(_title(choice.line) if few else str(choice.line.number), f"p-{choice.line.number}")
        for choice in now.pieces
    ]
    return Words(sheet.done(), (*side_by_side(named, 1 if few else 5), (DONE,)))


def piece(now: PlanChoices, choice: PieceChoice) -> Words:
    """Show one piece, and what of it can be changed."""
    sheet = _about(choice)
    sizes = tuple(
        _ticked(name.capitalize(), f"size-{size.lower()}", on=choice.line.size == size)
        for size, name in SIZES.items()
    )
    more = [Button("Model…", "model")]
    more += [Button("Agent…", "agent")] if len(now.agents) > 1 else []
    more += [Button("Machine…", "machine")] if len(now.machines) > 1 else []
    if len(now.pieces) > 1:
        more += [Button("After…", "after"), Button("Drop…", "drop", "danger")]
    if now.estimate:
        whole = text_estimate.whole(now.estimate, len(now.pieces))
        sheet.line(f"The whole plan: {whole[:1].lower()}{whole[1:]}")
    return Words(sheet.done(), (sizes, *side_by_side(more, 3), (BACK, DONE)))


def drop(now: PlanChoices, choice: PieceChoice) -> Words:
    """Say what dropping a piece means, before it is gone."""
    number = choice.line.number
    sheet = _about(choice)
    waiting = [str(c.line.number) for c in now.pieces if number in c.line.after]
    if waiting:
        who = f"Piece{'s' if len(waiting) > 1 else ''} {', '.join(waiting)}"
        then = "waits" if len(waiting) == 1 else "wait"
        instead = f"for {numbered(choice.line.after)}" if choice.line.after else "for it no more"
        sheet.line(f"{who} then {then} {instead}.")
    sheet.line("Once it is gone, only the lead can plan it again.")
    return Words(sheet.done(), ((Button(f"Drop piece {number}", "gone", "danger"),), (BACK,)))


def model(now: PlanChoices, choice: PieceChoice) -> Words:
    known = now.models.get(choice.line.agent, ())
    sheet = _about(choice).line("Which model? A name I do not list can be typed.")
    names = dict.fromkeys((*known, *filter(None, (choice.line.model,))))
    return _one_of(sheet, "Default", names, choice.line.model, (TYPE, BACK))


def agent(now: PlanChoices, choice: PieceChoice) -> Words:
    sheet = _about(choice).line("Which agent? Its account pays.")
    return _one_of(sheet, "", now.agents, choice.line.agent, (BACK,))


def machine(now: PlanChoices, choice: PieceChoice) -> Words:
    sheet = _about(choice).line("Where? Any is where fewest agents run.")
    for name, why in now.away:
        sheet.line(f"{one_line(name, 40)} is away, so work there waits: {one_line(why, 120)}")
    return _one_of(sheet, "Any", now.machines, choice.machine, (BACK,))


def order(now: PlanChoices, choice: PieceChoice) -> Words:
    """Ask what a piece waits for; a tap ticks, another takes it back."""
    sheet = _about(choice).line("What must have landed before it starts? Tap to tick.")
    may = {*choice.may_wait_for, *choice.line.after}
    offered = [
        _ticked(_title(other.line), f"w-{other.line.number}", on=ticked)
        for other in now.pieces
        if other.line.number in may
        for ticked in [other.line.number in choice.line.after]
    ]
    if len(offered) < len(now.pieces) - 1:
        sheet.line("Pieces that wait for it themselves are not listed.")
    return Words(sheet.done(), (*side_by_side(offered, 1), (BACK, DONE)))


def _one_of(
    sheet: Builder, none: str, names: Iterable[str], now: str, last: tuple[Button, ...]
) -> Words:
    """List names to choose one of; `none` is what no name is called, "" = there must be one."""
    first = [_ticked(none, "none", on=not now)] if none else []
    named = [_ticked(one_line(name, TITLE), f"is-{mark(name)}", on=name == now) for name in names]
    return Words(sheet.done(), (*side_by_side([*first, *named], 2), last))


def _ticked(words: str, verb: str, *, on: bool) -> Button:
    return Button(f"✓ {words}" if on else words, verb)


def _about(choice: PieceChoice) -> Builder:
    line = choice.line
    sheet = Builder().line(_title(line, 80), "bold")
    cost = text_estimate.about(line.cost_usd)
    size = SIZES.get(line.size, line.size)
    sheet.line(_dots(size, _agent(line), one_line(line.where, 100), cost))
    if line.after:
        sheet.line(after(line.after))
    return sheet


def _title(line: PieceLine, most: int = TITLE) -> str:
    return f"{line.number} · {one_line(line.title, most)}"


def _agent(line: PieceLine) -> str:
    return one_line(
        line.agent if line.model in {"", line.agent} else f"{line.agent} {line.model}", 60
    )


def _dots(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
