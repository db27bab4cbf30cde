"""A line of the owner's that cannot wait for the turn's end, with a real node and the rehearsal agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from engine.rules.session_state import Session
from engine.rules.words import Attachment
from engine.views import SessionCard, WorkerCard
from stores.attached import Attached
from tests.engine.phone import (
    PIECE,
    Phone,
    held,
    labels,
    lead,
    plan,
    waits,
    words,
    worker,
    write,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    async with held(tmp_path_factory.mktemp("now")) as phone:
        yield phone


def begun(phone: Phone, goal: str) -> Path:
    """Where the goal's worker keeps what is in no commit."""
    state = phone.state(goal)
    name = state.pieces[0].session if state.pieces else "none"
    return phone.home.root / "trees" / state.project / name / ".git"


def session(phone: Phone, goal: str) -> Session:
    return phone.session(phone.state(goal).pieces[0].session)


def printed(phone: Phone, run: str) -> str:
    return (phone.home.root / "runs" / run / "out.jsonl").read_text()


WAIT = {"run": "touch .git/begun; until test -e .git/go; do sleep 0.1; done"}
WORK = (write("work.txt"), {"commit": "Do the work"}, {"say": "Done."})


async def busy(phone: Phone, *steps: dict[str, object]) -> tuple[str, WorkerCard]:
    """A goal whose worker is in the middle of something, and that worker's card."""
    await phone.agent(*lead(plan(PIECE), {"say": "Planned."}), *steps)
    goal = await phone.goal(await phone.project(), willing=True)
    await phone.until(lambda: (begun(phone, goal) / "begun").exists(), "the worker to be busy")
    (card,) = phone.of(goal, WorkerCard)
    return goal, card


async def test_now_is_heard_within_the_turn_and_is_no_attempt(phone: Phone) -> None:
    goal, card = await busy(phone, worker(WAIT, *WORK))
    assert "Now" not in labels(card)
    heard = await phone.door.hear("Use commas", card=card.id, goal=goal, cause=phone.cause())
    assert heard["verdict"] == "after this turn"
    card = await phone.card(goal, WorkerCard, lambda card: card.queued == 1)
    assert "1 line of yours after this turn" in words(card)
    assert labels(card) == ["Now", "Interrupt", "Peek", "Stop"]
    assert await phone.tap(card, "now") == "It hears it with its next step"
    card = await phone.card(goal, WorkerCard, lambda card: card.steered == 1)
    assert "1 line of yours heard with its next step" in words(card)
    (begun(phone, goal) / "go").touch()
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
    assert (card.attempt, card.queued, card.steered) == (1, 0, 0)
    assert session(phone, goal).turn == 1
    said = printed(phone, session(phone, goal).run)
    assert "The user sent a new message while you were working:\\\\nUse commas" in said


async def test_what_is_sent_with_it_is_there_within_the_turn(phone: Phone) -> None:
    look = {"run": 'cat "$CLAUDE_CONFIG_DIR"/../files/*', "expect": "the sketch"}
    goal, card = await busy(phone, worker(WAIT, look, *WORK))
    body = b"the sketch\n"
    file = Attachment("sketch.jpg", Attached(phone.home.attached).keep(body), len(body), "photo")
    await phone.door.hear("Like this", goal=goal, card=card.id, cause=phone.cause(), files=(file,))
    card = await phone.card(goal, WorkerCard, lambda card: "now" in card.buttons)
    assert await phone.tap(card, "now") == "It hears it with its next step"
    name = session(phone, goal).id
    where = phone.home.root / f"sessions/{name}/files" / file.place
    await phone.until(where.exists, "the file to be there")
    (begun(phone, goal) / "go").touch()
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
    assert (card.attempt, session(phone, goal).turn) == (1, 1)
    assert f"Photo from the owner: {where}" in printed(phone, session(phone, goal).run)


async def test_a_turn_that_ends_before_the_line_was_read_is_followed_by_one_that_hears_it(
    phone: Phone,
) -> None:
    silent = {"wait_for": ".git/go"}  # no tool, so there is no result to read it beside
    touch = {"run": "touch .git/begun"}
    goal, card = await busy(phone, worker(touch, silent, *WORK[2:], turn=1), worker(*WORK))
    await phone.door.hear("Use commas", card=card.id, goal=goal, cause=phone.cause())
    card = await phone.card(goal, WorkerCard, lambda card: "now" in card.buttons)
    await phone.tap(card, "now")
    await phone.until(
        lambda: "command_lifecycle" in printed(phone, session(phone, goal).run),
        "the agent to have the line",
    )
    (begun(phone, goal) / "go").touch()
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
    assert card.attempt == 1
    assert session(phone, goal).turn == 2
    assert phone.heard(session(phone, goal).id).endswith("Use commas")


async def test_now_and_then_interrupt_have_the_line_heard_once(phone: Phone) -> None:
    """The agent goes on with it by itself, in the same run."""
    silent = {"wait_for": ".git/go"}
    touch = {"run": "touch .git/begun"}
    goal, card = await busy(phone, worker(touch, silent, turn=1), worker(*WORK))
    await phone.door.hear("Use commas", card=card.id, goal=goal, cause=phone.cause())
    card = await phone.card(goal, WorkerCard, lambda card: "now" in card.buttons)
    await phone.tap(card, "now")
    await phone.until(
        lambda: "command_lifecycle" in printed(phone, session(phone, goal).run),
        "the agent to have the line",
    )
    card = await phone.card(goal, WorkerCard, lambda card: card.steered == 1)
    assert await phone.tap(card, "interrupt") == "Interrupted: it goes on with your line"
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
    assert (card.attempt, session(phone, goal).turn) == (1, 1)


async def test_interrupt_ends_the_turn_alone_and_the_card_says_what_it_waits_for(
    phone: Phone,
) -> None:
    goal, card = await busy(phone, worker(WAIT, turn=1), worker(*WORK))
    assert await phone.tap(card, "interrupt") == "Interrupted: it waits for a line from you"
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "paused")
    assert "Interrupted by you: it waits for a line from you, or Retry" in words(card)
    assert "interrupted\n" not in words(card)
    await phone.card(goal, SessionCard, lambda card: card.stage == "waits for you")
    await phone.door.hear("Go on", card=card.id, goal=goal, cause=phone.cause())
    card = await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
    assert card.attempt == 1


async def test_stop_says_that_resume_goes_on(phone: Phone) -> None:
    goal, _ = await busy(phone, worker(WAIT, turn=1), worker(*WORK))
    (whole,) = phone.of(goal, SessionCard)
    assert "1 The work · Bash: a step of the scenario · here" in words(whole)
    assert await phone.tap(whole, "stop") == "Stopped: Resume goes on"
    await phone.until(
        lambda: "By you: nothing runs until /resume" in waits(phone, goal), "the reason"
    )
    (whole,) = phone.of(goal, SessionCard)
    assert await phone.tap(whole, "resume") == "Goes on"
    await phone.card(goal, WorkerCard, lambda card: card.stage == "landed")
