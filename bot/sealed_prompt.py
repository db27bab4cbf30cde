"""What is typed next is a secret: asked for by a prompt, and sealed before anything else is done with it.

A reply to such a prompt is one, and for some minutes so is what was typed without Reply, if it looks as
its kind says; then all of it is, whatever it looks like: nobody looks for a key in it, it goes into no
line, no card and no log. A prompt takes one answer; a later reply to it is deleted. It is sealed here with
the vault's public key, the message is deleted, and the engine alone can open it. What is asked for, and
where it goes, is a `Kind`: logins.py has those of accounts, key_panel.py that of a key with a name.
Neighbour: keys.py (keys in any other message).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import telegram
from msgspec import Struct
from msgspec.structs import replace

from bot import delivery, keys, text, text_keys
from bot.heard import asked_again
from bot.inbox import Arrived, Reply, in_order
from bot.outbox import Outbox
from bot.panels import Engine, verdict
from bot.unsaid import Delete, Edit, Item, Prompt, Say, Weight
from engine.errors import Refused
from stores.cards import CardStore, Prompted, Told
from stores.sealing import seal

OPEN_S = 10 * 60.0  # so long an answer is known for one that was typed without Reply
GRACE_S = 15.0  # and so much longer: what was typed in time may come late
OVER, LATE = 1, 2  # no updates: a question that was cancelled, or not answered in time


class Kind(Struct, frozen=True, kw_only=True):
    """What the prompts of one verb ask for.

    keep     takes the engine, the prompt, what was typed, sealed, and the cause; raises Refused
    named    how it is called where it is said that it was deleted
    used     said to a second answer, as_text to one that is no text
    bare     what is taken for the answer without Reply; a whole message
    joined   what is typed is one word, however the app cut or wrapped it
    kept     whether the vault keeps it
    goes     its question is deleted once it was answered: Telegram edits none that opens a reply
    anything  whatever comes is the answer, but for what `bare` leaves out; of several such questions in a
             chat only the newest is open
    typed    what is asked for, once it is known what it looks like
    closing  what its message says once it was answered; too_late: nobody did in time, and that is told
    again    asks once more, given why
    """

    verb: str
    keep: Callable[[Engine, Prompt, bytes, str], Awaitable[object]]
    named: Callable[[Prompt], str]
    used: str
    as_text: str
    bare: re.Pattern[str]
    joined: bool = True
    kept: bool = True
    goes: bool = False
    anything: bool = False
    typed: Callable[[Prompt, str], Prompt] | None = None
    closing: Callable[[Prompt], str] | None = None
    too_late: Callable[[Prompt], str] | None = None
    again: Callable[[Prompt, str], Say] | None = None


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

    async def run(self) -> None:
        """Close the questions that nobody answered in time, until cancelled.

        One that is asked between two looks is not late before the next.
        """
        while True:
            left_s = await self._close_late()
            await asyncio.sleep(OPEN_S + GRACE_S if left_s is None else left_s)

    async def _close_late(self) -> float | None:
        """Return in how long the next one is late; None: none is open."""
        left: list[float] = []
        for chat, asked, prompt in await self._open():
            kind = self._kinds[prompt.verb]
            left_s = asked.at + OPEN_S + GRACE_S - self._outbox.wall()
            if kind.too_late is None:
                continue
            if left_s > 0:
                left.append(left_s)
                continue
            words = text.said(kind.too_late(prompt))
            unanswered = text.said(text_keys.UNANSWERED)
            shown = Edit(message_id=asked.message_id, words=unanswered, goal=asked.goal)
            await self._outbox.say(chat, Weight.ANSWER, shown, Say(words=words, goal=asked.goal))
            await self._use_up(chat, asked, replace(prompt, used=LATE))
        return min(left, default=None)

    async def _open(
        self, verbs: Sequence[str] = (), chat: int = 0
    ) -> list[tuple[int, Prompted, Prompt]]:
        """Return the questions that wait for an answer, the newest first."""
        found = await self._store.prompts(verbs or list(self._kinds), 0.0, chat)
        opened = [(there, asked, _prompt(asked)) for there, asked in found]
        return [one for one in opened if self._kind(one[2]) and not one[2].used]

    async def close(self, verb: str, over: Callable[[str], bool]) -> None:
        """Take away the questions of a kind about what is over, by its name."""
        for chat, asked, prompt in await self._open([verb]):
            if over(prompt.project):
                gone = Delete(message_id=asked.message_id, goal=asked.goal)
                await self._outbox.say(chat, Weight.ANSWER, gone)
                await self._use_up(chat, asked, replace(prompt, used=OVER))

    async def begin(self, chat: int, verb: str) -> list[Item]:
        """Close what is still open of a kind in a chat: another is asked now. Return what shows it."""
        items: list[Item] = []
        for _, asked, prompt in await self._open([verb], chat):
            await self._use_up(chat, asked, replace(prompt, used=OVER))
            words = text.said(text_keys.ASKED_ANEW)
            items.append(Edit(message_id=asked.message_id, words=words, goal=asked.goal))
        return items

    async def waiting(self, chat: int, message_id: int) -> Prompt | None:
        """Return what a message asks for, while it does."""
        asked = await self._outbox.prompted(chat, message_id)
        prompt = _prompt(asked) if asked is not None else None
        return prompt if prompt is not None and self._kind(prompt) and not prompt.used else None

    async def change(self, chat: int, message_id: int, prompt: Prompt) -> None:
        """Have a message that still waits ask for something else; `used`: for nothing any more."""
        asked = await self._outbox.prompted(chat, message_id)
        if asked is not None and not _prompt(asked).used:
            await self._use_up(chat, asked, prompt)

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
        in_time = prompt.used == LATE and _sent(parts[0]) <= asked.at + OPEN_S + GRACE_S
        if prompt.used not in (0, update) and not in_time:
            return Reply((*gone, Say(words=text.said(kind.used))))
        typed = "".join(in_order(parts))
        typed = "".join(typed.split()) if kind.joined else typed.strip()
        if not typed or any("text" not in one.body for one in parts):
            return Reply(
                (*gone, await self._again(kind.as_text, kind, chat, asked, prompt, update))
            )
        if keys.is_recovery(typed):
            again = await self._again(text_keys.RECOVERY, kind, chat, asked, prompt, update)
            return Reply((*gone, again))
        wanted = kind.typed(prompt, typed) if kind.typed is not None else prompt
        sealed = seal(self._public, typed.encode(errors="replace"))
        try:
            kept = await kind.keep(self._engine, wanted, sealed, f"telegram:{parts[0].update_id}")
        except Refused as refusal:
            again = await self._again(refusal.sentence, kind, chat, asked, prompt, update)
            return Reply((*gone, again))
        await self._use_up(chat, asked, replace(prompt, used=update))
        named = Delete(message_id=ids[-1], names=(kind.named(prompt),), kept=kind.kept)
        if isinstance(kept, dict) and "scope" in kept:
            prompt = replace(prompt, project=str(kept["name"]))
            named = replace(named, names=(prompt.project,), where=(str(kept["scope"]),))
        told = verdict(kept)
        shown: list[Item] = []
        if kind.closing is not None:
            words = text.said(kind.closing(prompt))
            shown = [Edit(message_id=asked.message_id, words=words, goal=asked.goal)]
        elif kind.goes:
            shown = [Delete(message_id=asked.message_id, goal=asked.goal)]
        says = [Say(words=text.said(told))] if told else []
        return Reply((*gone[:-1], *shown, *says, named))

    async def _again(
        self, why: str, kind: Kind, chat: int, asked: Prompted, prompt: Prompt, update: int
    ) -> Say:
        """Ask once more; of what takes anything, the question before is over then."""
        fresh = replace(prompt, used=0)
        if kind.again is None:
            return asked_again(why, fresh)
        await self._use_up(chat, asked, replace(prompt, used=update))
        if why == text.LOCKED:
            return Say(words=text.said(why), goal=asked.goal)
        return replace(kind.again(fresh, why), goal=asked.goal)

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
        if one.by.quoted or one.by.kind != "message":
            return None
        in_goal = self._outbox.goal_of_thread(
            one.by.chat, int(one.body.get("message_thread_id") or 0)
        )
        since = _sent(one) - OPEN_S - GRACE_S  # what was typed in time may come when that is over
        for _, asked in await self._store.prompts(list(self._kinds), since, one.by.chat):
            prompt = _prompt(asked)
            kind = self._kind(prompt)
            # One typed for a question that was just closed is no line for anybody either.
            late = prompt.used == LATE or (prompt.used == OVER and kind and not kind.anything)
            if kind is None or (prompt.used and not late) or in_goal != asked.goal:
                continue
            if self._answers(kind, parts):
                return asked
        return None

    def _answers(self, kind: Kind, parts: Sequence[Arrived]) -> bool:
        words = str(parts[0].body.get("text") or "")
        if kind.anything:
            return "text" not in parts[0].body or kind.bare.fullmatch(words) is not None
        return len(parts) == 1 and kind.bare.fullmatch(words) is not None

    def _kind(self, prompt: Prompt) -> Kind | None:
        return None if prompt.card else self._kinds.get(prompt.verb)


def _prompt(asked: Prompted) -> Prompt:
    return msgspec.json.decode(asked.prompt, type=Prompt)


def _sent(one: Arrived) -> float:
    return float(one.body.get("date", 0))


def _of_topic(one: Arrived) -> bool:
    answered = one.body.get("reply_to_message") or {}
    return "forum_topic_created" in answered
