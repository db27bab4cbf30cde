"""What must never happen and what must always happen, whatever the outside does and in what order.

Each test drives all rules together against outside.py. docs/decisions/0003-properties-that-bite.md
says which rules were broken by hand to see these tests fail.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.outside import THEMES, Outside
from tests.rules.promises import broken_promises, unfinished, unreasoned_waits

LONG = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def begun(moves: int, **options: Any) -> Outside:
    outside = Outside(**options)
    outside.lead_in(moves)
    return outside


OUTSIDES = st.builds(
    begun,
    moves=st.integers(0, 56),
    goals=st.sampled_from([1, 1, 2]),
    check=st.sampled_from([True, True, False]),
    theme=st.sampled_from(THEMES),
    go=st.sampled_from(["ask", "auto"]),
    drops=st.sampled_from([False, False, True]),
    cores=st.sampled_from([0, 1, 2]),
    after_limit=st.sampled_from(["go on", "ask", "morning"]),
    reserve=st.sampled_from(["off", "off", "20"]),
)


def told(seed: int, length: int) -> list[int]:
    """Draw a story.

    Lists of numbers that hypothesis draws itself repeat themselves too much to get as far as a push:
    with them these tests held of rules that were broken.
    """
    draw = random.Random(seed)
    return [draw.randrange(10_000) for _ in range(length)]


def broken(outside: Outside) -> list[str]:
    return broken_promises(outside.world.history, outside.world.states, outside.calls)


STORIES = st.builds(told, seed=st.integers(0, 2**32), length=st.integers(60, 160))


@LONG
@given(outside=OUTSIDES, story=STORIES)
def test_no_promise_is_broken_whatever_comes_in_whatever_order(
    outside: Outside, story: list[int]
) -> None:
    for number in story:
        outside.step(number)
    outside.world.settle()
    assert broken(outside) == []


@LONG
@given(outside=OUTSIDES, story=STORIES)
def test_everything_ends_once_the_outside_is_kind(outside: Outside, story: list[int]) -> None:
    for number in story:
        outside.step(number)
    outside.rest()
    assert unfinished(outside.world.states) == []
    assert broken(outside) == []


@LONG
@given(outside=OUTSIDES, story=STORIES)
def test_every_wait_has_a_reason_on_the_board_and_a_way_out(
    outside: Outside, story: list[int]
) -> None:
    for number in story:
        outside.step(number)
        if not outside.world.told:
            assert unreasoned_waits(outside.world.states) == []
    outside.rest()
    assert unreasoned_waits(outside.world.states) == []


def test_the_stories_told_here_get_as_far_as_a_push() -> None:
    """Else the properties above would hold of nothing."""
    seen: set[str] = set()
    for seed in range(30):
        theme = THEMES[seed % len(THEMES)]
        kept = "20" if seed % 5 == 0 else "off"
        outside = begun(seed * 2, check=seed % 2 == 0, theme=theme, reserve=kept)
        for number in told(seed, 200):
            outside.step(number)
        seen |= {type(effect).__name__ for item in outside.world.history for effect in item.effects}
        seen |= {type(item.event).__name__ for item in outside.world.history}
    reached = {"Merge", "Check", "Land", "Judge", "TakeRemote", "Push", "GoalShipped"}
    assert reached | {"LinesLeft", "ReviewCorrected", "AskSettled", "NewWorkerWaits"} <= seen
