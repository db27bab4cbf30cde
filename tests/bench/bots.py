"""The bot started -> it asks for updates; and what was sent while it was down is answered, once each.

Timed from the start of its process until it waits for updates, which is when a message would reach it.
The floor: a Python that imports the client library, and ends.
"""

from __future__ import annotations

import asyncio
import sys
import time

from tests.bench.cloud import Call, Cloud
from tests.bench.figures import Line, Times, compared
from tests.bench.stage import OURS, ROOT, Stage, folder, until

ROUNDS = 7
WHILE_DOWN = 2
REST_S = 0.5  # for an answer too many to show itself


async def measure() -> list[Line]:
    ours, floor = Times(), Times()
    sent = answers = 0
    async with Cloud() as cloud:
        with folder() as where:
            stage = Stage(where, cloud)
            await stage.furnish()
            for _ in range(ROUNDS):
                floor.add(await _import())
                stage.cloud.forget(OURS)
                for _ in range(WHILE_DOWN):
                    cloud.send(OURS, "/help")
                sent += WHILE_DOWN
                said = _Answers(cloud)
                began = time.perf_counter()
                async with stage.process("-m", "bot"):
                    await cloud.polled(OURS)
                    ours.add(time.perf_counter() - began)
                    await until(lambda said=said: said.count >= WHILE_DOWN)  # type: ignore[misc]
                    await asyncio.sleep(REST_S)
                answers += said.count
    return [
        compared(
            "bot started → it hears",
            ours,
            floor,
            "import telegram",
            most=2,
            why=(
                "beside the client library it loads its own parts, opens its file, asks who it is "
                "and makes its first two calls over a connection each."
            ),
        ),
        Line(
            "sent while the bot was down: answered",
            f"{answers} answers to {sent} messages",
            f"{sent}: each once",
            answers / sent,
            "100 %, once each",
            answers == sent,
            "a message was lost, or answered twice.",
            sent,
        ),
    ]


class _Answers:
    """Counts the messages that a bot sends from now on."""

    def __init__(self, cloud: Cloud) -> None:
        self.count = 0
        cloud.listen(OURS, self._hear)

    def _hear(self, call: Call) -> None:
        self.count += call.method == "sendMessage"


async def _import() -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import telegram", cwd=ROOT
    )
    await process.wait()
    return time.perf_counter() - began
