"""What the cards of a goal and of its workers say.

Pure wording, as text.py's. Neighbours: text_live.py (the work under way, a line each), text_card.py.
"""

from __future__ import annotations

from datetime import tzinfo

from bot import text_live, text_silence
from bot.entities import markdown, one_line, said_line
from bot.text_estimate import money
from bot.text_sheet import HEADING, Sheet, agent_and_model, capital, count, dots, printed, promise
from engine.views import STOPPED, SessionCard, Wait, WorkerCard

# Stages in which a worker rests and plain code is busy with what it made.
OVER = frozenset({"landed", "stopped"})
TAKEN_IN = frozenset({"collecting", "landing"})
# What is said of these is plain code's: a command in it may be tapped.
OURS = frozenset({STOPPED, "a place to run"})


def session_stage(card: SessionCard) -> str:
    landed = f"{card.landed} of {card.pieces} landed" if card.pieces else ""
    return dots(capital(card.stage), landed)


def session(card: SessionCard, sheet: Sheet, zone: tzinfo | None, now: float) -> None:
    if card.silence is not None:
        sheet.fact(text_silence.words(card.silence, zone, card.agent, now=now), "italic")
    elif card.doing not in (card.stage, card.cut_off):
        sheet.fact(_now(card.doing), "italic")
    _cut_off(card, sheet)
    for wait in card.waits:
        sheet.line(_wait(wait, zone, now, told=card.stage == "stopped"))
    for line in text_live.progress(card, zone, now):
        sheet.line(line)
    branch = f" → {said_line(card.branch, 40)}" if card.branch else ""
    sheet.fact(dots(card.project, f"{card.base}{branch}"))
    if card.check:
        sheet.line(said_line(card.check, 160))
    fenced = card.fence == "fenced"
    place = dots(card.machine, "fenced" if fenced else "")
    sheet.fact(dots(agent_and_model(card.agent, card.model), card.mode, place))
    sheet.fact(f"Next workers only on {', '.join(card.machines)}" if card.machines else "")
    if card.fence and not fenced:
        sheet.line(f"⚠ {said_line(card.fence, 160)}")
    sent = f"{count(card.files, 'file')} of yours" if card.files else ""
    sheet.fact(dots(money(card.cost_usd), text_live.lines_to_come(card), sent))


def worker(card: WorkerCard, sheet: Sheet, zone: tzinfo | None, now: float) -> None:
    if card.asks:
        sheet.line(f"“{said_line(card.title, HEADING)}”")
    attempt = f"attempt {card.attempt}" if card.attempt > 1 else ""
    stage, doing = card.stage, "" if card.doing in (card.stage, card.cut_off) else card.doing
    if stage in TAKEN_IN and doing:  # ours, not the agent's: one line says it
        stage, doing = doing, ""
    for wait in card.waits:  # what it waits for stands where its stage would
        sheet.line(_wait(wait, zone, now))
    # Why it ran just there is of no use any more once it is over.
    where = card.where.partition(":")[0] if stage in OVER else card.where
    sheet.fact(dots("" if card.waits else capital(stage), attempt, one_line(where)))
    shown = card.silence
    silent = text_silence.words(shown, zone, card.agent, now=now) if shown else ""
    sheet.fact(silent or _now(doing), "italic")
    _cut_off(card, sheet)
    if card.uncopied:
        sheet.line(f"⚠ Not copied into its tree: {said_line(card.uncopied, 200)}")
    if card.failure:
        sheet.add(said_line(card.failure, 400), "blockquote").line()
    printed(card.report, sheet)
    sheet.foreign("Its last words:", markdown(card.said), "last-words.md")
    sheet.fact(
        dots(
            agent_and_model(card.agent, card.model),
            money(card.cost_usd),
            text_live.lines_to_come(card),
        )
    )


def _now(doing: str) -> str:
    """Return what goes on; it may be an agent's own words, which must not stand there as ours."""
    return f"Now: {said_line(doing, 160)}" if doing else ""


def _cut_off(card: SessionCard | WorkerCard, sheet: Sheet) -> None:
    """Say what the turn before was cut off in: its agent was told, and looks before it repeats it."""
    if card.cut_off:
        sheet.line(f"↻ {capital(said_line(card.cut_off, 160))}; goes on, told to look first")


def _wait(wait: Wait, zone: tzinfo | None, now: float, *, told: bool = False) -> str:
    """Return "Waits for your answer: …"; `told`: that it is stopped stands above already."""
    by = "at the latest " if wait.latest else ""
    until = f" · goes on {by}at {promise(wait.until, zone, now)}" if wait.until else ""
    why = one_line(wait.why, 200) if wait.what in OURS else said_line(wait.why, 200)
    if told and wait.what == STOPPED:
        return f"By you: {why}{until}"
    return f"{capital(one_line(wait.said))}: {why}{until}"
