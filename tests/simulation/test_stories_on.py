"""A hundred stories more, in a file of their own: a file is what one worker of pytest takes."""

from __future__ import annotations

import pytest

from tests.simulation.test_stories import AT_ONCE, holds


@pytest.mark.parametrize("first", range(100, 200, AT_ONCE))
def test_every_promise_is_kept_in_these_too(first: int) -> None:
    holds(first)
