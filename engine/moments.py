"""Moments as the owner reads them: a time of day, and the day with it where that is not plain.

Pure, and no number is too odd: what no calendar holds is said to be just that. Neighbours: the bot's
text_sheet.py writes with it; engine/rules/rests.py says which times are believed at all.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

SOON_S = 18 * 3600.0  # beyond it an hour alone may be read as today's
WEEK_S = 7 * 86400.0
YEAR_S = 360 * 86400.0
IMPOSSIBLE = "an impossible time"


def clock(at: float, zone: tzinfo | None = None) -> str:
    """Return HH:MM on the owner's clock; `zone` None is this machine's."""
    return _told(at, zone, "%H:%M")


def to_come(then: float, at: float, zone: tzinfo | None = None) -> str:
    """Return a time to come, seen from `at`: "05:52", "Thu 05:52", "12 Mar 05:52"."""
    ahead_s = then - at
    if ahead_s <= SOON_S:
        return _told(then, zone, "%H:%M")
    if ahead_s <= WEEK_S:
        return _told(then, zone, "%a %H:%M")
    return _told(then, zone, "%d %b %H:%M" if ahead_s <= YEAR_S else "%d %b %Y %H:%M")


def gone_by(then: float, at: float, zone: tzinfo | None = None) -> str:
    """Return a time gone by, seen from `at`: "at 05:52", "on 12 Mar", "on 12 Mar 2024"."""
    ago_s = at - then
    if 0 <= ago_s <= SOON_S:
        return _told(then, zone, "at %H:%M")
    return _told(then, zone, "on %d %b" if abs(ago_s) <= YEAR_S else "on %d %b %Y")


def _told(at: float, zone: tzinfo | None, shape: str) -> str:
    try:
        return datetime.fromtimestamp(at, zone).strftime(shape)
    except (ValueError, OverflowError, OSError):
        return IMPOSSIBLE
