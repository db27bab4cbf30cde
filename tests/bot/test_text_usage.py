"""What is said of accounts' windows, whatever their providers call them."""

from datetime import UTC

import pytest

from bot import text, text_fleet, text_usage
from engine.views import AccountView, UsageView


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (UsageView("five_hour", 84, "14:00"), "84 % of its 5-hour window, resets 14:00"),
        (UsageView("seven_day", 0, "Tue 08:00"), "0 % of its 7-day window, resets Tue 08:00"),
        (UsageView("seven_day_opus", 7), "7 % of its 7-day opus window"),
        (UsageView("five_hour", -1, "14:00"), "some of its 5-hour window, resets 14:00"),
        (UsageView("monthly", 50), "50 % of its monthly window"),
    ],
)
def test_a_window_is_said_in_words(view: UsageView, words: str) -> None:
    assert text_usage.one(view) == words


def test_accounts_are_listed_with_their_fullest_window_and_shown_with_all() -> None:
    usage = (UsageView("five_hour", 84, "14:00"), UsageView("seven_day", 30, "Tue 08:00"))
    view = AccountView(name="main", agent="claude", usage=usage, reserve=20)
    listed = text_fleet.accounts([view], UTC).rich.text
    assert "main · claude · 84 % of its 5-hour window, resets 14:00\n" in listed
    assert "7-day" not in listed
    shown = text_fleet.account(view, UTC).rich.text
    assert "Used: 30 % of its 7-day window, resets Tue 08:00" in shown
    assert "You keep 20 % of each: /settings, Reserve" in shown


def test_an_untried_account_is_not_called_ready() -> None:
    views = [
        AccountView(name="a", agent="claude", first=True, untried=True),
        AccountView(name="b", agent="claude", untried=True),
    ]
    listed = text_fleet.accounts(views, UTC).rich.text
    assert "new goals take it · not tried yet" in listed
    assert "ready" not in listed


def test_health_says_what_is_used_and_what_is_kept() -> None:
    found = {"usage": {"main": [UsageView("five_hour", 84, "14:00")], "spare": []}, "reserve": 20}
    (words,) = text.health(found)
    assert "Usage: main 84 % of its 5-hour window, resets 14:00; spare not told yet" in (
        words.rich.text
    )
    assert "Reserve: 20 %" in words.rich.text
