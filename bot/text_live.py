"""Words about work that goes on: what an agent does just now, who works at what, a topic's title.

Part of text.py's wording; pure. What an agent printed stands in a code block
with nothing hidden in it, the newest kept where not all fits.
"""

from __future__ import annotations

from datetime import tzinfo

from bot import text_silence
from bot.entities import Builder, Rich, one_line, said_line, units, visible
from bot.text_sheet import dotted, put, theirs
from engine.views import Peek, SessionCard, WorkerCard

HEADING = 60
WAITS, IS_DONE = "❗ ", "✓ "
PEEK_ROOM = 3200  # units of the block; all around it stays below 3,500


def peek(view: Peek, zone: tzinfo | None = None, at: float = 0.0) -> Rich:
    """Return what an agent does now and did last."""
    who = f"Peek: {said_line(view.who, 2 * HEADING)}"
    if view.missing:
        return Builder().line(who, "italic").rich(theirs(view.missing, 400)).done()
    at_work = view.waits or "at work" if view.running else "at rest; this is how its last turn went"
    sheet = Builder().line(f"{who}, {at_work}", "italic")
    if view.running and not view.waits:
        now = Rich("thinks")
        if view.doing:
            now = put("Now: ", theirs(view.doing, 160), f" · for {span(view.doing_s)}")
        silent = f"silent for {span(view.silent_s)}" if view.silent_s >= 10 else ""
        if view.silence is not None:  # it was looked into, and says more than the tool alone
            now, silent = Rich(text_silence.words(view.silence, zone, silent=silent, now=at)), ""
        sheet.rich(dotted(now, silent)).line()
    block = _newest([visible(line) for line in view.lines], PEEK_ROOM)
    if block:
        sheet.add(block, "pre")
    else:
        sheet.add("It has said and done nothing yet.")
    return sheet.done()


def progress(card: SessionCard, zone: tzinfo | None = None, now: float = 0.0) -> list[Rich]:
    """Return who works at what, a line each."""
    lines = [
        dotted(
            put(f"{line.number} ", theirs(line.title, 40)),
            text_silence.words(line.silence, zone, now=now)
            if line.silence
            else theirs(line.doing, 60),
            one_line(line.machine, 30),
        )
        for line in card.work
    ]
    return [*lines, Rich(f"and {card.more} more")] if card.more else lines


def lines_to_come(card: SessionCard | WorkerCard) -> str:
    """Return when the owner's lines are heard that the agent has not heard yet."""
    within = f"{_lines(card.steered)} heard with its next step" if card.steered else ""
    after = f"{_lines(card.queued)} after this turn" if card.queued else ""
    return " · ".join(part for part in (within, after) if part)


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'} of yours"


def topic_title(card: SessionCard) -> str:
    """Return what a goal's topic is called: marked only while it waits for you, and once it is done."""
    mark = {"waits for you": WAITS, "shipped": IS_DONE}.get(card.stage, "")
    return f"{mark}{one_line(card.title, HEADING)}"


def unmarked(title: str) -> str:
    """Return a goal's name from what its topic was called."""
    return title.removeprefix(WAITS).removeprefix(IS_DONE)


def _newest(lines: list[str], room: int) -> str:
    kept: list[str] = []
    for line in reversed(lines):
        if units("\n".join([line, *kept])) > room:
            break
        kept.insert(0, line)
    return "\n".join(kept)


def span(seconds: float) -> str:
    """Return a time as said in passing."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
