"""When `wake_me` means: by the owner's clock, never in the past, never further than a week."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.adapters.hub import Hub
from engine.calls import Desk, Events
from engine.rules.events import SettingChanged, WakeAsked
from stores.database import Database
from stores.ledger import Ledger
from tests.rules.world import World, opened

TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 1, 10, 23, 0, tzinfo=TOKYO)


def in_tokyo() -> World:
    world = opened()
    world.post("owner", SettingChanged(name="zone", value="Asia/Tokyo"))
    return world


async def called(folder: Path, **arguments: object) -> Events | str:
    world = in_tokyo()
    async with Database(folder / "engine.sqlite3", "ledger") as file, Ledger(file) as ledger:
        desk = Desk(ledger, Hub(folder), lambda: world.states, NOW.timestamp)
        session = world.states["session/s-1"]
        return await desk(session, "s-1-t1#c1", "wake_me", {"why": "Look", **arguments})


@pytest.mark.parametrize(
    ("given", "due", "clock"),
    [
        ({"after_minutes": 90}, datetime(2026, 1, 11, 0, 30, tzinfo=TOKYO), "00:30"),
        ({"at": "23:30"}, datetime(2026, 1, 10, 23, 30, tzinfo=TOKYO), "23:30"),
        ({"at": "07:15"}, datetime(2026, 1, 11, 7, 15, tzinfo=TOKYO), "07:15"),
        ({"at": "23:00"}, datetime(2026, 1, 11, 23, 0, tzinfo=TOKYO), "Sun 23:00"),
    ],
)
async def test_the_next_such_time_is_meant(
    tmp_path: Path, given: dict[str, object], due: datetime, clock: str
) -> None:
    events = await called(tmp_path, **given)
    assert not isinstance(events, str)
    ((stream, event),) = events
    assert isinstance(event, WakeAsked)
    assert (stream, event.due_at, event.clock) == (
        "session/s-1",
        due.timestamp(),
        clock,
    )


@pytest.mark.parametrize(
    "given",
    [{}, {"after_minutes": 0}, {"after_minutes": 10081}, {"at": "7 pm"}, {"at": "25:00"}],
)
async def test_what_is_no_such_time_is_answered_with_a_sentence(
    tmp_path: Path, given: dict[str, object]
) -> None:
    answer = await called(tmp_path, **given)
    assert isinstance(answer, str)
    assert answer.startswith("wake_me: ")
