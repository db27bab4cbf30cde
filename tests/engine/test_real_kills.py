"""Twenty-five real kill -9 of engine, bot, node, zygote and runners on the way from a goal to its push.

The real processes, the real bot against an emulated Bot API, the rehearsal agent. What is killed is
started again at once, as systemd would; moments and victims are picked by a seed (tests/soak sails with
many). A worker whose process is killed begins its turn anew and may ask again, so how often it asked is
not judged; a lead's own process is let live, since a script cannot tell where it was cut off.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.scenario import World, judge, lay
from tests.soak.crew import crew
from tests.soak.kills import KILLS, counted, kills

SEED = 12  # a setup's runner and a check's are among its victims


@pytest.mark.timeout(300)
async def test_25_kills_on_the_way_change_nothing_about_the_end(tmp_path: Path) -> None:
    """BR-37, BR-14, BR-16, BR-42: redelivered taps, living agents, cards of dead processes."""
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid", real=True)
    async with crew(world) as hands:
        await hands.voyage(kills(SEED))
        chat = hands.chat()
    print(counted(hands.killed))  # noqa: T201 - `pytest -s` shows it
    assert len(hands.killed) == KILLS == 25, hands.killed
    judge(world, chat)
