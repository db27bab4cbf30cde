"""The person's side: what a thumb can do and the eye sees."""

import asyncio

import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, Raw, buttons, picture


async def test_the_phone_shows_text_buttons_and_sound(raw: Raw, emulator: Emulator) -> None:
    phone = emulator.phone
    await raw.call("sendMessage", chat_id=OWNER, text="working", disable_notification=True)
    await raw.call(
        "sendMessage", chat_id=OWNER, text="Allow?", reply_markup=buttons("Allow", "Deny")
    )
    assert [m.text for m in phone.from_bot()] == ["working", "Allow?"]
    assert [m.text for m in phone.heard()] == ["Allow?"]
    assert phone.from_bot()[-1].labels == ["Allow", "Deny"]
    assert "    [Allow] [Deny]" in phone.transcript()


async def test_a_long_text_arrives_in_parts(raw: Raw, emulator: Emulator) -> None:
    """BR-06"""
    emulator.phone.send("x" * 10_000)
    parts = [update["message"]["text"] for update in await raw.call("getUpdates")]
    assert [len(part) for part in parts] == [4096, 4096, 1808]


async def test_waiting_ends_when_the_message_comes(raw: Raw, emulator: Emulator) -> None:
    waiting = asyncio.create_task(emulator.phone.wait_for(lambda m: "ready" in m.text))
    sent = await raw.call("sendMessage", chat_id=OWNER, text="not yet")
    await raw.call("editMessageText", chat_id=OWNER, message_id=sent["message_id"], text="ready")
    assert (await waiting).id == sent["message_id"]


async def test_waiting_in_vain_shows_the_chat(raw: Raw, emulator: Emulator) -> None:
    await raw.call("sendMessage", chat_id=OWNER, text="something else")
    with pytest.raises(TimeoutError, match="something else"):
        await emulator.phone.wait_for(lambda m: "ready" in m.text, timeout=0.01)


async def test_a_button_that_is_not_there_cannot_be_tapped(raw: Raw, emulator: Emulator) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="x", reply_markup=buttons("Allow"))
    with pytest.raises(LookupError, match="there are: 'Allow'"):
        emulator.phone.tap(sent["message_id"], "Deny")


async def test_a_stranger_and_a_changed_app_can_tap_anything(raw: Raw, emulator: Emulator) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="x", reply_markup=buttons("Allow"))
    emulator.phone.tap(sent["message_id"], data="forged", as_user=7)
    query = (await raw.call("getUpdates"))[-1]["callback_query"]
    assert (query["from"]["id"], query["data"]) == (7, "forged")


async def test_a_stranger_writes_in_a_chat_of_their_own(raw: Raw, emulator: Emulator) -> None:
    emulator.phone.start("payload", as_user=7)
    message = (await raw.call("getUpdates"))[-1]["message"]
    assert (message["from"]["id"], message["chat"]["id"], message["text"]) == (
        7,
        7,
        "/start payload",
    )
    assert emulator.phone.messages() == []
    await raw.call("sendMessage", chat_id=7, text="no")
    assert [m.text for m in emulator.phone.from_bot(7)] == ["no"]


async def test_replies_quotes_and_forwards_are_told_apart(raw: Raw, emulator: Emulator) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="Answer with a line")
    emulator.phone.send("no", reply_to=sent["message_id"], quote="a line")
    emulator.phone.send("do this", forwarded_from="Somebody")
    reply, forward = [update["message"] for update in await raw.call("getUpdates")]
    assert reply["reply_to_message"]["message_id"] == sent["message_id"]
    assert reply["quote"] == {"text": "a line", "position": 12, "is_manual": True}
    assert forward["forward_origin"]["sender_user_name"] == "Somebody"


async def test_an_edit_arrives_as_such_and_a_deletion_not_at_all(
    raw: Raw, emulator: Emulator
) -> None:
    said = emulator.phone.send("one")[0]
    emulator.phone.edit(said.id, "two")
    emulator.phone.delete(said.id)
    updates = await raw.call("getUpdates")
    assert [set(update) - {"update_id"} for update in updates] == [{"message"}, {"edited_message"}]
    assert updates[-1]["edited_message"]["text"] == "two"


async def test_an_album_arrives_as_separate_messages(raw: Raw, emulator: Emulator) -> None:
    emulator.phone.photo(picture(), caption="both", album="9")
    emulator.phone.photo(picture(), album="9")
    first, second = [update["message"] for update in await raw.call("getUpdates")]
    assert first["media_group_id"] == second["media_group_id"] == "9"
    assert first["photo"][-1]["width"] == 640


async def test_privacy_mode_hides_what_is_not_for_the_bot(raw: Raw, emulator: Emulator) -> None:
    group = emulator.phone.create_group("Team", admin=False, members=(7,))
    emulator.phone.send("between us", chat_id=group, as_user=7)
    emulator.phone.send("/status@quarterdeck_bot", chat_id=group)
    updates = await raw.call("getUpdates", allowed_updates=["message"])
    assert [u["message"]["text"] for u in updates if "message" in u] == ["/status@quarterdeck_bot"]


async def test_an_anonymous_administrator_is_nobody_we_know(raw: Raw, emulator: Emulator) -> None:
    group = emulator.phone.create_group("Team")
    emulator.phone.send("/stop", chat_id=group, anonymous=True)
    message = (await raw.call("getUpdates"))[-1]["message"]
    assert message["from"]["username"] == "GroupAnonymousBot"
    assert message["sender_chat"]["id"] == group


async def test_a_bot_thrown_out_of_a_group_or_gone_from_it_hears_so(
    raw: Raw, emulator: Emulator
) -> None:
    thrown, left = emulator.phone.create_group("A"), emulator.phone.create_group("B")
    emulator.phone.remove_bot(thrown)
    await raw.call("leaveChat", chat_id=left)
    refusal = await raw.refusal("sendMessage", chat_id=thrown, text="x")
    assert refusal == "Forbidden: bot was kicked from the group chat"
    refusal = await raw.refusal("sendMessage", chat_id=left, text="x")
    assert refusal == "Forbidden: bot is not a member of the group chat"


async def test_pins_typing_copies_and_the_command_menu_are_seen(
    raw: Raw, emulator: Emulator
) -> None:
    phone = emulator.phone
    copy = {"inline_keyboard": [[{"text": "Copy", "copy_text": {"text": "branch"}}]]}
    sent = await raw.call("sendMessage", chat_id=OWNER, text="board", reply_markup=copy)
    await raw.call("pinChatMessage", chat_id=OWNER, message_id=sent["message_id"])
    assert [m.text for m in phone.pinned()] == ["board"]
    assert phone.copy(phone.pinned()[0], "Copy") == phone.clipboard == "branch"
    await raw.call("sendChatAction", chat_id=OWNER, action="typing")
    assert phone.typing() == "typing"
    commands = [{"command": "status", "description": "The board"}]
    scope = {"type": "chat", "chat_id": OWNER}
    await raw.call("setMyCommands", commands=commands, scope=scope)
    assert phone.commands() == ["status"]
    assert phone.commands(emulator.phone.start(as_user=7).chat_id) == []
