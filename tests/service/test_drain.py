"""Told to end, the engine ends, even where a part of it never would; the next one takes over at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import config
from engine.config import Config
from engine.paths import Home
from stores.sealing import create_keys

ROOT = Path(__file__).parents[2]
LIMIT_S = 60
PLAIN = "import asyncio\nfrom engine import __main__ as engine\nasyncio.run(engine.main())\n"
STUCK = """
import asyncio
from engine import __main__ as engine

class Stuck(engine.Local):
    async def close(self):
        print("closing", flush=True)
        await asyncio.Event().wait()

engine.Local = Stuck
engine.DRAIN_S = 0.2
asyncio.run(engine.main())
"""


@contextmanager
def started(home: Home, script: str) -> Iterator[subprocess.Popen[str]]:
    """Run an engine; it says on its log when it is ready."""
    loud = "import logging\nlogging.basicConfig(level=logging.INFO)\n"
    with subprocess.Popen(
        [sys.executable, "-c", loud + script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "QUARTERDECK_HOME": str(home.root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if "engine ready" in line:
                    break
            else:
                raise AssertionError("".join(said))
            yield process
        finally:
            process.kill()


def test_an_engine_of_which_a_part_never_ends_is_ended_and_the_next_one_starts(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").make()
    create_keys(home)
    config.save(home, Config(owner_ids=(42,)))
    with started(home, STUCK) as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert process.stdout.readline() == "closing\n"
        assert process.wait(LIMIT_S) == 0
    with started(home, PLAIN) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
