"""The first stories, a hundred seeds; test_stories_on.py tells as many more beside them."""

from __future__ import annotations

import os
import subprocess
import sys

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


@pytest.mark.parametrize("seed", [462, 503])
def test_seeds_that_once_ended_badly_hold(seed: int) -> None:
    """A judge that knew nothing of a start; an owner who asked in the moment of a death."""
    told = tell(seed)
    assert not told.faults, report(told)


def test_a_seed_tells_the_same_story_each_time_in_whatever_process() -> None:
    """With another seed for hashes a set has another order: none may lie in the way."""
    stories = [sys.executable, "-m", "tests.simulation", "--seed", "12", "--steps"]
    once, again = (
        subprocess.run(
            stories, env={**os.environ, "PYTHONHASHSEED": hashes}, capture_output=True, text=True
        )
        for hashes in ("0", "1")
    )
    assert once.returncode == 0, once.stdout
    told = once.stdout.splitlines()[:-1]  # the last line says how long it took
    assert len(told) > 100
    assert told == again.stdout.splitlines()[:-1]


def test_the_stories_get_as_far_as_a_push_and_into_all_kinds_of_trouble() -> None:
    """Else the promises would hold of nothing."""
    kinds: set[str] = set()
    for seed in range(TOLD):
        kinds |= _kinds[seed] if seed in _kinds else tell(seed).kinds
    reached = {"Merge", "Check", "Land", "Judge", "TakeRemote", "Push", "GoalShipped"}
    trouble = {"LimitReached", "AskSettled", "MachineLost", "EngineAway", "LandingDropped"}
    assert reached | trouble <= kinds
