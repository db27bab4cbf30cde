"""Quiet hours by the owner's clock, over midnight and over changes of the clock."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.quiet import Quiet

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = Quiet(23 * 60, 7 * 60, BERLIN)


def at(text: str, zone: ZoneInfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-01-10T22:59:59", ""),
        ("2026-01-10T23:00:00", "2026-01-11T07:00"),
        ("2026-01-11T00:00:00", "2026-01-11T07:00"),
        ("2026-01-11T06:59:59", "2026-01-11T07:00"),
        ("2026-01-11T07:00:00", ""),
        ("2026-01-11T12:00:00", ""),
    ],
)
def test_a_night_goes_over_midnight_and_ends_to_the_second(now: str, until: str) -> None:
    assert NIGHT.until(at(now)) == (at(until) if until else 0.0)


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_night_in_which_the_clock_changes_begins_and_ends_by_the_clock(day: str) -> None:
    """BR-104: neither the day of the change nor the one after is left out."""
    before = datetime.fromisoformat(f"{day}T23:00").replace(tzinfo=BERLIN).timestamp() - 86_400
    morning = at(f"{day}T07:00")
    assert NIGHT.until(morning - 1) == morning
    assert NIGHT.until(morning) == 0.0
    assert NIGHT.until(before + 7200) == morning
    assert NIGHT.until(at(f"{day}T23:00")) > morning


def test_an_afternoon_can_be_quiet_too() -> None:
    nap = Quiet(13 * 60, 14 * 60 + 30, ZoneInfo("UTC"))
    noon = datetime(2026, 6, 1, 12, 59, tzinfo=UTC).timestamp()
    assert nap.until(noon) == 0.0
    assert nap.until(noon + 60) == noon + 60 + 5400
    assert nap.until(noon + 60 + 5400) == 0.0


def test_without_a_zone_it_is_this_machines_clock() -> None:
    now = datetime(2026, 6, 1, 23, 30).timestamp()
    assert Quiet(23 * 60, 7 * 60).until(now) == datetime(2026, 6, 2, 7).timestamp()
