"""What is typed next is a secret: asked for by a prompt, and sealed before anything else is done with it.

A reply to such a prompt is one, and for some minutes so is what was typed without Reply, if it looks as
its kind says; then all of it is, whatever it looks like: nobody looks for a key in it, it goes into no
line, no card and no log. A prompt takes one answer; a later reply to it is deleted. It is sealed here with
the vault's public key, the message is deleted, and the engine alone can open it. What is asked for, and
where it goes, is a `Kind`: logins.py has those of accounts. Neighbour: keys.py (keys in any other message).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import telegram
from msgspec import Struct
from msgspec.structs import replace

from bot import delivery, text
from bot.heard import asked_again
from bot.inbox import Arrived, Reply, in_order
from bot.outbox import Outbox
from bot.panels import Engine, verdict
from bot.unsaid import Delete, Prompt, Say
from engine.errors import Refused
from stores.cards import CardStore, Prompted, Told
from stores.sealing import seal

OPEN_S = 10 * 60.0  # so long an answer is known for one that was typed without Reply


class Kind(Struct, frozen=True, kw_only=True):
    """What the prompts of one verb ask for.

    keep     takes the engine, the prompt, what was typed, sealed, and the cause; raises Refused
    named    how it is called where it is said that it was deleted
    used     said to a second answer, as_text to one that is no text
    bare     what is taken for the answer without Reply; a whole message
    joined   what is typed is one word, however the app cut or wrapped it
    kept     whether the vault keeps it
    """

    verb: str
    keep: Callable[[Engine, Prompt, bytes, str], Awaitable[object]]
    named: Callable[[Prompt], str]
    used: str
    as_text: str
    bare: re.Pattern[str]
    joined: bool = True
    kept: bool = True


class SealedPrompts:
    """Takes in what such prompts asked for.

    public   the vault's public key
    """

    def __init__(
        self,
        bot: telegram.Bot,
        engine: Engine,
        outbox: Outbox,
        store: CardStore,
        kinds: Sequence[Kind],
        *,
        public: bytes,
    ) -> None:
        self._bot = bot
        self._engine = engine
        self._outbox = outbox
        self._store = store
        self._kinds = {kind.verb: kind for kind in kinds}
        self._public = public

    async def take(self, parts: Sequence[Arrived]) -> Reply | None:
        """Return what is said of such an answer, None for a message that is none."""
        asked = await self._asked(parts)
        if asked is None:
            return None
        chat, prompt = parts[0].by.chat, _prompt(asked)
        kind = self._kinds[prompt.verb]
        update = min(one.update_id for one in parts)
        ids = [int(one.body["message_id"]) for one in parts]
        for message_id in ids:  # at once, whatever else is slow or away
            await delivery.delete(self._bot, chat, message_id)
        gone = [Delete(message_id=message_id) for message_id in ids]
        if prompt.used not in (0, update):
            return Reply((*gone, Say(words=text.said(kind.used))))
        typed = "".join(in_order(parts))
        typed = "".join(typed.split()) if kind.joined else typed.strip()
        if not typed or any("text" not in one.body for one in parts):
            return Reply((*gone, asked_again(kind.as_text, prompt)))
        sealed = seal(self._public, typed.encode(errors="replace"))
        try:
            kept = await kind.keep(self._engine, prompt, sealed, f"telegram:{parts[0].update_id}")
        except Refused as refusal:
            return Reply((*gone, asked_again(refusal.sentence, prompt)))
        await self._use_up(chat, asked, replace(prompt, used=update))
        named = Delete(message_id=ids[-1], names=(kind.named(prompt),), kept=kind.kept)
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
                return asked if asked is not None and self._kind(_prompt(asked)) else None
        if len(parts) > 1 or one.by.quoted:
            return None
        asked = await self._store.prompted(one.by.chat)
        kind = self._kind(_prompt(asked)) if asked is not None else None
        if asked is None or kind is None or _prompt(asked).used:
            return None
        if not kind.bare.fullmatch(str(one.body.get("text") or "")):
            return None
        in_goal = self._outbox.goal_of_thread(
            one.by.chat, int(one.body.get("message_thread_id") or 0)
        )
        late = float(one.body.get("date", 0)) - asked.at > OPEN_S
        return None if late or in_goal != asked.goal else asked

    def _kind(self, prompt: Prompt) -> Kind | None:
        return None if prompt.card else self._kinds.get(prompt.verb)


def _prompt(asked: Prompted) -> Prompt:
    return msgspec.json.decode(asked.prompt, type=Prompt)


def _of_topic(one: Arrived) -> bool:
    answered = one.body.get("reply_to_message") or {}
    return "forum_topic_created" in answered
