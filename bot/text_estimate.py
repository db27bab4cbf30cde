"""Money and time in words: what was spent, and what a plan may cost and take.

Pure wording, as text.py's; engine/rules/estimates.py is where the numbers come from.
"""

from engine.views import PlanEstimate

NONE_YET = "No estimate yet: nothing of this kind landed here."


def money(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.005 else ""


def duration(seconds: float) -> str:
    """Return "under 1 min", "25 min" or "2 h 10 min"."""
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min" if minutes else "under 1 min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def about(usd: float) -> str:
    """Return "≈ $0.40", or nothing where that is not known."""
    return f"≈ {money(usd)}" if money(usd) else ""


def whole(estimate: PlanEstimate | None, pieces: int) -> str:
    """Return a plan's estimate as one line; `pieces` is how many it has."""
    if estimate is None:
        return NONE_YET
    cost = money(estimate.cost_usd)
    both = f"{cost} and {duration(estimate.took_s)}" if cost else duration(estimate.took_s)
    some = f" for {pieces - estimate.unknown} of {pieces} pieces" if estimate.unknown else ""
    ground = f"{estimate.pieces} piece{'' if estimate.pieces == 1 else 's'} landed before"
    where = "" if estimate.same_project else ", in other projects too"
    return f"About {both}{some}, from {ground}{where}"
