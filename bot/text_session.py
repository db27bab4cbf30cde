"""What the cards of a goal and of its workers say.

Pure wording, as text.py's. Neighbours: text_live.py (the work under way, a line each), text_card.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

from bot import text_live
from bot.entities import markdown, one_line
from bot.text_estimate import money
from bot.text_sheet import HEADING, Sheet, agent_and_model, capital, clock, count, dots, printed
from engine.views import SessionCard, Wait, WorkerCard

# Stages in which a worker rests and plain code is busy with what it made.
TAKEN_IN = frozenset({"collecting", "landing"})


def session_stage(card: SessionCard) -> str:
    landed = f"{card.landed} of {card.pieces} landed" if card.pieces else ""
    return dots(capital(card.stage), landed)


def session(card: SessionCard, sheet: Sheet, zone: tzinfo | None) -> None:
    if card.doing != card.stage:
        sheet.fact(one_line(card.doing, 160), "italic")
    _waits(card.waits, sheet, zone)
    for line in text_live.progress(card):
        sheet.line(line)
    branch = f" → {one_line(card.branch, 40)}" if card.branch else ""
    sheet.fact(dots(card.project, f"{card.base}{branch}"))
    if card.check:
        sheet.line(one_line(card.check, 160))
    sheet.fact(dots(agent_and_model(card.agent, card.model), card.mode, card.machine))
    sheet.fact(f"Next workers only on {', '.join(card.machines)}" if card.machines else "")
    sheet.fact(one_line(card.fence, 80))
    sent = f"{count(card.files, 'file')} of yours" if card.files else ""
    sheet.fact(dots(money(card.cost_usd), text_live.lines_to_come(card), sent))


def worker(card: WorkerCard, sheet: Sheet, zone: tzinfo | None) -> None:
    if card.asks:
        sheet.line(one_line(card.title, HEADING))
    attempt = f"attempt {card.attempt}" if card.attempt > 1 else ""
    stage, doing = card.stage, "" if card.doing == card.stage else card.doing
    if stage in TAKEN_IN and doing:  # ours, not the agent's: one line says it
        stage, doing = doing, ""
    sheet.fact(dots(capital(stage), attempt, one_line(card.where)))
    sheet.fact(one_line(doing, 160), "italic")
    _waits(card.waits, sheet, zone)
    if card.uncopied:
        sheet.line(f"⚠ Not copied into its tree: {one_line(card.uncopied, 200)}")
    if card.failure:
        sheet.line(one_line(card.failure, 400))
    printed(card.report, sheet)
    sheet.foreign("Its last words:", markdown(card.said), "last-words.md")
    sheet.fact(
        dots(
            agent_and_model(card.agent, card.model),
            money(card.cost_usd),
            text_live.lines_to_come(card),
        )
    )


def _waits(waits: Iterable[Wait], sheet: Sheet, zone: tzinfo | None) -> None:
    for wait in waits:
        until = f" · goes on at {clock(wait.until, zone)}" if wait.until else ""
        sheet.line(f"{one_line(wait.what)}: {one_line(wait.why, 200)}{until}")
