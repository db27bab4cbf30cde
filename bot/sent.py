"""What the owner sends beside words: fetched from Telegram, told apart, and kept for the agents.

    photo, document ── getFile ──> Fetched ── keys taken out (messages.py) ──> home/attached ──> Attachment
    voice, video, sticker, …   ──> a sentence

Small text documents become part of the words. A text, and each file's name, is looked through for keys
before it is written anywhere; so nothing is kept here before messages.py has done that. The address of a file is the
server's word: only one below our own Bot API is fetched, never a path of this machine.
"""

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import telegram
from msgspec import Struct
from telegram.error import BadRequest, InvalidToken, TelegramError

from bot import keys, text_away, text_files
from bot.entities import one_line
from bot.inbox import Arrived
from bot.written import words_of
from engine.api import Missing
from engine.views import Attachment
from stores.attached import Attached

log = logging.getLogger(__name__)

MOST_BYTES = 20 * 1024 * 1024  # Telegram gives a bot no more of one file
INLINE_BYTES = 256 * 1024
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
INLINE_ROOM = 90_000  # characters of all of them together: a goal holds little more
WAITS_S = (1.0, 2.0, 5.0, 10.0)  # between tries; a message is not held up for longer


class _Short(Exception):
    """What came is not as long as Telegram says the file is: nothing of it is taken."""


class _Named(Struct, frozen=True):
    """A file as a message names it: nothing of it is here yet."""

    file_id: str
    size: int
    name: str
    kind: str
    mime: str


class Fetched(Struct, frozen=True):
    """One file as it came. `words`: it is a text, to be looked through for keys.

    codec    what turns `words` back into its bytes
    inline   small enough to go into the message
    """

    name: str
    kind: str
    mime: str
    data: bytes
    words: str | None = None
    codec: str = "utf-8"
    inline: bool = False


class Sent(Struct, frozen=True):
    """All that came with one message, and what is to be said of what could not be taken.

    refused   the names of those that could not be taken
    """

    files: tuple[Fetched, ...] = ()
    unread: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """What must be looked through, in order: the names, then what is written in the texts."""
        names = [*(file.name for file in self.files), *self.refused]
        return [*names, *(file.words for file in self.files if file.words is not None)]


class Sending:
    """Fetches and keeps.

    pause   how to wait before the next try
    """

    def __init__(
        self,
        bot: telegram.Bot,
        attached: Attached,
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._bot = bot
        self._attached = attached
        self._pause = pause
        self._held: dict[int, Sent] = {}  # fetched, while the engine is away

    async def fetch(self, parts: Sequence[Arrived]) -> Sent:
        """Return what came beside the words of one message's parts; the same again until `done`."""
        key = parts[0].update_id
        if key not in self._held:
            self._held[key] = await self._fetched(parts)
        return self._held[key]

    def done(self, parts: Sequence[Arrived]) -> None:
        """Let go of what was fetched for a message."""
        self._held.pop(parts[0].update_id, None)

    async def _fetched(self, parts: Sequence[Arrived]) -> Sent:
        files: list[Fetched] = []
        unread: list[str] = []
        refused: list[str] = []
        room = INLINE_ROOM
        for one in parts:
            named = _named(one.body)
            if named is None:
                unread += text_files.unread(one.body)
                continue
            data = await self._bytes(named)
            if isinstance(data, str):
                unread.append(data)
                refused.append(named.name)
                continue
            file = _told_apart(named, data, room)
            room -= len(file.words or "") if file.inline else 0
            files.append(file)
        return Sent(tuple(files), tuple(dict.fromkeys(unread)), tuple(refused))

    async def keep(
        self, sent: Sent, clean: Sequence[str], *, forwarded: bool
    ) -> tuple[list[str], tuple[Attachment, ...]]:
        """Return the inline texts, and the other files once they are kept.

        clean   `sent.texts` without their keys
        """
        names, texts = clean[: len(sent.files)], iter(clean[len(sent.files) + len(sent.refused) :])
        inline: list[str] = []
        kept: list[Attachment] = []
        for file, name in zip(sent.files, names, strict=True):
            words = next(texts) if file.words is not None else None
            if words is not None and file.inline:
                inline.append(f"[file {one_line(name, 80)}]\n{words}")
                continue
            data = file.data
            if words is not None and words != file.words:
                data = words.encode(file.codec, "replace")
            try:
                digest = await asyncio.to_thread(self._attached.keep, data)
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise
                raise Missing(text_away.NO_ROOM) from error
            kept.append(Attachment(name, digest, len(data), file.kind, file.mime, forwarded))
        return inline, tuple(kept)

    async def _bytes(self, named: _Named) -> bytes | str:
        """Return what a file holds, or a sentence on why it cannot be had."""
        name = one_line(keys.masked(named.name), 80)
        if named.size > MOST_BYTES:
            return text_files.too_large(name, named.size)
        short = False
        for wait_s in (*WAITS_S, None):
            try:
                return await self._downloaded(named, name)
            except InvalidToken:
                raise
            except BadRequest as error:
                if "too big" in str(error).lower():
                    return text_files.too_large(name, named.size)
                return text_files.not_fetched(name, "Telegram has it no more")
            except (TelegramError, _Short) as error:
                short = isinstance(error, _Short)
                log.warning("not fetched why=%s", type(error).__name__)
                if wait_s is not None:
                    await self._pause(wait_s)
        why = "it did not come whole" if short else "Telegram did not hand it out"
        return text_files.not_fetched(name, why)

    async def _downloaded(self, named: _Named, name: str) -> bytes | str:
        file = await self._bot.get_file(named.file_id)
        ours = f"{self._bot.base_file_url}/"
        if not (file.file_path or "").startswith(ours) or ".." in str(file.file_path):
            log.error("a file's address is none of our Bot API's; not fetched")
            return text_files.not_fetched(name, "its address is none of Telegram's")
        try:
            data = bytes(await file.download_as_bytearray())
        except InvalidToken:  # so the library names any 404: the token was good a moment ago
            return text_files.not_fetched(name, "it is not there any more")
        size = file.file_size or named.size
        if size and len(data) != size:
            raise _Short
        return data


def _named(body: dict[str, Any]) -> _Named | None:
    """Return the file of a message: a document, or a photo in its largest size."""
    if document := body.get("document"):
        mime = keys.masked(str(document.get("mime_type") or ""))
        kind = "photo" if mime.startswith("image/") else "document"
        name = str(document.get("file_name") or "file")
        return _Named(
            str(document["file_id"]), int(document.get("file_size") or 0), name, kind, mime
        )
    if sizes := body.get("photo"):
        best = sizes[-1]  # they come by size
        size = int(best.get("file_size") or 0)
        return _Named(str(best["file_id"]), size, "photo.jpg", "photo", "image/jpeg")
    return None


def _told_apart(named: _Named, data: bytes, room: int) -> Fetched:
    """Return a file as what it is: a text that may hold keys, or anything else."""
    words, codec = words_of(data)
    inline = (
        codec == "utf-8"
        and b"\0" not in data
        and len(data) <= INLINE_BYTES
        and len(words or "") <= room
    )
    return Fetched(
        name=named.name,
        kind=named.kind,
        mime=named.mime,
        data=data,
        words=words,
        codec=codec,
        inline=inline and words is not None,
    )
