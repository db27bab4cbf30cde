"""How long to wait after a failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.retry import BASE_S, CAP_S, MAX_TRIES, wait_s

LUCK = st.floats(0, 1, exclude_max=True)


def test_the_longest_wait_doubles_with_each_failure_up_to_a_cap() -> None:
    assert [wait_s(tries, 0.5) for tries in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 4.0]
    assert wait_s(MAX_TRIES, 0.5) == CAP_S / 2


def test_after_the_last_try_there_is_no_wait() -> None:
    assert wait_s(MAX_TRIES, 0.5) is not None
    assert wait_s(MAX_TRIES + 1, 0.5) is None


def test_a_wait_before_any_failure_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="after 0 failures"):
        wait_s(0, 0.5)


@given(tries=st.integers(1, MAX_TRIES), luck=LUCK, cap_s=st.floats(BASE_S, 10_000))
def test_a_wait_is_never_negative_and_never_past_the_cap(
    tries: int, luck: float, cap_s: float
) -> None:
    wait = wait_s(tries, luck, cap_s)
    assert wait is not None
    assert 0 <= wait <= cap_s


@given(luck=LUCK)
def test_whoever_keeps_failing_is_told_to_stop_in_the_end(luck: float) -> None:
    waits = [wait_s(tries, luck) for tries in range(1, MAX_TRIES + 2)]
    assert waits[-1] is None
    assert None not in waits[:-1]
