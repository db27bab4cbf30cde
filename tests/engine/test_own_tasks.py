"""A lead whose process, or own tasks, outlast its turn, with a real node and the rehearsal agent."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from engine.codec import Codec
from engine.rules.events import AnyEvent, RunQuiet
from engine.rules.session_state import Stage
from engine.rules.silence import QUIET_S
from tests.engine.phone import Phone, held, lead, waits


def was_quiet(phone: Phone, session: str) -> bool:
    codec: Codec[AnyEvent] = Codec(AnyEvent)
    with closing(sqlite3.connect(phone.home.engine_db)) as connection:
        rows = connection.execute(
            "SELECT body FROM events WHERE stream = ?", (f"session/{session}",)
        ).fetchall()
    return any(isinstance(codec.load(body), RunQuiet) for (body,) in rows)


async def test_a_leads_answer_is_there_while_its_process_will_not_go(tmp_path: Path) -> None:
    """BR-11."""
    async with held(tmp_path) as phone:
        await phone.agent(*lead({"result": "This is the answer."}, {"hang": "deaf"}))
        goal = await phone.goal(await phone.project(), willing=True)
        await phone.noted(goal, "This is the answer.")
        name = phone.state(goal).session
        assert phone.session(name).stage is Stage.CLOSING
        assert not (phone.home.root / "runs" / phone.session(name).run / "exit.json").exists()


async def test_a_task_of_the_leads_own_runs_on_behind_its_turn_and_its_last_words_follow(
    tmp_path: Path,
) -> None:
    """BR-71; BR-11: what the turn said is there while its process still lives."""
    async with held(tmp_path) as phone:
        await phone.agent(
            *lead(
                {"busy": 1},
                {"result": "One looks around for me."},
                {"wait_for": ".go"},
                {"busy": 0},
                {"say": "It found nothing."},
            )
        )
        project = await phone.project()
        goal = await phone.goal(project)
        phone.will(goal)
        assert "One looks around" in await phone.noted(goal, "One looks around")
        await phone.until(
            lambda: "1 task of its own still runs" in waits(phone, goal), "the card to say so"
        )
        name = phone.state(goal).session
        phone.later(QUIET_S + 60)
        await phone.until(lambda: was_quiet(phone, name), "the silence to be looked at")
        assert (phone.session(name).stage, phone.session(name).turn) == (Stage.RUNNING, 1)
        (phone.home.root / "trees" / project / name / ".go").touch()
        await phone.noted(goal, "It found nothing.")
        await phone.until(lambda: phone.session(name).stage is Stage.IDLE, "the turn to be over")
        assert (phone.session(name).turn, phone.session(name).cut_offs) == (1, 0)
