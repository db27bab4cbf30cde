"""A message that its owner edited -> what becomes of the goal, or the line, in it.

Neighbours: engine/requests/edits.py decides it, messages.py heard the first version.
"""

import re

from bot.cards import Cards
from bot.heard import composed, said
from bot.inbox import Arrived, Reply, in_order
from bot.panels import Engine, verdict
from bot.pasted import Pasted
from engine.errors import Refused
from engine.views import SessionCard
from stores.cards import CardStore


class Edits:
    """Turns edits into calls."""

    def __init__(self, engine: Engine, store: CardStore, cards: Cards, pasted: Pasted) -> None:
        self._engine = engine
        self._store = store
        self._cards = cards
        self._pasted = pasted

    async def handle(self, one: Arrived) -> Reply:
        """A goal is put otherwise until its lead begins, then by a card; a line until it is heard."""
        try:
            (whole,), secrets = await self._pasted.taken_out([one], in_order([one]))
        except Refused as no:
            return Reply(self._pasted.not_kept([one], no))
        if secrets or not whole.strip():
            return Reply(tuple(secrets))
        message_id = int(one.body.get("message_id", 0))
        told = await self._store.told(one.by.chat, message_id)
        lead = self._cards.live.get(told.goal) if told else None
        if isinstance(lead, SessionCard):
            return await self._reworded(one, lead, whole)
        if (told_now := await self._line(one, whole)) is not None:
            return Reply((said(told_now, message_id),))
        sentence = (
            "You edited this; what I passed on is the first version. Send the new words as a message "
            "if they should be heard."
        )
        return Reply((said(sentence, message_id),))

    async def _line(self, one: Arrived, words: str) -> str | None:
        """Have a line read as edited, while it waits for its session's turn; None: it waits no more."""
        if "text" not in one.body or one.by.quoted:  # a file's words were put together with it
            return None
        quote = one.body.get("quote") or {}
        about = str(quote.get("text") or "") if quote.get("is_manual") else ""
        try:
            result = await self._engine.call(
                "reword_line",
                cause=f"telegram:{one.update_id}",
                line=f"{one.by.chat}:{one.body.get('message_id', 0)}",
                text=composed(words, about, ()),
            )
        except Refused:
            return None
        return verdict(result)

    async def _reworded(self, one: Arrived, lead: SessionCard, words: str) -> Reply:
        """Have a goal read as its owner edited it; a card asks where its lead has begun."""
        project = re.escape(lead.project)
        command = re.match(rf"/new(?:@\w+)?\s+(?:{project}\s+)?", words, re.IGNORECASE)
        now = words[command.end() :] if command else words
        cause = f"telegram:{one.update_id}"
        message_id = int(one.body.get("message_id", 0))
        try:
            result = await self._engine.call("reword_goal", cause=cause, goal=lead.goal, text=now)
        except Refused as refusal:
            return Reply((said(refusal.sentence, message_id),))
        told = verdict(result)
        return Reply((said(told, message_id),) if told else ())
