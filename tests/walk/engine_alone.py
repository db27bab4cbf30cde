"""The whole story at the door: the engine dies before and after each commit and each effect.

The real engine, ledger, rules, hub and git, and the machine of tests/fakes.py, whose runs are played at
once and make real commits; the owner keeps an inbox as the bot does.
"""

from __future__ import annotations

from pathlib import Path

from tests.crash import Reaper, lives
from tests.engine.scenario import World, judge, play
from tests.walk.walked import Walked, walk

APART = (60,)
LIMIT_S = 20.0


async def walk_engine(ground: Path) -> Walked:
    """Die at all the engine's boundaries of the whole story."""
    return await walk("engine", ground, _play, apart=APART)


async def _play(world: World, reaper: Reaper) -> None:
    with reaper.at_work():
        await lives(lambda: play(world, limit_s=LIMIT_S))
    judge(world)
