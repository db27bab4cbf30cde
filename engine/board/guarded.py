"""Which buttons take a second tap, and which the PIN where one is set: the one place that says so.

    a stake (cannot be undone, costs money, opens an account)     twice, with the PIN
    the push                                                      with the PIN: Proceed came before it
    a stored key for a command                                    with the PIN

A card that lets something out, or a key be used, is given its line here; requests/taps.py holds it and
the bot asks for what is missing. Pure. Neighbours: rules/stakes.py tells what is at stake.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.views import (
    AnyCard,
    CommandCard,
    KeyedCard,
    PermissionCard,
    QuestionCard,
    ShipCard,
    TrustCard,
)

HARMLESS = ("deny", "not_this", "leave_off", "answer", "cancel")


def guarded(card: AnyCard) -> AnyCard:
    """Return the card with what its buttons take; one that is over has none."""
    match card:
        case PermissionCard() | CommandCard() | TrustCard() | QuestionCard() | KeyedCard() if (
            card.stakes
        ):
            grave = tuple(verb for verb in card.buttons if verb not in HARMLESS)
            return replace(card, twice=grave, pinned=grave)
        case KeyedCard():
            return replace(card, pinned=tuple(v for v in card.buttons if v not in HARMLESS))
        case ShipCard() if "push" in card.buttons:
            return replace(card, pinned=("push",))
        case _:
            return card
