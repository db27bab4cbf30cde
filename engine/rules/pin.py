"""The owner's PIN: asked for before what lets something out, shut for a while once it was guessed at.

    open ─ 3 wrong ─> shut 1 min ─ 3 wrong ─> 5 ─ 3 wrong ─> 30 ─ … ─ the fifth time ─> /lock

A try is counted before it is judged, so that many at once are not more than one after the other. A right
one forgets what was wrong. Pure: only a slow hash is known here (engine/pins.py makes it). Part of owner.py's rule.
Neighbours: board/guarded.py says what takes the PIN, requests/pins.py judges what was typed.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.events import PinOff, PinRight, PinSet, PinTried, PinWrong

MOST_WRONG: Final = 3
SHUT_S: Final = (
    60.0,
    300.0,
    1800.0,
)  # after the first round of wrong ones, the second, each later one
MOST_ROUNDS: Final = 5
SHUT: Final = (
    "Too many wrong PINs: none is taken for another {}. Forgotten? On the box: quarterdeck pin off"
)
LOCKS: Final = (
    "The PIN was wrong {} times. Everything is locked: no tap and no line decides anything until "
    "quarterdeck unlock at the box. If that was not you, look through quarterdeck audit there."
)
GONE: Final = (
    "The PIN was taken off at the box: a push, a key and what cannot be undone ask for none any more. If "
    "that was none of you, send /lock and look through quarterdeck audit there. /settings, PIN sets another."
)
TOLD: Final = "The PIN was wrong {} times: none is taken for {}. If that was not you, send /lock."


class Pin(Struct, frozen=True, kw_only=True):
    """What is kept of it.

    kept     the slow hash of it, with its salt; "" = there is none
    wrong    tries of this round that were not right, or are not judged yet
    rounds   how often it was shut since it was right last
    """

    kept: str = ""
    wrong: int = 0
    rounds: int = 0
    since: float = 0.0
    until: float = 0.0
    told: int = 0  # rounds that all owners were told of: several wrong at once are one alarm


PinEvent = PinSet | PinOff | PinTried | PinRight | PinWrong


def shut_s(now: Pin, at: float) -> float:
    """For how long no PIN is taken any more; a clock that was set back makes it no longer."""
    return now.until - at if now.since <= at < now.until else 0.0


def decide(now: Pin, event: PinEvent) -> tuple[Pin, str, bool]:
    """Return what is kept after `event`, what all owners are told, and whether all is locked now."""
    match event:
        case PinSet(salted=salted):
            return Pin(kept=salted), "", False
        case PinOff():
            return Pin(), GONE if event.at_box else "", False
        case PinTried() if (left := shut_s(now, event.at)) > 0:
            raise Refused(SHUT.format(in_words(left)))
        case PinTried():
            return _tried(now, event.at), "", False
        case PinRight():
            return Pin(kept=now.kept), "", False
        case PinWrong() if shut_s(now, event.at) > 0:
            many = now.rounds * MOST_WRONG
            if now.rounds >= MOST_ROUNDS:
                return Pin(kept=now.kept), LOCKS.format(many), True
            if now.told == now.rounds:
                return now, "", False
            now = replace(now, told=now.rounds)
            return now, TOLD.format(many, in_words(now.until - now.since)), False
        case PinWrong():
            return now, "", False


def _tried(now: Pin, at: float) -> Pin:
    """Count a try as wrong until it was judged; the last one of a round shuts it there and then."""
    wrong = now.wrong + 1
    if wrong < MOST_WRONG:
        return replace(now, wrong=wrong, since=0.0, until=0.0)
    rounds = now.rounds + 1
    pause = SHUT_S[min(rounds, len(SHUT_S)) - 1]
    return replace(now, wrong=0, rounds=rounds, since=at, until=at + pause)


def left(now: Pin) -> int:
    """How many wrong ones are taken before it is shut."""
    return MOST_WRONG - now.wrong


def in_words(seconds: float) -> str:
    minutes = -(-int(seconds) // 60)
    return "1 minute" if minutes <= 1 else f"{minutes} minutes"
