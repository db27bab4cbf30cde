"""The PIN from the phone: set, asked for before the push, guessed at, forgotten."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

from bot.emulator import Message
from engine.errors import Refused
from engine.rules.ship import Stage
from tests.engine.chat import PUSHED, Chat, chatting
from tests.engine.test_audit import audited, begun, laid, the, typed

PIN, OTHER = "407193", "5826"


async def keyed(chat: Chat, pad: Message, pin: str) -> None:
    """Tap a PIN on a pad, and OK; each tap is taken before the next comes."""
    for label in (*pin, "OK"):
        await chat.phone.answered(chat.phone.tap(pad, label))


async def pin_set(chat: Chat, pin: str = PIN) -> Message:
    settings = await chat.sent("/settings", "New goals begin with", label="PIN")
    page = await chat.tapped(settings, "PIN", "No PIN is set.", label="Set")
    pad = await chat.tapped(page, "Set", "A new PIN: 4 to 8 digits", label="OK")
    await keyed(chat, pad, pin)
    pad = await chat.until("The new PIN once more", label="OK")
    await keyed(chat, pad, pin)
    return await chat.until("PIN set: it is asked for before a push")


async def ready_to_push(chat: Chat, source: Path) -> Message:
    await begun(chat, source)
    chat.phone.send("/new shop Do it")
    for label in ("Allow", "Start", "Ship", "Proceed"):
        card = await chat.until(label=label)
        chat.phone.tap(card, label)
    return await chat.until("Ready to push", label="Push")


def data(message: Message) -> dict[str, str]:
    return {button.label: button.value.rpartition(":")[2] for button in message.buttons}


def pressed(message: Message, label: str) -> str:
    return next(button.value for button in message.buttons if button.label == label)


async def test_a_push_asks_for_the_pin_on_a_pad_and_takes_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source = laid(tmp_path)
    async with chatting(tmp_path, scenario=str(tmp_path / "scenario.json")) as chat:
        await pin_set(chat)
        card = await ready_to_push(chat, source)
        assert "only adds: nothing there is overwritten" in card.text
        (name,) = (state.goal for state in chat.engine.loop.states("ship").values())
        shown = next(c for c in chat.engine.door.cards() if "push" in c.buttons)
        with pytest.raises(Refused, match="takes the PIN"):  # by whatever way it comes
            await chat.engine.door.tap(shown.id, shown.revision, "push", cause="elsewhere")

        pad = await chat.tapped(card, "Push", "Your PIN", "To push", label="OK")
        first = data(pad)
        await keyed(chat, pad, OTHER)
        wrong = await chat.until("Wrong PIN. 2 tries left.", label="OK")
        assert chat.engine.loop.state(f"ship/{name}").stage is Stage.READY
        chat.phone.tap(wrong, "Cancel")
        await chat.until("Cancelled: nothing was done.")
        late = await chat.phone.answered(chat.phone.tap(pad, data=pressed(pad, "1")))
        assert (late.answer, late.alert) == (
            "That pad is over. Tap the button again that asked for the PIN.",
            True,
        )

        pad = await chat.tapped(card, "Push", "Your PIN", label="OK")
        second = data(pad)
        assert not any(first[digit] == second[digit] for digit in "0123456789")
        await keyed(chat, pad, PIN)
        await chat.until("Pushing")
        await chat.until(PUSHED)
        found = await audited(chat.home)
        assert "Ready to push" in the(found, "push")["shown"]
        said = json.dumps(found)
        code, printed = await typed(chat.home, "audit")
        assert code == 0
        everything = "\n".join([said, printed, caplog.text])
        drawn = [keys[digit] for keys in (first, second) for digit in "0123456789"]
        for one in (PIN, OTHER, *drawn):
            assert one not in everything
        kept = chat.engine.loop.state("owner").pin
        assert (kept.wrong, kept.rounds) == (0, 0)
        assert PIN not in kept.kept
        for message in chat.phone.messages():
            assert PIN not in message.text


async def test_wrong_ones_shut_it_and_all_are_told_until_the_box_takes_it_away(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        await pin_set(chat)
        settings = await chat.sent("/settings", "PIN: set, asked for", label="PIN")
        page = await chat.tapped(settings, "PIN", "A PIN is set.", label="Off")
        pad = await chat.tapped(page, "Off", "The PIN as it is now", label="OK")
        for left in ("2 tries", "1 try"):
            await keyed(chat, pad, OTHER)
            pad = await chat.until(f"Wrong PIN. {left} left.", label="OK")
        await keyed(chat, pad, OTHER)
        await chat.until("Too many wrong PINs: none is taken for another 1 minute")
        await chat.until("The PIN was wrong 3 times", "send /lock")
        home = chat.home
    async with chatting(tmp_path) as chat:  # it outlives a restart
        with pytest.raises(Refused, match="Too many wrong"):
            await chat.engine.door.pin_off(PIN, cause="x:1")
        code, printed = await typed(home, "pin", "off")
        assert (code, printed.strip()) == (0, "PIN off: what took it takes a tap again.")
        told = await chat.until("The PIN was taken off at the box", "send /lock")
        assert not told.silent
        code, printed = await typed(home, "pin", "off")
        assert (code, "No PIN is set." in printed) == (1, True)


async def test_a_tap_that_comes_twice_is_one_try_and_many_at_once_are_many(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        door = chat.engine.door
        await door.set_pin(PIN, cause="x:1")
        for _ in range(4):
            assert (await door.set_pin(OTHER, "9999", cause="x:2"))["wrong"]
        assert chat.engine.loop.state("owner").pin.wrong == 1
        results = await asyncio.gather(
            *(door.pin_off(f"{n:04d}", cause=f"x:{n + 3}") for n in range(8)),
            return_exceptions=True,
        )
        assert sum(isinstance(one, Refused) for one in results) >= 6
        assert chat.engine.loop.state("owner").pin.rounds == 1
        assert chat.engine.loop.state("owner").pin.kept


async def test_wrong_ones_count_over_a_restart(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.engine.door.set_pin(PIN, cause="x:1")
        for n in (2, 3):
            assert (await chat.engine.door.pin_off(OTHER, cause=f"x:{n}"))["wrong"]
    async with chatting(tmp_path) as chat:
        settings = await chat.sent("/settings", "PIN: set, asked for", label="PIN")
        page = await chat.tapped(settings, "PIN", "A PIN is set.", label="Off")
        pad = await chat.tapped(page, "Off", "The PIN as it is now", label="OK")
        await keyed(chat, pad, OTHER)
        await chat.until("Too many wrong PINs: none is taken for another 1 minute")
        assert chat.engine.loop.state("owner").pin.rounds == 1


async def test_while_it_is_locked_no_pin_is_asked_for(tmp_path: Path) -> None:
    source = laid(tmp_path)
    async with chatting(tmp_path, scenario=str(tmp_path / "scenario.json")) as chat:
        await pin_set(chat)
        card = await ready_to_push(chat, source)
        settings = await chat.sent("/settings", "New goals begin with", label="PIN")
        page = await chat.tapped(settings, "PIN", label="Off")
        settings = await chat.sent("/settings", "New goals begin with", label="Owners")
        owners = await chat.tapped(settings, "Owners", label="Add")
        await chat.sent("/lock", "Locked: no tap and no line decides anything")
        for message, label in ((page, "Off"), (owners, "Add"), (card, "Push")):
            answer = await chat.phone.answered(chat.phone.tap(message, label))
            assert "Locked. Unlock at the box" in answer.answer


async def test_an_easy_one_is_refused_before_it_is_typed_again_and_there_is_a_way_back(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        settings = await chat.sent("/settings", "New goals begin with", label="PIN")
        page = await chat.tapped(settings, "PIN", "No PIN is set.", label="Set")
        pad = await chat.tapped(page, "Set", "A new PIN: 4 to 8 digits", label="OK")
        await keyed(chat, pad, "1234")
        pad = await chat.until("among the first that anybody tries", "A new PIN", label="OK")
        over = await chat.tapped(pad, "Cancel", "Cancelled: nothing was done.", label="Back")
        page = await chat.tapped(over, "Back", "No PIN is set.", label="Set")
        pad = await chat.tapped(page, "Set", "A new PIN: 4 to 8 digits", label="OK")
        await keyed(chat, pad, PIN)
        pad = await chat.until("The new PIN once more", label="OK")
        await keyed(chat, pad, PIN)
        assert (await chat.until("PIN set: it is asked for before a push")).labels == ["Back"]
