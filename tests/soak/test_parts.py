"""The soak's parts: side by side, each with its figures, and all at an end with the first that finds something."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

from tests.soak.__main__ import LANES, UNBOUNDED, Part, Soak, _wrong_in

SAYS = Part("says", lambda minutes, seed: ["platform", "--terse"], 1.0)
FAILS = Part("fails", lambda minutes, seed: ["json.tool", "/nowhere"], 1.0)
ENDLESS = Part("endless", lambda minutes, seed: ["http.server", "0", "--bind", "127.0.0.1"], 1.0)


async def test_each_part_leaves_its_last_line_as_its_figures() -> None:
    soak = Soak(((SAYS,), (SAYS,)), 1.0, 1)
    assert await _wrong_in(soak) == ""
    assert [line.startswith("says: ") for line in soak.figures] == [True, True]


async def test_the_first_fault_ends_the_others_and_what_was_to_come() -> None:
    soak = Soak(((FAILS, SAYS), (ENDLESS,)), 1.0, 1)
    async with asyncio.timeout(60):
        assert await _wrong_in(soak) == "fails ended with 2"
    assert soak.figures == []


def test_every_part_is_a_module_there_is() -> None:
    parts = [part for lane in UNBOUNDED for part in lane]
    assert [part for lane in LANES for part in lane] == parts[:-1]
    for part in parts:
        assert find_spec(part.words(1.0, 1)[0]), part.name
