"""The second client: aiogram, and what both libraries think the Bot API is.

Importing aiogram takes seconds, so all that needs it is here, and none of it is imported before a test
runs: each of xdist's workers reads this file, and one runs it.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import telegram

from bot.emulator import Emulator
from bot.emulator.methods import METHODS
from bot.emulator.schema import load
from tests.bot.emulator.conftest import OWNER, TOKEN, picture

if TYPE_CHECKING:
    from aiogram import Bot
    from aiogram.types import InlineKeyboardMarkup

ROOT = Path(__file__).resolve().parents[3]

# Bot API 10.1 to 10.3, which python-telegram-bot 22.8 does not know yet.
NEWER = {
    "answerCallbackQuery": set[str](),
    "editMessageText": {"rich_message"},
    "sendDocument": {"ephemeral_message_parameters", "receiver_user_id", "callback_query_id"},
    "sendMessage": {"ephemeral_message_parameters", "receiver_user_id", "callback_query_id"},
    "sendPhoto": {"ephemeral_message_parameters", "receiver_user_id", "callback_query_id"},
}
# The library's own arguments, which are no parameters of the API.
ITS_OWN = {
    "self",
    "read_timeout",
    "write_timeout",
    "connect_timeout",
    "pool_timeout",
    "api_kwargs",
    "filename",
}


def keyboard() -> InlineKeyboardMarkup:
    from aiogram.types import (
        CopyTextButton,
        DisabledButton,
        InlineKeyboardButton,
        InlineKeyboardMarkup,
    )

    row = [
        InlineKeyboardButton(text="Allow", callback_data="c:1:1:allow", style="success"),
        InlineKeyboardButton(text="Copy", copy_text=CopyTextButton(text="branch")),
        InlineKeyboardButton(text="Done", disabled=DisabledButton()),
    ]
    return InlineKeyboardMarkup(inline_keyboard=[row])


async def client(emulator: Emulator) -> AsyncIterator[Bot]:
    from aiogram import Bot
    from aiogram.client.session.aiohttp import AiohttpSession
    from aiogram.client.telegram import TelegramAPIServer

    session = AiohttpSession(api=TelegramAPIServer.from_base(emulator.url))
    async with Bot(TOKEN, session=session) as opened:
        yield opened


@pytest.fixture
async def bot(emulator: Emulator) -> AsyncIterator[Bot]:
    async for opened in client(emulator):
        yield opened


@pytest.fixture
async def topics(threaded: Emulator) -> AsyncIterator[Bot]:
    async for opened in client(threaded):
        yield opened


def test_the_schema_is_what_aiogram_says() -> None:
    script = ROOT / "scripts" / "bot_api_schema.py"
    checked = subprocess.run([sys.executable, script, "--check"], cwd=ROOT, check=False)
    assert checked.returncode == 0, "run scripts/bot_api_schema.py"


def test_every_method_of_the_schema_is_served() -> None:
    assert set(load()["methods"]) == {*METHODS, "getUpdates"}


@pytest.mark.parametrize("method", sorted(load()["methods"]))
def test_both_libraries_agree_on_the_parameters(method: str) -> None:
    name = re.sub(r"[A-Z]", lambda capital: f"_{capital.group().lower()}", method)
    theirs = set(inspect.signature(getattr(telegram.Bot, name)).parameters) - ITS_OWN
    ours = set(load()["methods"][method])
    assert ours - theirs == NEWER.get(method, set())
    assert theirs - ours == set()


async def test_a_whole_conversation(bot: Bot, emulator: Emulator) -> None:
    from aiogram.exceptions import TelegramBadRequest
    from aiogram.types import Message, MessageEntity, ReplyParameters

    phone = emulator.phone
    me = await bot.get_me()
    assert (me.is_bot, me.username) == (True, "quarterdeck_bot")
    phone.send("/new shop add a cart 😀")
    (update,) = await bot.get_updates(timeout=5, allowed_updates=["message", "callback_query"])
    assert update.message is not None
    card = await bot.send_message(
        OWNER,
        "A plan",
        entities=[MessageEntity(type="bold", offset=2, length=4)],
        reply_markup=keyboard(),
        reply_parameters=ReplyParameters(message_id=update.message.message_id),
        disable_notification=True,
    )
    assert card.reply_markup is not None
    assert card.reply_markup.model_dump() == keyboard().model_dump()
    shown = phone.from_bot()[-1]
    assert [button.kind for button in shown.buttons] == ["callback_data", "copy_text", "disabled"]
    tap = phone.tap(shown, "Allow")
    (update,) = await bot.get_updates(offset=update.update_id + 1)
    assert update.callback_query is not None
    assert isinstance(update.callback_query.message, Message)
    await bot.answer_callback_query(update.callback_query.id, "Allowed", show_alert=True)
    assert (await phone.answered(tap)).alert
    await bot.edit_message_text("Allowed", chat_id=OWNER, message_id=card.message_id)
    await bot.edit_message_reply_markup(
        chat_id=OWNER, message_id=card.message_id, reply_markup=keyboard()
    )
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await bot.edit_message_reply_markup(
            chat_id=OWNER, message_id=card.message_id, reply_markup=keyboard()
        )
    await bot.delete_message(OWNER, card.message_id)
    assert phone.from_bot() == []
    assert emulator.notes == []


async def test_files_go_both_ways(bot: Bot, emulator: Emulator) -> None:
    from aiogram.types import BufferedInputFile

    diff = BufferedInputFile(b"+new line", "shop.diff")
    sent = await bot.send_document(OWNER, diff, caption="Diff")
    assert emulator.phone.file(emulator.phone.from_bot()[-1]) == b"+new line"
    assert sent.document is not None
    assert sent.document.file_name == "shop.diff"
    photo = await bot.send_photo(OWNER, BufferedInputFile(picture(), "page.png"))
    assert photo.photo is not None
    assert photo.photo[-1].width == 640
    emulator.phone.document("notes.txt", b"some notes")
    (update,) = await bot.get_updates()
    assert update.message is not None
    assert update.message.document is not None
    received = await bot.download(update.message.document)
    assert received is not None
    assert received.read() == b"some notes"


async def test_topics_and_the_rest(topics: Bot, threaded: Emulator) -> None:
    from aiogram.types import BotCommand, BotCommandScopeChat, ReactionTypeEmoji

    assert (await topics.get_me()).has_topics_enabled
    topic = await topics.create_forum_topic(OWNER, "Cart")
    thread = topic.message_thread_id
    said = await topics.send_message(OWNER, "x", message_thread_id=thread)
    assert said.is_topic_message
    await topics.edit_forum_topic(OWNER, thread, name="Cart ✅")
    await topics.send_chat_action(OWNER, "typing", message_thread_id=thread)
    await topics.set_message_reaction(OWNER, said.message_id, [ReactionTypeEmoji(emoji="👀")])
    await topics.pin_chat_message(OWNER, said.message_id)
    assert (await topics.get_chat(OWNER)).pinned_message is not None
    await topics.delete_messages(OWNER, [said.message_id])
    await topics.delete_forum_topic(OWNER, thread)
    commands = [BotCommand(command="status", description="The board")]
    await topics.set_my_commands(commands, scope=BotCommandScopeChat(chat_id=OWNER))
    assert (await topics.get_webhook_info()).url == ""
    await topics.delete_webhook()
    group = threaded.phone.create_group("Bridge", forum=True)
    threaded.phone.send("hello", chat_id=group)
    updates = await topics.get_updates()
    assert updates[-1].message is not None
    assert updates[-1].message.chat.is_forum
    await topics.leave_chat(group)


async def test_errors_are_the_classes_the_library_knows(bot: Bot, emulator: Emulator) -> None:
    from aiogram.exceptions import (
        ClientDecodeError,
        TelegramBadRequest,
        TelegramConflictError,
        TelegramForbiddenError,
        TelegramNetworkError,
        TelegramRetryAfter,
        TelegramUnauthorizedError,
    )

    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await bot.send_message(7, "x")
    emulator.faults.flood("sendMessage", retry_after=3)
    with pytest.raises(TelegramRetryAfter) as waiting:
        await bot.send_message(OWNER, "x")
    assert waiting.value.retry_after == 3
    emulator.faults.gateway("sendMessage")
    with pytest.raises(ClientDecodeError):
        await bot.send_message(OWNER, "x")
    emulator.faults.cut("sendMessage", done=False)
    with pytest.raises(TelegramNetworkError):
        await bot.send_message(OWNER, "x")
    emulator.faults.webhook = "https://elsewhere.example/"
    with pytest.raises(TelegramConflictError):
        await bot.get_updates()
    emulator.phone.block()
    with pytest.raises(TelegramForbiddenError):
        await bot.send_message(OWNER, "x")
    emulator.faults.revoked = True
    with pytest.raises(TelegramUnauthorizedError):
        await bot.get_me()


def test_the_schema_names_its_source() -> None:
    text = (ROOT / "bot" / "emulator" / "schema.json").read_text(encoding="utf-8")
    assert json.loads(text)["source"] == "aiogram 3.31.0, Bot API 10.3"
