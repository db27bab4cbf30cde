"""The one-time code: right once and in time, and nothing of it on disk."""

from pathlib import Path

import pytest

from engine.pairing import LASTS_S, MOST_SENDERS, MOST_WRONG, Judged, forget, judge, make
from engine.paths import Home

NOW = 1_000_000.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


def test_the_code_is_right_for_a_quarter_of_an_hour(home: Home) -> None:
    code = make(home, NOW)
    assert judge(home, code, NOW + LASTS_S) is Judged.RIGHT
    assert judge(home, code, NOW + LASTS_S + 1) is Judged.LATE
    assert code not in home.pairing.read_text()
    assert home.pairing.stat().st_mode & 0o77 == 0


def test_whoever_guessed_five_times_is_out_and_nobody_else(home: Home) -> None:
    code = make(home, NOW)
    for _ in range(2 * MOST_WRONG):
        assert judge(home, "a-guess", NOW, sender=7) is Judged.WRONG
    assert judge(home, code, NOW, sender=7) is Judged.TRIED
    assert judge(home, code, NOW, sender=42) is Judged.RIGHT
    assert judge(home, make(home, NOW), NOW, sender=7) is Judged.RIGHT


def test_guesses_of_ever_new_senders_are_counted_together_past_a_thousand(home: Home) -> None:
    code = make(home, NOW)
    for sender in range(MOST_SENDERS + MOST_WRONG):
        judge(home, "a-guess", NOW, sender=sender)
    size = home.pairing.stat().st_size
    assert judge(home, "a-guess", NOW, sender=10**9) is Judged.WRONG
    assert home.pairing.stat().st_size == size
    assert judge(home, code, NOW, sender=1) is Judged.RIGHT


def test_a_code_that_was_over_stays_so_when_the_clock_is_set_back(home: Home) -> None:
    code = make(home, NOW)
    assert judge(home, code, NOW + LASTS_S + 1) is Judged.LATE
    assert judge(home, code, NOW) is Judged.LATE


def test_a_clock_from_before_the_code_was_made_makes_it_no_good(home: Home) -> None:
    code = make(home, NOW)
    assert judge(home, code, NOW - 3600) is Judged.LATE
    assert judge(home, code, NOW) is Judged.LATE


def test_a_new_code_ends_the_one_before(home: Home) -> None:
    code = make(home, NOW)
    make(home, NOW)
    assert judge(home, code, NOW) is Judged.WRONG


def test_without_a_code_nothing_is_right(home: Home) -> None:
    assert judge(home, "", NOW) is Judged.WRONG
    code = make(home, NOW)
    forget(home)
    assert judge(home, code, NOW) is Judged.WRONG
    home.pairing.write_text("{}")
    assert judge(home, code, NOW) is Judged.WRONG
