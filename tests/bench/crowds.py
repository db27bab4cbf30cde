"""Thirty at once: goals sent in one breath until the last agent runs; turns ended in one second.

Ours, starting: the goals as an owner would send them, with the places a machine has; an agent that does
nothing gives its place up at once, so that the last one starts when all before it have had their turn.
The floor: thirty plain children of one process.

Ours, ending: thirty live runs end their turns together; what counts is the messages in the chat, and
when the last result can be read there. There is no floor: Telegram takes about one message a second.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from contextlib import suppress

from tests.bench.cloud import Call
from tests.bench.crowd import agents, crowd
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import FLOOR, OURS, PROJECT, Stage, staged, until

COUNT = 30
LIMIT_S = 60.0
STILL_S = 3.0  # nothing is said for so long: the cards of all goals are there
MOST_MESSAGES = 3
MOST_S = 3.0
STARTED = re.compile(r"started (\d+) done (\d+)")


async def starts() -> list[Line]:
    async with staged() as stage:
        await _ours(stage, 1)  # the first goal of a project copies it
        floor, ours = Times(), Times()
        floor.add(await _floor(stage, COUNT))
        ours.add(await _ours(stage, COUNT))
    return [
        compared(
            f"{COUNT} goals at once → the last agent runs ({COUNT} of {COUNT} started)",
            ours,
            floor,
            f"{COUNT} plain children of one process",
            most=4,
            why=(
                "each has a tree of its own laid and a fence built first, on the two cores there are, "
                "and ten places to run: from the eleventh on a goal waits for the end of another's turn."
            ),
        )
    ]


async def _ours(stage: Stage, count: int) -> float:
    """Send so many goals; return how long it took until the last of their agents ran.

    raises  TimeoutError when not all of them started
    """
    spools = set(stage.home.runs.glob("*/out.jsonl"))
    sent = time.time()
    for number in range(count):
        stage.cloud.send(OURS, f"/new {PROJECT} Do nothing, number {number}")
    began: list[str] = []

    def all_ran() -> bool:
        new = set(stage.home.runs.glob("*/out.jsonl")) - spools
        found = [STARTED.search(spool.read_text()) for spool in new] if len(new) >= count else []
        began[:] = [ran[1] for ran in found if ran]
        return len(began) >= count

    await until(all_ran, LIMIT_S)
    return max(map(int, began)) / 1e9 - sent


async def _floor(stage: Stage, count: int) -> float:
    began: list[int] = []
    all_ran = asyncio.Event()

    def hear(call: Call) -> None:
        began.extend(int(ran) for ran, _ in STARTED.findall(call.text))
        if len(began) >= count:
            all_ran.set()

    stage.cloud.listen(FLOOR, hear)
    sent = time.time()
    for number in range(count):
        stage.cloud.send(FLOOR, f"/new {PROJECT} Do nothing, number {number}")
    async with asyncio.timeout(LIMIT_S):
        await all_ran.wait()
    return max(began) / 1e9 - sent


async def ends() -> list[Line]:
    async with crowd(COUNT) as stage:
        watch = _Results()
        stage.cloud.listen(OURS, watch.hear)
        async with stage.ours():
            await until(lambda: watch.sent >= COUNT and watch.still_s() > STILL_S, LIMIT_S)
            watch.sent = 0
            began = time.time()
            for pid in agents(stage.agent):
                os.kill(pid, signal.SIGHUP)
            with suppress(TimeoutError):
                async with asyncio.timeout(LIMIT_S):
                    await watch.all_seen.wait()
            took = time.time() - began
    return [
        Line(
            f"{COUNT} turns end in one second → all results in the chat",
            f"{took:.1f} s, {watch.sent} messages, {len(watch.seen)} of {COUNT} results",
            "–: Telegram takes one message a second in a chat",
            None,
            f"≤ {MOST_S:g} s, ≤ {MOST_MESSAGES} messages",
            took <= MOST_S and watch.sent <= MOST_MESSAGES and len(watch.seen) == COUNT,
            "words of two goals come at once, and those of all others that end within the second in one "
            "message, each on a line under its goal's name.",
            COUNT,
        )
    ]


class _Results:
    """Counts what is sent to the chat, and the results that can be read there."""

    def __init__(self) -> None:
        self.sent = 0
        self.seen: set[str] = set()
        self.all_seen = asyncio.Event()
        self._last = time.monotonic()

    def still_s(self) -> float:
        """Return for how long nothing was said."""
        return time.monotonic() - self._last

    def hear(self, call: Call) -> None:
        if call.method == "getUpdates":
            return
        self._last = time.monotonic()
        self.sent += call.method == "sendMessage"
        self.seen.update(began for began, _ in STARTED.findall(call.text))
        if len(self.seen) >= COUNT:
            self.all_seen.set()
