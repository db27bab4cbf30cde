"""The first stories, a hundred seeds; test_stories_on.py tells as many more beside them."""

from __future__ import annotations

import pytest

from tests.simulation.__main__ import report
from tests.simulation.story import tell

AT_ONCE = 20
TOLD = 12  # from the first on: enough for all kinds of trouble

_kinds: dict[int, set[str]] = {}  # of the stories told here, by their seeds


def holds(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        told = tell(seed)
        _kinds[seed] = told.kinds
        assert not told.faults, report(told)


@pytest.mark.parametrize("first", range(0, 100, AT_ONCE))
def test_whatever_happens_in_whatever_order_every_promise_is_kept(first: int) -> None:
    """BR-14, BR-16, BR-22, BR-37, BR-42, BR-51, BR-66, BR-96, BR-97, BR-109: see story.py."""
    holds(first)


@pytest.mark.parametrize("seed", [3, 14])
def test_a_seed_tells_the_same_story_each_time(seed: int) -> None:
    once, again = tell(seed), tell(seed)
    assert once.lines == again.lines
    assert once.hash == again.hash


def test_the_stories_get_as_far_as_a_push_and_into_all_kinds_of_trouble() -> None:
    """Else the promises would hold of nothing."""
    kinds: set[str] = set()
    for seed in range(TOLD):
        kinds |= _kinds[seed] if seed in _kinds else tell(seed).kinds
    reached = {"Merge", "Check", "Land", "Judge", "TakeRemote", "Push", "GoalShipped"}
    trouble = {"LimitReached", "AskSettled", "MachineLost", "EngineAway", "LandingDropped"}
    assert reached | trouble <= kinds
