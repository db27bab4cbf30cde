"""A goal sent -> its agent runs; the agent's last line -> its message.

Ours: the goal on disk, the base read, a tree of its own, a detached runner, a fence, the agent; then
spool, node, engine, commit, bot, message. The floor: one commit and a child; its line, one commit, a
message. The agent itself says when it began and when it wrote its last line.
"""

from __future__ import annotations

import asyncio
import time

from engine.views import SessionCard
from tests.bench.cloud import Call
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import FLOOR, OURS, PROJECT, Stage, staged

STARTS = 15
CARDS = 9
LIMIT_S = 36.0
REST_MS = 3600  # until the bot's own pace is no longer what it waits for


async def starts() -> list[Line]:
    """Time from the goal to the agent's main()."""
    first, ours, floor = Times(), Times(), Times()
    async with staged() as stage:
        until = time.monotonic() + LIMIT_S
        for number in range(STARTS):
            began, _, _ = await turn(stage, OURS)
            (ours if number else first).add(began)
            began, _, _ = await turn(stage, FLOOR)
            floor.add(began)
            if time.monotonic() > until:
                break
    return [
        compared(
            "goal → its agent runs",
            ours,
            floor,
            "poll, commit, a plain child",
            most=2.9,
            why=(
                "a tree of its own and a fence come first: the base is fetched and read, the tree laid "
                "inside a fence, then the agent's own fence built, some twenty processes of git, sh and "
                "bubblewrap one after another. What is left to win is to read the base and to lay a lead's "
                "tree before they are asked for. The first goal of a project, which also copies it, "
                f"took {first.median:.0f} ms."
            ),
        )
    ]


async def cards() -> list[Line]:
    """Time from the agent's last line to the message that shows it."""
    ours, floor = Times(), Times()
    async with staged(env={"BENCH_WAIT_MS": str(REST_MS)}) as stage:
        until = time.monotonic() + LIMIT_S
        for _ in range(CARDS):
            # Side by side, but half a rest apart: what is timed never overlaps.
            one = asyncio.create_task(turn(stage, OURS))
            await asyncio.sleep(REST_MS / 2000)
            other = asyncio.create_task(turn(stage, FLOOR))
            ours.add((await one)[1])
            floor.add((await other)[1])
            if time.monotonic() > until:
                break
    return [
        compared(
            "agent's last line → its message",
            ours,
            floor,
            "pipe, commit, socket, POST",
            most=3,
            most_p95=6,
            why=(
                "the line passes runner, node, engine and bot, and is on disk at each: in the spool, as "
                "the turn's end, as the owner's line, in the bot's queue. Each is a hand-over to a "
                "thread or a process, which a busy machine makes slower than the work itself."
            ),
        )
    ]


async def turn(stage: Stage, token: str) -> tuple[float, float, str]:
    """Have one goal done; return how long the start and the last message took."""
    over = stage.cloud.expect(token, lambda call: _ended(call) is not None)
    sent = stage.cloud.send(token, f"/new {PROJECT} Do nothing")
    call = await over
    times = _ended(call)
    assert times is not None
    if token == OURS:
        card = await stage.card(lambda c: isinstance(c, SessionCard) and "stop" in c.buttons)
        await stage.drop(card.id)
    return times[0] - sent, call.at - times[1], call.method


def _ended(call: Call) -> tuple[float, float] | None:
    """Return when the agent began and ended, if a message tells it."""
    words = call.text.split()
    if "started" not in words or "done" not in words:
        return None
    started, done = (int(words[words.index(word) + 1]) / 1e9 for word in ("started", "done"))
    return started, done
