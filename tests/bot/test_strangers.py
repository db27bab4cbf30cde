"""Each way to pass for an owner, a line: what comes of it is nothing, or words marked as another's."""

from __future__ import annotations

from typing import Any

import pytest

from bot.gate import Allowed, Ignored, Onlooker, Stranger, admit, pressed_start

OWNERS = frozenset({42, 43})
OWNER: dict[str, Any] = {"id": 42, "first_name": "The owner", "username": "the_owner"}
EVE: dict[str, Any] = {"id": 666, "first_name": "The owner", "username": "the_owner"}
PRIVATE = {"id": 42, "type": "private"}
EVES = {"id": 666, "type": "private"}
GROUP = {"id": -100, "type": "supergroup", "title": "The owner"}
CHANNEL = {"id": -200, "type": "channel", "title": "The owner"}

Update = dict[str, Any]


def message(kind: Any = "message", /, **body: Any) -> Update:
    return {"update_id": 1, kind: {"from": OWNER, "chat": PRIVATE, "text": "/stop all", **body}}


def tap(who: dict[str, Any], **body: Any) -> Update:
    return {"update_id": 1, "callback_query": {"from": who, "data": "c:a-1:r:allow", **body}}


SILENCE: dict[str, Update] = {
    "a username that changed hands": message(**{"from": EVE, "chat": EVES}),
    "a stranger in a private chat that claims to be the owner's": message(**{"from": EVE}),
    "a stranger who edits": message("edited_message", **{"from": EVE, "chat": EVES}),
    "a stranger in a group named like the owner": message(**{"from": EVE, "chat": GROUP}),
    "an owner in a group that was not paired": message(chat=GROUP),
    "an owner in another owner's private chat": message(chat={"id": 43, "type": "private"}),
    "a chat that only calls itself private": message(chat={"id": -100, "type": "private"}),
    "an anonymous administrator": message(
        **{"from": {"id": 1087968824, "is_bot": True}, "sender_chat": GROUP, "chat": GROUP}
    ),
    "an owner's number that speaks as a group": message(sender_chat=GROUP, chat=GROUP),
    "an owner's number that speaks as a channel, in private": message(sender_chat=CHANNEL),
    "a channel's stand-in": message(**{"from": {"id": 136817688}, "sender_chat": CHANNEL}),
    "Telegram's own, for an automatic forward": message(
        **{"from": {"id": 777000}, "sender_chat": CHANNEL, "is_automatic_forward": True}
    ),
    "a channel post": {"update_id": 1, "channel_post": {"chat": CHANNEL, "text": "/stop all"}},
    "an edited channel post": {"update_id": 1, "edited_channel_post": {"chat": CHANNEL}},
    "an inline question": {"update_id": 1, "inline_query": {"from": OWNER, "query": "x"}},
    "another bot": message(**{"from": {"id": 555, "is_bot": True}, "chat": EVES}),
    "a stranger's tap in the owner's chat": tap(EVE, message={"chat": PRIVATE}),
    "a stranger's tap in a group": tap(EVE, message={"chat": GROUP}),
    "a stranger's tap on an inline message": tap(EVE, inline_message_id="x"),
    "an owner's tap in a group that was not paired": tap(OWNER, message={"chat": GROUP}),
    "a reaction": {"update_id": 1, "message_reaction": {"user": OWNER, "chat": PRIVATE}},
    "an owner's number as text": message(**{"from": {"id": "42"}}),
    "an owner's number as a fraction": message(**{"from": {"id": 42.0}}),
    "no sender": message(**{"from": None}),
    "a list of senders": message(**{"from": [OWNER]}),
    "two kinds at once, the first a stranger's": {
        **message(**{"from": EVE, "chat": EVES}),
        **tap(OWNER, message={"chat": PRIVATE}),
    },
}


@pytest.mark.parametrize("update", SILENCE.values(), ids=SILENCE)
@pytest.mark.parametrize("groups", [frozenset[int](), frozenset({-300})])
def test_it_is_not_heard(update: Update, groups: frozenset[int]) -> None:
    assert isinstance(admit(update, OWNERS, groups), Stranger | Ignored)


IN_GROUP: dict[str, Update] = {
    "another member": message(**{"from": EVE, "chat": GROUP}),
    "another member who sends the code": message(
        **{"from": EVE, "chat": GROUP, "text": "/start@our_bot abc"}
    ),
    "another member who edits": message("edited_message", **{"from": EVE, "chat": GROUP}),
    "an anonymous administrator": message(
        **{"from": {"id": 1087968824, "is_bot": True}, "sender_chat": GROUP, "chat": GROUP}
    ),
    "an owner who speaks as the group": message(sender_chat=GROUP, chat=GROUP),
    "a channel that is linked to it": message(
        **{"from": {"id": 777000}, "sender_chat": CHANNEL, "chat": GROUP}
    ),
    "another bot": message(**{"from": {"id": 555, "is_bot": True}, "chat": GROUP}),
    "another member's tap": tap(EVE, id="1", message={"chat": GROUP}),
}


@pytest.mark.parametrize("update", IN_GROUP.values(), ids=IN_GROUP)
def test_in_an_allowed_group_it_is_not_heard_either(update: Update) -> None:
    verdict = admit(update, OWNERS, frozenset({-100}))
    assert isinstance(verdict, Ignored | Onlooker)


MARKED = {
    "forwarded": {"forward_origin": {"type": "user", "sender_user": EVE}},
    "forwarded from a channel": {"forward_origin": {"type": "channel", "chat": CHANNEL}},
    "forwarded from one who hides": {"forward_origin": {"type": "hidden_user"}},
    "made by another bot": {"via_bot": {"id": 555, "is_bot": True}},
    "forwarded by Telegram": {"is_automatic_forward": True},
}


@pytest.mark.parametrize("body", MARKED.values(), ids=MARKED)
def test_words_of_another_are_marked_as_theirs(body: dict[str, Any]) -> None:
    assert admit(message(**body), OWNERS) == Allowed(42, 42, "message", quoted=True)


@pytest.mark.parametrize("body", MARKED.values(), ids=MARKED)
def test_nobody_is_let_in_by_words_of_another(body: dict[str, Any]) -> None:
    start = {"from": EVE, "chat": EVES, "text": "/start abc"}
    assert pressed_start(message(**start)) == (666, "abc")
    assert pressed_start(message(**start, **body)) is None


@pytest.mark.parametrize(
    "body",
    [
        {"chat": GROUP},
        {"chat": PRIVATE},
        {"sender_chat": GROUP},
        {"from": {"id": 666, "is_bot": True}},
        {"from": {"id": 1087968824}, "chat": {"id": 1087968824, "type": "private"}},
        {"text": "/start abc and more"},
        {"text": "/start"},
    ],
)
def test_a_link_is_pressed_by_a_person_in_their_own_chat_alone(body: dict[str, Any]) -> None:
    start = {"from": EVE, "chat": EVES, "text": "/start abc"}
    assert pressed_start(message(**{**start, **body})) is None


def test_both_owners_are_heard_each_in_their_own_chat() -> None:
    other = {"id": 43, "type": "private"}
    assert admit(message(), OWNERS) == Allowed(42, 42, "message")
    assert admit(message(**{"from": {"id": 43}, "chat": other}), OWNERS) == Allowed(
        43, 43, "message"
    )
