"""The one-time code: right once and in time, and nothing of it on disk."""

from pathlib import Path

import pytest

from engine.pairing import LASTS_S, MOST_WRONG, Judged, forget, judge, make
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


def test_after_five_wrong_tries_the_right_one_is_no_good_either(home: Home) -> None:
    code = make(home, NOW)
    for _ in range(MOST_WRONG):
        assert judge(home, "a-guess", NOW) is Judged.WRONG
    assert judge(home, code, NOW) is Judged.LATE
    assert judge(home, "a-guess", NOW) is Judged.WRONG
    assert judge(home, make(home, NOW), NOW) is Judged.RIGHT


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
