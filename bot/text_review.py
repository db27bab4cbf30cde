"""What the cards say on the way out: a review, then the steps to the push.

Pure wording, as text.py's. Neighbour: text_card.py.
"""

from __future__ import annotations

import re

from bot.entities import Rich, markdown, one_line, said_line, tame, visible
from bot.text_estimate import money
from bot.text_sheet import Sheet, capital, count, dots, labelled, printed, put, theirs
from engine.views import ReviewCard, ShipCard

MINUS = "\N{MINUS SIGN}"


def review(card: ReviewCard, sheet: Sheet) -> None:
    size = stats(card.commits, card.files, card.added, card.removed)
    sheet.line(dots(size, money(card.cost_usd)))
    if card.check:
        mark = "✓ " if card.check_passed else "✗ " if "fail" in card.check else ""
        check = re.sub(r"\b(in|after) 0 s\b", r"\1 under 1 s", capital(card.check))
        said = labelled(check) if ": " in check else one_line(check, 160)
        sheet.rich(put(mark, said)).line()
    for risk in card.risks:
        sheet.rich(put("⚠ ", labelled(risk))).line()
    sheet.fact(corrected(card.corrected))
    sheet.foreign("The lead:", markdown(card.summary), "summary.md", 1500)
    if card.pieces:
        titles = [part for title in card.pieces[:12] for part in ("; ", theirs(title, 60))]
        sheet.rich(put("Landed: ", *titles[1:])).line()
    if not card.check_passed:
        printed(card.report, sheet)
    if card.asks:
        sheet.line("Ship pushes nothing yet: Push comes last.")


def stats(commits: int, files: int, added: int, removed: int) -> str:
    """Return the size of a change: commits, files, lines added and removed."""
    lines = f"+{added} {MINUS}{removed}"
    return f"{count(commits, 'commit')} · {count(files, 'file')} · {lines}"


def corrected(times: int) -> str:
    """Return "Corrected once", or nothing."""
    return {0: "", 1: "Corrected once", 2: "Corrected twice"}.get(times, f"Corrected {times} times")


def ship(card: ShipCard, sheet: Sheet) -> None:
    marks = {"done": "✓", "doing": "…", "failed": "✗"}
    for step in card.steps:
        sheet.line(f"{marks.get(step.state, '○')} {said_line(step.text, 160)}")
    to = "At" if card.stage == "shipped" else "To"
    if card.target:
        sheet.rich(put(f"{to}: ", theirs(card.target, 200)))
        if card.commit:
            sheet.add(" · ").add(one_line(card.commit[:7]), "code")
        sheet.line()
    if card.why:  # it may quote git or name files
        sheet.add(capital(said_line(card.why, 400)), "blockquote").line()
    label = "The check says:" if card.speaker == "check" else "The other side says:"
    sheet.foreign(label, Rich(tame(card.words).strip()), "answer.txt")
    if card.merge_hint:
        sheet.line("To merge it:").add(visible(card.merge_hint), "pre").line()
    match card.stage:
        case "proceed":
            sheet.line("Proceed gets it ready. Nothing is pushed yet.")
        case "ready":
            sheet.line(
                "Push sends exactly this commit, and only adds: nothing there is overwritten. Cancel sends nothing."
            )
