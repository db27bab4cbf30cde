"""Looking at live work: what an agent does now and did last, with a real node and the rehearsal agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot import text_live
from engine.adapters.machines import Local
from engine.errors import Refused, Unreachable
from engine.rules.goal_state import Goal
from engine.views import SessionCard, WorkerCard
from tests.engine.phone import PIECE, Phone, held, lead, plan, worker, write

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Leaving(Local):
    """This machine, whose link may be said to be down."""

    down = False

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        if self.down and op == "run.tail":
            raise Unreachable("here: its cable was pulled")
        return await super().call(op, **arguments)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    folder = tmp_path_factory.mktemp("live")
    async with held(folder, machine=Leaving(folder / "home")) as phone:
        yield phone


def only(phone: Phone) -> str:
    (goal,) = phone.engine.loop.states("goal").values()
    assert isinstance(goal, Goal)
    return goal.id


def tree(phone: Phone, goal: str) -> Path:
    """Where the goal's first worker keeps what is in no commit."""
    state = phone.state(goal)
    name = state.pieces[0].session if state.pieces else "none"
    return phone.home.root / "trees" / state.project / name / ".git"


def peeked(view: Any) -> str:
    return text_live.peek(view).text


async def test_peek_shows_a_running_workers_tool_and_its_last_lines(phone: Phone) -> None:
    busy = worker(
        {"say": "First \x1b[31mred\x1b[0m words."},
        {"run": "echo gone >&2; false"},
        write("work.txt"),
        {"run": "touch .git/begun; until test -e .git/go; do sleep 0.1; done"},
        {"commit": "Do the work"},
        {"say": "The whole of it is done."},
    )
    await phone.agent(*lead(plan(PIECE), {"say": "Planned."}), busy)
    goal = await phone.goal(await phone.project(), willing=True)
    await phone.until(lambda: (tree(phone, goal) / "begun").exists(), "the command to run")
    (card,) = phone.of(goal, WorkerCard)
    assert card.buttons == ("interrupt", "peek", "stop")
    shown = peeked(await phone.door.peek(card.id))
    assert shown.startswith(
        "Peek: Worker 1 “The work”, at work\nNow: Bash: a step of the scenario · for "
    )
    assert "First ␛[31mred␛[0m words." in shown
    assert "✗ Exit code 1\n✗ gone" in shown
    assert shown.endswith("▸ Bash: a step of the scenario\nasks: Run a command")
    assert len(shown) < 3500


async def test_a_machine_that_is_away_is_said_so(phone: Phone) -> None:
    goal = only(phone)
    machine = phone.machine
    assert isinstance(machine, Leaving)
    (card,) = phone.of(goal, WorkerCard)
    machine.down = True
    try:
        shown = peeked(await phone.door.peek(card.id))
    finally:
        machine.down = False
    assert "here is away: its cable was pulled. What runs there goes on" in shown
    assert "shows it once the machine is back" in shown


async def test_a_worker_that_is_done_gives_its_last_words_whole(phone: Phone) -> None:
    goal = only(phone)
    (tree(phone, goal) / "go").touch()
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
    assert card.buttons == ("peek",)
    view = await phone.door.peek(card.id)
    assert view.words is not None
    assert view.words.text == "The whole of it is done."
    await phone.card(goal, SessionCard, lambda card: card.stage == "waits for you")
    shown = peeked(await phone.door.peek(goal))
    assert shown.startswith("Peek: The lead, at rest; this is how its last turn went\n")
    with pytest.raises(Refused, match="not there any more"):
        await phone.door.peek("p-999")
