"""What an agent tells of its account's windows, as the fleet takes it: whole per cents, changes only.

Lines tell of it again and again, and mostly the same: what the fleet knows already is no event. A time
that no window can last to is an agent's fault, and counts as not told. Neighbours: reading.py reads,
rules/reserve.py merges.
"""

from __future__ import annotations

from datetime import tzinfo

from engine.adapters.agents.driver import Limit
from engine.codec import whole
from engine.moments import to_come
from engine.rules import reserve
from engine.rules.events import AccountUsed
from engine.rules.rests import believed

SAME_S = 60.0  # resets closer than that are one: some count from the second they were asked in
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
    resets_at = believed(resets_at, at)
    if not name or (percent == reserve.UNTOLD and not resets_at):
        return None
    known = next((w for w in reserve.known(windows, account, at) if w.name == name), None)
    if known is not None:
        same = percent in (reserve.UNTOLD, known.percent)
        if same and (not resets_at or abs(resets_at - known.resets_at) < SAME_S):
            return None
    clock = to_come(resets_at, at, zone) if resets_at else ""
    return AccountUsed(name=account, window=name, percent=percent, resets_at=resets_at, clock=clock)


def _percent(utilization: float | None) -> int:
    if utilization is None or utilization < 0:
        return reserve.UNTOLD
    return round(min(utilization, 1.0) * 100)
