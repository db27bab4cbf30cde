"""How long to leave an outside thing alone that did not answer, and when to stop asking.

Pure: the random draw comes in. Neighbours: engine/loop.py asks before it postpones an effect,
engine/api/client.py before it dials the socket again.
"""

from __future__ import annotations

from typing import Final

MAX_TRIES: Final = 12
BASE_S: Final = 1.0
CAP_S: Final = 600.0


def wait_s(tries: int, luck: float, cap_s: float = CAP_S) -> float | None:
    """Return the seconds to leave before the next try, or None: give up.

    tries   failures so far, >= 1
    luck    a uniform draw in [0, 1), passed in so that this rule stays pure
    returns seconds in [0, cap_s], drawn from a range that doubles with each failure;
            None once tries > MAX_TRIES
    raises  ValueError if tries < 1: the caller lost count
    source  "full jitter", M. Brooker, Exponential Backoff And Jitter, AWS blog, 2015: many who
            failed together do not come back together
    """
    if tries < 1:
        raise ValueError(f"a wait after {tries} failures")
    if tries > MAX_TRIES:
        return None
    return luck * min(cap_s, BASE_S * 2.0 ** (tries - 1))
