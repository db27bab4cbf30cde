"""What is done with an owner's words in a group that is allowed: little, and nothing is decided there.

    /new …        a goal; its cards come to the private chat of whoever gave it
    /status /asks /lock /help   answered there, in names alone
    a key         sealed and deleted as anywhere; its card comes to the private chat
    all else      nothing, or one line with the way to the private chat

Everyone in the group reads what is said there, so no prompt, panel, card or refusal is. Neighbours: gate.py
(only owners come here), groups.py (how a group comes to be allowed), pasted.py (keys), text_groups.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import telegram
from msgspec.structs import replace

from bot import text, text_files, text_groups, two_goes
from bot.commands import Commands
from bot.groups import Groups
from bot.heard import BRIEF, as_view, said
from bot.inbox import Arrived, Reply, in_order
from bot.messages import COMMAND
from bot.panels import Engine, verdict
from bot.pasted import Pasted
from bot.sent import Sending, Sent
from bot.unsaid import Delete, Item, Say
from engine.errors import Refused
from engine.views import Attachment, Board

NAMES = frozenset(name for name, _ in text.COMMANDS)


class InGroup:
    """Acts on one message of an owner's in a group, or their tap there."""

    def __init__(
        self,
        bot: telegram.Bot,
        engine: Engine,
        groups: Groups,
        commands: Commands,
        pasted: Pasted,
        sending: Sending,
    ) -> None:
        self._bot = bot
        self._engine = engine
        self._groups = groups
        self._commands = commands
        self._pasted = pasted
        self._sending = sending

    async def handle(self, parts: Sequence[Arrived]) -> Reply:
        """Return what the group hears, and what the owner alone does. Raises Unavailable."""
        first = parts[0]
        if first.by.kind == "callback_query":
            self._groups.answer(str(first.body.get("id", "")), text_groups.NOT_HERE)
            return Reply()
        if first.by.knock is not None:
            return await self._knocked(first, *first.by.knock)
        edited = first.by.kind == "edited_message"
        sent = Sent() if edited else await self._sending.fetch(parts)
        reply = await self._heard(parts, sent, edited=edited)
        self._sending.done(parts)
        return reply

    async def _knocked(self, one: Arrived, code: str, to: str) -> Reply:
        """An owner sent the code of a link: the group is allowed, or left."""
        if to and not self._is_us(to):
            return Reply()
        title = str((one.body.get("chat") or {}).get("title") or "")
        cause = f"telegram:{one.update_id}"
        try:
            await self._engine.call(
                "group_allowed", cause, chat=one.by.chat, title=title, code=code
            )
        except Refused as refusal:
            await self._groups.turned_away(one.by.chat)
            return Reply(aside=(said(text_groups.TURNED_AWAY.format(refusal.sentence)),))
        return Reply((said(text_groups.HEARD.format(self._private)),))

    async def _heard(self, parts: Sequence[Arrived], sent: Sent, *, edited: bool) -> Reply:
        first = parts[0]
        pieces = [two_goes.joined(in_order(parts)), *sent.texts]
        try:
            pieces, secrets = await self._pasted.taken_out(parts, pieces)
        except Refused as no:
            *gone, why = self._pasted.not_kept(parts, no)
            return Reply(tuple(gone), aside=(why,))
        aside = tuple(
            replace(item, tell=first.by.owner) if isinstance(item, Delete) else item
            for item in secrets
        )
        deletes = tuple(item for item in aside if isinstance(item, Delete))
        others = tuple(item for item in aside if not isinstance(item, Delete))
        command = COMMAND.fullmatch(pieces[0])
        if edited or first.by.quoted or command is None or not self._means_us(first, pieces[0]):
            return Reply(deletes, aside=others)
        name, rest = command[1].lower(), (command[2] or "").strip()
        reply_to = 0 if secrets else int(first.body.get("message_id", 0))
        files: tuple[Attachment, ...] = ()
        inline: list[str] = []
        if name == "new":
            inline, files = await self._sending.keep(sent, pieces[1:], forwarded=False)
        words = "\n\n".join(part for part in (rest, *inline) if part)
        try:
            told, more = await self._done(first, name, words, files)
        except Refused as refusal:
            told, more = [text_groups.REFUSED.format(self._private)], [said(refusal.sentence)]
        if name == "new" and sent.unread:
            more.append(said(text_files.not_taken(sent.unread, rest=True)))
        items = [
            replace(one, reply_to=reply_to) if isinstance(one, Say) else said(one, reply_to)
            for one in told
        ]
        return Reply((*deletes, *items), aside=(*others, *more))

    async def _done(
        self, one: Arrived, name: str, rest: str, files: tuple[Attachment, ...]
    ) -> tuple[Sequence[str | Say], list[Item]]:
        """Return what the group hears, and what is said to the owner alone."""
        cause = f"telegram:{one.update_id}"
        link = self._private
        match name:
            case "new":
                project, goal = await self._commands.named(rest)
                if not goal:
                    return [text_groups.EMPTY], []
                along = {"files": files} if files else {}
                result = await self._engine.call(
                    "new_goal", cause=cause, project=project, text=goal, by="owner", **along
                )
                words = verdict(result)
                more: list[Item] = [said(words)] if len(words.split()) > BRIEF else []
                return [text_groups.GIVEN.format(link)], more
            case "status" | "asks":
                board = as_view(await self._engine.call("board"), Board)
                shown = text_groups.board(board, link, only_asks=name == "asks")
                return [Say(words=words) for words in shown], []
            case "lock":
                told = verdict(await self._engine.call("lock", cause=cause))
                return [text_groups.LOCKED.format(link)], [said(told)]
            case "help" | "start":
                return [text_groups.HEARD.format(link)], []
            case _:
                return [text_groups.ELSEWHERE.format(link)], []

    def _means_us(self, one: Arrived, words: str) -> bool:
        """Return whether a command is for us: other bots may be in the group."""
        name, _, to = words.split(maxsplit=1)[0][1:].partition("@")
        return self._is_us(to) if to else name.lower() in NAMES

    def _is_us(self, name: str) -> bool:
        return name.lower() == str(self._bot.username).lower()

    @property
    def _private(self) -> str:
        return f"https://t.me/{self._bot.username}"
