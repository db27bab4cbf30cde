"""A token the owner pastes for an account: asked for, and sealed before anything else is done with it.

Only a reply to our own prompt is one, and then all of it is, whatever it looks like: nobody looks for a
key in it, it goes into no line, no card and no log. It is sealed here with the vault's public key, the
message is deleted, and the engine alone can open it. Neighbours: keys.py (keys in any other message),
fleet.py (the panel that asks).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import telegram

from bot import delivery, text, text_fleet
from bot.heard import asked_again
from bot.inbox import Arrived, Reply, in_order
from bot.panels import Engine, verdict
from bot.unsaid import Delete, Item, Prompt, Say
from engine.errors import Refused
from stores.cards import CardStore
from stores.sealing import seal

TOKEN = "token"  # the verb of the prompts that ask for one
NEEDS_NONE = "rehearsal"


async def begin(engine: Engine, name: str, agent: str, cause: str) -> tuple[str, list[Item]]:
    """Ask for an account's token; add it at once where the agent needs none."""
    await engine.call("may_add_account", name=name, agent=agent)
    if agent == NEEDS_NONE:
        return verdict(await engine.call("add_account", cause=cause, name=name, agent=agent)), []
    prompt = Prompt(TOKEN, project=name, revision=agent)
    words = text.said(text_fleet.TOKEN.format(name=name, agent=agent))
    return "", [Say(words=words, prompt=prompt, placeholder=text_fleet.TOKEN_FIELD)]


class Logins:
    """Takes tokens in.

    public   the vault's public key
    """

    def __init__(
        self, bot: telegram.Bot, engine: Engine, store: CardStore, *, public: bytes
    ) -> None:
        self._bot = bot
        self._engine = engine
        self._store = store
        self._public = public

    async def take(self, parts: Sequence[Arrived]) -> Reply | None:
        """Return what is said of a token, None for a message that is none."""
        prompt = await self._asked(parts[0])
        if prompt is None:
            return None
        chat = parts[0].by.chat
        ids = [int(one.body["message_id"]) for one in parts]
        for message_id in ids:  # at once, whatever else is slow or away
            await delivery.delete(self._bot, chat, message_id)
        gone = [Delete(message_id=message_id) for message_id in ids]
        token = "".join("".join(in_order(parts)).split())
        if not token or any("text" not in one.body for one in parts):
            return Reply((*gone, asked_again(text_fleet.TOKEN_AS_TEXT, prompt)))
        try:
            kept = await self._engine.call(
                "sign_in",
                cause=f"telegram:{parts[0].update_id}",
                name=prompt.project,
                agent=prompt.revision,
                sealed=seal(self._public, token.encode(errors="replace")),
            )
        except Refused as refusal:
            return Reply((*gone, asked_again(refusal.sentence, prompt)))
        named = Delete(message_id=ids[-1], names=(text_fleet.TOKEN_OF.format(name=prompt.project),))
        return Reply((*gone[:-1], Say(words=text.said(verdict(kept))), named))

    async def _asked(self, one: Arrived) -> Prompt | None:
        answered = one.body.get("reply_to_message") or {}
        if not answered.get("message_id"):
            return None
        told = await self._store.told(one.by.chat, int(answered["message_id"]))
        if told is None or told.prompt is None:
            return None
        prompt = msgspec.json.decode(told.prompt, type=Prompt)
        return prompt if prompt.verb == TOKEN and not prompt.card else None
