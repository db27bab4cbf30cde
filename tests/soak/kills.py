"""What is killed on a voyage, and when: picked by a seed, so that a bad one can be sailed again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from tests.soak.crew import Kill

EVENTS = 135  # of the 160 and more that a voyage makes
EARLY = Counter(engine=3, bot=2, node=1, zygote=2, runner=4)  # while there are workers
LATE = Counter(engine=5, bot=4, node=3, zygote=1)
KILLS = (EARLY + LATE).total()


def kills(seed: int, events: int = EVENTS) -> list[Kill]:
    """Return the kills of one voyage, by the number of events the ledger holds then."""
    lots = random.Random(seed)
    moments = sorted(lots.sample(range(8, events), KILLS))
    victims = [
        victim
        for half in (EARLY, LATE)
        for victim in lots.sample(list(half.elements()), half.total())
    ]
    return [Kill(*pair) for pair in zip(moments, victims, strict=True)]


def counted(killed: Iterable[str]) -> str:
    """Return how many of each were killed, in words."""
    counts = Counter(line.split()[0] for line in killed)
    return f"{counts.total()} kills: " + ", ".join(
        f"{count} {victim}" for victim, count in sorted(counts.items())
    )
