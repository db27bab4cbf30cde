"""Several owners: let in by a link, each with the cards of their own goals, taken out again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.emulator import Message
from engine.asker import Asker, on_behalf_of
from engine.errors import Refused
from engine.rules import owner as owner_rule
from engine.rules.events import OwnerInvited, OwnerJoined, OwnerLeft
from engine.rules.owner import Owner
from engine.rules.owners import NEW_S
from tests.engine.chat import LIMIT_S, OWNER, Chat, chatting
from tests.engine.test_audit import audited, begun, laid

ANN = 77
EVE = 99


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    laid(tmp_path)
    async with chatting(tmp_path, scenario=str(tmp_path / "scenario.json")) as chat:
        yield chat


async def in_chat_of(chat: Chat, who: int, *words: str, label: str = "") -> Message:
    def fits(message: Message) -> bool:
        there = all(part in message.text for part in words)
        return message.from_bot and there and (not label or label in message.labels)

    return await chat.phone.wait_for(fits, chat_id=who, timeout=LIMIT_S)


async def invited(chat: Chat) -> str:
    settings = await chat.sent("/settings", "New goals begin with", label="Owners")
    page = await chat.tapped(settings, "Owners", "Owners", "of the box", label="Add")
    shown = await chat.tapped(page, "Add", "works once, for 10 minutes", label="Back")
    return shown.text.partition("?start=")[2].split()[0]


async def joined(chat: Chat) -> None:
    code = await invited(chat)
    chat.phone.start("not-it", as_user=EVE)  # nobody is answered who guesses
    chat.phone.start(code, as_user=ANN)
    await in_chat_of(chat, ANN, "You command this box now")
    await chat.until(f"Telegram id {ANN}", "commands here too from now on")
    chat.phone.start(code, as_user=EVE)  # it works once
    assert [one.id for one in chat.engine.door.owners()] == [OWNER, ANN]
    await chat.phone.until(lambda: "status" in chat.phone.commands(ANN))  # and is shown what to say


async def test_a_link_lets_one_more_in_once_and_a_goal_is_in_the_chat_of_who_gave_it(
    chat: Chat, tmp_path: Path
) -> None:
    await begun(chat, tmp_path / "shop")
    await joined(chat)
    chat.phone.send("/new shop Do it", as_user=ANN)
    check = await in_chat_of(chat, ANN, "test -f README", label="Allow")
    chat.phone.tap(check, "Allow", as_user=ANN)
    plan = await in_chat_of(chat, ANN, "How it is done.", label="Start")
    assert not [one for one in chat.phone.messages() if "How it is done." in one.text]

    board = await chat.sent("/status", "Waits on you", label="Show")
    offer = await chat.tapped(board, "Show", "is in the chat of", label="Bring it here")
    await chat.tapped(offer, "Bring it here", "It comes into this chat.")
    mine = await chat.until("How it is done.", label="Start")
    await in_chat_of(chat, ANN, "This is in the chat of")
    there = chat.phone.message(plan.id, ANN)
    assert there is None or not there.labels
    chat.phone.tap(mine, "Start")
    await chat.until("Worker 1")

    found = await audited(chat.home)
    said = {(one["who"], one["verb"]) for one in found}
    assert {(str(ANN), "allow"), (str(ANN), "new_goal"), (str(OWNER), "start")} <= said
    assert any("OwnerJoined" in one["verdict"] for one in found)
    assert not [one for one in chat.phone.messages(EVE) if one.from_bot]


async def test_who_is_removed_is_a_stranger_from_then_on(chat: Chat, tmp_path: Path) -> None:
    await begun(chat, tmp_path / "shop")
    await joined(chat)
    said = chat.phone.messages()[-1].id
    chat.phone.send("/settings")
    settings = await chat.until("New goals begin with", label="Owners", after=said)
    page = await chat.tapped(settings, "Owners", "let in by a link", label="Add")
    remove = next(label for label in page.labels if label.startswith("Remove"))
    sure = await chat.tapped(page, remove, "They are a stranger here then", label="Remove")
    chat.phone.tap(sure, "Remove")
    await chat.until("commands here no more")
    before = len(chat.phone.messages(ANN))
    chat.phone.send("/new shop Do it", as_user=ANN)
    await chat.until("Somebody else wrote to this bot", str(ANN))
    assert not [one for one in chat.phone.messages(ANN)[before:] if one.from_bot]
    assert not chat.engine.loop.states("goal")
    with (
        on_behalf_of(Asker(who=str(ANN))),
        pytest.raises(Refused, match="no owner of this box any more"),
    ):
        await chat.engine.door.permits("tap", "late")


async def test_of_two_who_remove_each_other_at_once_one_is_left_and_the_other_is_told_why(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = chat.engine.door
    for one in (ANN, EVE):
        chat.phone.send("hello", as_user=one)
        code = (await door.invite_owner(cause=f"invite:{one}"))["code"]
        chat.phone.start(code, as_user=one)
        await in_chat_of(chat, one, "You command this box now")
    later = door._clock() + NEW_S + 1
    monkeypatch.setattr(chat.engine.loop, "_clock", lambda: later)
    sure: dict[int, Message] = {}
    for me, other in ((ANN, EVE), (EVE, ANN)):
        chat.phone.send("/settings", as_user=me)
        settings = await in_chat_of(chat, me, "New goals begin with", label="Owners")
        chat.phone.tap(settings, "Owners", as_user=me)
        page = await in_chat_of(chat, me, "· you", label="Remove myself")
        (remove,) = [label for label in page.labels if str(other) in label]
        chat.phone.tap(page, remove, as_user=me)
        sure[me] = await in_chat_of(chat, me, "They are a stranger here then", label="Remove")
    taps = [chat.phone.tap(message, "Remove", as_user=me) for me, message in sure.items()]
    await chat.until("commands here no more")
    await chat.phone.until(lambda: any(tap.answered for tap in taps))
    await chat.engine.loop.settle()
    left = [one.id for one in door.owners()]
    assert left in ([OWNER, ANN], [OWNER, EVE])
    (gone,) = {ANN, EVE} - set(left)
    with (
        on_behalf_of(Asker(who=str(gone))),
        pytest.raises(Refused, match="no owner of this box any more"),
    ):
        await door.remove_owner(left[1], cause="late")


async def test_nobody_comes_in_by_the_link_of_one_who_was_taken_out(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = chat.engine.door
    await joined(chat)
    later = door._clock() + NEW_S + 1
    monkeypatch.setattr(chat.engine.loop, "_clock", lambda: later)
    with on_behalf_of(Asker(who=str(ANN))):
        code = (await door.invite_owner(cause="theirs"))["code"]
    with on_behalf_of(Asker(who=str(OWNER))):
        await door.remove_owner(ANN, cause="out")
    with pytest.raises(Refused, match="not good"):
        await door.owner_joined(EVE, "Somebody", code, cause="in")
    with on_behalf_of(Asker(who=str(OWNER))), pytest.raises(Refused, match="the box's own"):
        await door.remove_owner(OWNER, cause="the last")
    assert [one.id for one in door.owners()] == [OWNER]


async def test_nobody_removes_the_box_s_own(chat: Chat) -> None:
    await joined(chat)
    with on_behalf_of(Asker(who=str(ANN))), pytest.raises(Refused, match="the box's own"):
        await chat.engine.door.remove_owner(OWNER, cause="x:1")


async def test_the_link_s_message_leads_back_to_the_owners(chat: Chat) -> None:
    await invited(chat)
    shown = await chat.until("works once, for 10 minutes", label="Back")
    back = await chat.tapped(shown, "Back", "of the box", label="Add")
    assert back.id == shown.id
    assert "start=" not in back.text


async def test_a_link_is_good_for_ten_minutes(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    door, now = chat.engine.door, chat.engine.door._clock()
    for waited_s, good in ((601.0, False), (599.0, True)):
        monkeypatch.setattr(door, "_clock", lambda: now)
        code = (await door.invite_owner(cause=f"invite:{waited_s}"))["code"]
        monkeypatch.setattr(door, "_clock", lambda at=now + waited_s: at)
        if good:
            await door.owner_joined(ANN, "Somebody", code, cause=f"join:{waited_s}")
        else:
            with pytest.raises(Refused, match="not good"):
                await door.owner_joined(ANN, "Somebody", code, cause=f"join:{waited_s}")


async def test_a_link_is_made_with_the_pin_where_one_is_set(chat: Chat) -> None:
    door = chat.engine.door
    await door.set_pin("407193", cause="pin")
    with pytest.raises(Refused, match="takes the PIN"):
        await door.invite_owner(cause="without")
    assert "wrong" in await door.invite_owner(pin="5826", cause="with another")
    assert (await door.invite_owner(pin="407193", cause="with it"))["code"]


def test_who_was_let_in_today_lets_nobody_in_and_removes_nobody_but_themself() -> None:
    now, _ = owner_rule.decide(Owner(), OwnerInvited(by="42", at=10.0))
    now, _ = owner_rule.decide(now, OwnerJoined(owner=ANN, at=20.0))
    now, _ = owner_rule.decide(now, OwnerJoined(owner=EVE, at=30.0))
    for event in (OwnerInvited(by=str(EVE), at=40.0), OwnerLeft(owner=ANN, by=str(EVE), at=40.0)):
        with pytest.raises(Refused, match="less than a day ago"):
            owner_rule.decide(now, event)
    left, _ = owner_rule.decide(now, OwnerLeft(owner=EVE, by=str(EVE), at=40.0))
    assert [one.id for one in left.owners.joined] == [ANN]
    later = OwnerLeft(owner=ANN, by=str(EVE), at=31.0 + NEW_S)
    assert [one.id for one in owner_rule.decide(now, later)[0].owners.joined] == [EVE]
