"""Accounts that rest: until their provider's limit resets, or until their owner signs them in again.

Part of fleet.py's rule: a run of a resting account waits there with a reason, so that neither a second
worker is started into a limit nor one run after another fails at a stale login. Pure. Neighbours:
turn_ends.py tells what an agent was refused, board/failure_card.py shows the one card of a login.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.rules.effects import Tell
from engine.rules.events import AccountRested, RestOver

LONGEST_S = 40 * 86400.0  # no window of a provider's lasts longer


class Rest(Struct, frozen=True, kw_only=True):
    """Why and until when an account's runs wait."""

    account: str
    until: float = 0.0  # Unix seconds; 0 = until the owner has acted
    why: str = ""  # what the owner is told
    at: float = 0.0

    @property
    def signed_out(self) -> bool:
        return not self.until

    @property
    def reason(self) -> str:
        what = "not signed in" if self.signed_out else "its plan's usage limit"
        return f"account {self.account}: {what}"


Rests = tuple[Rest, ...]


def believed(until: float, at: float) -> float:
    """Return a time to come that somebody told of, or 0, as if untold, where none can lie so far off."""
    return until if 0 < until - at < LONGEST_S else 0.0


def resting(rests: Rests, account: str) -> Rest | None:
    """Return the rest an account is at, if any; one without a sane end, of an earlier release, is none."""
    return next((rest for rest in rests if rest.account == account and _is_sane(rest)), None)


def _is_sane(rest: Rest) -> bool:
    return rest.until - rest.at < 2 * LONGEST_S  # `at` is of its beginning: it may have grown since


def rested(rests: Rests, event: AccountRested) -> tuple[Rests, tuple[Tell, ...]]:
    """Let an account rest, and wake it when a limit is over.

    A login that is refused outlasts any limit, and is one card however many runs are refused.
    """
    known = resting(rests, event.name)
    if known is not None and known.signed_out:
        return rests, ()
    if known is not None and event.until and event.until <= known.until:
        return rests, ()
    rest = Rest(account=event.name, until=event.until, why=event.why, at=event.at)
    if known is not None and event.until:
        rest = replace(rest, at=known.at)
    over = Tell(
        stream="fleet",
        event=RestOver(name=event.name, until=event.until),
        due_at=event.until,
    )
    return (*without(rests, event.name), rest), (over,) if event.until else ()


def over(rests: Rests, event: RestOver) -> Rests:
    """End a limit's rest, unless another began meanwhile."""
    known = resting(rests, event.name)
    ended = known is not None and known.until == event.until
    return without(rests, event.name) if ended else rests


def without(rests: Rests, account: str) -> Rests:
    return tuple(rest for rest in rests if rest.account != account)
