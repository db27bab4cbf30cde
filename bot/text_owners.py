"""Who commands beside oneself, in words: the list, the link that lets one more in, a goal brought over.

Pure wording, as text.py's. Names are as Telegram had them, and stand quoted: the number is what counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.entities import Builder, one_line
from bot.panels import mark
from bot.text_sheet import HEADING, Button, Words, dots
from bot.text_start import FIRST_STEPS
from engine.rules.unseen import in_quotes
from engine.views import OwnerEntry, SessionCard

ROOM = 40
MOST_GOALS = 20
REASON = "To let one more owner in"
NO_MORE = "That is not there any more: /settings, Owners shows how it is."
LEFT = "Left where it is."
JOINED = f"You command this box now, beside its other owners. {FIRST_STEPS}"
LINK = (
    "Send this link to whoever is to command here too; it works once, for 10 minutes, and is shown "
    "only here:\n{}\nWhoever presses it first decides as you do, and all owners are told. Sent to the wrong "
    "one? Back, then Add: a new link ends this one."
)


def called(one: OwnerEntry | None, number: str = "") -> str:
    if one is None:
        return f"Telegram id {number}" if number else "another owner"
    return in_quotes(one.name, ROOM) if one.name else f"Telegram id {one.id}"


def listed(owners: Sequence[OwnerEntry], others: Sequence[SessionCard], me: str = "") -> Words:
    """Return who commands, and the goals that are in others' chats."""
    sheet = Builder().line("Owners", "bold")
    for one in owners:
        what = "of the box" if one.of_the_box else "let in by a link"
        sheet.line(dots(f"• {called(one)}", str(one.id) if one.name else "", what, _you(one, me)))
    sheet.line("Each may decide all there is. A goal's cards come to whoever gave it.")
    if any(one.of_the_box for one in owners):
        sheet.line("Of the box: named in its config.toml (owner_ids), and removed only there.")
    rows: list[tuple[Button, ...]] = [(Button("Add", "add"), Button("Groups", "groups"))]
    rows += [
        (
            Button(
                f"Remove {'myself' if _you(one, me) else called(one)}",
                f"remove-{mark(str(one.id))}",
            ),
        )
        for one in owners
        if not one.of_the_box
    ]
    if others:
        sheet.line().line("In others' chats", "bold")
    for card in others[:MOST_GOALS]:
        rows.append((Button(f"Bring here: {one_line(card.title, HEADING)}", f"take-{card.id}"),))
    return Words(sheet.done(), (*rows, (Button("Back", "settings"),)))


def _you(one: OwnerEntry, me: str) -> str:
    return "you" if str(one.id) == me else ""


def removing(one: OwnerEntry, me: str = "") -> Words:
    mine = bool(_you(one, me))
    sheet = Builder().line(f"Remove {'yourself' if mine else called(one)}?", "bold")
    they, whose = ("You", "Your") if mine else ("They", "Their")
    sheet.line(f"{they} are a stranger here then: what {they.lower()} write is not answered.")
    sheet.line(f"{whose} goals go on; their cards come to the first owner.")
    return Words(sheet.done(), ((Button("Remove", "gone", "danger"), Button("Keep", "list")),))


def taking(card: SessionCard, whose: str) -> Words:
    """Ask whether a goal is to come into this chat."""
    sheet = Builder().line(f"“{one_line(card.title, HEADING)}” is in the chat of {whose}.", "bold")
    sheet.line("Brought here, its cards come to you, and not to them.")
    return Words(sheet.done(), ((Button("Bring it here", "bring"), Button("Leave it", "leave")),))


def moved(whose: str) -> str:
    return f"This is in the chat of {whose} now."
