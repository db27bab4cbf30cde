"""What Stop and Resume say: which goal is asked about, and which it was.

Pure wording, as text.py's; stops.py does what a button says.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.entities import Builder, one_line
from bot.text_buttons import LONG_LABEL
from bot.text_sheet import HEADING, Button, Words
from engine.views import SessionCard

MOST = 30  # a keyboard takes a hundred buttons; nobody reads so many
OVER = "That is so already, or over. Look again."
ASKS = {"stop": "Stop which one?", "resume": "Which one goes on?"}
NONE = {
    "stop": "Nothing is at work that could be stopped.",
    "resume": "No goal is stopped. After /stop all, /resume all lets new ones begin.",
}


def which(verb: str, cards: Sequence[SessionCard]) -> Words:
    """Ask which goal is meant; all of them is one of the answers."""
    if not cards:
        return Words(Builder().line(NONE[verb]).done())
    sheet = Builder().line(ASKS[verb], "bold")
    if len(cards) > MOST:
        sheet.line("More goals than buttons: any other by a reply to its card.")
    rows = [(Button(one_line(card.title, LONG_LABEL), card.id),) for card in cards[:MOST]]
    every = Button("All", "all", "danger" if verb == "stop" else "")
    return Words(sheet.done(), (*rows, (every,)))


def named(told: str, title: str) -> str:
    """Return what was done with the goal's name behind it."""
    return f"{told}: “{one_line(title, HEADING)}”" if title else told


def only_all(verb: str) -> str:
    """Return what to say to words behind the command that mean nothing to it."""
    return (
        f"Say /{verb} in a session's topic or as a reply to its card, or /{verb} all. "
        "Nothing was done."
    )
