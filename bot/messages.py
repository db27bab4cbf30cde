"""A message -> one call of the engine's door, and what is answered to it.

Keys are taken out before anything else is looked at. Forwarded text is passed on as a quote and orders
nothing. Neighbours: pasted.py (keys), sent.py (what came with it), commands.py (what begins with a
slash), file_back.py (a file asked for by a line).
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from bot import file_back, keys, text, text_files, text_keys, two_goes
from bot.buttons import Pressed
from bot.cards import Cards
from bot.commands import Commands, meant
from bot.file_back import FileBack
from bot.heard import Heard, asked_again, composed, receipt, said
from bot.inbox import Arrived, Reply, in_order
from bot.on_phone import answered_to
from bot.outbox import Outbox
from bot.panels import Engine, Panels
from bot.pasted import Pasted
from bot.sealed_prompt import SealedPrompts
from bot.sent import Sending, Sent
from bot.unsaid import Delete, Item, Prompt, React, Say
from engine.api import saw
from engine.errors import Refused
from engine.views import Attachment
from stores.cards import Told

COMMAND = re.compile(r"/([A-Za-z0-9_]+)(?:@\w+)?(?:\s+(.*))?", re.S)


def _says_no_more(heard: Heard) -> bool:
    """Whether a message that held keys only handed them over; a session may have asked for the words."""
    spoken_to = heard.goal or heard.card or heard.prompt is not None
    return keys.only_keys(heard.text) if spoken_to else keys.only_handed_over(heard.text)


class Messages:
    """Turns what owners write and send along into calls."""

    def __init__(
        self,
        engine: Engine,
        outbox: Outbox,
        panels: Panels,
        commands: Commands,
        file_back: FileBack,
        cards: Cards,
        *,
        pasted: Pasted,
        sending: Sending,
        sealed: SealedPrompts,
    ) -> None:
        self._engine = engine
        self._outbox = outbox
        self._panels = panels
        self._commands = commands
        self._file_back = file_back
        self._cards = cards
        self._pasted = pasted
        self._sending = sending
        self._sealed = sealed

    async def handle(self, parts: Sequence[Arrived]) -> Reply:
        if (renamed := parts[0].body.get("forum_topic_edited")) is not None:
            return await self._renamed(parts[0], dict(renamed))
        if (taken := await self._sealed.take(parts)) is not None:
            return taken
        sent = await self._sending.fetch(parts)
        # Unavailable: asked again, and not fetched again.
        reply = await self._with_files(parts, sent)
        self._sending.done(parts)
        return reply

    async def _with_files(self, parts: Sequence[Arrived], sent: Sent) -> Reply:
        whole = two_goes.joined(in_order(parts))
        body = parts[0].body
        quote = body.get("quote") or {}
        quoted = str(quote.get("text") or "") if quote.get("is_manual") else ""
        outside = str((body.get("external_reply") or {}).get("text") or "")
        pieces = [whole, *sent.texts, quoted, outside]
        try:
            pieces, secrets = await self._pasted.taken_out(parts, pieces)
        except Refused as no:
            return Reply(self._pasted.not_kept(parts, no))
        if secrets:
            await self._pasted.told_once(parts[0], secrets)
        whole, quoted = pieces[0], pieces[-2]
        inline, files = await self._sending.keep(sent, pieces[1:-2], forwarded=parts[0].by.quoted)
        items: list[Item] = []
        heard = await self._heard(parts, composed(whole, quoted, inline), files)
        empty = not heard.text.strip() or (bool(secrets) and _says_no_more(heard))
        taken = not empty or bool(files)
        if taken:
            try:
                items += await self._act(heard)
            except Refused as refusal:
                taken = False
                # A message that is about to go cannot be replied to.
                items.append(said(refusal.sentence, 0 if secrets else heard.message_id))
        if sent.unread:
            items.append(said(text_files.not_taken(sent.unread, rest=taken), heard.message_id))
        if secrets:
            items = [item for item in items if not isinstance(item, React)]
        return Reply(tuple(items))

    async def _renamed(self, one: Arrived, how: dict[str, Any]) -> Reply:
        """A topic that the owner renamed is theirs to name; a key in the name is not kept."""
        chat, thread = one.by.chat, int(one.body.get("message_thread_id") or 0)
        name = str(how.get("name") or "")
        if not name:
            return Reply()
        masked = keys.masked(name)
        await self._outbox.named_by_hand(chat, thread, masked)
        if masked == name:
            return Reply()
        goal = self._outbox.goal_of_thread(chat, thread)
        return Reply((Say(words=text.said(text.KEY_IN_TOPIC), goal=goal, sounds=True),))

    async def _heard(
        self, parts: Sequence[Arrived], whole: str, files: tuple[Attachment, ...]
    ) -> Heard:
        first = parts[0]
        body, chat = first.body, first.by.chat
        answered = body.get("reply_to_message") or {}
        told: Told | None = None
        if answered.get("message_id"):
            told = await self._outbox.told(chat, int(answered["message_id"]))
        thread = int(body.get("message_thread_id") or 0) if body.get("is_topic_message") else 0
        prompt = None
        if told is not None and told.prompt is not None:
            prompt = msgspec.json.decode(told.prompt, type=Prompt)
        saw(answered_to(body, prompt, self._cards))
        return Heard(
            cause=f"telegram:{min(one.update_id for one in parts)}",
            chat=chat,
            message_id=int(body.get("message_id", 0)),
            date=float(body.get("date", 0)),
            text=whole,
            quoted=first.by.quoted,
            goal=(told.goal if told else "") or self._outbox.goal_of_thread(chat, thread),
            card=told.card if told else "",
            prompt=prompt,
            files=(*(prompt.files if prompt else ()), *files),
            line=f"{chat}:{body.get('message_id', 0)}"
            if len(parts) == 1 and "text" in body
            else "",
        )

    async def _act(self, heard: Heard) -> list[Item]:
        if heard.quoted:
            return await self._forwarded(heard)
        if heard.prompt is not None:
            return await self._prompted(heard, heard.prompt)
        if command := COMMAND.fullmatch(heard.text):
            return await self._ordered(heard, command)
        wanted = None if heard.files else file_back.wish(heard.text)
        if wanted:
            sent = await self._file_back.wished(wanted, heard.goal, heard.card, heard.message_id)
            if sent is not None:
                return sent
        if re.fullmatch(r"\s*/\S*\s*", heard.text):
            return [said(text.NO_COMMAND, heard.message_id)]
        if near := meant(heard.text):
            return [said(f"Did you mean {near}? Nothing was started.", heard.message_id)]
        if not heard.goal and self._panels.knows(heard.card):
            return [said(text.ANSWER_NONE, heard.message_id)]
        return await self._hear(heard, heard.text)

    async def _ordered(self, heard: Heard, command: re.Match[str]) -> list[Item]:
        name = command[1].lower()
        items = await self._commands.do(heard, name, (command[2] or "").strip())
        if heard.files and name != "new":
            items.append(said(text_files.NOT_NEEDED, heard.message_id))
        return items

    async def _hear(self, heard: Heard, words: str) -> list[Item]:
        result = await self._engine.call(
            "hear",
            cause=heard.cause,
            text=words,
            goal=heard.goal,
            card=heard.card,
            by="owner",
            **({"line": heard.line} if heard.line else {}),
            **heard.along,
        )
        if not heard.goal:
            await self._commands.gave(heard, result)
            return self._commands.told(heard, result)
        return receipt(heard, result)

    async def _forwarded(self, heard: Heard) -> list[Item]:
        """Pass somebody else's words on as what they are, where a session is spoken to."""
        if not heard.goal:
            return [
                said(
                    "Forwarded words order nothing. Forward them into a session's topic, or write "
                    "what you want.",
                    heard.message_id,
                )
            ]
        if not heard.text.strip():
            return await self._hear(heard, "")
        quote = "\n".join(f"> {line}" for line in heard.text.split("\n"))
        return await self._hear(
            heard, f"Forwarded by me; these are somebody else's words:\n{quote}"
        )

    async def _prompted(self, heard: Heard, prompt: Prompt) -> list[Item]:
        if self._panels.knows(prompt.card):
            return await self._typed(heard, prompt)
        if prompt.verb == "new" and (command := COMMAND.fullmatch(heard.text)):
            return await self._ordered(heard, command)
        if prompt.verb == "new":
            return await self._commands.new_goal(heard, prompt.project, heard.text)
        result = await self._engine.call(
            "tap",
            cause=heard.cause,
            card=prompt.card,
            revision=prompt.revision,
            verb=prompt.verb,
            text=heard.text,
            **heard.along,
        )
        return receipt(heard, result)

    async def _typed(self, heard: Heard, prompt: Prompt) -> list[Item]:
        """Hand a panel the line it asked for; a line that will not do may be typed again."""
        pressed = Pressed(prompt.card, prompt.revision, prompt.verb)
        try:
            then = await self._panels.press(
                pressed,
                message_id=prompt.message,
                goal=heard.goal,
                cause=heard.cause,
                line=heard.text,
                chat=heard.chat,
            )
        except Refused as refusal:
            # Where a key's name is asked for, what is no name may be the key.
            no_name = (prompt.card, prompt.verb) == (text_keys.PANEL, "rename")
            gone: list[Item] = [Delete(message_id=heard.message_id)] if no_name else []
            if self._cards.locked or refusal.sentence == text.LOCKED:  # another line helps nothing
                return [*gone, said(text.LOCKED, 0 if gone else heard.message_id)]
            if gone:
                why = f"{text_keys.NO_NAME} {refusal.sentence}"
                return [*gone, asked_again(why, prompt, heard.goal)]
            return [asked_again(refusal.sentence, prompt, heard.goal)]
        return [*then.items, *receipt(heard, then.said)]
