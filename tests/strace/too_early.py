"""A path that is wrong on purpose, to see that a walk finds it: it answers before it has stored."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from engine.asker import on_behalf_of
from tests.engine import toy
from tests.strace import accept
from tests.strace.__main__ import NOT_HERE
from tests.strace.tracer import possible
from tests.strace.walk import Walk


async def play(folder: Path) -> None:
    async with toy.engine(toy.World(folder)) as engine:
        (folder / "answered").touch()
        with on_behalf_of(accept.OWNER):
            await engine.loop.post("goal/g-1", toy.opened(), accept.CAUSE)
        await engine.loop.settle()


def main() -> int:
    if possible():
        return NOT_HERE
    with tempfile.TemporaryDirectory() as folder:
        walking = Walk(replace(accept.STORY, play=play), Path(folder) / "early")
        calls = [call.about for call in walking.calls()]
        answered = next(n for n, about in enumerate(calls) if about.endswith("/answered"))
        stops = [walking.stop_at(answered + later) for later in range(2, 8)]
    return 0 if any(stop.fault for stop in stops) else 1


if __name__ == "__main__":
    sys.exit(main())
