"""Words for a run that prints nothing: for how long, and what it waits for; one line.

Part of text.py's wording; pure. What an agent or a machine named stands in quotes, short. How long is told
in steps ("10+ min") and times by the owner's clock, so that a line stays true while it is not edited.
Neighbours: text_session.py and text_board.py (where it stands), engine/rules/silence.py (which of them).
"""

from __future__ import annotations

from datetime import tzinfo

from bot.entities import one_line
from bot.text_sheet import promise
from engine.moments import clock
from engine.rules.unseen import in_quotes
from engine.views import Silence, Why

SERVICES = {"claude": "Anthropic"}
FAILS = {"unknown": "does not answer", "": "does not answer"}
WHAT = 60


def words(
    found: Silence,
    zone: tzinfo | None = None,
    agent: str = "",
    silent: str = "",
    now: float = 0.0,
) -> str:
    """Return "silent 10+ min: runs “npm test” since 23:36".

    silent   how long, where that is known to the second
    """
    return f"{silent or f'silent {_steps(found.minutes)}'}: {_what_for(found, zone, agent, now)}"


def _what_for(found: Silence, zone: tzinfo | None, agent: str, now: float) -> str:
    what = in_quotes(found.what, WHAT) if found.what else ""
    until = f" until {promise(found.until, zone, now)}" if found.until else ""
    match found.why:
        case Why.OWNER:
            return "waits for your answer, above"
        case Why.TOOL:
            return f"runs {what or 'a tool'} since {clock(found.since or found.begun, zone)}"
        case Why.NETWORK:
            again = f", tries again at {promise(found.until, zone, now)}" if found.until else ""
            return (
                f"{SERVICES.get(agent, 'its model')} {_fails(found.what)}{again or ', tries again'}"
            )
        case Why.TASKS:
            return f"{what} works behind it" if what else "its own tasks still run"
        case Why.LIMIT:
            return f"waits for its usage limit{until}"
        case Why.STOPPED:
            return f"a signal stopped {what or 'it'}; Interrupt ends its turn"
        case Why.MODEL:
            return "waits for its model"
        case Why.HUNG:
            return "nothing of it runs; it is ended, and goes on with a note"


def _fails(reason: str) -> str:
    said = one_line(reason, WHAT).replace("_", " ")
    return FAILS.get(said.partition(" (")[0], f"does not answer ({in_quotes(said, WHAT)})")


def _steps(minutes: int) -> str:
    if minutes < 60:
        return f"{minutes}+ min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours}+ h"
