"""Topics in a private chat and in a forum: where messages land, and what is refused."""

import httpx
import pytest

from bot.emulator import Emulator
from tests.bot.emulator.conftest import OWNER, TOKEN, Clock, Raw


@pytest.fixture
def topics(threaded: Emulator, client: httpx.AsyncClient) -> Raw:
    """Raw HTTP to the emulator with topics."""
    return Raw(client, threaded.url)


async def test_a_chat_without_topics_takes_none(raw: Raw) -> None:
    assert (await raw.call("getMe"))["has_topics_enabled"] is False
    refusal = await raw.refusal("createForumTopic", chat_id=OWNER, name="Cart")
    assert refusal == "Bad Request: the chat is not a forum"


async def test_a_message_goes_to_its_topic(topics: Raw, threaded: Emulator) -> None:
    assert (await topics.call("getMe"))["has_topics_enabled"] is True
    thread = (await topics.call("createForumTopic", chat_id=OWNER, name="Cart"))[
        "message_thread_id"
    ]
    sent = await topics.call("sendMessage", chat_id=OWNER, text="x", message_thread_id=thread)
    assert (sent["message_thread_id"], sent["is_topic_message"]) == (thread, True)
    assert threaded.phone.topic("Cart").id == thread
    assert [m.text for m in threaded.phone.from_bot(thread=thread)] == ["x"]


async def test_a_reply_in_a_topic_stays_there(topics: Raw, threaded: Emulator) -> None:
    thread = threaded.phone.create_topic("Cart")
    said = threaded.phone.send("hello", thread=thread)[0]
    reply = {"message_id": said.id}
    sent = await topics.call("sendMessage", chat_id=OWNER, text="x", reply_parameters=reply)
    assert sent["message_thread_id"] == thread


async def test_a_topic_somebody_deleted_is_noticed_at_the_next_send(
    topics: Raw, threaded: Emulator
) -> None:
    thread = threaded.phone.create_topic("Cart")
    await topics.call("getUpdates", offset=-1)
    threaded.phone.delete_topic(thread)
    assert len(await topics.call("getUpdates")) == 1  # nobody tells the bot
    refusal = await topics.refusal("sendMessage", chat_id=OWNER, text="x", message_thread_id=thread)
    assert refusal == "Bad Request: message thread not found"
    assert threaded.phone.messages() == []


async def test_a_send_into_a_deleted_topic_can_land_outside(
    topics: Raw, threaded: Emulator
) -> None:
    threaded.faults.misplace_topics = True
    sent = await topics.call("sendMessage", chat_id=OWNER, text="x", message_thread_id=77)
    assert "message_thread_id" not in sent


async def test_topics_are_renamed_and_deleted_with_all_in_them(
    topics: Raw, threaded: Emulator
) -> None:
    created = await topics.call("createForumTopic", chat_id=OWNER, name="Cart")
    where = {"chat_id": OWNER, "message_thread_id": created["message_thread_id"]}
    await topics.call("editForumTopic", name="Cart ✅", **where)
    refusal = await topics.refusal("editForumTopic", name="Cart ✅", **where)
    assert refusal == "Bad Request: TOPIC_NOT_MODIFIED"
    assert threaded.phone.topic("Cart ✅").id == created["message_thread_id"]
    await topics.call("deleteForumTopic", **where)
    assert threaded.phone.topics() == []
    assert threaded.phone.messages() == []
    assert await topics.refusal("deleteForumTopic", **where) == "Bad Request: TOPIC_ID_INVALID"


async def test_a_long_topic_name_is_cut_and_noted(topics: Raw, threaded: Emulator) -> None:
    created = await topics.call("createForumTopic", chat_id=OWNER, name="x" * 129)
    assert created["name"] == "x" * 128
    assert threaded.notes == ["a topic name of 129 characters is cut to 128"]
    assert "TOPIC_TITLE_EMPTY" in await topics.refusal("createForumTopic", chat_id=OWNER, name=" ")


async def test_private_topics_cannot_be_closed(topics: Raw, threaded: Emulator) -> None:
    thread = threaded.phone.create_topic("Cart")
    refusal = await topics.refusal("closeForumTopic", chat_id=OWNER, message_thread_id=thread)
    assert refusal == "Bad Request: the chat is not a supergroup forum"


async def test_general_must_not_be_named_in_a_forum(raw: Raw, emulator: Emulator) -> None:
    """BR-32"""
    forum = emulator.phone.create_group("Bridge", forum=True)
    refusal = await raw.refusal("sendMessage", chat_id=forum, text="x", message_thread_id=1)
    assert refusal == "Bad Request: message thread not found"
    sent = await raw.call("sendMessage", chat_id=forum, text="x")
    assert "message_thread_id" not in sent
    await raw.call("sendChatAction", chat_id=forum, action="typing", message_thread_id=1)


async def test_a_reply_in_general_carries_a_thread_that_is_no_topic(
    raw: Raw, emulator: Emulator
) -> None:
    """BR-31"""
    forum = emulator.phone.create_group("Bridge", forum=True)
    sent = await raw.call("sendMessage", chat_id=forum, text="x")
    card = emulator.phone.message(sent["message_id"], forum)
    assert card is not None
    emulator.phone.reply(card, "a goal")
    message = (await raw.call("getUpdates"))[-1]["message"]
    assert message["message_thread_id"] == card.id
    assert "is_topic_message" not in message
    refusal = await raw.refusal(
        "sendMessage", chat_id=forum, text="x", message_thread_id=message["message_thread_id"]
    )
    assert refusal == "Bad Request: message thread not found"


async def test_a_closed_topic_takes_only_administrators(raw: Raw, emulator: Emulator) -> None:
    forum = emulator.phone.create_group("Bridge", forum=True)
    thread = emulator.phone.create_topic("Cart", chat_id=forum)
    where = {"chat_id": forum, "message_thread_id": thread}
    await raw.call("closeForumTopic", **where)
    assert await raw.refusal("closeForumTopic", **where) == "Bad Request: TOPIC_NOT_MODIFIED"
    await raw.call("sendMessage", text="x", **where)
    await raw.call("reopenForumTopic", **where)
    emulator.phone.close_topic(thread, chat_id=forum)
    assert emulator.phone.topics(forum)[0].closed


async def test_a_plain_member_may_not_make_topics(raw: Raw, emulator: Emulator) -> None:
    forum = emulator.phone.create_group("Bridge", forum=True, admin=False)
    refusal = await raw.refusal("createForumTopic", chat_id=forum, name="Cart")
    assert refusal == "Bad Request: not enough rights to create a topic"


async def test_what_is_written_outside_opens_a_topic_where_people_may_make_them(
    clock: Clock, client: httpx.AsyncClient
) -> None:
    async with Emulator(
        token=TOKEN, owner_id=OWNER, threaded=True, users_create_topics=True, clock=clock
    ) as emulator:
        raw = Raw(client, emulator.url)
        emulator.phone.send("add a cart")
        created, said = await raw.call("getUpdates")
        assert created["message"]["forum_topic_created"]["is_name_implicit"] is True
        assert said["message"]["message_thread_id"] == created["message"]["message_id"]
        assert (await raw.call("getMe"))["allows_users_to_create_topics"] is True
