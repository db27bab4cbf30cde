"""The figures of `python -m tests.intake` do not get worse: recall of all kinds, alarms in our own code."""

from random import Random

from tests.intake import measure, ordinary


def test_nearly_every_known_key_is_found_whole_however_it_comes() -> None:
    assert measure.known(Random(1)).rate >= 0.99
    assert measure.blocks(Random(3)).rate == 1


def test_ordinary_code_is_hardly_ever_taken_for_a_key() -> None:
    count, _, wrong = measure.alarms(ordinary.code())
    assert len(wrong) <= count / 500


def test_ordinary_words_about_keys_are_hardly_ever_taken_for_one() -> None:
    count, _, wrong = measure.alarms(ordinary.chat(Random(4), 3000))
    assert len(wrong) <= count / 500
