"""The reserve: the share of every account's usage windows that its owner keeps for themself.

    AccountUsed ──> windows ──┐
    ReserveSet  ──> reserve ──┴──> past() ──> a new worker waits until the window resets

Part of fleet.py's rule. What agents tell of a window is merged: what one telling lacks is kept from
those before, and a window whose reset is over is known no more. Only who never ran is held: what has
begun goes on, so that no work is left half done. Pure. Neighbour: engine/adapters/usage.py (what is told).
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.events import AccountUsed
from engine.rules.words import Kept

UNTOLD = -1
UNTOLD_S = 15 * 60.0  # how long a share counts whose window does not say when it resets
MOST = 90  # per cent that can be kept: with all of it nothing would ever start
MAX_WINDOWS = 8  # of one account
OFF = ("off", "none", "no")
_SHARE = re.compile(r"([0-9]{1,3})\s*(?:%|percent|per cent)?")


class Window(Struct, frozen=True, kw_only=True):
    """Where one of an account's windows stands."""

    account: str
    name: str  # the provider's word
    percent: int = UNTOLD  # used
    resets_at: float = 0.0  # Unix seconds; 0 = not told
    told_at: float = 0.0
    clock: str = ""  # the reset as the owner reads it

    @property
    def until(self) -> float:
        """When what is known of it counts no more."""
        return self.resets_at or self.told_at + UNTOLD_S


Windows = tuple[Window, ...]


def known(windows: Windows, account: str, at: float) -> Windows:
    """What is known of an account's windows at a time."""
    return tuple(one for one in windows if one.account == account and one.until > at)


def told(windows: Windows, event: AccountUsed) -> Windows:
    """Take up what an agent told of a window."""
    own = known(windows, event.name, event.at)
    before = next((one for one in own if one.name == event.window), None)
    if before is None and len(own) >= MAX_WINDOWS:
        return windows
    now = before or Window(account=event.name, name=event.window)
    now = replace(now, told_at=event.at)
    if event.percent != UNTOLD:
        now = replace(now, percent=event.percent)
    if event.resets_at:
        now = replace(now, resets_at=event.resets_at, clock=event.clock)
    others = tuple(one for one in own if one.name != event.window)
    return (*without(windows, event.name), *others, now)


def without(windows: Windows, account: str) -> Windows:
    return tuple(one for one in windows if one.account != account)


def past(windows: Windows, account: str, reserve: int, at: float) -> Window | None:
    """Return the window whose reserve is touched; of several the one that resets last."""
    if not reserve:
        return None
    touched = [one for one in known(windows, account, at) if one.percent > 100 - reserve]
    return max(touched, key=lambda one: one.until, default=None)


def kept(window: Window, reserve: int) -> Kept:
    return Kept(window.account, window.percent, reserve, window.clock)


def reason(found: Kept) -> str:
    """Say to the owner why a new worker waits, and the way out."""
    resets = f", resets {found.clock}" if found.clock else ""
    return (
        f"account {found.account}: {found.percent} % used, past the {found.reserve} % you keep"
        f"{resets}; /settings reserve off starts it now"
    )


def chosen(value: str) -> int:
    """Return the share an owner named, in per cent, or refuse with what is possible."""
    said = " ".join(value.lower().split())
    if said in OFF:
        return 0
    found = _SHARE.fullmatch(said)
    if found is None or int(found[1]) > MOST:
        raise Refused(
            f"The reserve is a share of 0 to {MOST} %: /settings reserve 20, or reserve off."
        )
    return int(found[1])
