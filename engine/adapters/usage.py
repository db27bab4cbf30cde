"""What an agent tells of its account's windows, as the fleet takes it: whole per cents, changes only.

Lines tell of it again and again, and mostly the same: what the fleet knows already is no event. A time
that no window can last to is an agent's fault, and counts as not told. Neighbours: reading.py reads,
rules/reserve.py merges.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from engine.adapters.agents.driver import Limit
from engine.codec import whole
from engine.rules import reserve
from engine.rules.events import AccountUsed

LONGEST_S = 40 * 86400.0
SAME_S = 60.0  # resets closer than that are one: some count from the second they were asked in
A_DAY_S = 20 * 3600.0  # beyond it an hour alone may be read as today's
NAME = 40  # characters


def used(
    limit: Limit, account: str, windows: reserve.Windows, at: float, zone: tzinfo | None
) -> AccountUsed | None:
    """Return what is new to those who know `windows`, or None."""
    name = " ".join(whole(limit.window).split())[:NAME]
    percent = _percent(limit.utilization)
    resets_at = float(limit.resets_at or 0)
    if 0 < resets_at <= at:
        return None  # an old line, read late: that window is over
    if not 0 < resets_at - at < LONGEST_S:
        resets_at = 0.0
    if not name or (percent == reserve.UNTOLD and not resets_at):
        return None
    known = next((w for w in reserve.known(windows, account, at) if w.name == name), None)
    if known is not None:
        same = percent in (reserve.UNTOLD, known.percent)
        if same and (not resets_at or abs(resets_at - known.resets_at) < SAME_S):
            return None
    clock = on_the_clock(resets_at, at, zone) if resets_at else ""
    return AccountUsed(name=account, window=name, percent=percent, resets_at=resets_at, clock=clock)


def on_the_clock(then: float, at: float, zone: tzinfo | None) -> str:
    """Return a time to come as the owner reads it, with its day where that is not plain."""
    shape = "%a %H:%M" if then - at > A_DAY_S else "%H:%M"
    return datetime.fromtimestamp(then, zone).strftime(shape)


def _percent(utilization: float | None) -> int:
    if utilization is None or utilization < 0:
        return reserve.UNTOLD
    return round(min(utilization, 1.0) * 100)
