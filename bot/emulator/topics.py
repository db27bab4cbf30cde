"""Topics: where a message goes, and the bot's methods on topics themselves.

A supergroup's General topic is addressed by leaving the id out; sending its id is an
error. A topic that a person deleted is only noticed here, at the next send.
"""

from typing import Any

from bot.emulator.cloud import Cloud
from bot.emulator.refusal import bad
from bot.emulator.schema import Params
from bot.emulator.world import GENERAL, Chat, Topic

NAME_LIMIT = 128
COLORS = (0x6FB9F0, 0xFFD67E, 0xCB86DB, 0x8EEE98, 0xFF93B2, 0xFB6F5F)


def has_topics(cloud: Cloud, place: Chat) -> bool:
    """Return whether the chat is divided into topics."""
    return cloud.threaded if place.private else place.forum


def target(cloud: Cloud, place: Chat, thread: int | None) -> tuple[int | None, bool]:
    """Return the thread a bot's message gets, and whether that is a topic.

    raises  Refusal "message thread not found", or TOPIC_CLOSED
    """
    if thread is None:
        return None, False
    if has_topics(cloud, place):
        topic = place.topics.get(thread)
        if topic is None and cloud.faults.misplace_topics:
            return None, False
        if topic is None or thread == GENERAL:
            raise bad("message thread not found")
        if topic.closed and not place.bot_is_admin:
            raise bad("TOPIC_CLOSED")
        return thread, True
    if place.kind == "supergroup" and thread in place.messages:
        return thread, False
    raise bad("message thread not found")


def create(cloud: Cloud, params: Params) -> dict[str, Any]:
    """createForumTopic."""
    place = _divided(cloud, params)
    name = _name(cloud, params["name"])
    if not name:
        raise bad("TOPIC_TITLE_EMPTY")
    color = params.get("icon_color", COLORS[0])
    if color not in COLORS:
        raise bad("[emulator] icon_color must be one of the six")
    topic = open_topic(cloud, place, cloud.world.bot.id, name, color)
    topic.icon = params.get("icon_custom_emoji_id", "")
    return {"message_thread_id": topic.id, "name": name, "icon_color": color}


def open_topic(
    cloud: Cloud,
    place: Chat,
    creator: int,
    name: str,
    color: int = COLORS[0],
    *,
    implicit: bool = False,
) -> Topic:
    """Make a topic; the line that says so lends it its id."""
    service: dict[str, Any] = {"name": name, "icon_color": color}
    if implicit:
        service["is_name_implicit"] = True
    line = cloud.serve(place, creator, {"forum_topic_created": service})
    cloud.replace(line, thread=line.id, in_topic=True)
    topic = Topic(line.id, name, color, by_bot=creator == cloud.world.bot.id)
    place.topics[topic.id] = topic
    return topic


def edit(cloud: Cloud, params: Params) -> bool:
    """editForumTopic."""
    place, topic = _topic(cloud, params)
    name = _name(cloud, params.get("name", "")) or topic.name
    icon = params.get("icon_custom_emoji_id", topic.icon)
    if (name, icon) == (topic.name, topic.icon):
        raise bad("TOPIC_NOT_MODIFIED")
    topic.name, topic.icon = name, icon
    _line(cloud, place, topic, {"forum_topic_edited": {"name": name}})
    return True


def delete(cloud: Cloud, params: Params) -> bool:
    """deleteForumTopic."""
    remove(cloud, *_topic(cloud, params))
    return True


def remove(cloud: Cloud, place: Chat, topic: Topic) -> None:
    """Take a topic away with all its messages."""
    del place.topics[topic.id]
    inside = [m.id for m in place.messages.values() if m.in_topic and m.thread == topic.id]
    cloud.remove(place, inside)


def close(cloud: Cloud, params: Params) -> bool:
    """closeForumTopic."""
    return _set_closed(cloud, params, True)


def reopen(cloud: Cloud, params: Params) -> bool:
    """reopenForumTopic."""
    return _set_closed(cloud, params, False)


def _set_closed(cloud: Cloud, params: Params, closed: bool) -> bool:
    if not cloud.chat_for_bot(params["chat_id"]).forum:
        raise bad("the chat is not a supergroup forum")
    place, topic = _topic(cloud, params)
    if topic.closed == closed:
        raise bad("TOPIC_NOT_MODIFIED")
    topic.closed = closed
    _line(cloud, place, topic, {f"forum_topic_{'closed' if closed else 'reopened'}": {}})
    return True


def _line(cloud: Cloud, place: Chat, topic: Topic, service: dict[str, Any]) -> None:
    cloud.serve(place, cloud.world.bot.id, service, thread=topic.id, in_topic=True)


def _divided(cloud: Cloud, params: Params) -> Chat:
    place = cloud.chat_for_bot(params["chat_id"])
    if not has_topics(cloud, place):
        raise bad("the chat is not a forum")
    if not place.private and not place.bot_is_admin:
        raise bad("not enough rights to create a topic")
    return place


def _topic(cloud: Cloud, params: Params) -> tuple[Chat, Topic]:
    place = _divided(cloud, params)
    topic = place.topics.get(params["message_thread_id"])
    if topic is None:
        raise bad("TOPIC_ID_INVALID")
    return place, topic


def _name(cloud: Cloud, name: str) -> str:
    if len(name) > NAME_LIMIT:
        cloud.note(f"a topic name of {len(name)} characters is cut to {NAME_LIMIT}")
    return " ".join(name.split())[:NAME_LIMIT]
