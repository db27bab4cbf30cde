"""How long an effect waits at most, where the length of that wait is our own.

When an effect is due is a moment of the clock there was as it was asked for. Was that clock ahead, the
pause of some minutes would last until that date after it is set right. So the loop asks here, at its
start and once it notices that its clock went back. No bound has what somebody else gave a moment to: a
provider's limit, an agent's own wake. Neighbours: loop.py asks; rules/ has the lengths.
"""

from __future__ import annotations

from math import inf

from engine.rules import asking, killed, piece, plan, session, silence, starts, steering
from engine.rules.effects import AnyEffect, CloseRun, Tell, Watch
from engine.rules.events import AskHeldOut, HoldOver, RetryDue, StartOver

_HOLDS = {
    "interrupt": steering.INTERRUPT_GRACE_S,
    "killed": killed.PAUSE_S,
    "news": piece.BATCH_S,
    "tasks": asking.HOLD_S,
}


def at_most_s(effect: AnyEffect) -> float:
    """Return the seconds that lie between the asking for an effect and its time, at most."""
    match effect:
        case Tell(event=HoldOver(what=what)):
            return _HOLDS.get(what, inf)
        case Tell(event=RetryDue()):
            return piece.RETRY_PAUSE_S * plan.MAX_ATTEMPTS
        case Tell(event=AskHeldOut()):
            return asking.HOLD_S
        case Tell(event=StartOver()):
            return starts.START_S
        case Watch():
            return silence.LOOKS_S
        case CloseRun():
            return session.CLOSE_AGAIN_S
        case _:
            return inf
