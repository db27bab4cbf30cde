"""The world as the Bot API shows it: our structs to its JSON objects. Pure."""

from typing import Any

from bot.emulator.updates import MESSAGE_LIFE_S
from bot.emulator.world import OTHERS, SERVICE, Chat, File, Message, Tap, User, World

ANONYMOUS_ADMIN = User(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
_RIGHTS = (
    "can_be_edited",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
    "can_send_welcome_messages",
)
SMALL_BYTES = 2000  # of a photo's small size
_WITHHELD = ("can_be_edited", "can_promote_members")


def user(person: User) -> dict[str, Any]:
    """Return a User object."""
    shown: dict[str, Any] = {
        "id": person.id,
        "is_bot": person.is_bot,
        "first_name": person.first_name,
    }
    if person.username:
        shown["username"] = person.username
    return shown


def chat(world: World, place: Chat) -> dict[str, Any]:
    """Return a Chat object."""
    shown: dict[str, Any] = {"id": place.id, "type": place.kind}
    if place.private:
        person = world.users[place.id]
        shown["first_name"] = person.first_name
        if person.username:
            shown["username"] = person.username
    else:
        shown["title"] = place.title
    if place.forum:
        shown["is_forum"] = True
    return shown


def message(world: World, said: Message, *, reply: bool = True) -> dict[str, Any]:
    """Return a Message object; `reply` tells whether to show what it answers."""
    place = world.chats[said.chat_id]
    shown: dict[str, Any] = {
        "message_id": said.id,
        "date": said.date,
        "chat": chat(world, place),
    }
    shown |= _sender(world, place, said) | _thread(said) | _content(said)
    if said.edited:
        shown["edit_date"] = said.edited_at
    if said.protected:
        shown["has_protected_content"] = True
    if said.album:
        shown["media_group_id"] = said.album
    if said.forwarded_from:
        shown["forward_origin"] = {
            "type": "hidden_user",
            "sender_user_name": said.forwarded_from,
            "date": said.date,
        }
    if said.from_bot and said.markup and "inline_keyboard" in said.markup:
        shown["reply_markup"] = said.markup
    if reply:
        shown |= _reply(world, place, said)
    return shown


def _sender(world: World, place: Chat, said: Message) -> dict[str, Any]:
    if said.from_bot:
        return {"from": user(world.bot)}
    if said.anonymous:
        return {"from": user(ANONYMOUS_ADMIN), "sender_chat": chat(world, place)}
    return {"from": user(world.users[said.sender])}


def _thread(said: Message) -> dict[str, Any]:
    if said.thread is None:
        return {}
    shown: dict[str, Any] = {"message_thread_id": said.thread}
    if said.in_topic:
        shown["is_topic_message"] = True
    return shown


def _content(said: Message) -> dict[str, Any]:
    match said.kind:
        case "text":
            shown: dict[str, Any] = {"text": said.text}
            if said.entities:
                shown["entities"] = said.entities
            if said.preview:
                shown["link_preview_options"] = said.preview
            return shown
        case "service":
            return dict(said.service)
    if said.kind in OTHERS:
        shown = {said.kind: dict(OTHERS[said.kind])}
    else:
        assert said.file is not None  # every other kind carries one
        name = "photo" if said.kind == "photo" else "document"
        shown = {name: photo(said.file) if name == "photo" else file(said.file)}
    if said.text:
        shown["caption"] = said.text
    if said.entities:
        shown["caption_entities"] = said.entities
    return shown


def _reply(world: World, place: Chat, said: Message) -> dict[str, Any]:
    """Return what it answers; in a forum's topic, at least the line that opened it."""
    answered = said.reply_to
    if answered is None and said.in_topic and place.forum and said.kind != SERVICE:
        answered = said.thread
    original = place.messages.get(answered) if answered is not None else None
    if original is None:
        return {}
    shown: dict[str, Any] = {"reply_to_message": message(world, original, reply=False)}
    if said.quote:
        position = max(0, original.text.find(said.quote))
        shown["quote"] = {"text": said.quote, "position": position, "is_manual": True}
    return shown


def file(kept: File) -> dict[str, Any]:
    """Return a Document object."""
    return {
        "file_id": kept.id,
        "file_unique_id": f"u{kept.id}",
        "file_name": kept.name,
        "mime_type": kept.mime,
        "file_size": kept.size,
    }


def photo(kept: File) -> list[dict[str, Any]]:
    """Return the sizes of a photo, the best one last."""
    sizes = []
    for suffix, longest in (("-s", 90), ("", max(kept.width, kept.height))):
        scale = min(1.0, longest / max(kept.width, kept.height))
        sizes.append(
            {
                "file_id": f"{kept.id}{suffix}",
                "file_unique_id": f"u{kept.id}{suffix}",
                "width": max(1, int(kept.width * scale)),
                "height": max(1, int(kept.height * scale)),
                "file_size": kept.size if not suffix else min(kept.size, SMALL_BYTES),
            }
        )
    return sizes


def callback_query(world: World, tap: Tap, now: float) -> dict[str, Any]:
    """Return a CallbackQuery object; what is too old or gone is shown by its id alone."""
    place = world.chats[tap.chat_id]
    pressed = place.messages.get(tap.message_id)
    if pressed is None or now - pressed.date > MESSAGE_LIFE_S * 2:
        shown: dict[str, Any] = {
            "chat": chat(world, place),
            "message_id": tap.message_id,
            "date": 0,
        }
    else:
        shown = message(world, pressed)
    return {
        "id": tap.id,
        "from": user(world.users[tap.user]),
        "message": shown,
        "chat_instance": str(abs(tap.chat_id) * 7919),
        "data": tap.data,
    }


def bot_membership(world: World, status: str) -> dict[str, Any]:
    """Return a ChatMember object for the bot."""
    shown: dict[str, Any] = {"user": user(world.bot), "status": status}
    if status == "kicked":
        shown["until_date"] = 0
    if status == "administrator":
        shown["is_anonymous"] = False
        shown |= {right: right not in _WITHHELD for right in _RIGHTS}
    return shown
