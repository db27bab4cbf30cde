"""Everything stopped at once, while one of it ends by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.rules.events import GoalDropped
from tests.engine.phone import PIECE, held, lead, plan


async def test_all_goals_are_stopped_though_one_ends_under_way(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE), {"say": "Planned."}))
        project = await phone.project()
        goals = [await phone.goal(project, f"Goal {number}") for number in range(3)]
        told, _ = await asyncio.gather(
            phone.door.stop(cause=phone.cause()),
            phone.engine.loop.post(f"goal/{goals[1]}", GoalDropped(), phone.cause()),
        )
        assert told["verdict"].startswith("Stopped: ")
        assert [phone.state(goal).held for goal in goals] == [True, False, True]
        assert not phone.state(goals[1]).live
