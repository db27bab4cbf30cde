"""The Bot API's methods by name: all the bot can ask for. server.py looks them up.

What sends or edits is in messages.py, topics in topics.py; the rest is here.
getUpdates waits, so server.py calls updates.py for it.
"""

import re
from collections.abc import Callable
from typing import Any

from bot.emulator import messages, topics, view
from bot.emulator.cloud import Cloud
from bot.emulator.refusal import bad, not_emulated
from bot.emulator.schema import Params, load
from bot.emulator.texts import units
from bot.emulator.world import CommandSet

ANSWERABLE_S = 15
DOWNLOAD_LIMIT = 20 << 20
LINK_LIFE_S = 3600
TYPING_S = 5
_ACTIONS = (
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
)
_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


def get_me(cloud: Cloud, params: Params) -> dict[str, Any]:
    return {
        **view.user(cloud.world.bot),
        "can_join_groups": True,
        "can_read_all_group_messages": False,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": cloud.threaded,
        "allows_users_to_create_topics": cloud.threaded and cloud.users_create_topics,
    }


def get_chat(cloud: Cloud, params: Params) -> dict[str, Any]:
    place = cloud.chat_for_bot(params["chat_id"])
    shown = view.chat(cloud.world, place) | {
        "accent_color_id": place.id % 7,
        "max_reaction_count": 11,
        "accepted_gift_types": {
            "unlimited_gifts": False,
            "limited_gifts": False,
            "unique_gifts": False,
            "premium_subscription": False,
            "gifts_from_channels": False,
        },
    }
    if place.pinned:
        shown["pinned_message"] = view.message(cloud.world, place.messages[place.pinned[-1]])
    return shown


def answer_callback_query(cloud: Cloud, params: Params) -> bool:
    tap = cloud.world.taps.get(params["callback_query_id"])
    if tap is None or tap.answered or cloud.clock() - tap.at > ANSWERABLE_S:
        raise bad(_TOO_OLD)
    if "url" in params:
        raise not_emulated("a tap answered with a url")
    if units(params.get("text", "")) > 200:
        raise bad("MESSAGE_TOO_LONG")
    tap.answered = True
    tap.answer = params.get("text", "")
    tap.alert = params.get("show_alert", False)
    cloud.changed()
    return True


def send_chat_action(cloud: Cloud, params: Params) -> bool:
    place = cloud.chat_for_bot(params["chat_id"])
    if params["action"] not in _ACTIONS:
        raise bad("wrong parameter action in request")
    thread = params.get("message_thread_id")
    if thread != 1:  # the typing sign alone may name General
        thread, _ = topics.target(cloud, place, thread)
    cloud.typing[place.id, thread] = (params["action"], cloud.clock() + TYPING_S)
    cloud.changed()
    return True


def set_message_reaction(cloud: Cloud, params: Params) -> bool:
    place = cloud.chat_for_bot(params["chat_id"])
    said = place.messages.get(params["message_id"])
    if said is None:
        raise bad("message to react not found")
    wanted = params.get("reaction", [])
    if len(wanted) > 1:
        raise bad("REACTIONS_TOO_MANY")
    reactions = {who: what for who, what in said.reactions.items() if who != cloud.world.bot.id}
    for reaction in wanted:
        emoji = reaction.get("emoji", "").replace("\ufe0f", "")
        if emoji not in load()["reactions"]:
            raise bad("REACTION_INVALID")
        reactions[cloud.world.bot.id] = emoji
    cloud.replace(said, reactions=reactions)
    return True


def pin_chat_message(cloud: Cloud, params: Params) -> bool:
    place = cloud.chat_for_bot(params["chat_id"])
    said = place.messages.get(params["message_id"])
    if said is None:
        raise bad("message to pin not found")
    if not (place.private or place.bot_is_admin):
        raise bad("not enough rights to manage pinned messages in the chat")
    if said.id in place.pinned:
        place.pinned.remove(said.id)
    place.pinned.append(said.id)
    line = {"pinned_message": view.message(cloud.world, said, reply=False)}
    cloud.serve(place, cloud.world.bot.id, line, thread=said.thread, in_topic=said.in_topic)
    return True


def leave_chat(cloud: Cloud, params: Params) -> bool:
    place = cloud.chat_for_bot(params["chat_id"])
    if place.private:
        raise bad("chat member status can't be changed in private chats")
    cloud.set_bot_status(place, "left", cloud.world.bot.id)
    return True


def set_my_commands(cloud: Cloud, params: Params) -> bool:
    scope = params.get("scope", {"type": "default"})
    if "chat_id" in scope:
        cloud.chat_for_bot(scope["chat_id"])
    commands = params["commands"]
    if len(commands) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not re.fullmatch(r"[a-z0-9_]{1,32}", command["command"]):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(command["description"].strip()) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    language = params.get("language_code", "")
    sets = cloud.world.commands
    sets[:] = [old for old in sets if (old.scope, old.language) != (scope, language)]
    sets.append(CommandSet(scope, language, commands))
    cloud.changed()
    return True


def get_file(cloud: Cloud, params: Params) -> dict[str, Any]:
    kept = cloud.stored(params["file_id"])
    if kept is None:
        raise bad("wrong file_id or the file is temporarily unavailable")
    if len(kept.data) > DOWNLOAD_LIMIT:
        raise bad("file is too big")
    path = f"{kept.file.kind}s/{kept.file.id}"
    cloud.world.links[path] = cloud.clock() + LINK_LIFE_S
    path = cloud.faults.file_path or path
    return {
        "file_id": params["file_id"],
        "file_unique_id": f"u{params['file_id']}",
        "file_size": len(kept.data) + cloud.faults.file_longer,
        "file_path": path,
    }


def get_webhook_info(cloud: Cloud, params: Params) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "url": cloud.faults.webhook,
        "has_custom_certificate": False,
        "pending_update_count": cloud.updates.count(),
    }
    if cloud.world.allowed:
        shown["allowed_updates"] = cloud.world.allowed
    return shown


def delete_webhook(cloud: Cloud, params: Params) -> bool:
    cloud.faults.webhook = ""
    if params.get("drop_pending_updates"):
        cloud.updates.clear()
    return True


METHODS: dict[str, Callable[[Cloud, Params], Any]] = {
    "answerCallbackQuery": answer_callback_query,
    "closeForumTopic": topics.close,
    "createForumTopic": topics.create,
    "deleteForumTopic": topics.delete,
    "deleteMessage": messages.delete,
    "deleteMessages": messages.delete_many,
    "deleteWebhook": delete_webhook,
    "editForumTopic": topics.edit,
    "editMessageReplyMarkup": messages.edit_markup,
    "editMessageText": messages.edit_text,
    "getChat": get_chat,
    "getFile": get_file,
    "getMe": get_me,
    "getWebhookInfo": get_webhook_info,
    "leaveChat": leave_chat,
    "pinChatMessage": pin_chat_message,
    "reopenForumTopic": topics.reopen,
    "sendChatAction": send_chat_action,
    "sendDocument": messages.send_document,
    "sendMessage": messages.send_text,
    "sendPhoto": messages.send_photo,
    "setMessageReaction": set_message_reaction,
    "setMyCommands": set_my_commands,
}
