"""Nothing of ours listens on the network while a goal is brought from the phone to its push.

The real processes, looked at again and again: bot, engine, node, zygote, runners and what they run.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import processes
from tests.engine.scenario import World, lay
from tests.soak.crew import Crew, crew

LOOK_S = 0.2


def children(pid: int) -> set[int]:
    """Return a process and all below it."""
    found, new = set[int](), [pid]
    while new:
        at = new.pop()
        found.add(at)
        try:
            new += map(int, Path(f"/proc/{at}/task/{at}/children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def listeners() -> dict[int, str]:
    """Return who waits for TCP or UDP on this machine, as far as that may be seen, with ss's line."""
    said = subprocess.run(["ss", "-Hltunp"], capture_output=True, text=True, check=True).stdout
    return {
        int(pid): line for line in said.splitlines() for pid in re.findall(r"\bpid=(\d+)", line)
    }


async def look(hands: Crew, seen: set[int], found: dict[int, str]) -> None:
    while True:
        ours = {pid for process in hands.processes.values() for pid in children(process.pid)}
        ours |= set(processes.of_runs(hands.world.home.runs.iterdir()))
        heard = await asyncio.to_thread(listeners)
        assert os.getpid() in heard, "ss does not even show the emulated cloud of this test"
        seen |= ours
        found |= {pid: line for pid, line in heard.items() if pid in ours}
        await asyncio.sleep(LOOK_S)


@pytest.mark.skipif(
    shutil.which("ss") is None and not os.environ.get("CI"), reason="ss is not installed here"
)
async def test_from_goal_to_push_no_process_of_ours_listens(tmp_path: Path) -> None:
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid", real=True)
    seen, found = set[int](), dict[int, str]()
    async with crew(world) as hands:
        looking = asyncio.create_task(look(hands, seen, found))
        await hands.voyage([])
        assert not looking.done(), looking.exception()
        looking.cancel()
    assert not found
    assert len(seen) > 10, "engine, bot, node, zygote, and a runner and an agent for each turn"
