"""The owner's quiet hours, as a calculation: do they hold at this moment, and until when?

Neighbours: cards.py brings the hours, outbox.py asks before it sends, morning.py says what waited.
"""

from datetime import datetime, time, timedelta, tzinfo

from msgspec import Struct

DAY_MIN = 24 * 60


class Quiet(Struct, frozen=True):
    """From when to when, in minutes after midnight; `zone` None is this machine's."""

    start: int
    end: int
    zone: tzinfo | None = None

    def until(self, at: float) -> float:
        """Return when the quiet hours that hold at this moment end; 0 if none do."""
        end = min(one for one in (self._end_on(at, 0), self._end_on(at, 1)) if one > at)
        long_min = (self.end - self.start) % DAY_MIN
        # By the clock on the wall: a night may have 23 hours, or 25.
        begun = datetime.fromtimestamp(end, self.zone) - timedelta(minutes=long_min)
        return end if begun.timestamp() <= at else 0.0

    def _end_on(self, at: float, days: int) -> float:
        day = datetime.fromtimestamp(at, self.zone).date() + timedelta(days=days)
        hour, minute = divmod(self.end, 60)
        return datetime.combine(day, time(hour, minute), self.zone).timestamp()
