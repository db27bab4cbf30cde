"""Who may speak to us: everything else is silence. BR-122, and the impersonations of groups."""

from typing import Any

import pytest

from bot.gate import Allowed, Ignored, Stranger, admit

OWNERS = frozenset({42})
PRIVATE = {"id": 42, "type": "private"}
GROUP = {"id": -100, "type": "supergroup"}
ME: dict[str, Any] = {"id": 42, "first_name": "O"}
OTHER: dict[str, Any] = {"id": 666, "first_name": "O"}


def message(**more: Any) -> dict[str, Any]:
    return {"update_id": 1, "message": {"from": ME, "chat": PRIVATE, "text": "hi", **more}}


def tap(who: dict[str, Any], chat: dict[str, Any] | None) -> dict[str, Any]:
    said = {"message": {"chat": chat, "message_id": 1}} if chat else {}
    return {"update_id": 1, "callback_query": {"from": who, "data": "c:a-1:r:allow", **said}}


def test_the_owner_in_the_private_chat_is_heard() -> None:
    assert admit(message(), OWNERS) == Allowed(42, 42, "message")
    assert admit(tap(ME, PRIVATE), OWNERS) == Allowed(42, 42, "callback_query")


@pytest.mark.parametrize(
    "update",
    [
        message(**{"from": OTHER, "chat": {"id": 666, "type": "private"}}),
        message(**{"from": {"id": "42"}}),
        message(**{"from": {"id": True}}),
        message(**{"from": {}}),
        message(**{"from": None}),
        message(chat=GROUP),
        message(sender_chat={"id": -100}, chat=GROUP),
        message(**{"from": {"id": 1087968824}, "chat": GROUP}),
        tap(OTHER, PRIVATE),
        tap(OTHER, GROUP),
        tap(ME, GROUP),
        {"update_id": 1, "channel_post": {"chat": GROUP, "text": "hi"}},
        {"update_id": 1, "message": "hi"},
        {"update_id": 1},
    ],
)
def test_nobody_else_is(update: dict[str, Any]) -> None:
    assert not isinstance(admit(update, OWNERS), Allowed)


def test_with_no_owners_nobody_is_heard() -> None:
    """BR-122."""
    assert admit(message(), frozenset()) == Stranger(42, 42)


def test_in_the_paired_group_the_owner_is_heard_and_others_are_not() -> None:
    assert admit(message(chat=GROUP), OWNERS, group=-100) == Allowed(42, -100, "message")
    assert admit(tap(OTHER, GROUP), OWNERS, group=-100) == Stranger(666, -100)
    anonymous = message(**{"from": {"id": 1087968824}, "sender_chat": GROUP, "chat": GROUP})
    assert isinstance(admit(anonymous, OWNERS, group=-100), Ignored)


def test_a_group_we_were_put_in_is_left() -> None:
    for who in (ME, OTHER):
        update = {"update_id": 1, "my_chat_member": {"from": who, "chat": GROUP}}
        assert admit(update, OWNERS) == Stranger(who["id"], -100, leave=True)


@pytest.mark.parametrize("mark", ["forward_origin", "via_bot", "is_automatic_forward"])
def test_words_of_others_are_marked(mark: str) -> None:
    """BR-124: forwarded text orders nothing."""
    verdict = admit(message(**{mark: {"type": "user"}}), OWNERS)
    assert verdict == Allowed(42, 42, "message", quoted=True)
