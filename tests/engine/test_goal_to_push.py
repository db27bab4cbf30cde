"""One goal from the owner's words to the push, in peace, with real nodes, agents and git."""

from pathlib import Path

from tests.engine.scenario import World, judge, lay, play


async def test_a_goal_is_planned_built_landed_corrected_shipped_and_pushed(tmp_path: Path) -> None:
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid", real=True)
    await play(world)
    judge(world)
