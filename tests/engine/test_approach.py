"""A worker shows what it means to do before it does it, and the owner has the say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from engine.errors import Refused
from engine.views import ApproachCard, PlanCard, WorkerCard
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


async def test_a_reply_that_says_yes_approves(phone: Phone) -> None:
    """BR-26."""
    goal, card = await shown(phone)
    heard = await phone.door.hear("OK!", card=card.id, cause=phone.cause())
    assert heard == {"goal": goal, "verdict": "Approved"}
    await phone.shipped(goal)


async def test_any_other_reply_sends_it_back(phone: Phone) -> None:
    """BR-26: a line that waited for the end of this turn would wait for its own answer."""
    goal, card = await shown(phone)
    heard = await phone.door.hear("Use tabs", card=card.id, cause=phone.cause())
    assert heard["verdict"] == "Sent back"
    again = await phone.card(goal, ApproachCard, lambda found: found.id != card.id)
    assert SECOND in words(again)
    await phone.tap(again, "approve")
    await phone.shipped(goal)


async def test_one_that_is_approved_after_a_restart_is_carried_out_too(tmp_path: Path) -> None:
    """BR-26."""
    async with held(tmp_path) as before:
        goal, card = await shown(before)
        before.stays = True
    async with held(tmp_path, after=before) as phone:
        phone.will(goal)
        same = await phone.card(goal, ApproachCard)
        assert same.id == card.id
        assert await phone.tap(same, "approve") == "Approved"
        await phone.shipped(goal)


async def test_a_plan_is_started_by_its_button_alone(phone: Phone) -> None:
    """BR-26: whoever writes "go" is told which; it is no line to the lead."""
    await phone.agent(*lead(plan(PIECE)))
    goal = await phone.goal(await phone.project())
    card = await phone.card(goal, PlanCard)
    with pytest.raises(Refused, match="Tap Start under the plan"):
        await phone.door.hear("go ahead", card=card.id, cause=phone.cause())
    assert await phone.card(goal, PlanCard) == card


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
