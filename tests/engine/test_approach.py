"""A worker shows what it means to do before it does it, and the owner has the say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from engine.views import ApproachCard, WorkerCard
from tests.engine.phone import PIECE, Phone, held, labels, lead, plan, words, worker, write

FIRST = "1. write work.txt with spaces"
SECOND = "1. write work.txt with tabs"


@pytest_asyncio.fixture
async def phone(tmp_path: Path) -> AsyncIterator[Phone]:
    async with held(tmp_path) as phone:
        yield phone


async def shown(phone: Phone) -> tuple[str, ApproachCard]:
    """A goal whose worker waits for a word on its approach."""
    await phone.agent(
        *lead(plan(PIECE)),
        worker(
            {"approach": FIRST, "denied": [{"approach": SECOND}]},
            write("work.txt"),
            {"commit": "Do the work"},
            {"say": "Done."},
        ),
    )
    goal = await phone.goal(await phone.project(remote=True))
    phone.will(goal)
    return goal, await phone.card(goal, ApproachCard)


async def test_an_approved_approach_is_carried_out_at_once(phone: Phone) -> None:
    """BR-26."""
    goal, card = await shown(phone)
    assert labels(card) == ["Approve", "Send back…", "Stop"]
    assert FIRST in words(card)
    assert await phone.tap(card, "approve") == "Approved"
    await phone.shipped(goal)


async def test_an_approach_is_sent_back_with_a_line_and_shown_again(phone: Phone) -> None:
    goal, card = await shown(phone)
    await phone.tap(card, "send_back", "Use tabs")
    again = await phone.card(goal, ApproachCard, lambda found: found.id != card.id)
    assert SECOND in words(again)
    assert "Sent back by you" in words(await phone.card(goal, ApproachCard, lambda c: not c.asks))
    await phone.tap(again, "approve")
    await phone.shipped(goal)


async def test_stop_on_an_approach_stops_that_worker_alone(phone: Phone) -> None:
    goal, card = await shown(phone)
    await phone.tap(card, "stop")
    gone = await phone.card(goal, ApproachCard, lambda found: bool(found.decided))
    assert not gone.asks
    stopped = await phone.card(goal, WorkerCard, lambda found: found.stage == "stopped")
    assert not stopped.asks
    assert phone.state(goal).live
