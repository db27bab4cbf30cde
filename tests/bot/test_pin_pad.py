"""The pad a PIN is typed on: what it tells, what it forgets, what comes of taps too many."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.panels import At, Then
from bot.pin_pad import LASTS_S, PinPad
from engine.errors import Refused, Unavailable
from tests.bot.stage import permission


class Engine:
    """Judges by one PIN; away or slow where told."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.away = False
        self.slow: asyncio.Event | None = None
        self.called = asyncio.Event()

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        if self.away:
            raise Unavailable("The engine does not answer.")
        self.asked.append((verb, cause, args))
        self.called.set()
        if self.slow is not None:
            await self.slow.wait()
        if args.get("pin") == "9999":
            raise Refused("Too many wrong PINs.")
        right = args.get("pin") == "4071"
        return {"verdict": "Allowed"} if right else {"verdict": "Wrong PIN.", "wrong": "pin"}


class Hand:
    """Presses one pad's buttons, each tap once."""

    def __init__(self, pads: PinPad, engine: Engine, panel: str) -> None:
        self.pads, self.engine, self.about = pads, engine, panel.partition("-")[2]
        self.count = 0
        self.now = 1000.0

    def at(self, cause: str = "") -> At:
        self.count += 1
        return At(
            engine=self.engine,
            about=self.about,
            cause=cause or f"telegram:{self.count}",
            now=self.now,
        )

    async def key(self, label: str, cause: str = "") -> Then:
        words = await self.pads.words(self.at())
        verb = next(b.verb for row in words.buttons for b in row if b.label == label)
        return await self.pads.press(self.at(cause), verb, "")

    async def keys(self, *labels: str) -> Then:
        then = Then()
        for label in labels:
            then = await self.key(label)
        return then

    async def text(self) -> str:
        return (await self.pads.words(self.at())).rich.text


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def hand(engine: Engine) -> Hand:
    pads = PinPad()
    return Hand(pads, engine, pads.for_card(permission(twice=("allow",)), "allow", "seen", 1000.0))


async def test_it_shows_dots_alone_and_sends_the_second_tap_with_the_pin(
    hand: Hand, engine: Engine
) -> None:
    await hand.keys("4", "0", "2", "⌫", "7", "1")
    assert "●●●●" in await hand.text()
    assert not {*"0247"} & {*await hand.text()}
    then = await hand.key("OK")
    assert then.closed == "Allowed"
    ((verb, _, args),) = engine.asked
    assert (verb, args["verb"], args["pin"]) == ("tap", "allow-sure", "4071")
    late = await hand.pads.press(hand.at(), "ok", "")
    assert late.alert
    assert late.closed.startswith("That pad is over.")


async def test_a_tap_that_is_handled_again_types_one_digit(hand: Hand, engine: Engine) -> None:
    for _ in range(3):
        await hand.key("4", cause="telegram:500")
    await hand.keys("0", "7", "1")
    engine.away = True
    with pytest.raises(Unavailable):
        await hand.key("OK", cause="telegram:501")
    engine.away = False
    assert (await hand.key("OK", cause="telegram:501")).closed == "Allowed"
    assert [cause for _, cause, _ in engine.asked] == ["telegram:501"]


async def test_a_second_ok_while_the_first_is_judged_is_no_second_try(
    hand: Hand, engine: Engine
) -> None:
    engine.slow = asyncio.Event()
    await hand.keys("1", "1", "1", "1")
    first = asyncio.create_task(hand.key("OK"))
    await engine.called.wait()
    assert (await hand.key("OK")).said == ""
    engine.slow.set()
    assert (await first).said == "Wrong PIN."
    assert len(engine.asked) == 1
    assert "Wrong PIN." in await hand.text()


async def test_it_is_over_after_five_minutes_once_shut_and_after_a_restart(
    hand: Hand, engine: Engine
) -> None:
    then = await hand.keys("9", "9", "9", "9", "OK")
    assert then.closed == "Too many wrong PINs."
    with pytest.raises(Refused, match="That pad is over"):
        await hand.text()
    pads = PinPad()
    other = Hand(pads, engine, pads.for_card(permission(), "allow", "", 1000.0))
    other.now += LASTS_S
    assert (await other.pads.press(other.at(), "ok", "")).closed.startswith("That pad is over.")
    hand.pads = PinPad()
    assert (await hand.pads.press(hand.at(), "ok", "")).closed.startswith("That pad is over.")


async def test_a_new_one_is_typed_twice_alike(engine: Engine) -> None:
    pads = PinPad()
    then = await pads.press(At(engine=engine, cause="telegram:1", now=1000.0), "change", "")
    hand = Hand(pads, engine, then.panel)
    await hand.keys("1", "2", "1", "2", "OK")
    assert "4 to 8 digits" in await hand.text()
    await hand.keys("4", "0", "7", "1", "OK")
    then = await hand.keys("4", "0", "7", "2", "OK")
    assert "not the same" in then.said
    assert "as it is now" in await hand.text()
    assert (await hand.keys("1", "OK")).said == "A PIN has 4 to 8 digits."
    assert [one for one in engine.asked if one[0] not in ("settings", "pin_may_be")] == []
