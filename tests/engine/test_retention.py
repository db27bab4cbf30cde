"""What the engine has its machines let go of: never what a goal that is not over may need."""

from __future__ import annotations

import os
import time
from pathlib import Path

from engine.node import folder
from engine.retention import needed
from tests.engine.scenario import World, lay, play
from tests.rules.world import draft, started


def test_a_goal_that_is_not_over_needs_its_sessions_and_its_running_turns() -> None:
    world = started(draft("Orders"), draft("Page"))
    assert {"s-1", "s-2", "s-3"} <= set(needed(world.states))
    assert "s-1-t2" in needed(world.states)


async def test_what_a_goal_that_is_over_left_is_packed_and_later_gone(tmp_path: Path) -> None:
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid", real=True)
    await play(world)
    runs = world.home.root / "runs"
    ended = [path for path in runs.iterdir() if folder.ended(str(path)) is not None]
    engine = world.engine()
    async with engine.running():
        await _aged(ended, 8)
        await engine.retention.once()
        assert {"out.jsonl.gz"} == {path.name for path in runs.glob("*/out.jsonl*")}
        await _aged(ended, 91)
        await engine.retention.once()
    assert list(runs.iterdir()) == []


async def _aged(paths: list[Path], days: float) -> None:
    then = time.time() - days * 86_400
    for path in paths:
        os.utime(path / "exit.json", (then, then))
