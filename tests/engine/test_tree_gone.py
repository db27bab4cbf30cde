"""BR-52: a session whose tree was cleaned away goes on in the same place, as the same conversation."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.rules.session_state import Stage
from engine.views import WorkerCard
from tests.engine.phone import PIECE, held, lead, plan, worker, write

WAIT = {"run": "touch .git/begun; until test -e .git/go; do sleep 0.1; done"}


async def test_a_worker_whose_tree_was_cleaned_away_goes_on_in_the_same_place(
    tmp_path: Path,
) -> None:
    """BR-52."""
    done = (write("work.txt"), {"commit": "Do the work"}, {"say": "Done in {tree}, turn {turn}."})
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECE)), worker(WAIT, turn=1), worker(*done, turn=2))
        project = await phone.project(remote=True)
        goal = await phone.goal(project, willing=True)
        card = await phone.card(goal, WorkerCard, lambda card: "interrupt" in card.buttons)
        name = phone.state(goal).pieces[0].session
        tree = phone.home.root / "trees" / project / name
        await phone.until(lambda: (tree / ".git/begun").exists(), "the worker to be at work")
        before = phone.session(name).agent_session
        (card,) = phone.of(goal, WorkerCard)
        await phone.tap(card, "interrupt")
        await phone.until(lambda: phone.session(name).stage is Stage.IDLE, "the turn to be over")
        shutil.rmtree(tree)
        await phone.door.hear("Go on", goal=goal, card=card.id, cause=phone.cause())
        await phone.until(lambda: bool(phone.session(name).said), "its words")
        assert phone.session(name).said == f"Done in {tree}, turn 2."
        assert phone.session(name).agent_session == before
        await phone.shipped(goal)
