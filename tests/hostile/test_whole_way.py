"""Each text from where it comes from to the owner's chat and to other agents, with all of it real but Telegram.

A goal carries eight of them (way.py), so that all go this way each time, and more than once. Neighbours:
judge.py, test_every_place.py (each text in every place), __main__.py (each from everywhere, in the soak).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.hostile.way import CARRIED, EACH, ENDS, Way, opened

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def way(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Way]:
    async with opened(tmp_path_factory.mktemp("hostile")) as way:
        yield way


@pytest.mark.parametrize("number", range(len(CARRIED)))
async def test_the_whole_way_they_get_no_decision_no_secret_no_push_and_no_card(
    way: Way, number: int
) -> None:
    """BR-124: of a repository, a lead and a worker; all the texts, eight to a goal."""
    await way.carry(CARRIED[number], ENDS[number % len(ENDS)], round=number + EACH * (number % 2))
