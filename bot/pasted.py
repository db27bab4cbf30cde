"""Pasted keys, taken out of a message before anything else is done with it.

Each is sealed for the vault, `{{NAME}}` stands in its place, and the messages that held one are deleted.
keys.py knows what looks like a key; messages.py asks here first.
"""

import asyncio
import re
from collections.abc import Sequence

import telegram

from bot import delivery, keys, text_settings
from bot.inbox import Arrived
from bot.outbox import Outbox
from bot.panels import Engine
from bot.unsaid import Delete
from stores.sealing import seal


class Pasted:
    """Takes keys out.

    public   the vault's public key
    """

    def __init__(self, bot: telegram.Bot, engine: Engine, outbox: Outbox, public: bytes) -> None:
        self._bot = bot
        self._engine = engine
        self._outbox = outbox
        self._public = public

    async def taken_out(
        self, parts: Sequence[Arrived], pieces: list[str]
    ) -> tuple[list[str], list[Delete]]:
        """Return a message's pieces without their keys, and what is to be deleted and said of it."""
        found = [await self._keys_in(piece) for piece in pieces]
        if not any(found):
            return pieces, []
        ids = [int(one.body["message_id"]) for one in parts]
        # At once, whatever else is slow or away; what is queued below makes sure of it.
        for message_id in ids:
            await delivery.delete(self._bot, parts[0].by.chat, message_id)
        kept = not _is_address(parts[0], pieces[0])
        names: dict[str, str] = {}
        for key in [key for piece in found for key in piece]:
            if not kept:
                names[key.value] = key.name
            elif key.value not in names:
                names[key.value] = await self._kept(key, parts[0].update_id, len(names))
        clean = [
            keys.replaced(piece, in_piece, lambda key: names[key.value])
            for piece, in_piece in zip(pieces, found, strict=True)
        ]
        goal = self._outbox.goal_of_thread(
            parts[0].by.chat, int(parts[0].body.get("message_thread_id") or 0)
        )
        last = tuple(dict.fromkeys(names.values()))
        deletes = [Delete(message_id=message_id, goal=goal) for message_id in ids[:-1]]
        return clean, [*deletes, Delete(message_id=ids[-1], names=last, goal=goal, kept=kept)]

    async def _keys_in(self, text: str) -> list[keys.Key]:
        """Look a text through; in a long one others have their turn in between."""
        found: list[keys.Key] = []
        for part in keys.by_parts(text):
            found += part
            await asyncio.sleep(0)
        return found

    async def _kept(self, key: keys.Key, update: int, number: int) -> str:
        sealed = seal(self._public, key.value.encode(errors="replace"))
        result = await self._engine.call(
            "keep_secret", cause=f"telegram:{update}.key{number}", name=key.name, sealed=sealed
        )
        if isinstance(result, dict):
            result = result.get("name")
        return str(result) if result else key.name


_ADDING = re.compile(r"\s*/projects(?:@\w+)?\s+add\s", re.IGNORECASE)


def _is_address(one: Arrived, whole: str) -> bool:
    """Return whether a line names a project: an address with a password in it is refused.

    Nobody could use that password by name, so it is not kept either.
    """
    answered = one.body.get("reply_to_message") or {}
    asked = str(answered.get("text") or "")
    by_prompt = text_settings.PROJECT.sentence in asked or "/projects add" in asked
    return bool(_ADDING.match(whole)) or (
        by_prompt and bool((answered.get("from") or {}).get("is_bot"))
    )
