"""One call of the Bot API, and what its answer means for the outbox.

Telegram names its errors only by their text, and a send has no key that would make it safe to
repeat; so each answer is turned into one of a few outcomes here, and the lane acts on
those alone.
"""

import logging
import os
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

import httpx
from msgspec import Struct

# The library warns about its own change of a type unless this is set before an error is made.
os.environ.setdefault("PTB_TIMEDELTA", "1")

from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)

from bot import buttons
from bot.entities import Rich
from bot.text import Words, label
from engine.views import Document

log = logging.getLogger(__name__)

T = TypeVar("T")
CAPTION = 400
UPLOAD_S = 120.0  # until Telegram has taken in a large file
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


class Done(Struct, frozen=True):
    """It is there; 0 where the call makes no message. `at`: when, by Telegram's clock."""

    message_id: int = 0
    thread: int = 0
    at: float = 0.0


class Flooded(Struct, frozen=True):
    """Too fast in this chat: nothing there for so long."""

    wait_s: float


class NotNow(Struct, frozen=True):
    """It surely did not happen; trying again is safe."""

    why: str


class Unknown(Struct, frozen=True):
    """It may have happened: the answer got lost."""

    why: str


class Gone(Struct, frozen=True):
    """The message it was about is no more, or not ours to edit."""


class NoThread(Struct, frozen=True):
    """The topic is no more, or closed."""


class Refused(Struct, frozen=True):
    """No, and asking the same again will not help."""

    why: str


class Blocked(Struct, frozen=True):
    """The owner has blocked the bot, or never started it."""


Outcome: TypeAlias = Done | Flooded | NotNow | Unknown | Gone | NoThread | Refused | Blocked


def outcome(error: TelegramError) -> Outcome:
    """Return what an error means.

    raises  InvalidToken itself: nothing can be said any more, by this road
    """
    match error:
        case InvalidToken():
            raise error
        case RetryAfter():
            wait = error.retry_after
            return Flooded(wait if isinstance(wait, int) else wait.total_seconds())
        case BadRequest():
            return _bad(str(error))
        case Forbidden():
            return Blocked()
        case ChatMigrated():
            return Blocked()  # the group goes on under another number, as groups.py hears
        case NetworkError() if isinstance(error.__cause__, _NOT_SENT):
            return NotNow(type(error.__cause__).__name__)
        case NetworkError():
            return Unknown(type(error.__cause__ or error).__name__)
        case _:
            return Unknown(type(error).__name__)


_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message to delete not found",
    "message_id_invalid",
    "message to react not found",
    "no text in the message to edit",
)
_NO_THREAD = ("message thread not found", "topic_closed", "topic_deleted", "topic_id_invalid")


def _bad(text: str) -> Outcome:
    text = text.lower()
    if "message is not modified" in text or "topic_not_modified" in text:
        return Done()
    if any(mark in text for mark in _GONE):
        return Gone()
    if any(mark in text for mark in _NO_THREAD):
        return NoThread()
    if "chat not found" in text:
        return Blocked()
    return Refused(text[:200])


async def _tried(call: Callable[[], Awaitable[T]], done: Callable[[T], Done]) -> Outcome:
    try:
        return done(await call())
    except TelegramError as error:
        return outcome(error)


async def send(
    bot: Bot,
    chat: int,
    words: Words,
    *,
    thread: int = 0,
    silent: bool = True,
    card: str = "",
    revision: str = "",
    reply_to: int = 0,
    prompt: str = "",
) -> Outcome:
    """Send a text; `prompt` opens the reply field, with that as its placeholder."""
    markup: InlineKeyboardMarkup | ForceReply | None = keyboard(words, card, revision)
    if prompt:
        markup = ForceReply(input_field_placeholder=prompt[:64])
    answer = ReplyParameters(reply_to, allow_sending_without_reply=True) if reply_to else None
    return await _tried(
        lambda: bot.send_message(
            chat,
            words.rich.text,
            entities=entities(words.rich),
            message_thread_id=thread or None,
            disable_notification=silent,
            reply_markup=markup,
            reply_parameters=answer,
            link_preview_options=NO_PREVIEW,
        ),
        lambda sent: Done(sent.message_id, sent.message_thread_id or 0, sent.date.timestamp()),
    )


async def edit(
    bot: Bot, chat: int, message_id: int, words: Words, card: str, revision: str
) -> Outcome:
    return await _tried(
        lambda: bot.edit_message_text(
            words.rich.text,
            chat_id=chat,
            message_id=message_id,
            entities=entities(words.rich),
            reply_markup=keyboard(words, card, revision),
            link_preview_options=NO_PREVIEW,
        ),
        lambda _: Done(message_id),
    )


async def strip(bot: Bot, chat: int, message_id: int) -> Outcome:
    """Take the buttons off a message and leave its words."""
    return await _tried(
        lambda: bot.edit_message_reply_markup(chat_id=chat, message_id=message_id),
        lambda _: Done(message_id),
    )


async def file(
    bot: Bot, chat: int, document: Document, data: bytes, *, thread: int = 0, silent: bool = True
) -> Outcome:
    """Send a file; `data` is what it holds."""
    content = InputFile(data, filename=document.name)
    return await _tried(
        lambda: bot.send_document(
            chat,
            content,
            caption=document.caption[:CAPTION] or None,
            read_timeout=UPLOAD_S,
            message_thread_id=thread or None,
            disable_notification=silent,
        ),
        lambda sent: Done(sent.message_id, sent.message_thread_id or 0),
    )


async def delete(bot: Bot, chat: int, message_id: int) -> Outcome:
    return await _tried(lambda: bot.delete_message(chat, message_id), lambda _: Done())


async def react(bot: Bot, chat: int, message_id: int, emoji: str) -> Outcome:
    return await _tried(lambda: bot.set_message_reaction(chat, message_id, emoji), lambda _: Done())


async def topic(bot: Bot, chat: int, name: str) -> Outcome:
    """Open a topic; Done.thread is its id."""
    return await _tried(
        lambda: bot.create_forum_topic(chat, name), lambda made: Done(0, made.message_thread_id)
    )


async def rename(bot: Bot, chat: int, thread: int, name: str) -> Outcome:
    """Call a topic otherwise."""
    return await _tried(
        lambda: bot.edit_forum_topic(chat, thread, name=name), lambda _: Done(0, thread)
    )


def entities(rich: Rich) -> list[MessageEntity]:
    return [
        MessageEntity(
            span.kind,
            span.offset,
            span.length,
            url=span.url or None,
            language=span.language or None,
        )
        for span in rich.spans
    ]


def keyboard(words: Words, card: str, revision: str) -> InlineKeyboardMarkup | None:
    if not words.buttons or not card:
        return None
    rows = [
        [
            InlineKeyboardButton(
                button.label or label(button.verb),
                callback_data=data,
                style=button.style or None,
            )
            for button in row
            if (data := _data(card, revision, button.verb))
        ]
        for row in words.buttons
    ]
    kept = [row for row in rows if row]
    return InlineKeyboardMarkup(kept) if kept else None


def _data(card: str, revision: str, verb: str) -> str:
    """A button's data; a card without a button of ours is better than a bot that ends over it."""
    try:
        return buttons.encode(card, revision, verb)
    except ValueError as error:
        log.error("a button is left out: %s", error)
        return ""


async def quietly(call: Awaitable[object]) -> None:
    """Make a call that nothing depends on; raises InvalidToken alone."""
    try:
        await call
    except InvalidToken:
        raise
    except TelegramError as error:
        log.info("call failed why=%s", type(error).__name__)
