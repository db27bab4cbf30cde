"""What is killed on a voyage, and when: picked by a seed, so that a bad one can be sailed again."""

from __future__ import annotations

import random

from tests.soak.crew import Kill

EVENTS = 130  # of the 160 and more that a voyage makes
EARLY = ("node", "engine", "bot", "runner", "runner")  # while there are workers
LATE = ("engine", "engine", "bot", "bot", "node")


def kills(seed: int, events: int = EVENTS) -> list[Kill]:
    """Return ten kills, by the number of events the ledger holds then."""
    lots = random.Random(seed)
    moments = sorted(lots.sample(range(8, events), len(EARLY + LATE)))
    victims = (*lots.sample(EARLY, len(EARLY)), *lots.sample(LATE, len(LATE)))
    return [Kill(*pair) for pair in zip(moments, victims, strict=True)]
