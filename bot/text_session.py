"""What the cards of a goal and of its workers say.

Pure wording, as text.py's. Neighbours: text_live.py (the work under way, a line each), text_card.py.
"""

from __future__ import annotations

from datetime import tzinfo

from bot import text_live, text_silence
from bot.entities import Rich, markdown, one_line, said_line
from bot.text_estimate import money
from bot.text_sheet import (
    HEADING,
    Sheet,
    agent_and_model,
    capital,
    count,
    dots,
    labelled,
    printed,
    promise,
    put,
    theirs,
)
from engine.views import STOPPED, SessionCard, Wait, WorkerCard

# Stages in which a worker rests and plain code is busy with what it made.
OVER = frozenset({"landed", "stopped"})
TAKEN_IN = frozenset({"collecting", "landing"})
CUT_OFF = ("cut off during ", "cut off after ", "cut off")  # ours; then comes what


def session_stage(card: SessionCard) -> str:
    landed = f"{card.landed} of {card.pieces} landed" if card.pieces else ""
    return dots(capital(card.stage), landed)


def session(card: SessionCard, sheet: Sheet, zone: tzinfo | None, now: float) -> None:
    if card.silence is not None:
        sheet.fact(text_silence.words(card.silence, zone, card.agent, now=now), "italic")
    elif card.doing not in (card.stage, card.cut_off):
        _now(card.doing, sheet)
    _cut_off(card, sheet)
    for wait in card.waits:
        sheet.rich(_wait(wait, zone, now, told=card.stage == "stopped")).line()
    for line in text_live.progress(card, zone, now):
        sheet.rich(line).line()
    branch = f" → {said_line(card.branch, 40)}" if card.branch else ""
    sheet.fact(dots(card.project, f"{card.base}{branch}"))
    if card.check:
        sheet.rich(labelled(card.check)).line()
    fenced = card.fence == "fenced"
    place = dots(card.machine, "fenced" if fenced else "")
    sheet.fact(dots(agent_and_model(card.agent, card.model), card.mode, place))
    sheet.fact(f"Next workers only on {', '.join(card.machines)}" if card.machines else "")
    if card.fence and not fenced:
        sheet.rich(put("⚠ ", theirs(card.fence, 160))).line()
    sent = f"{count(card.files, 'file')} of yours" if card.files else ""
    sheet.fact(dots(money(card.cost_usd), text_live.lines_to_come(card), sent))


def worker(card: WorkerCard, sheet: Sheet, zone: tzinfo | None, now: float) -> None:
    if card.asks:
        sheet.rich(put("Its piece: ", theirs(card.title, HEADING))).line()
    attempt = f"attempt {card.attempt}" if card.attempt > 1 else ""
    stage, doing = card.stage, "" if card.doing in (card.stage, card.cut_off) else card.doing
    if stage in TAKEN_IN and doing:  # ours, not the agent's: one line says it
        stage, doing = doing, ""
    for wait in card.waits:  # what it waits for stands where its stage would
        sheet.rich(_wait(wait, zone, now)).line()
    # Why it ran just there is of no use any more once it is over.
    where = card.where.partition(":")[0] if stage in OVER else card.where
    sheet.fact(dots("" if card.waits else capital(stage), attempt, one_line(where)))
    shown = card.silence
    silent = text_silence.words(shown, zone, card.agent, now=now) if shown else ""
    if silent:
        sheet.line(silent, "italic")
    else:
        _now(doing, sheet)
    _cut_off(card, sheet)
    if card.uncopied:
        sheet.rich(put("⚠ Not copied into its tree: ", theirs(card.uncopied, 200))).line()
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


def _now(doing: str, sheet: Sheet) -> None:
    """Say what goes on; it may be an agent's own words, which must not stand there as ours."""
    if doing:
        sheet.add("Now: ", "italic").rich(theirs(doing, 160)).line()


def _cut_off(card: SessionCard | WorkerCard, sheet: Sheet) -> None:
    """Say what the turn before was cut off in: its agent was told, and looks before it repeats it."""
    if card.cut_off:
        ours = next((words for words in CUT_OFF if card.cut_off.startswith(words)), "")
        what = theirs(card.cut_off.removeprefix(ours), 160)
        sheet.rich(put(f"↻ {capital(ours)}", what, "; goes on, told to look first")).line()


def _wait(wait: Wait, zone: tzinfo | None, now: float, *, told: bool = False) -> Rich:
    """Return "Waits for your answer: …"; `told`: that it is stopped stands above already."""
    by = "at the latest " if wait.latest else ""
    until = f" · goes on {by}at {promise(wait.until, zone, now)}" if wait.until else ""
    why = Rich(one_line(wait.why, 200)) if wait.ours else theirs(wait.why, 200)
    if told and wait.what == STOPPED:
        return put("By you: ", why, until)
    return put(f"{capital(one_line(wait.said))}: ", why, until)
