"""Times an agent tells of are believed only as far as one can lie off, old ledgers' ones too."""

from __future__ import annotations

import pytest

from engine.adapters.agents import driver as lines
from engine.adapters.at_work import AtWork
from engine.rules.effects import Tell
from engine.rules.events import AccountRested, LimitReached, RunExited, TurnEnded
from engine.rules.rests import LONGEST_S, Rest, believed, rested, resting
from engine.rules.session import decide
from engine.rules.session_state import Session, Stage
from engine.rules.turn_ends import UNKNOWN_LIMIT_S
from engine.rules.words import TurnError

NOW = 1_790_000_000.0
IN_MS = 1_795_000_000_000.0


@pytest.mark.parametrize("told", [0.0, NOW - 1, NOW + LONGEST_S, IN_MS, -IN_MS])
def test_a_time_past_or_further_off_than_any_window_counts_as_not_told(told: float) -> None:
    assert believed(told, NOW) == 0.0
    assert believed(NOW + 5 * 86_400, NOW) == NOW + 5 * 86_400


def test_a_rest_of_an_earlier_release_without_a_sane_end_is_none() -> None:
    old = (Rest(account="main", until=IN_MS, at=NOW),)
    assert resting(old, "main") is None
    rests, _ = rested(old, AccountRested(name="main", until=NOW + 3600, why="", at=NOW))
    assert rests == (Rest(account="main", until=NOW + 3600, at=NOW),)


@pytest.mark.parametrize("kept", [0.0, IN_MS])
def test_a_limit_in_milliseconds_is_one_without_a_time(kept: float) -> None:
    now = Session(id="s-1", stage=Stage.RUNNING, run="s-1.1", parked_until=kept)
    now, _ = decide(now, LimitReached(run=now.run, resets_at=IN_MS, at=NOW))
    now, _ = decide(now, TurnEnded(run=now.run, error="limit", kind=TurnError.LIMIT, at=NOW))
    now, effects = decide(now, RunExited(run=now.run, code=0, at=NOW))
    assert now.parked_until == NOW + UNKNOWN_LIMIT_S
    assert {one.due_at for one in effects if isinstance(one, Tell) and one.due_at} == {
        NOW + UNKNOWN_LIMIT_S
    }


def test_a_delay_without_end_and_a_clock_nobody_has_are_not_told() -> None:
    found = AtWork()
    assert found.set_clock(NOW - 60, NOW)
    assert not found.set_clock(9e14, NOW)
    assert not found.set_clock(-9e14, NOW)
    found.note(lines.Retrying("overloaded", 1, 1e12), NOW - 60)
    retry = found.left_off().retry
    assert retry is not None
    assert retry.until == NOW
