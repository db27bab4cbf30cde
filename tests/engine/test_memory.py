"""Runs wait while a machine's memory is nearly full, say so, and go on when there is room: with a real
node, whose word about its memory alone is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.adapters.machines import Local, NodeRefused
from engine.views import WorkerCard
from tests.engine.phone import held, lead, plan, words, worker

PIECES = ({"title": "One"}, {"title": "Two"})
AT_WORK = worker({"say": "At work."}, {"pause_s": 60})


class Small(Local):
    """A machine that has as much memory as the test says."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.free_mb = 700
        self.answers = True

    async def hello(self) -> dict[str, Any]:
        return {**await super().hello(), "cores": 2, "free_mb": self.free_mb}

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        if op != "load":
            return await super().call(op, **arguments)
        if not self.answers:
            raise NodeRefused("It does not say.")
        return {"cores": 2, "free_mb": self.free_mb}


async def two_workers(phone: Any) -> str:
    """Start two workers; the first is let in, for nothing else is there."""
    await phone.agent(*lead(plan(*PIECES)), AT_WORK)
    goal: str = await phone.goal(await phone.project())
    phone.will(goal)
    return goal


def at_work(phone: Any, goal: str) -> int:
    return sum(card.doing == "At work." for card in phone.of(goal, WorkerCard))


async def test_a_worker_waits_for_memory_and_goes_on_when_there_is_some(tmp_path: Path) -> None:
    """BR-66."""
    machine = Small(tmp_path / "home")
    async with held(tmp_path, machine=machine) as phone:
        goal = await two_workers(phone)
        full = "a place to run: here: memory is nearly full (0.7 GB free)"
        card = await phone.card(goal, WorkerCard, lambda card: full in words(card))
        assert "stop" in card.buttons
        machine.free_mb = 500
        less = "here: memory is nearly full (0.5 GB free)"
        await phone.card(goal, WorkerCard, lambda card: less in words(card))
        assert [row.text for row in (await phone.door.board()).next if less in row.text]
        machine.free_mb = 9000
        await phone.until(lambda: at_work(phone, goal) == 2, "both workers to be at work")


async def test_nobody_waits_for_a_number_that_nobody_brings(tmp_path: Path) -> None:
    machine = Small(tmp_path / "home")
    async with held(tmp_path, machine=machine) as phone:
        goal = await two_workers(phone)
        full = "memory is nearly full"
        await phone.card(goal, WorkerCard, lambda card: full in words(card))
        machine.answers = False
        await phone.until(lambda: at_work(phone, goal) == 2, "both workers to be at work")
