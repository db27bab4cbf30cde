"""How much of an account's usage windows is used, and what the owner keeps of it, in words.

Pure wording. Neighbours: text_fleet.py (/accounts) and text_board.py (/health) show it.
"""

from collections.abc import Sequence

import msgspec

from bot.entities import one_line
from engine.views import UsageView

UNITS = {"hour": "hour", "hours": "hour", "day": "day", "days": "day"}
NUMBERS = {"one": 1, "five": 5, "seven": 7, "thirty": 30}


def fullest(usage: Sequence[UsageView]) -> str:
    """Return where the fullest window stands, or nothing."""
    return one(usage[0]) if usage and usage[0].percent >= 0 else ""


def one(view: UsageView) -> str:
    """84 % of its 5-hour window, resets 14:00"""
    used = f"{view.percent} % of" if view.percent >= 0 else "some of"
    resets = f", resets {one_line(view.resets, 20)}" if view.resets else ""
    return f"{used} its {_named(view.window)} window{resets}"


def of_accounts(told: object) -> dict[str, str]:
    """Return the same for every account of /health, a word for each."""
    views = msgspec.convert(msgspec.to_builtins(told), dict[str, list[UsageView]])
    return {name: "; ".join(map(one, usage)) or "not told yet" for name, usage in views.items()}


def _named(window: str) -> str:
    """Return five_hour as 5-hour, seven_day_opus as 7-day opus; what we do not know as it is."""
    number, _, rest = window.partition("_")
    unit, _, more = rest.partition("_")
    if number not in NUMBERS or unit not in UNITS:
        return one_line(window.replace("_", " "), 40)
    of = f" {more.replace('_', ' ')}" if more else ""
    return one_line(f"{NUMBERS[number]}-{UNITS[unit]}{of}", 40)
