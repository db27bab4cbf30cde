"""Raw HTTP: the exact words, codes and headers clients tell errors apart by."""

import json
from typing import Any

import httpx
import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, Clock, Raw, buttons, picture

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are "
    "exactly the same as a current content and reply markup of the message"
)


async def test_an_unknown_method_is_not_found(raw: Raw) -> None:
    answer = await raw.post("sendDice", chat_id=OWNER)
    assert answer.status_code == 404
    assert answer.json() == {
        "ok": False,
        "error_code": 404,
        "description": "Not Found: method not found",
    }


async def test_a_wrong_token_is_unauthorized_and_a_malformed_one_not_found(
    emulator: Emulator, client: httpx.AsyncClient
) -> None:
    assert await Raw(client, emulator.url, "4242:other").refusal("getMe") == "Unauthorized"
    assert await Raw(client, emulator.url, "nonsense").refusal("getMe") == "Not Found"


async def test_a_path_outside_the_api_is_not_found(
    emulator: Emulator, client: httpx.AsyncClient
) -> None:
    assert (await client.get(f"{emulator.url}/")).status_code == 404


@pytest.mark.parametrize("way", ["query", "form", "multipart", "json", "json with text inside"])
async def test_parameters_may_come_in_any_way_the_api_takes(raw: Raw, way: str) -> None:
    markup = buttons("Start")
    texts = {"chat_id": str(OWNER), "text": "hello", "reply_markup": json.dumps(markup)}
    url = f"{raw.url}/SENDMESSAGE"
    match way:
        case "query":
            answer = await raw.client.get(url, params=texts)
        case "form":
            answer = await raw.client.post(url, data=texts)
        case "multipart":
            answer = await raw.client.post(url, files={k: (None, v) for k, v in texts.items()})
        case "json":
            values = {"chat_id": OWNER, "text": "hello", "reply_markup": markup}
            answer = await raw.client.post(url, json=values)
        case _:
            answer = await raw.client.post(url, json=texts)
    assert answer.json()["result"]["text"] == "hello"
    assert answer.json()["result"]["reply_markup"] == markup


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"text": "x", "chat_id": 42, "colour": 1}, 'sendMessage has no parameter "colour"'),
        ({"text": "x", "chat_id": [1]}, '"chat_id" must be of type Integer or String'),
        ({"text": "x"}, "chat_id is empty"),
        ({"chat_id": 42}, "message text is empty"),
        ({"chat_id": 42, "text": ""}, "message text is empty"),
        ({"chat_id": 42, "text": " \n"}, "text must be non-empty"),
        ({"chat_id": 42, "text": "😀" * 2049}, "message is too long"),
        ({"chat_id": 7, "text": "x"}, "chat not found"),
        ({"chat_id": 42, "text": "x", "message_thread_id": 5}, "message thread not found"),
        ({"chat_id": 42, "text": "x", "reply_markup": "no"}, '"reply_markup" must be of type'),
        ({"chat_id": 42, "text": "x", "rich_message": {}}, 'has no parameter "rich_message"'),
        ({"chat_id": 42, "text": "x", "message_effect_id": "5"}, "is not emulated"),
        ({"chat_id": 42, "text": "x", "parse_mode": "Fancy"}, "unsupported parse_mode"),
        (
            {"chat_id": 42, "text": "x", "link_preview_options": {"disabled": True}},
            'LinkPreviewOptions has no field "disabled"',
        ),
        (
            {"chat_id": 42, "text": "x", "reply_parameters": {"message_id": 999}},
            "message to be replied not found",
        ),
    ],
)
async def test_a_message_that_cannot_be_sent_is_refused(
    raw: Raw, params: dict[str, Any], complaint: str
) -> None:
    assert complaint in await raw.refusal("sendMessage", **params)


@pytest.mark.parametrize(
    ("button", "complaint"),
    [
        ({"text": "x"}, "Text buttons are unallowed in the inline keyboard"),
        ({"text": "x", "callback_data": ""}, "Text buttons are unallowed in the inline keyboard"),
        ({"text": "x", "callback_data": "é" * 33}, "BUTTON_DATA_INVALID"),
        ({"text": "x", "callback_data": "1", "url": "https://a.example"}, "exactly one kind"),
        ({"text": "x", "url": "http://localhost:80/"}, "is invalid: Wrong HTTP URL"),
        ({"text": "x", "pay": True}, "BUTTON_TYPE_INVALID"),
        ({"text": "x", "callback_data": "1", "style": "pink"}, "style must be"),
        ({"text": "x", "copy_text": {"text": "y" * 257}}, "BUTTON_COPY_TEXT_INVALID"),
        ({"text": "x", "color": "red", "callback_data": "1"}, "must be of type"),
    ],
)
async def test_a_button_that_cannot_be_is_refused(
    raw: Raw, button: dict[str, Any], complaint: str
) -> None:
    markup = {"inline_keyboard": [[button]]}
    refusal = await raw.refusal("sendMessage", chat_id=OWNER, text="x", reply_markup=markup)
    assert complaint in refusal


async def test_a_hundred_buttons_are_the_most(raw: Raw) -> None:
    row = [{"text": "x", "callback_data": "1"}]
    await raw.call(
        "sendMessage", chat_id=OWNER, text="x", reply_markup={"inline_keyboard": [row] * 100}
    )
    refusal = await raw.refusal(
        "sendMessage", chat_id=OWNER, text="x", reply_markup={"inline_keyboard": [row] * 101}
    )
    assert refusal == "Bad Request: reply markup is too long"


async def test_an_edit_that_changes_nothing_is_refused_word_for_word(raw: Raw) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="x", reply_markup=buttons("A"))
    same = {"chat_id": OWNER, "message_id": sent["message_id"], "reply_markup": buttons("A")}
    assert await raw.refusal("editMessageText", text="x ", **same) == NOT_MODIFIED
    assert await raw.refusal("editMessageReplyMarkup", **same) == NOT_MODIFIED


async def test_an_edit_without_a_keyboard_takes_the_keyboard_away(
    raw: Raw, emulator: Emulator
) -> None:
    sent = await raw.call("sendMessage", chat_id=OWNER, text="x", reply_markup=buttons("A"))
    await raw.call("editMessageText", chat_id=OWNER, message_id=sent["message_id"], text="x")
    shown = emulator.phone.message(sent["message_id"])
    assert shown is not None
    assert shown.labels == []
    assert shown.edited


async def test_a_message_that_cannot_be_edited_says_why(raw: Raw, emulator: Emulator) -> None:
    prompt = await raw.call(
        "sendMessage", chat_id=OWNER, text="?", reply_markup={"force_reply": True}
    )
    document = await raw.client.post(
        f"{raw.url}/sendDocument", data={"chat_id": OWNER}, files={"document": ("a.diff", b"+x")}
    )
    theirs = emulator.phone.send("mine")[0]

    async def refusal(message_id: int) -> str:
        return await raw.refusal(
            "editMessageText", chat_id=OWNER, message_id=message_id, text="new"
        )

    assert await refusal(999) == "Bad Request: message to edit not found"
    assert await refusal(prompt["message_id"]) == "Bad Request: message can't be edited"
    assert await refusal(theirs.id) == "Bad Request: message can't be edited"
    assert (
        await refusal(document.json()["result"]["message_id"])
        == "Bad Request: there is no text in the message to edit"
    )


async def test_a_message_can_be_deleted_for_48_hours(
    raw: Raw, emulator: Emulator, clock: Clock
) -> None:
    first = emulator.phone.send("a secret")[0]
    second = emulator.phone.send("another")[0]
    await raw.call("deleteMessage", chat_id=OWNER, message_id=first.id)
    gone = await raw.refusal("deleteMessage", chat_id=OWNER, message_id=first.id)
    assert gone == "Bad Request: message to delete not found"
    clock.pass_by(48 * 3600 + 1)
    late = await raw.refusal("deleteMessage", chat_id=OWNER, message_id=second.id)
    assert late == "Bad Request: message can't be deleted for everyone"


async def test_deleting_many_skips_what_is_missing(raw: Raw, emulator: Emulator) -> None:
    kept, gone = emulator.phone.send("a")[0], emulator.phone.send("b")[0]
    await raw.call("deleteMessages", chat_id=OWNER, message_ids=[gone.id, 999])
    assert emulator.phone.messages() == [kept]


async def test_a_reply_to_a_deleted_message_may_be_sent_without_it(raw: Raw) -> None:
    """BR-27"""
    reply = {"message_id": 999, "allow_sending_without_reply": True}
    sent = await raw.call("sendMessage", chat_id=OWNER, text="x", reply_parameters=reply)
    assert "reply_to_message" not in sent


async def test_a_blocked_bot_hears_so(raw: Raw, emulator: Emulator) -> None:
    emulator.phone.block()
    refusal = await raw.refusal("sendMessage", chat_id=OWNER, text="x")
    assert refusal == "Forbidden: bot was blocked by the user"
    updates = await raw.call("getUpdates")
    assert updates[-1]["my_chat_member"]["new_chat_member"]["status"] == "kicked"


async def test_who_only_spoke_in_a_group_cannot_be_written_to(raw: Raw, emulator: Emulator) -> None:
    group = emulator.phone.create_group("Team", members=(7,))
    emulator.phone.send("hello", chat_id=group, as_user=7)
    refusal = await raw.refusal("sendMessage", chat_id=7, text="x")
    assert refusal == "Forbidden: bot can't initiate conversation with a user"


async def test_an_upgraded_group_names_its_new_id(raw: Raw, emulator: Emulator) -> None:
    group = emulator.phone.create_group("Team")
    new = emulator.phone.upgrade_group(group)
    answer = (await raw.post("sendMessage", chat_id=group, text="x")).json()
    assert answer["parameters"] == {"migrate_to_chat_id": new}


async def test_pictures_are_looked_at(raw: Raw) -> None:
    async def refusal(data: bytes) -> str:
        answer = await raw.client.post(
            f"{raw.url}/sendPhoto", data={"chat_id": OWNER}, files={"photo": ("p.png", data)}
        )
        description: str = answer.json()["description"]
        return description

    assert await refusal(b"no picture") == "Bad Request: IMAGE_PROCESS_FAILED"
    assert await refusal(picture(9000, 2000)) == "Bad Request: PHOTO_INVALID_DIMENSIONS"
    assert await refusal(b"") == "Bad Request: file must be non-empty"


async def test_an_upload_over_50_mb_is_too_large(raw: Raw) -> None:
    answer = await raw.client.post(
        f"{raw.url}/sendDocument",
        data={"chat_id": OWNER},
        files={"document": ("big", bytes((50 << 20) + 1))},
    )
    assert answer.status_code == 413
    assert answer.json()["description"] == "Request Entity Too Large"


async def test_a_caption_holds_1024_units(raw: Raw) -> None:
    answer = await raw.client.post(
        f"{raw.url}/sendDocument",
        data={"chat_id": OWNER, "caption": "x" * 1025},
        files={"document": ("a.log", b"x")},
    )
    assert answer.json()["description"] == "Bad Request: message caption is too long"


async def test_a_file_nobody_refers_to_is_refused(raw: Raw) -> None:
    answer = await raw.client.post(
        f"{raw.url}/sendMessage",
        data={"chat_id": OWNER, "text": "x"},
        files={"document": ("a.log", b"x")},
    )
    assert "referred to by no parameter" in answer.json()["description"]


async def test_only_the_fixed_emoji_are_reactions(raw: Raw, emulator: Emulator) -> None:
    said = emulator.phone.send("hello")[0]

    async def react(emoji: str) -> dict[str, Any]:
        reaction = [{"type": "emoji", "emoji": emoji}]
        answer = await raw.post(
            "setMessageReaction", chat_id=OWNER, message_id=said.id, reaction=reaction
        )
        body: dict[str, Any] = answer.json()
        return body

    assert (await react("👀"))["ok"]
    assert (await react("✅"))["description"] == "Bad Request: REACTION_INVALID"
    shown = emulator.phone.message(said.id)
    assert shown is not None
    assert list(shown.reactions.values()) == ["👀"]
