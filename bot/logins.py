"""A token the owner pastes for an account: asked for, and sealed before anything else is done with it.

A reply to our own prompt is one, and for some minutes so is a single long word sent without Reply; then
all of it is, whatever it looks like: nobody looks for a key in it, it goes into no line, no card and no
log. A prompt takes one answer; a later reply to it is deleted. It is sealed here with the vault's public key, the
message is deleted, and the engine alone can open it. Neighbours: keys.py (keys in any other message),
fleet.py (the panel that asks).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import telegram
from msgspec.structs import replace

from bot import delivery, text, text_fleet
from bot.heard import asked_again
from bot.inbox import Arrived, Reply, in_order
from bot.outbox import Outbox
from bot.panels import Engine, verdict
from bot.unsaid import Delete, Item, Prompt, Say
from engine.errors import Refused
from stores.cards import CardStore, Prompted, Told
from stores.sealing import seal

TOKEN = "token"  # the verb of the prompts that ask for one
OPEN_S = 10 * 60.0  # so long a token is known for one that was typed without Reply
_WORD = re.compile(r"(?!/)(?!\S*://)\S{16,}")
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
        self,
        bot: telegram.Bot,
        engine: Engine,
        outbox: Outbox,
        store: CardStore,
        *,
        public: bytes,
    ) -> None:
        self._bot = bot
        self._engine = engine
        self._outbox = outbox
        self._store = store
        self._public = public

    async def take(self, parts: Sequence[Arrived]) -> Reply | None:
        """Return what is said of a token, None for a message that is none."""
        asked = await self._asked(parts)
        if asked is None:
            return None
        chat, prompt = parts[0].by.chat, _prompt(asked)
        update = min(one.update_id for one in parts)
        ids = [int(one.body["message_id"]) for one in parts]
        for message_id in ids:  # at once, whatever else is slow or away
            await delivery.delete(self._bot, chat, message_id)
        gone = [Delete(message_id=message_id) for message_id in ids]
        if prompt.used not in (0, update):
            return Reply((*gone, Say(words=text.said(text_fleet.TOKEN_USED))))
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
        await self._use_up(chat, asked, replace(prompt, used=update))
        named = Delete(message_id=ids[-1], names=(text_fleet.TOKEN_OF.format(name=prompt.project),))
        return Reply((*gone[:-1], Say(words=text.said(verdict(kept))), named))

    async def _use_up(self, chat: int, asked: Prompted, prompt: Prompt) -> None:
        told = Told(asked.goal, "", msgspec.json.encode(prompt))
        await self._store.keep_told(chat, asked.message_id, told, asked.at)

    async def _asked(self, parts: Sequence[Arrived]) -> Prompted | None:
        """Return the prompt that a message answers, by Reply or by being what it asks for."""
        one = parts[0]
        answered = one.body.get("reply_to_message") or {}
        if message_id := int(answered.get("message_id") or 0):
            # In a topic all that is no reply is one to the topic's first message: that is none of ours.
            asked = await self._outbox.prompted(one.by.chat, message_id)
            if asked is not None or not _of_topic(one):
                return asked if asked is not None and _is_token(_prompt(asked)) else None
        if len(parts) > 1 or one.by.quoted or not _WORD.fullmatch(str(one.body.get("text") or "")):
            return None
        asked = await self._store.prompted(one.by.chat)
        if asked is None or not _is_token(_prompt(asked)) or _prompt(asked).used:
            return None
        in_goal = self._outbox.goal_of_thread(
            one.by.chat, int(one.body.get("message_thread_id") or 0)
        )
        late = float(one.body.get("date", 0)) - asked.at > OPEN_S
        return None if late or in_goal != asked.goal else asked


def _prompt(asked: Prompted) -> Prompt:
    return msgspec.json.decode(asked.prompt, type=Prompt)


def _is_token(prompt: Prompt) -> bool:
    return prompt.verb == TOKEN and not prompt.card


def _of_topic(one: Arrived) -> bool:
    answered = one.body.get("reply_to_message") or {}
    return "forum_topic_created" in answered
