"""A PIN is guessed at three times a round, and five rounds lock everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import audit, pins
from engine.asker import Asker
from engine.errors import Refused
from engine.rules import owner, pin
from engine.rules.effects import Say
from engine.rules.events import PinOff, PinRight, PinSet, PinTried, PinWrong
from engine.rules.owner import Owner
from engine.rules.pin import Pin

SET = Owner(pin=Pin(kept="scrypt$…"))


def tried(now: Owner, at: float, *, right: bool = False) -> tuple[Owner, tuple[str, ...]]:
    """One try, counted and then judged."""
    now, _ = owner.decide(now, PinTried(at=at))
    now, effects = owner.decide(now, PinRight(at=at) if right else PinWrong(at=at))
    return now, tuple(one.text for one in effects if isinstance(one, Say) and one.sounds)


def test_three_wrong_ones_shut_it_for_longer_each_time_and_the_fifth_time_locks() -> None:
    now, at = SET, 1000.0
    for number, minutes in enumerate((1, 5, 30, 30), start=1):
        for _ in range(2):
            now, told = tried(now, at)
            assert not told
        now, (told_all,) = tried(now, at)
        assert f"wrong {3 * number} times" in told_all
        with pytest.raises(Refused, match=f"another {minutes} minute"):
            tried(now, at + 1)
        with pytest.raises(Refused, match="pin off"):
            tried(now, at + minutes * 60 - 1, right=True)
        at += minutes * 60
    for _ in range(2):
        now, _ = tried(now, at)
    now, (told_all,) = tried(now, at)
    assert now.locked_at == at
    assert "Everything is locked" in told_all


def test_a_right_one_forgets_the_wrong_ones() -> None:
    now, _ = tried(SET, 1.0)
    now, _ = tried(now, 2.0)
    now, told = tried(now, 3.0, right=True)
    assert (now, told) == (SET, ())


def test_a_try_that_was_never_judged_counts_as_wrong() -> None:
    """The engine died over it, or many came at once."""
    now = SET
    for at in (1.0, 2.0, 3.0):
        now, _ = owner.decide(now, PinTried(at=at))
    with pytest.raises(Refused, match="Too many wrong"):
        owner.decide(now, PinTried(at=4.0))
    assert owner.decide(now, PinRight(at=4.0))[0] == SET


def test_wrong_ones_at_once_are_told_of_once() -> None:
    now = SET
    for _ in range(3):
        now, _ = owner.decide(now, PinTried(at=1.0))
    told: list[object] = []
    for _ in range(3):
        now, effects = owner.decide(now, PinWrong(at=2.0))
        told += effects
    assert len(told) == 1


def test_a_clock_that_was_set_back_shuts_it_no_longer() -> None:
    now = SET
    for _ in range(3):
        now, _ = tried(now, 90_000.0)
    owner.decide(now, PinTried(at=5.0))


@given(st.lists(st.tuples(st.floats(0, 4000), st.booleans()), max_size=60))
def test_no_more_than_three_wrong_ones_are_taken_a_minute(tries: list[tuple[float, bool]]) -> None:
    now, at = SET, 0.0
    wrong: list[float] = []
    for pause, right in tries:
        at += pause
        if now.locked_at:
            return
        try:
            now, _ = tried(now, at, right=right)
        except Refused:
            continue
        wrong = [] if right else [*wrong, at]
        assert len([one for one in wrong if at - one < 60]) <= 3


def test_what_is_kept_is_a_slow_hash_and_no_two_are_the_same() -> None:
    kept = pins.salted("4071")
    assert "4071" not in kept
    assert kept != pins.salted("4071")
    assert pins.fits(kept, "4071")
    for wrong in ("4072", "", "40710", "4071 ", "٤٠٧١"):
        assert not pins.fits(kept, wrong)


@pytest.mark.parametrize("pin", ["", "123", "123456789", "12a4", "٤٠٧١٢", "12 34", "-123"])
def test_a_pin_is_four_to_eight_digits(pin: str) -> None:
    with pytest.raises(Refused, match="4 to 8 digits"):
        pins.checked(pin)


@pytest.mark.parametrize("pin", ["0000", "1234", "87654321", "4321"])
def test_what_anybody_would_try_first_is_refused(pin: str) -> None:
    with pytest.raises(Refused, match="among the first"):
        pins.checked(pin)


def test_the_audit_says_that_it_was_set_or_wrong_and_never_what() -> None:
    who = Asker(who="42")
    kept = pins.salted("4071")
    said = audit.in_words(PinSet(salted=kept))
    assert said == "PinSet"
    assert audit.record(who, "owner", PinTried(), SET, SET, ()) is None
    assert audit.record(who, "owner", PinRight(), SET, SET, ()) is None
    assert audit.record(who, "owner", PinWrong(), SET, SET, ()) is not None
    assert pin.decide(SET.pin, PinOff()) == (Pin(), "", False)
