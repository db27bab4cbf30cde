"""What the engine has its machines let go of: never what a goal that is not over may need."""

from __future__ import annotations

import os
import time
from pathlib import Path

from engine.node import folder
from engine.retention import Retention, files_of, needed
from engine.rules import ask
from engine.rules.ask import Ask
from engine.rules.goal_state import Goal, Stage
from engine.rules.session_state import Session
from engine.rules.words import Attachment
from stores.attached import Attached
from stores.database import Database
from stores.ledger import Decision, Entry, Ledger, Step
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


async def test_what_was_decided_is_kept_for_two_years(tmp_path: Path) -> None:
    year_s, at = 365 * 86_400.0, 1000.0
    now = [at]
    async with Database(tmp_path / "e.db", "ledger") as file, Ledger(file) as ledger:
        step = Step("goal/g-1", "tap", at, b"e", b"s", (), Decision("g-1", b"what was shown"))
        await ledger.commit([Entry((step,))])
        retention = Retention(ledger, {}, dict, lambda: now[0], Attached(tmp_path / "attached"))
        for years, left in ((1.99, 1), (2.01, 0)):
            now[0] = at + years * year_s
            await retention.once()
            assert len(await ledger.decisions(0.0)) == left


async def _aged(paths: list[Path], days: float) -> None:
    then = time.time() - days * 86_400
    for path in paths:
        os.utime(path / "exit.json", (then, then))


def test_a_file_of_the_owners_stays_as_long_as_a_goal_may_need_it() -> None:
    """What waits for "which one?" is needed too; what a goal that is over had may go."""
    one, two, three = (Attachment(name="x", sha256=letter * 64) for letter in "abc")
    states = {
        "goal/g-1": Goal(id="g-1", stage=Stage.BUILDING, files=(one,)),
        "goal/g-2": Goal(id="g-2", stage=Stage.SHIPPED, files=(one, two)),
        "session/s-2": Session(id="s-2", final=True, files=(two,)),
        "ask/a-1": Ask(id="a-1", stage=ask.Stage.OPEN, files=(three,)),
    }
    assert files_of(states) == ({"a" * 64, "c" * 64}, {"a" * 64, "b" * 64})
