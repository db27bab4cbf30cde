"""The rules a project's owner keeps by Always, and what they answer.

    asked ─ a rule covers it ─> allowed at once, no card      (counted)
      └──── none does ────────> the owner's card ─ Always ─> kept, and what else it covers is allowed

Part of project.py's rule. A rule is known by the ask it was kept of. Pure. Neighbours: always.py says
which rule a request falls under, asking.py asks, ask.py is the card's stream.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.ask import BY_RULE
from engine.rules.effects import Tell
from engine.rules.events import (
    AskSettled,
    AskWithdrawn,
    KeyForgotten,
    PermissionAsked,
    PermissionDecided,
    PermissionGone,
    RuleFits,
    RuleRevoked,
)
from engine.rules.words import AlwaysRule, Decision


class Kept(Struct, frozen=True, kw_only=True):
    """One rule, and how much it was used."""

    ask: str
    rule: AlwaysRule
    kept_at: float = 0.0
    used: int = 0
    used_at: float = 0.0


class Rules(Struct, frozen=True, kw_only=True):
    """What is kept, and the open cards that a new rule might settle too."""

    kept: tuple[Kept, ...] = ()
    open: tuple[tuple[str, AlwaysRule], ...] = ()  # (ask, the rule Always would keep of it)


RuleEvent = PermissionAsked | PermissionGone | PermissionDecided | RuleRevoked | KeyForgotten


def decide(now: Rules, event: RuleEvent) -> tuple[Rules, tuple[Tell, ...]]:
    """Return what is kept after `event`, and whom to tell."""
    match event:
        case PermissionAsked():
            return _asked(now, event)
        case PermissionGone(ask=ask, why=why):
            gone = Tell(stream=f"ask/{ask}", event=AskWithdrawn(why=why))
            return _closed(now, ask), (gone,)
        case PermissionDecided(always=True):
            return _keep(_closed(now, event.ask), event)
        case PermissionDecided(ask=ask):
            return _closed(now, ask), ()
        case RuleRevoked(ask=ask):
            left = tuple(one for one in now.kept if one.ask != ask)
            if left == now.kept:
                raise Refused("There is no such rule any more. /settings rules lists them.")
            return replace(now, kept=left), ()
        case KeyForgotten(name=name):
            left = tuple(one for one in now.kept if name not in one.rule.keys)
            return replace(now, kept=left), ()


def forgotten(now: Rules) -> Rules:
    """Keep no rule any more; what is open stays so."""
    return replace(now, kept=())


def _asked(now: Rules, event: PermissionAsked) -> tuple[Rules, tuple[Tell, ...]]:
    asked, rule = event.asked, event.asked.rule
    known = None if rule is None else _covering(now, rule)
    if known is not None:
        allowed = AskSettled(ask=event.ask, decision=Decision.ALLOW, by=BY_RULE)
        return _used(now, known, event.at), (Tell(stream=asked.teller, event=allowed),)
    card = Tell(stream=f"ask/{event.ask}", event=asked)
    if rule is None:
        return now, (card,)
    return replace(now, open=(*now.open, (event.ask, rule))), (card,)


def _covering(now: Rules, asked: AlwaysRule) -> Kept | None:
    return next((one for one in now.kept if one.rule.covers(asked)), None)


def _used(now: Rules, known: Kept, at: float, times: int = 1) -> Rules:
    used = replace(known, used=known.used + times, used_at=at)
    return replace(now, kept=tuple(used if one.ask == known.ask else one for one in now.kept))


def _keep(now: Rules, event: PermissionDecided) -> tuple[Rules, tuple[Tell, ...]]:
    """Keep a rule, in place of narrower ones, and let it settle the open cards that it covers."""
    rule = event.rule
    if _covering(now, rule) is not None:
        return now, ()
    new = Kept(ask=event.ask, rule=rule, kept_at=event.at)
    wider = tuple(one for one in now.kept if not rule.covers(one.rule))
    fits = tuple(ask for ask, asked in now.open if rule.covers(asked))
    keeping = replace(now, kept=(*wider, new))
    if fits:
        keeping = _used(keeping, new, event.at, len(fits))
    return keeping, tuple(Tell(stream=f"ask/{ask}", event=RuleFits()) for ask in fits)


def _closed(now: Rules, ask: str) -> Rules:
    return replace(now, open=tuple(pair for pair in now.open if pair[0] != ask))
