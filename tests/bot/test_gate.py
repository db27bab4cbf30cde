"""Who may speak to us: everything else is silence. BR-122, and the impersonations of groups."""

from typing import Any

import pytest

from bot.gate import Allowed, Ignored, Left, Moved, Onlooker, Stranger, admit

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


HERE = frozenset({-100})


def test_in_an_allowed_group_an_owner_is_heard_and_others_are_not() -> None:
    assert admit(message(chat=GROUP), OWNERS, HERE) == Allowed(42, -100, "message")
    assert admit(message(chat=GROUP), OWNERS, HERE).in_group  # type: ignore[union-attr]
    assert admit(tap(ME, GROUP), OWNERS, HERE) == Allowed(42, -100, "callback_query")
    assert isinstance(admit(message(**{"from": OTHER, "chat": GROUP}), OWNERS, HERE), Ignored)
    theirs = tap(OTHER, GROUP)
    theirs["callback_query"]["id"] = "8"
    assert admit(theirs, OWNERS, HERE) == Onlooker("8")
    anonymous = message(**{"from": {"id": 1087968824}, "sender_chat": GROUP, "chat": GROUP})
    assert isinstance(admit(anonymous, OWNERS, HERE), Ignored)


def test_a_group_that_only_calls_itself_private_is_no_owner_s_chat() -> None:
    odd = message(chat={"id": -100, "type": "private"})
    assert not isinstance(admit(odd, OWNERS, HERE), Allowed)


def test_an_owner_s_code_is_heard_in_any_group_and_no_other_word() -> None:
    said = message(chat=GROUP, text="/start@our_bot abc")
    assert admit(said, OWNERS) == Allowed(42, -100, "message", knock=("abc", "our_bot"))
    for other in ({"from": OTHER}, {"forward_origin": {"type": "user"}}, {"text": "/start abc d"}):
        update = message(**{"chat": GROUP, "text": "/start@our_bot abc", **other})
        assert not isinstance(admit(update, OWNERS), Allowed)
    assert admit(message(text="/start abc"), OWNERS) == Allowed(42, 42, "message")


def member(who: dict[str, Any], status: str, **more: Any) -> dict[str, Any]:
    new = {"user": {"id": 7}, "status": status, **more}
    body = {"from": who, "chat": GROUP, "new_chat_member": new}
    return {"update_id": 1, "my_chat_member": body}


@pytest.mark.parametrize("who", [ME, OTHER])
def test_whoever_takes_us_out_of_an_allowed_group_we_are_out(who: dict[str, Any]) -> None:
    for out in (
        member(who, "kicked"),
        member(who, "left"),
        member(who, "restricted", is_member=False),
    ):
        assert admit(out, OWNERS, HERE) == Left(-100)
        assert isinstance(admit(out, OWNERS), Ignored)
    for within in (member(who, "administrator"), member(who, "restricted", is_member=True)):
        assert isinstance(admit(within, OWNERS, HERE), Ignored)


def test_an_allowed_group_is_known_by_its_new_number() -> None:
    new = {"id": -1007, "type": "supergroup"}
    for who in (ME, OTHER):
        there = message(**{"from": who, "chat": GROUP, "migrate_to_chat_id": -1007})
        here = message(**{"from": who, "chat": new, "migrate_from_chat_id": -100})
        for said in (there, here):
            assert admit(said, OWNERS, HERE) == Moved(-100, -1007)
            assert not isinstance(admit(said, OWNERS), Moved)


def test_a_group_we_were_put_in_is_left() -> None:
    for who in (ME, OTHER):
        update = {"update_id": 1, "my_chat_member": {"from": who, "chat": GROUP}}
        assert admit(update, OWNERS) == Stranger(who["id"], -100, leave=True)
        assert admit(message(**{"from": who, "chat": GROUP}), OWNERS) == Stranger(
            who["id"], -100, leave=True
        )


@pytest.mark.parametrize("mark", ["forward_origin", "via_bot", "is_automatic_forward"])
def test_words_of_others_are_marked(mark: str) -> None:
    """BR-124: forwarded text orders nothing."""
    verdict = admit(message(**{mark: {"type": "user"}}), OWNERS)
    assert verdict == Allowed(42, 42, "message", quoted=True)
