"""Who sent an update, by which message, and what stood before them: told to the engine with what is asked.

What stood there is Telegram's own word where it sends it along: a tap brings the message its button stands
under, a reply the message it answers. Else it is what the card says at the revision they acted on. Keys
are masked, as anywhere. Neighbours: requests.py and messages.py say it, engine/audit.py writes it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot import keys
from bot.buttons import Pressed
from bot.cards import Cards
from bot.inbox import Arrived
from bot.unsaid import Prompt
from engine.api import Asker

KINDS = {"callback_query": "tap", "message": "message", "edited_message": "edit"}


def asked_by(parts: Sequence[Arrived]) -> Asker:
    """Return on whose behalf all is asked that comes of these parts of one update."""
    first = parts[0]
    kind = first.by.kind
    message = (first.body.get("message") or {}) if kind == "callback_query" else first.body
    through = f"{KINDS.get(kind, kind)} {first.by.chat}:{message.get('message_id', 0)}"
    return Asker(who=str(first.by.owner), through=through)


def under_tap(message: dict[str, Any], pressed: Pressed, cards: Cards) -> str:
    """Return what stood over the button that was tapped."""
    return _words_of(message) or _of_card(pressed.card, pressed.revision, cards)


def answered_to(body: dict[str, Any], prompt: Prompt | None, cards: Cards) -> str:
    """Return what a line answers; "" for one that answers nothing."""
    asked = _words_of(body.get("reply_to_message") or {})
    if prompt is None or not prompt.card:
        return asked
    card = _of_card(prompt.card, prompt.revision, cards)
    return "\n\n".join(part for part in (card, asked) if part)


def _words_of(message: dict[str, Any]) -> str:
    """Telegram leaves them out of a message that is too old."""
    return keys.masked(str(message.get("text") or message.get("caption") or ""))


def _of_card(card_id: str, revision: str, cards: Cards) -> str:
    card = cards.live.get(card_id)
    if card is None or card.revision != revision:
        return ""
    return keys.masked(cards.words(card).rich.text)
