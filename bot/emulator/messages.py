"""The bot's messages: send, edit, delete, with every check the real server makes."""

import struct
from typing import Any

from bot.emulator import keyboards, topics, view
from bot.emulator.cloud import Cloud
from bot.emulator.refusal import Refusal, bad, not_emulated
from bot.emulator.schema import Params, Upload
from bot.emulator.texts import (
    CAPTION_LIMIT,
    TEXT_LIMIT,
    Entity,
    formatted,
    is_blank,
    units,
)
from bot.emulator.world import SERVICE, Chat, File, Message

DELETABLE_S = 48 * 3600
PHOTO_LIMIT = 10 << 20
_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the "
    "same as a current content and reply markup of the message"
)


def send_text(cloud: Cloud, params: Params) -> dict[str, Any]:
    """sendMessage."""
    place = cloud.chat_for_bot(params["chat_id"])
    text, entities = _text(cloud, params, "entities")
    return _send(cloud, place, params, text=text, entities=entities, preview=_preview(params))


def send_document(cloud: Cloud, params: Params) -> dict[str, Any]:
    """sendDocument."""
    place = cloud.chat_for_bot(params["chat_id"])
    kept = _file(cloud, params["document"], "document")
    text, entities = _caption(cloud, params)
    return _send(cloud, place, params, kind="document", file=kept, text=text, entities=entities)


def send_photo(cloud: Cloud, params: Params) -> dict[str, Any]:
    """sendPhoto."""
    place = cloud.chat_for_bot(params["chat_id"])
    kept = _file(cloud, params["photo"], "photo")
    text, entities = _caption(cloud, params)
    return _send(cloud, place, params, kind="photo", file=kept, text=text, entities=entities)


def edit_text(cloud: Cloud, params: Params) -> dict[str, Any]:
    """editMessageText. Without `reply_markup` the keyboard goes."""
    said = _editable(cloud, params)
    if "text" not in params:
        raise bad("message text is empty")
    if said.kind != "text":
        raise bad("there is no text in the message to edit")
    text, entities = _text(cloud, params, "entities")
    markup = _inline(cloud, params, said)
    if (text, entities, markup) == (said.text, said.entities, said.markup):
        raise bad(_NOT_MODIFIED)
    after = cloud.replace(
        said,
        text=text,
        entities=entities,
        markup=markup,
        preview=_preview(params),
        edited_at=cloud.now,
    )
    return view.message(cloud.world, after)


def edit_markup(cloud: Cloud, params: Params) -> dict[str, Any]:
    """editMessageReplyMarkup."""
    said = _editable(cloud, params)
    markup = _inline(cloud, params, said)
    if markup == said.markup:
        raise bad(_NOT_MODIFIED)
    after = cloud.replace(said, markup=markup, edited_at=cloud.now)
    return view.message(cloud.world, after)


def delete(cloud: Cloud, params: Params) -> bool:
    """deleteMessage."""
    place = cloud.chat_for_bot(params["chat_id"])
    said = place.messages.get(params["message_id"])
    if said is None:
        raise bad("message to delete not found")
    failure = _undeletable(cloud, place, said)
    if failure is not None:
        raise failure
    cloud.remove(place, [said.id])
    return True


def delete_many(cloud: Cloud, params: Params) -> bool:
    """deleteMessages: what is missing or may not go is skipped."""
    place = cloud.chat_for_bot(params["chat_id"])
    wanted = params["message_ids"]
    if not 1 <= len(wanted) <= 100:
        raise bad("[emulator] message_ids must hold 1-100 ids")
    found = [place.messages[number] for number in wanted if number in place.messages]
    cloud.remove(place, [said.id for said in found if _undeletable(cloud, place, said) is None])
    return True


def _send(cloud: Cloud, place: Chat, params: Params, **content: Any) -> dict[str, Any]:
    answered, quote = _answered(cloud, place, params)
    thread, in_topic = topics.target(cloud, place, params.get("message_thread_id"))
    if thread is None and answered is not None:
        thread, in_topic = answered.thread, answered.in_topic
    said = cloud.post(
        place,
        sender=cloud.world.bot.id,
        from_bot=True,
        markup=keyboards.check(params.get("reply_markup"), cloud.note),
        silent=params.get("disable_notification", False),
        protected=params.get("protect_content", False),
        thread=thread,
        in_topic=in_topic,
        reply_to=None if answered is None else answered.id,
        quote=quote,
        **content,
    )
    return view.message(cloud.world, said)


def _answered(cloud: Cloud, place: Chat, params: Params) -> tuple[Message | None, str]:
    """Return the message a new one replies to, and the words it quotes."""
    reply = params.get("reply_parameters")
    if reply is None and "reply_to_message_id" in params:
        reply = {
            "message_id": params["reply_to_message_id"],
            "allow_sending_without_reply": params.get("allow_sending_without_reply", False),
        }
    if reply is None:
        return None, ""
    for field in set(reply) - {"message_id", "chat_id", "allow_sending_without_reply", "quote"}:
        if field != "quote_position":
            raise not_emulated(f"reply_parameters.{field}")
    if reply.get("chat_id", place.id) != place.id:
        raise not_emulated("a reply to another chat")
    original = place.messages.get(reply.get("message_id", 0))
    if original is None:
        if reply.get("allow_sending_without_reply"):
            return None, ""
        raise bad("message to be replied not found")
    quote = reply.get("quote", "")
    if quote not in original.text:
        raise bad("QUOTE_TEXT_INVALID")
    return original, quote


def _editable(cloud: Cloud, params: Params) -> Message:
    if "chat_id" not in params:
        raise bad("chat_id is empty")
    place = cloud.chat_for_bot(params["chat_id"])
    if "message_id" not in params:
        raise bad("message identifier is not specified")
    said = place.messages.get(params["message_id"])
    if said is None:
        raise bad("message to edit not found")
    keyboard = said.markup is None or "inline_keyboard" in said.markup
    if not said.from_bot or said.kind == SERVICE or not keyboard:
        raise bad("message can't be edited")
    return said


def _inline(cloud: Cloud, params: Params, said: Message) -> dict[str, Any] | None:
    """Return the keyboard after an edit; whether it asked for a reply stays as it was."""
    markup = keyboards.check(params.get("reply_markup"), cloud.note)
    if markup is None or "inline_keyboard" not in markup:
        return None
    asked = (said.markup or {}).get("force_reply")
    if markup.get("force_reply") != asked:
        cloud.note("an edit cannot change force_reply")
    rest = {name: value for name, value in markup.items() if name != "force_reply"}
    return rest if asked is None else {**rest, "force_reply": asked}


def _undeletable(cloud: Cloud, place: Chat, said: Message) -> Refusal | None:
    if "forum_topic_created" in said.service:
        return bad("message can't be deleted")
    if cloud.now - said.date > DELETABLE_S and not place.bot_is_admin:
        return bad("message can't be deleted for everyone")
    if not (place.private or said.from_bot or place.bot_is_admin):
        return bad("message can't be deleted")
    return None


def _text(cloud: Cloud, params: Params, field: str) -> tuple[str, list[Entity]]:
    if not params["text"]:
        raise bad("message text is empty")
    text, entities = formatted(
        params["text"], params.get(field), params.get("parse_mode", ""), cloud.note
    )
    if is_blank(text):
        raise bad("text must be non-empty")
    if units(text) > TEXT_LIMIT:
        raise bad("message is too long")
    return text, entities


def _caption(cloud: Cloud, params: Params) -> tuple[str, list[Entity]]:
    text, entities = formatted(
        params.get("caption", ""),
        params.get("caption_entities"),
        params.get("parse_mode", ""),
        cloud.note,
    )
    if units(text) > CAPTION_LIMIT:
        raise bad("message caption is too long")
    return text, entities


def _preview(params: Params) -> dict[str, Any] | None:
    if params.get("disable_web_page_preview"):
        return {"is_disabled": True}
    preview: dict[str, Any] | None = params.get("link_preview_options")
    return preview


def _file(cloud: Cloud, given: Upload | str, kind: str) -> File:
    """Return the file to send: one uploaded now, or one Telegram has already."""
    if isinstance(given, str):
        kept = cloud.stored(given)
        if kept is None:
            raise bad("wrong file identifier/HTTP URL specified")
        if kept.file.kind != kind:
            raise bad(f"can't use file of type {kept.file.kind.title()} as {kind.title()}")
        return kept.file
    if not given.data:
        raise bad("file must be non-empty")
    if kind == "document":
        return cloud.keep_file(kind, given.name, given.mime, given.data)
    if len(given.data) > PHOTO_LIMIT:
        raise bad("file is too big")
    return cloud.keep_file(kind, given.name, given.mime, given.data, picture_size(given.data))


def picture_size(data: bytes) -> tuple[int, int]:
    """Return width and height of a PNG or JPEG that Telegram would take as a photo."""
    width, height = _png(data) or _jpeg(data) or (0, 0)
    if not (width and height):
        raise bad("IMAGE_PROCESS_FAILED")
    if width + height > 10_000 or max(width, height) > 20 * min(width, height):
        raise bad("PHOTO_INVALID_DIMENSIONS")
    return width, height


def _png(data: bytes) -> tuple[int, int] | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = struct.unpack(">BH", data[at + 1 : at + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
