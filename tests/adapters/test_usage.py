"""What agents tell of their windows: only what is new is told on, and nothing odd breaks anything."""

from __future__ import annotations

from datetime import UTC

import pytest

from engine.adapters.agents.driver import Limit
from engine.adapters.usage import used
from engine.rules.events import AccountUsed
from engine.rules.reserve import Window

NOW = 1_700_000_000.0  # 22:13:20
RESET = NOW + 3600
KNOWN = (Window(account="main", name="five_hour", percent=84, resets_at=RESET, told_at=NOW - 60),)


def told(
    share: float | None, resets_at: float | None, *, window: str = "five_hour", known: bool = True
) -> AccountUsed | None:
    resets = None if resets_at is None else int(resets_at)
    limit = Limit(resets_at=resets, window=window, utilization=share, rejected=False)
    return used(limit, "main", KNOWN if known else (), NOW, UTC)


def test_the_first_telling_is_told_on_in_whole_per_cents_with_the_owners_hour() -> None:
    expected = AccountUsed(
        name="main", window="five_hour", percent=29, resets_at=RESET, clock="23:13"
    )
    assert told(0.29, RESET, known=False) == expected


@pytest.mark.parametrize(
    ("share", "resets_at"),
    [(0.84, RESET), (0.8401, RESET + 1), (0.84, None), (None, RESET), (None, None)],
)
def test_what_is_known_already_is_no_event(share: float | None, resets_at: float | None) -> None:
    assert told(share, resets_at) is None


@pytest.mark.parametrize(("share", "resets_at"), [(0.85, None), (0.84, RESET + 7200)])
def test_a_whole_per_cent_or_another_reset_is_one(share: float, resets_at: float | None) -> None:
    assert told(share, resets_at) is not None


@pytest.mark.parametrize("resets_at", [None, 0, -5, NOW * 1000, 9e14])
def test_an_odd_reset_counts_as_not_told(resets_at: float | None) -> None:
    """BR-109."""
    found = told(0.84, resets_at, known=False)
    assert found == AccountUsed(name="main", window="five_hour", percent=84)


def test_an_old_line_that_is_read_late_tells_nothing_of_the_window_that_follows() -> None:
    assert told(0.95, NOW - 10) is None


def test_a_reset_of_another_day_says_which() -> None:
    found = told(0.5, NOW + 3 * 86400, window="seven_day")
    assert found is not None
    assert found.clock == "Fri 22:13"


@pytest.mark.parametrize(("share", "percent"), [(1.7, 100), (0.0, 0), (-1.0, -1)])
def test_a_share_is_none_or_a_hundred_at_most(share: float, percent: int) -> None:
    found = told(share, RESET, known=False)
    assert found is not None
    assert found.percent == percent


def test_a_window_is_called_something_short() -> None:
    assert told(0.5, RESET, window="") is None
    found = told(0.5, RESET, window="x\n" * 500)
    assert found is not None
    assert (len(found.window), "\n" in found.window) == (40, False)
