"""The second hand's figures do not get worse: those of `python -m tests.intake.second`."""

import pytest

from tests.intake.second.figures import figures
from tests.intake.second.forms import planted
from tests.intake.second.halves import Part
from tests.intake.second.ordinary import ordinary


def test_the_corpus_is_as_large_as_is_said_of_it() -> None:
    assert len({one.kind for one in planted()}) >= 400
    assert len(ordinary()) == len({one.text for one in ordinary()}) >= 2000


def test_every_planted_secret_stands_whole_in_its_message() -> None:
    assert [one for one in planted() if not one.left(one.text)] == []


@pytest.mark.parametrize("part", Part)
def test_nearly_all_is_found_and_hardly_anything_else(part: Part) -> None:
    """One in three of it, so that this is quick: the command measures all."""
    found = figures(part, every=3)
    assert found.recall >= 0.99, found.missed
    assert len(found.alarms) <= 1, found.alarms
