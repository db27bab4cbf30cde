"""A part that keeps ending the engine is set aside: all else goes on, and the phone has the way out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.app import main
from engine import config
from engine import engine as engine_module
from engine.adapters import taking_in
from engine.adapters.hub import Hub
from engine.config import Config
from engine.engine import RULES, Engine
from engine.loop import MAX_EFFECT_DEATHS, MAX_STREAM_DEATHS
from engine.paths import Home
from engine.rules.effects import TakeIn
from engine.rules.events import AnyEvent, MachineSeen, SettingChanged
from engine.rules.fleet import Fleet
from stores.sealing import create_keys
from tests.adapters.repositories import repository
from tests.engine.chat import LIMIT_S, OWNER, TOKEN, Chat
from tests.unhurried import telegram


class Mistake:
    """The rules, one of which cannot make anything of one kind of event, until it is mended."""

    def __init__(self, prefix: str, kind: type) -> None:
        self.mended = False
        self._kind = kind
        self._right = RULES[prefix]
        self.rules = RULES | {prefix: replace(self._right, decide=self._decide)}

    def _decide(self, now: Any, event: Any) -> Any:
        if isinstance(event, self._kind) and not self.mended:
            raise ZeroDivisionError("a mistake in the rule")
        return self._right.decide(now, event)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home").make()
    create_keys(home)
    home.bot_token.write_text(TOKEN)
    return home


async def lives_until_it_ends(home: Home) -> None:
    """Run an engine that ends by itself."""
    with pytest.raises(BaseExceptionGroup) as ended:
        async with Engine(home).running():
            await asyncio.Event().wait()
    assert ended.value.subgroup(ZeroDivisionError) is not None


async def decides_and_ends(home: Home, stream: str, event: AnyEvent) -> None:
    engine = Engine(home)
    with pytest.raises(ZeroDivisionError):
        async with engine.unlocked():
            await engine.loop.post(stream, event, "telegram:1")


@asynccontextmanager
async def chatting(home: Home) -> AsyncIterator[Chat]:
    stop = asyncio.Event()
    async with telegram(TOKEN, OWNER) as emulator:
        config.save(home, Config(owner_ids=(OWNER,), api_url=emulator.url))
        engine = Engine(home)
        async with engine.running():
            bot = asyncio.create_task(main(home, stop))
            try:
                yield Chat(home, engine, emulator)
            finally:
                stop.set()
                await bot


def machine_is_up(engine: Engine) -> bool:
    known = engine.loop.state("fleet")
    found = known.machine("here") if isinstance(known, Fleet) else None
    return found is not None and found.up


async def test_the_part_all_else_rests_on_is_set_aside_and_goes_on_by_retry(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = Mistake("fleet", MachineSeen)
    monkeypatch.setattr(engine_module, "RULES", mistake.rules)
    for _ in range(MAX_STREAM_DEATHS):
        await lives_until_it_ends(home)
    async with chatting(home) as chat:
        card = await chat.until(
            "Set aside: all that starts agents", "ended the engine", label="Retry"
        )
        assert "Leave it" in card.labels
        await chat.sent("/health", "Set aside: all that starts agents")
        await chat.sent("/status", "Waits on you", "Set aside")
        await chat.sent("/settings zone Asia/Tokyo", "for you (Asia/Tokyo)")
        mistake.mended = True
        changed = asyncio.Event()
        chat.engine.loop.watch(lambda _stream: changed.set())
        chat.phone.tap(card, "Retry")
        while not machine_is_up(chat.engine):
            changed.clear()
            await asyncio.wait_for(changed.wait(), LIMIT_S)
        await chat.sent("/health", "at work", "GB free")
        assert not [row for row in await chat.engine.door.asks() if "Set aside" in row.text]


async def test_what_was_left_stays_left_and_a_request_about_it_hears_no(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits behind it either."""
    monkeypatch.setattr(engine_module, "RULES", Mistake("owner", SettingChanged).rules)
    for _ in range(2):
        await decides_and_ends(home, "owner", SettingChanged(name="zone", value="Asia/Tokyo"))
    async with chatting(home) as chat:
        card = await chat.until("Set aside: your settings", label="Leave it")
        await chat.sent("/settings zone Asia/Tokyo", "set aside after an error of mine")
        await chat.tapped(card, "Leave it", "Left by you")
        assert await chat.engine.door.asks() == ()
    engine = Engine(home)
    async with engine.unlocked():
        assert engine.loop.broken()["owner"].dropped
        assert await engine.loop.post("owner", SettingChanged(name="zone", value="UTC"), "next")
        assert engine.loop.state("owner") is None


async def test_an_act_that_keeps_ending_the_engine_is_given_up_and_its_card_has_retry(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = taking_in.take_in

    async def poisoned(hub: Hub, order: TakeIn) -> AnyEvent:
        raise ZeroDivisionError("a mistake in the adapter")

    monkeypatch.setattr(taking_in, "take_in", poisoned)
    source = repository(tmp_path / "shop")
    engine = Engine(home)
    async with engine.unlocked():
        await engine.door.want_project("shop", str(source), cause="telegram:1")
    for _ in range(MAX_EFFECT_DEATHS):
        await lives_until_it_ends(home)
    async with chatting(home) as chat:
        card = await chat.until("could not be read", "the engine ended 5 times", label="Retry")
        await chat.sent("/health", "Given up today: the project shop: TakeIn")
        await chat.sent("/settings zone Asia/Tokyo", "for you (Asia/Tokyo)")
        monkeypatch.setattr(taking_in, "take_in", right)
        await chat.tapped(card, "Retry", "shop", "added")
