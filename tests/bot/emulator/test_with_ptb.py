"""python-telegram-bot, the bot's own library, unmodified against the emulator."""

import asyncio
from datetime import timedelta

import pytest
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeChat,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
)
from telegram.error import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, TOKEN, picture

KEYBOARD = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Allow", callback_data="c:1:1:allow", api_kwargs={"style": "success"})]]
)


async def test_a_whole_conversation(bot: Bot, emulator: Emulator) -> None:
    phone = emulator.phone
    phone.send("/new shop add a cart 😀")
    (update,) = await bot.get_updates(timeout=5, allowed_updates=["message", "callback_query"])
    assert update.message is not None
    assert update.message.text == "/new shop add a cart 😀"
    assert update.message.entities[0].type == "bot_command"
    assert update.effective_user is not None
    assert update.effective_user.id == OWNER

    card = await bot.send_message(
        OWNER,
        "A plan",
        entities=[MessageEntity("bold", 2, 4)],
        reply_markup=KEYBOARD,
        reply_parameters=ReplyParameters(update.message.message_id),
        link_preview_options=LinkPreviewOptions(is_disabled=True),
        disable_notification=True,
    )
    shown = phone.from_bot()[-1]
    assert (shown.text, shown.labels, shown.silent) == ("A plan", ["Allow"], True)
    assert shown.buttons[0].style == "success"
    assert shown.preview == {"is_disabled": True}
    assert shown.reply_to == update.message.message_id

    tap = phone.tap(shown, "Allow")
    (update,) = await bot.get_updates(offset=update.update_id + 1)
    query = update.callback_query
    assert query is not None
    assert query.data == "c:1:1:allow"
    assert isinstance(query.message, Message)
    await query.answer("Allowed", show_alert=True)
    assert (await phone.answered(tap)).answer == "Allowed"
    await query.edit_message_text("Allowed at 10:00")
    after = phone.message(card.message_id)
    assert after is not None
    assert (after.text, after.labels, after.edited) == ("Allowed at 10:00", [], True)
    assert emulator.notes == []


async def test_files_go_both_ways(bot: Bot, emulator: Emulator) -> None:
    sent = await bot.send_document(OWNER, b"+new line", filename="shop.diff", caption="Diff")
    shown = emulator.phone.from_bot()[-1]
    assert (shown.kind, shown.text) == ("document", "Diff")
    assert shown.file is not None
    assert shown.file.name == "shop.diff"
    assert emulator.phone.file(shown) == b"+new line"
    assert sent.document is not None
    await bot.send_document(OWNER, sent.document.file_id)

    emulator.phone.document("notes.txt", b"some notes")
    emulator.phone.photo(picture())
    document, photo = await bot.get_updates()
    assert document.message is not None
    assert document.message.document is not None
    kept = await document.message.document.get_file()
    assert bytes(await kept.download_as_bytearray()) == b"some notes"
    assert photo.message is not None
    kept = await photo.message.photo[-1].get_file()
    assert bytes(await kept.download_as_bytearray()) == picture()
    await bot.send_photo(OWNER, picture(), caption="The page", reply_markup=KEYBOARD)


async def test_topics_reactions_commands_and_the_rest(threaded: Emulator) -> None:
    async with Bot(TOKEN, base_url=f"{threaded.url}/bot") as bot:
        assert bot.bot.has_topics_enabled
        topic = await bot.create_forum_topic(OWNER, "Cart")
        thread = topic.message_thread_id
        said = await bot.send_message(OWNER, "x", message_thread_id=thread)
        assert said.message_thread_id == thread
        await bot.edit_forum_topic(OWNER, thread, name="Cart ✅")
        await bot.send_chat_action(OWNER, "typing", message_thread_id=thread)
        await bot.set_message_reaction(OWNER, said.message_id, "👀")
        await bot.pin_chat_message(OWNER, said.message_id, disable_notification=True)
        assert (await bot.get_chat(OWNER)).pinned_message is not None
        await bot.edit_message_reply_markup(OWNER, said.message_id, reply_markup=KEYBOARD)
        await bot.delete_message(OWNER, said.message_id)
        await bot.delete_messages(OWNER, [said.message_id])
        await bot.delete_forum_topic(OWNER, thread)
        command = BotCommand("status", "The board")
        await bot.set_my_commands([command], scope=BotCommandScopeChat(OWNER))
        assert threaded.phone.commands() == ["status"]
        assert (await bot.get_webhook_info()).url == ""
        await bot.delete_webhook()
        threaded.phone.block()
        threaded.phone.unblock()
        updates = await bot.get_updates()
        statuses = [u.my_chat_member.new_chat_member.status for u in updates if u.my_chat_member]
        assert statuses == ["kicked", "member"]


async def test_a_force_reply_is_seen_and_answered(bot: Bot, emulator: Emulator) -> None:
    await bot.send_message(OWNER, "Correct what?", reply_markup=ForceReply())
    prompt = emulator.phone.from_bot()[-1]
    assert prompt.asks_for_reply
    emulator.phone.reply(prompt, "the colour")
    (update,) = await bot.get_updates()
    assert update.message is not None
    assert update.message.reply_to_message is not None
    assert update.message.reply_to_message.message_id == prompt.id


async def test_newer_fields_go_through(bot: Bot, emulator: Emulator) -> None:
    disabled = InlineKeyboardButton("Approved ✅", api_kwargs={"disabled": {}})
    markup = InlineKeyboardMarkup([[disabled]], api_kwargs={"force_reply": True})
    await bot.send_message(OWNER, "x", reply_markup=markup)
    shown = emulator.phone.from_bot()[-1]
    assert shown.buttons[0].kind == "disabled"
    assert shown.asks_for_reply
    with pytest.raises(LookupError, match="it sends nothing"):
        emulator.phone.tap(shown, "Approved ✅")


async def test_errors_are_the_classes_the_library_knows(
    bot: Bot, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")  # else the library warns of its own future
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_message(7, "x")
    emulator.faults.flood("sendMessage", retry_after=3)
    with pytest.raises(RetryAfter) as waiting:
        await bot.send_message(OWNER, "x")
    assert waiting.value.retry_after == timedelta(seconds=3)
    emulator.faults.gateway("sendMessage")
    with pytest.raises(NetworkError):
        await bot.send_message(OWNER, "x")
    emulator.faults.cut("sendMessage", done=True)
    with pytest.raises(NetworkError):
        await bot.send_message(OWNER, "x")
    emulator.faults.silence("sendMessage", done=False)
    with pytest.raises(TimedOut):
        await bot.send_message(OWNER, "x", read_timeout=0.2)
    assert [m.text for m in emulator.phone.from_bot()] == ["x"]
    emulator.phone.block()
    with pytest.raises(Forbidden):
        await bot.send_message(OWNER, "x")
    emulator.faults.revoked = True
    with pytest.raises(InvalidToken):
        await bot.get_me()


async def test_two_bots_with_one_token_conflict(bot: Bot, emulator: Emulator) -> None:
    """BR-41"""
    older = asyncio.create_task(bot.get_updates(timeout=30))
    await emulator.updates.polled()
    async with Bot(TOKEN, base_url=f"{emulator.url}/bot") as second:
        newer = asyncio.create_task(second.get_updates(timeout=30))
        with pytest.raises(Conflict):
            await older
        emulator.phone.send("x")
        assert len(await newer) == 1
