"""A button pressed -> decided on disk -> the phone told.

Ours: poll, gate, sealed inbox (one durable commit), socket, rule, one durable commit of the engine.
The floor: poll, socket, one durable commit. Both are timed from the moment the update can be fetched.
Our commit is seen from outside, by the card that changes on the engine's socket: a little late.
"""

from __future__ import annotations

import time

from bot import buttons
from engine.views import SessionCard
from tests.bench.cloud import Call
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import FLOOR, OURS, Stage, staged

ROUNDS = 60
LIMIT_S = 40.0
WARM = 5


async def measure() -> list[Line]:
    """Return two lines: until it is on disk, until the phone hears."""
    kept, kept_floor, told, told_floor = Times(), Times(), Times(), Times()
    async with staged() as stage:
        goal = await _idle_goal(stage)
        until = time.monotonic() + LIMIT_S
        for number in range(-WARM, ROUNDS):
            ours, floor = await _ours(stage, goal), await _floor(stage)
            if number >= 0:
                kept.add(ours[0])
                told.add(ours[1])
                kept_floor.add(floor[0])
                told_floor.add(floor[1])
            if time.monotonic() > until:
                break
    return [
        compared(
            "tap → decided on disk",
            kept,
            kept_floor,
            "poll, socket, commit",
            most=2,
            most_p95=5,
            why=(
                "two durable commits instead of one (the bot keeps the update, sealed, before it confirms "
                "it; the engine keeps the decision), each in a thread of its own, and a client library "
                "that makes an object of every part of an update."
            ),
        ),
        compared(
            "tap → the phone is told",
            told,
            told_floor,
            "the same and one POST",
            most=2,
            most_p95=5,
            why="as above, and an HTTP client that costs a millisecond more than the floor's.",
        ),
    ]


async def _idle_goal(stage: Stage) -> str:
    """Open a goal whose lead has nothing to say any more, and return it."""
    over = stage.cloud.expect(OURS, lambda call: "done" in call.text)
    stage.cloud.send(OURS, f"/new {'shop'} Do nothing")
    await over
    card = await stage.card(lambda c: isinstance(c, SessionCard) and "stop" in c.buttons)
    return card.id


async def _ours(stage: Stage, goal: str) -> tuple[float, float]:
    card = stage.cards[goal]
    verb = "stop" if "stop" in card.buttons else "resume"
    answered = stage.cloud.expect(OURS, _is_answer)
    began = stage.cloud.tap(OURS, buttons.encode(goal, card.revision, verb))
    await stage.card(lambda c: c.id == goal and verb not in c.buttons)
    kept = time.time() - began
    return kept, (await answered).at - began


async def _floor(stage: Stage) -> tuple[float, float]:
    answered = stage.cloud.expect(FLOOR, _is_answer)
    began = stage.cloud.tap(FLOOR, "x")
    answer = await answered
    return float(answer.text) - began, answer.at - began


def _is_answer(call: Call) -> bool:
    return call.method == "answerCallbackQuery"
