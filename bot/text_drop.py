"""What a card says in its place before a goal is dropped: what ends, what stays, and both ways on.

Pure wording, as text.py's; taps.py shows it at the first press of Drop.
"""

from __future__ import annotations

from bot.entities import Builder, one_line
from bot.text_sheet import HEADING, Button, Words, count
from engine.views import ReviewCard, SessionCard

DROP_IT, KEEP_IT = "drop-it", "keep-it"


def sure(card: ReviewCard | SessionCard) -> Words:
    """Ask once more, and say what really becomes of the work."""
    name = one_line(card.title, HEADING) if isinstance(card, SessionCard) else ""
    sheet = Builder().line(f"Drop “{name}”?" if name else "Drop the goal?", "bold")
    sheet.line("Its sessions end for good, and nothing of it is pushed.")
    if isinstance(card, ReviewCard) and card.commits:
        sheet.line(f"Its {count(card.commits, 'commit')} stay on its branch in this box's copy.")
    elif isinstance(card, SessionCard) and card.branch:
        sheet.add("What landed stays on ").add(one_line(card.branch, 120), "code")
        sheet.line(" in this box's copy.")
    sheet.line("What a worker has in no commit yet is kept on a branch, and you are told which.")
    buttons = (Button("Drop it", DROP_IT, "danger"), Button("Keep it", KEEP_IT))
    return Words(sheet.done(), (buttons,))
