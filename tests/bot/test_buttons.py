"""What a button carries comes back as it went, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.buttons import MOST_BYTES, Pressed, decode, encode
from bot.delivery import keyboard
from bot.text import Button, Words, said


def test_it_comes_back_as_it_went() -> None:
    for card, verb in (("a-5", "allow"), ("g-3-failed-1764441600", "retry"), ("q-1", "option-12")):
        data = encode(card, "0a1b2c3d", verb)
        assert len(data.encode()) <= MOST_BYTES
        assert decode(data) == Pressed(card, "0a1b2c3d", verb)


@pytest.mark.parametrize("card", ["", "A-1", "a:1", "a-1\n", "x" * 40, "é"])
def test_what_would_not_come_back_is_not_sent(card: str) -> None:
    with pytest.raises(ValueError, match="not a button's data"):
        encode(card, "r", "allow")


@given(st.text(max_size=80))
def test_forged_bytes_are_nothing_or_well_shaped(data: str) -> None:
    found = decode(data)
    assert found is None or encode(found.card, found.revision, found.verb) == data


def test_a_card_goes_out_without_a_button_that_would_not_come_back() -> None:
    words = Words(said("?").rich, ((Button("Allow", "allow"), Button("Odd", "x" * 80)),))
    made = keyboard(words, "a-1", "r")
    assert made is not None
    assert [[button.text for button in row] for row in made.inline_keyboard] == [["Allow"]]
    assert keyboard(words, "A-1", "r") is None
