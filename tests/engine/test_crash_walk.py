"""The whole goal, dying at every point where dying could matter; the same end, whatever happened.

In `make test` every boundary of the clean play is died at once, with the real engine, ledger, rules,
hub and git, and the machine of tests/fakes.py, whose runs are played at once and make real commits. So
that this takes a minute or two, a play dies many times, far apart, until nothing is left to die at; what
only shows with one death a play, or with real nodes and agents, is for tests/soak, which dies at each
boundary alone, and at each with the real ones. Of those this file takes a sample.

What is not died at here: the node, a runner or an agent by itself (test_real_kills.py).
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from stores import database
from tests.crash import Crash, boundaries, walk
from tests.engine.scenario import World, judge, lay, play

APART = 60  # boundaries between two deaths of one play
SAMPLE = 3
SEED = 7

Label = tuple[str, int]


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: a walk waits for nothing but the disk."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-walk-", dir=memory))
    yield folder
    shutil.rmtree(folder)


class Reaper:
    """Passes boundaries, and dies at those that were not died at before, some way apart.

    A boundary is told by its names without numbers, and by how often this play passed each of them: a
    commit that several share has the name of each, since who shares one with whom is chance.
    """

    def __init__(self, left: set[Label]) -> None:
        self._left = left
        self._passed: Counter[str] = Counter()
        self._since = APART
        self.dead = False
        self.deaths: list[Label] = []

    def __call__(self, name: str) -> None:
        if self.dead:
            raise Crash("dead already")
        self._since += 1
        labels = labelled(name, self._passed)
        if not self._left.isdisjoint(labels) and self._since >= APART:
            self._left.difference_update(labels)
            self._since = 0
            self.dead = True
            self.deaths.extend(labels)
            raise Crash(name)


def labelled(name: str, passed: Counter[str]) -> list[Label]:
    """Return the labels of a boundary, each counted as passed once more."""
    plain = re.sub(r"\d+", "#", name)
    where, commit, kinds = plain.partition(" commit ")
    names = [f"{where}{commit}{kind}" for kind in re.findall(r"[A-Z]\w+ \S+", kinds)] or [plain]
    passed.update(names)
    return [(each, passed[each]) for each in dict.fromkeys(names)]


async def die_and_go_on(world: World, reaper: Reaper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Play, as many lives as it takes."""
    monkeypatch.setattr(database, "boundary", reaper)
    while True:
        reaper.dead = False
        try:
            await play(world, limit_s=20.0)
        except KeyboardInterrupt:
            raise
        except BaseException:
            if not reaper.dead:
                raise
        else:
            return


async def test_the_end_is_the_same_wherever_the_engine_dies(
    ground: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-37, BR-14, BR-16: what was decided before a death is neither lost nor done twice."""
    (ground / "laid").mkdir()
    lay(ground / "laid")
    clean = World(ground / "clean", ground / "laid")
    with boundaries() as passed:
        await play(clean)
    judge(clean)
    seen: Counter[str] = Counter()
    left: set[Label] = set()
    for name in passed.names:
        left.update(labelled(name, seen))
    assert len(left) > 400

    for number in itertools.count():
        before = len(left)
        world = World(ground / str(number), ground / "laid")
        reaper = Reaper(left)
        try:
            await die_and_go_on(world, reaper, monkeypatch)
            judge(world)
        except Exception as fault:
            fault.add_note(f"play {number} died at {reaper.deaths}")
            raise
        shutil.rmtree(world.folder)
        if len(left) == before:
            break
    # A name that came once more than usual in the clean play may not come so often again.
    assert len(left) <= 5, left


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
