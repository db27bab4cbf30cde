"""A group that an owner allows: by a link, with the bot and the engine as they are, Telegram emulated."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.emulator import Message
from engine import pairing
from engine.requests.owners import LINK_S
from tests.engine.chat import LIMIT_S, Chat, chatting
from tests.engine.test_audit import audited, begun, laid, typed
from tests.engine.test_pin import keyed, pin_set
from tests.engine.test_planted_key import KEY, holding

ANN = 77
EVE = 99
PIN = "407193"


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    laid(tmp_path)
    async with chatting(tmp_path, scenario=str(tmp_path / "scenario.json")) as chat:
        yield chat


async def page(chat: Chat) -> Message:
    settings = await chat.sent("/settings", "New goals begin with", label="Owners")
    owners = await chat.tapped(settings, "Owners", "of the box", label="Groups")
    return await chat.tapped(owners, "Groups", "only owners are heard", label="Allow a group")


async def invited(chat: Chat) -> str:
    shown = await chat.tapped(await page(chat), "Allow a group", "for an owner alone")
    return shown.text.partition("?startgroup=")[2].split()[0]


async def in_group(chat: Chat, group: int, *words: str) -> Message:
    def fits(message: Message) -> bool:
        return all(part in message.text for part in words)

    return await chat.phone.wait_for(fits, chat_id=group, timeout=LIMIT_S)


async def allowed(chat: Chat, *, admin: bool = True) -> int:
    """Allow a group with another member; return its number, once the bot goes by it."""
    group = chat.phone.open_group_link(await invited(chat), "Crew", members=(EVE,), admin=admin)
    await in_group(chat, group, "The owners are heard here")
    await chat.until("Owners are heard in the group", "Crew")
    await asked(chat, group)
    return group


async def asked(chat: Chat, group: int) -> Message:
    return await said(chat, group, "/status", "Nothing waits on you and nothing runs.")


async def said(chat: Chat, group: int, line: str, *words: str) -> Message:
    """Send a line until it is answered: what the engine allowed reaches the bot a moment later."""
    before = chat.phone.messages(group)[-1].id
    line = line if "@" in line else line.replace(" ", "@quarterdeck_bot ", 1)
    chat.phone.send(line, chat_id=group)
    return await chat.phone.wait_for(
        lambda message: all(part in message.text for part in words),
        chat_id=group,
        after=before,
        timeout=LIMIT_S,
    )


async def left(chat: Chat, group: int) -> None:
    def gone() -> bool:
        calls = chat.emulator.calls_of("leaveChat")
        return any(call.params["chat_id"] == group for call in calls)

    await chat.phone.until(gone, LIMIT_S)


def from_bot(chat: Chat, group: int) -> list[str]:
    return [message.text for message in chat.phone.from_bot(group)]


def ids(chat: Chat) -> list[int]:
    return [one.id for one in chat.engine.door.groups()]


async def test_a_goal_given_in_an_allowed_group_has_its_cards_in_the_private_chat(
    chat: Chat, tmp_path: Path
) -> None:
    await begun(chat, tmp_path / "shop")
    group = await allowed(chat)
    await said(chat, group, "/new", "Say it in one message")
    await said(chat, group, "/new shop Do it", "Its cards come to your private chat", "t.me/")
    check = await chat.until("test -f README", label="Allow")
    chat.phone.tap(check, "Allow")
    plan = await chat.until("How it is done.", label="Start")
    board = await said(chat, group, "/status", "Waits on you", "Do it")
    assert "a plan of" not in board.text
    await said(chat, group, "/asks", "1 decision waits on you")
    await said(chat, group, "/settings", "That is for our private chat")
    assert not [message for message in chat.phone.messages(group) if message.labels]

    # A button of a card, pressed there by a changed app: nobody decides in a group.
    button = next(button for button in plan.buttons if button.label == "Start")
    tap = await chat.phone.answered(chat.phone.tap(board.id, data=button.value, chat_id=group))
    assert (tap.alert, "Nothing is decided in a group" in tap.answer) == (True, True)
    theirs = chat.phone.tap(board.id, data=button.value, chat_id=group, as_user=EVE)
    tap = await chat.phone.answered(theirs)
    assert (tap.alert, "Only the owners" in tap.answer) == (True, True)
    assert "Start" in (chat.phone.message(plan.id) or plan).labels

    found = {(one["who"], one["verb"]) for one in await audited(chat.home)}
    assert {("42", "invite_group"), ("42", "group_allowed"), ("42", "new_goal")} <= found


async def test_others_in_an_allowed_group_are_not_heard_nor_told_of(
    chat: Chat, tmp_path: Path
) -> None:
    await begun(chat, tmp_path / "shop")
    group = await allowed(chat)
    before = from_bot(chat, group)
    chat.phone.send("/new shop Theirs", chat_id=group, as_user=EVE)
    chat.phone.send("/new shop Theirs", chat_id=group, anonymous=True)
    chat.phone.send("/new shop Theirs", chat_id=group, forwarded_from="Somebody")
    chat.phone.send("/status@another_bot", chat_id=group)
    chat.phone.send("/weather", chat_id=group)
    chat.phone.send("We talk among ourselves", chat_id=group)
    last = await asked(chat, group)
    assert from_bot(chat, group) == [*before, last.text]
    assert not chat.engine.loop.states("goal")
    assert "Somebody else wrote" not in chat.phone.transcript()


@pytest.mark.parametrize("admin", [True, False])
async def test_a_key_pasted_in_a_group_is_kept_and_told_of_in_private_alone(
    chat: Chat, admin: bool
) -> None:
    group = await allowed(chat, admin=admin)
    pasted = chat.phone.send(f"/status@quarterdeck_bot {KEY}", chat_id=group)[0]
    if admin:
        await chat.until("Stored as GITHUB_TOKEN; deleted", label="Rename…")
        assert chat.phone.message(pasted.id, group) is None
    else:
        await chat.until("Your message is still in the group", "GITHUB_TOKEN")
    assert not [line for line in from_bot(chat, group) if "GITHUB" in line or KEY in line]
    edited = chat.phone.send("/status@quarterdeck_bot", chat_id=group)[0]
    if admin:
        chat.phone.edit(edited.id, f"Oh: {KEY}", chat_id=group)
        await chat.phone.until(lambda: chat.phone.message(edited.id, group) is None, LIMIT_S)
    assert holding(chat.home.root, KEY) == []


async def test_a_stranger_s_use_of_the_link_is_nothing(chat: Chat) -> None:
    code = await invited(chat)
    group = chat.phone.open_group_link(code, "Theirs", by=EVE)
    await left(chat, group)
    chat.phone.start(code, as_user=EVE)  # nor does it make an owner
    mine = chat.phone.open_group_link(code, "Crew")
    await in_group(chat, mine, "The owners are heard here")
    assert ids(chat) == [mine]
    assert [one.id for one in chat.engine.door.owners()] == [chat.phone.owner]
    assert from_bot(chat, group) == []
    again = chat.phone.open_group_link(code, "Another")  # it works once
    await left(chat, again)
    assert ids(chat) == [mine]


async def test_an_owner_s_link_allows_no_group(chat: Chat) -> None:
    door = chat.engine.door
    code = (await door.invite_owner(cause="x:1"))["code"]
    await invited(chat)
    group = chat.phone.open_group_link(code, "Crew")
    await left(chat, group)
    await chat.until("I left that group", "none of mine", "makes another")
    assert ids(chat) == []


async def test_put_in_without_a_link_it_leaves(chat: Chat) -> None:
    group = chat.phone.create_group("Crew")
    await left(chat, group)
    assert from_bot(chat, group) == []


async def test_who_writes_as_the_group_is_not_heard_and_the_code_still_counts(chat: Chat) -> None:
    code = await invited(chat)
    group = chat.phone.create_group("Crew", members=(EVE,))
    chat.phone.send_code(group, code, anonymous=True)
    chat.phone.send_code(group, code, as_user=EVE)
    chat.phone.send("hello", chat_id=group, as_user=EVE)
    chat.phone.send_code(group, code)
    await in_group(chat, group, "The owners are heard here")
    assert ids(chat) == [group]
    assert not chat.emulator.calls_of("leaveChat")


async def test_a_bot_that_ends_between_being_put_in_and_the_code_still_hears_it(chat: Chat) -> None:
    code = await invited(chat)
    group = chat.phone.create_group("Crew")
    await chat.phone.until(lambda: not chat.emulator.updates.count(), LIMIT_S)
    await chat.stop_bot()
    chat.phone.send_code(group, code)
    chat.start_bot()
    await in_group(chat, group, "The owners are heard here")
    await chat.stop_bot()
    chat.start_bot()
    await asked(chat, group)
    assert not chat.emulator.calls_of("leaveChat")


async def test_a_group_whose_code_never_comes_is_left_and_that_is_said(chat: Chat) -> None:
    await invited(chat)
    group = chat.phone.create_group("Crew")
    await chat.phone.until(lambda: not chat.emulator.updates.count(), LIMIT_S)
    await chat.stop_bot()
    assert not chat.emulator.calls_of("leaveChat")
    await _aged(chat.home.bot_db, LINK_S + 60)
    chat.start_bot()
    await left(chat, group)
    await chat.until("I left the group you put me in")


async def _aged(file: Path, by_s: float) -> None:
    """Have what the bot waits for be over."""
    with sqlite3.connect(file) as database:
        (body,) = database.execute("SELECT value FROM facts WHERE name LIKE 'group %'").fetchone()
        until = float(body.partition('"until":')[2].partition(",")[0])
        assert until > time.time()
        aged = body.replace(str(until), str(until - by_s))
        database.execute("UPDATE facts SET value = ? WHERE name LIKE 'group %'", (aged,))
    database.close()


async def test_an_old_link_allows_nothing(chat: Chat) -> None:
    code = pairing.make(chat.home, time.time() - LINK_S - 1, LINK_S, at=chat.home.group_code)
    group = chat.phone.open_group_link(code, "Crew")
    await left(chat, group)
    await chat.until("I left that group", "good for 10 minutes")
    assert ids(chat) == []


async def test_thrown_out_it_is_allowed_no_more_and_all_owners_are_told(chat: Chat) -> None:
    group = await allowed(chat)
    chat.phone.remove_bot(group)
    await chat.until("I am in the group", "no more")
    assert ids(chat) == []


async def test_taken_away_it_is_left(chat: Chat) -> None:
    group = await allowed(chat)
    shown = await page(chat)
    name = next(label for label in shown.labels if label.startswith("Take away"))
    sure = await chat.tapped(shown, name, "Goals that were given there go on", label="Take away")
    chat.phone.tap(sure, "Take away")
    await chat.until("is allowed no more")
    await left(chat, group)
    assert ids(chat) == []


async def test_a_group_that_becomes_a_supergroup_stays_allowed(chat: Chat) -> None:
    group = await allowed(chat)
    new = chat.phone.upgrade_group(group)
    await chat.phone.until(lambda: new in ids(chat), LIMIT_S)
    chat.phone.send("/status@quarterdeck_bot", chat_id=new)
    await in_group(chat, new, "Nothing waits on you")
    assert ids(chat) == [new]
    assert not chat.emulator.calls_of("leaveChat")


async def test_while_locked_no_group_is_allowed_and_one_that_is_gone_is_gone(
    chat: Chat, tmp_path: Path
) -> None:
    await begun(chat, tmp_path / "shop")
    group = await allowed(chat)
    code = await invited(chat)
    await said(chat, group, "/lock", "Locked.")
    await chat.until("Locked: no tap and no line decides anything")
    other = chat.phone.open_group_link(code, "Another")
    await left(chat, other)
    await chat.until("I left that group", "Locked")
    await said(chat, group, "/new shop Do it", "Not done. Why stands in our private chat")
    await chat.until("Locked. Unlock at the box")
    assert not chat.engine.loop.states("goal")
    chat.phone.remove_bot(group)
    await chat.phone.until(lambda: not ids(chat), LIMIT_S)
    assert (await typed(chat.home, "unlock"))[0] == 0


async def test_the_link_takes_the_pin_where_one_is_set(chat: Chat) -> None:
    await pin_set(chat, PIN)
    pad = await chat.tapped(await page(chat), "Allow a group", "To allow a group", label="OK")
    await keyed(chat, pad, PIN)
    shown = await chat.until("for an owner alone")
    code = shown.text.partition("?startgroup=")[2].split()[0]
    group = chat.phone.open_group_link(code, "Crew")
    await in_group(chat, group, "The owners are heard here")
    assert os.listdir(chat.home.secrets).count("group-code") == 0
