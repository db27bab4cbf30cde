"""The owner's clock: its zone, whether it is night there, and when the morning comes.

The night is their quiet hours, else from 22:00 to 07:00. Neighbours: perform.py asks when a usage limit
is over, rules/after_limit.py decides by it; bot/quiet.py does the like for what sounds.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from engine.rules.owner import Owner

NIGHT = (22 * 60, 7 * 60)  # minutes after midnight
DAY_MIN = 24 * 60


def zone_of(owner: object) -> ZoneInfo | None:
    """The owner's time zone, by the state of their stream; None = this machine's."""
    return ZoneInfo(owner.zone) if isinstance(owner, Owner) and owner.zone else None


def morning_at(at: float, zone: str, quiet: tuple[int, int] | None) -> float:
    """Return when the night that it is at `at` ends; 0 if it is day."""
    start, end = quiet or NIGHT
    where = ZoneInfo(zone) if zone else None
    today = datetime.fromtimestamp(at, where).date()
    hour, minute = divmod(end, 60)
    ends = (
        datetime.combine(today + timedelta(days=days), time(hour, minute), where) for days in (0, 1)
    )
    morning = next(end for end in ends if end.timestamp() > at)
    # By the clock on the wall: a night may have 23 hours, or 25.
    evening = morning - timedelta(minutes=(end - start) % DAY_MIN)
    return morning.timestamp() if evening.timestamp() <= at else 0.0
