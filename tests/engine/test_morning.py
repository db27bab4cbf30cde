"""When it is night for the owner, and when that ends."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from engine.night import morning_at

ZONE = "Europe/Berlin"


def at(clock: str) -> float:
    return datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo(ZONE)).timestamp()


@pytest.mark.parametrize(
    ("now", "morning"),
    [
        ("2026-05-04 21:59", ""),
        ("2026-05-04 22:00", "2026-05-05 07:00"),
        ("2026-05-05 03:00", "2026-05-05 07:00"),
        ("2026-05-05 06:59", "2026-05-05 07:00"),
        ("2026-05-05 07:00", ""),
        ("2026-05-05 14:00", ""),
        ("2026-10-24 23:00", "2026-10-25 07:00"),  # a night of ten hours
        ("2026-03-28 23:00", "2026-03-29 07:00"),  # and one of eight
    ],
)
def test_without_quiet_hours_the_night_is_from_ten_to_seven(now: str, morning: str) -> None:
    assert morning_at(at(now), ZONE, None) == (at(morning) if morning else 0.0)


@pytest.mark.parametrize(
    ("now", "quiet", "morning"),
    [
        ("2026-05-04 23:30", (23 * 60, 8 * 60 + 30), "2026-05-05 08:30"),
        ("2026-05-04 22:30", (23 * 60, 8 * 60 + 30), ""),
        ("2026-05-05 03:00", (60, 9 * 60), "2026-05-05 09:00"),
        ("2026-05-05 00:30", (60, 9 * 60), ""),
    ],
)
def test_the_owners_quiet_hours_are_the_night(
    now: str, quiet: tuple[int, int], morning: str
) -> None:
    assert morning_at(at(now), ZONE, quiet) == (at(morning) if morning else 0.0)
