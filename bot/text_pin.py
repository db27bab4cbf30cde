"""The PIN's pad in words, and the page that sets, changes and takes it away.

Pure wording, as text.py's. What is typed is shown as dots alone. Neighbour: pin_pad.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot import text_stakes
from bot.entities import Builder, one_line
from bot.text_sheet import Button, Words
from engine.views import AnyCard, ShipCard, Stake

OVER = "That pad is over. Tap the button again that asked for the PIN."
CANCELLED = "Cancelled: nothing was done."
DIFFER = "The two were not the same. Type the new PIN again."
SHORT = "A PIN has 4 to 8 digits."
ASKS = {
    "pin": "Your PIN",
    "old": "The PIN as it is now",
    "new": "A new PIN: 4 to 8 digits",
    "again": "The new PIN once more",
}
CANCEL, OK, ERASE = "cancel", "ok", "erase"


def pad(reason: str, asks: str, typed: int, keys: Mapping[str, str], told: str = "") -> Words:
    """Return the pad; `keys` are what its buttons carry for the digits, told to nobody else."""
    sheet = Builder().line(ASKS[asks], "bold").line(one_line(reason, 300))
    sheet.line("●" * typed if typed else "–")
    if told:
        sheet.line(told)
    digits = [Button(digit, verb) for digit, verb in sorted(keys.items()) if digit != "0"]
    last = (Button("⌫", ERASE), Button("0", keys["0"]), Button("OK", OK, "success"))
    by_three = (tuple(digits[at : at + 3]) for at in (0, 3, 6))
    return Words(sheet.done(), (*by_three, last, (Button("Cancel", CANCEL),)))


def reason(card: AnyCard) -> str:
    """Return what a card's button would do, so that the PIN is not typed for something else."""
    if isinstance(card, ShipCard):
        return f"To push {one_line(card.commit[:7])} to {one_line(card.target, 160)}"
    stakes: tuple[Stake, ...] = getattr(card, "stakes", ())
    return text_stakes.line(stakes[0]) if stakes else "To allow what the card above asks"


def menu(is_set: bool) -> Words:
    """Return the page of the settings."""
    sheet = Builder().line("PIN", "bold")
    asked = "before a push, a key, spending and what cannot be undone"
    if is_set:
        sheet.line(f"A PIN is set. All owners are asked for it {asked}.")
    else:
        sheet.line(f"No PIN is set. With one, all owners are asked for it {asked}.")
    sheet.line("It is tapped on buttons, and never stands in the chat.")
    sheet.line(
        "Three wrong: none is taken for 1 minute, then 5, then 30, and all owners are told. "
        "Fifteen wrong: everything is locked."
    )
    sheet.line("Forgotten? On the box: quarterdeck pin off")
    back = (Button("Back", "settings"),)
    if is_set:
        return Words(sheet.done(), ((Button("Change", "change"), Button("Off", "off")), back))
    return Words(sheet.done(), ((Button("Set", "set"),), back))
