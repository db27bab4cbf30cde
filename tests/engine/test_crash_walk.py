"""The whole goal, dying at every point where dying could matter; the same end, whatever happened.

In `make test` every boundary of the clean play is died at once: those of the engine here, with a machine
played in process, those of the bot in test_bot_walk.py. So that this takes a minute or two, a play dies
many times, far apart, until nothing is left to die at; what only shows with one death a play, or with
real nodes and agents, is for tests/soak, which dies at each boundary alone, and at each with the real
ones. Of those this file takes a sample. `python -m tests.walk` walks alone and says the figures.

What is not died at here: the node, a runner or an agent by itself (test_real_kills.py).
"""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

from tests.crash import walk
from tests.engine.scenario import World, judge, lay, play
from tests.walk.engine_alone import walk_engine
from tests.walk.walked import ground

SAMPLE = 3
SEED = 7


async def test_the_end_is_the_same_wherever_the_engine_dies() -> None:
    """BR-37, BR-14, BR-16: what was decided before a death is neither lost nor done twice."""
    with ground() as folder:
        walked = await walk_engine(folder)
    sys.stdout.write(f"{walked}\n")
    assert walked.points > 400
    # A name that came once more than usual in the clean play may not come so often again.
    assert len(walked.left) <= 5, walked.left


async def test_the_end_is_the_same_with_real_nodes_and_agents(tmp_path: Path) -> None:
    """A sample: the boundaries are picked by a seed, one death a play."""
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    worlds = (World(tmp_path / str(n), tmp_path / "laid", real=True) for n in itertools.count())
    lots = random.Random(SEED)
    await walk(
        lambda: next(worlds),
        play,
        judge,
        points=lambda count: sorted(lots.sample(range(1, count + 1), SAMPLE)),
    )
