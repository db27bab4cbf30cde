"""BR-11: an answer of several parts is on its way when its session, or the bot itself, is stopped."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.emulator import Message
from bot.text_sheet import ROOM
from tests.bot.stage import Stage, session

PART = (ROOM - 200) // 10  # lines of ten characters


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


def answer(stage: Stage) -> None:
    """Five messages' worth: three, and two."""
    for sign, parts in (("a", 3), ("b", 2)):
        lines = [f"{sign} {n:07}" for n in range(PART * parts - parts)]
        stage.door.note("\n".join(lines), who="The lead")


def parts(stage: Stage) -> list[str]:
    found = (re.search(r"The lead \((\d of \d)\)", m.text) for m in stage.phone.from_bot())
    return [part[1] for part in found if part]


ALL = ["1 of 3", "2 of 3", "3 of 3", "1 of 2", "2 of 2"]


def is_first(message: Message) -> bool:
    return "(1 of 3)" in message.text


async def test_stop_in_the_middle_of_an_answer_of_five_parts_cuts_none_of_them(
    stage: Stage,
) -> None:
    stage.door.show(session())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.emulator.faults.slow("sendMessage", 0.3, times=5)
    answer(stage)
    await stage.phone.wait_for(is_first)
    tap = stage.phone.tap(card, "Stop")
    await stage.phone.answered(tap)
    assert len(parts(stage)) < 5, "it was in the middle"
    stage.door.show(session(stage="stopped", revision="s2", buttons=("resume", "drop")))
    await stage.phone.wait_for(lambda m: "(2 of 2)" in m.text)
    assert parts(stage) == ALL


async def test_the_bot_stopped_in_the_middle_of_an_answer_says_the_rest_once_it_is_back(
    stage: Stage,
) -> None:
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.emulator.faults.slow("sendMessage", 0.3, times=5)
    answer(stage)
    await stage.phone.wait_for(is_first)
    await stage.stop_bot()
    assert len(parts(stage)) < 5, "it was in the middle"
    stage.emulator.faults.calm()
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "(2 of 2)" in m.text)
    assert parts(stage) == ALL
