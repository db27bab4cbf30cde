"""Times as they are told: the day where it is not plain, and no number that ends the telling."""

from __future__ import annotations

import math
from datetime import UTC
from typing import Any

import pytest
from msgspec.structs import replace

from bot import text, text_fleet, text_silence
from engine.moments import IMPOSSIBLE, clock, to_come
from engine.views import AccountView, Board, Row, SessionCard, Silence, Wait, Why
from tests.bot.sample import CARDS

NOON = 20_000 * 86_400.0 + 12 * 3600  # a Friday, the 4th of October
HOUR = 3600.0
DAY = 24 * HOUR
IN_MS = 1_795_000_000_000.0


@pytest.mark.parametrize(
    ("ahead_s", "said"),
    [
        (-2 * DAY, "12:00"),
        (17 * HOUR, "05:00"),
        (19 * HOUR, "Sat 07:00"),
        (5 * DAY, "Wed 12:00"),
        (8 * DAY, "12 Oct 12:00"),
        (400 * DAY, "08 Nov 2025 12:00"),
    ],
)
def test_a_time_to_come_says_its_day_where_an_hour_could_be_todays(
    ahead_s: float, said: str
) -> None:
    assert to_come(NOON + ahead_s, NOON, UTC) == said


@pytest.mark.parametrize("at", [IN_MS, -IN_MS, 1e300, math.inf, -math.inf, math.nan])
def test_a_time_no_calendar_holds_is_said_to_be_impossible(at: float) -> None:
    assert clock(at, UTC) == IMPOSSIBLE
    assert to_come(at, NOON, UTC) == IMPOSSIBLE
    assert to_come(at, NOON, None) == IMPOSSIBLE


def waiting(until: float) -> SessionCard:
    card = next(card for card in CARDS if isinstance(card, SessionCard))
    return replace(card, waits=(Wait("a usage limit", "account main", until),))


def test_whatever_promises_a_time_tells_a_weekly_limit_by_its_day() -> None:
    due = NOON + 5 * DAY
    silent = Silence(Why.LIMIT, minutes=15, until=due)
    account = AccountView(name="main", agent="claude", until=due)
    board = Board(next=(Row("g-1", "", "Add", "waits", until=due),))
    said = [
        text.card(waiting(due), UTC, NOON).rich.text,
        text_silence.words(silent, UTC, now=NOON),
        text_silence.words(replace(silent, why=Why.NETWORK), UTC, now=NOON),
        text_fleet.account(account, UTC, NOON).rich.text,
        text_fleet.accounts([account], UTC, NOON).rich.text,
        text.board(board, UTC, NOON)[0].rich.text,
        text.catch_up(board.next, UTC, NOON)[0].rich.text,
    ]
    assert [part for part in said if "Wed 12:00" not in part] == []


def test_a_card_with_an_impossible_time_is_shown_all_the_same() -> None:
    assert f"goes on at {IMPOSSIBLE}" in text.card(waiting(IN_MS), UTC, NOON).rich.text


def test_a_row_that_cannot_be_worded_holds_up_none_of_the_others() -> None:
    broken: Any = None
    rows = (Row("g-1", "", "One", broken), Row("g-2", "", "Two", "waits"))
    (words,) = text.board(Board(next=rows), UTC, NOON)
    assert "This row cannot be shown: the log says why." in words.rich.text
    assert "Two · waits" in words.rich.text
