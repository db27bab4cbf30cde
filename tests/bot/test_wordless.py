"""What cannot be worded is shown as that, by the real bot; all else goes on, after a restart too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.emulator import Message
from engine.views import Silence, Wait, Why
from tests.bot.stage import Stage, permission, session

IN_MS = 1_795_000_000_000.0
UNSHOWN = "This card cannot be shown: the log says why."


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def seen(stage: Stage, part: str) -> Message:
    return await stage.phone.wait_for(lambda m: m.from_bot and part in m.text)


async def test_a_card_that_cannot_be_worded_holds_up_no_other(stage: Stage) -> None:
    broken = replace(session(), buttons=("option-none", "stop"))
    stage.door.show(broken)
    await stage.start_bot()
    plain = await seen(stage, UNSHOWN)
    assert plain.labels == ["Stop"]
    stage.door.show(replace(broken, doing="reads on"))
    stage.door.show(permission())
    await seen(stage, "Allow a command?")
    await stage.stop_bot()
    await stage.start_bot()
    stage.door.note("It is said.", kind="news")
    await seen(stage, "It is said.")
    assert [UNSHOWN in message.text for message in stage.phone.from_bot()].count(True) == 1
    stage.door.show(session())
    await stage.phone.wait_for(lambda m: m.id == plain.id and UNSHOWN not in m.text)


async def test_an_impossible_time_is_said_and_ends_nothing(stage: Stage) -> None:
    hung = Silence(Why.TOOL, "make", minutes=3, begun=-9e14, since=-9e14)
    stage.door.show(replace(session(), silence=hung, waits=(Wait("a limit", "main", IN_MS),)))
    await stage.start_bot()
    card = await seen(stage, "goes on at an impossible time")
    assert "since an impossible time" in card.text
    stage.door.show(permission())
    await seen(stage, "Allow a command?")
