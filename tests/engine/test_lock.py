"""/lock: nothing is decided any more, on the phone or by a line, until `quarterdeck unlock` at the box."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import text
from engine.engine import Engine
from engine.errors import Refused
from engine.rules import owner
from tests.engine.chat import chatting
from tests.engine.test_audit import begun, laid, typed

KEY = "ghp_" + "Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"
LOCKED = "Locked. Unlock at the box: quarterdeck unlock"


async def test_while_it_is_locked_nothing_is_decided_and_looking_works(tmp_path: Path) -> None:
    source = laid(tmp_path)
    async with chatting(tmp_path, scenario=str(tmp_path / "scenario.json")) as chat:
        await begun(chat, source)
        check = await chat.sent("/new shop Do it", "test -f README", label="Allow")
        await chat.tapped(check, "Allow", "passes on main")
        shown = await chat.until("How it is done.", label="Start")

        await chat.sent("/lock", "Locked: no tap and no line decides anything")
        for button in ("Start", "Discard"):
            tap = await chat.phone.answered(chat.phone.tap(shown, button))
            assert (tap.answer, tap.alert) == (LOCKED, True)
        for line in ("Mind the totals", "/stop all", "/new shop Do more", "/settings zone UTC"):
            said = chat.phone.messages()[-1].id
            chat.phone.send(line)
            await chat.until(LOCKED, after=said)
        said = chat.phone.messages()[-1].id
        chat.phone.send("/settings")
        panel = await chat.until("New goals begin with", after=said)
        page = await chat.tapped(panel, "Plans", label="The lead may")
        tap = await chat.phone.answered(chat.phone.tap(page, "The lead may"))
        assert (tap.answer, tap.alert) == (LOCKED, True)
        said = chat.phone.messages()[-1].id
        chat.phone.send("/status")
        await chat.until("Locked since", "Waits on you", after=said)
        chat.phone.send("/health")
        await chat.until("⚠ Locked: since", "unlock at the box: quarterdeck unlock", after=said)
        chat.phone.send("/unlock")
        await chat.until("Only the box unlocks", after=said)
        chat.phone.send("/lock")
        await chat.until("Locked since", LOCKED.partition(" ")[2], after=said)
        with pytest.raises(Refused, match="Locked"):  # nor by whoever else reaches the door
            await chat.engine.door.unlock(cause="phone")
        assert len(chat.engine.loop.states("goal")) == 1
        (goal,) = chat.engine.loop.states("goal").values()
        assert goal.plan_stage.value == "proposed"
        home = chat.home

        code, printed = await typed(home, "project", "remove", "shop")
        assert (code, LOCKED in printed) == (1, True)
        code, printed = await typed(home, "unlock")
        assert (code, printed.strip()) == (0, "Unlocked: taps and lines decide again.")
        await chat.until("Unlocked at the box")
        await chat.tapped(shown, "Start", "Worker 1")
        _, printed = await typed(home, "audit")
        assert "OwnerLocked" in printed
        assert "box · command line" in printed
        assert "OwnerUnlocked" in printed


async def test_a_lock_outlives_a_restart_and_is_ended_with_no_engine_running(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        locked = await chat.sent("/lock", "Locked: no tap and no line decides anything")
        (pasted,) = chat.phone.send(f"/new Publish it with {KEY}")
        await chat.until(LOCKED, after=locked.id)
        await chat.until("Stored as GITHUB_TOKEN", after=locked.id)  # out of reach all the same
        await chat.phone.until(lambda: chat.phone.message(pasted.id) is None)
        assert await chat.engine.door.secret("GITHUB_TOKEN") == KEY
        home = chat.home
    engine = Engine(home)
    async with engine.running():
        assert engine.door.owner().locked
        with pytest.raises(Refused, match="Locked"):
            await engine.door.permits("tap", "telegram:99")
    _, printed = await typed(home, "status")
    assert "Locked since" in printed
    code, printed = await typed(home, "unlock")
    assert code == 0, printed
    code, printed = await typed(home, "unlock")
    assert (code, "It is not locked." in printed) == (1, True)


def test_bot_and_engine_say_it_in_the_same_words() -> None:
    assert text.LOCKED == owner.LOCKED == LOCKED
