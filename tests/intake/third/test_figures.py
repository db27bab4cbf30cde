"""The third hand's figures do not get worse: those of `python -m tests.intake.third`."""

import pytest

from tests.intake.third.figures import Half, figures
from tests.intake.third.forms import planted
from tests.intake.third.ordinary import ordinary


def test_the_corpus_is_as_large_as_is_said_of_it() -> None:
    assert len({one.kind for one in planted()}) == 197
    assert len(planted()) == 985
    assert len(ordinary()) == len({one.text for one in ordinary()}) == 1548


def test_every_planted_secret_stands_whole_in_its_message() -> None:
    assert [one for one in planted() if not all(s in one.text for s in one.secrets)] == []


@pytest.mark.parametrize("half", Half)
def test_what_is_found_and_what_else_is_taken_gets_no_worse(half: Half) -> None:
    """The floor is what the last mending reached: raise it with each."""
    found = figures(half)
    assert found.recall >= (0.995 if half is Half.SHOWN else 0.94), len(found.missed)
    assert len(found.alarms) <= 1, len(found.alarms)
