"""Told to end, engine and bot end in time, even where a part never would; the next takes over at once.

In time is within the five seconds that are promised, and before systemd would kill what is left: asked of
the processes as they are in production, by what they set their timers to. None of it is waited for.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.__main__ import ENDS_S
from bot.app import DRAIN_S
from engine import config
from engine.config import Config
from engine.paths import Home
from stores.sealing import create_keys

ROOT = Path(__file__).parents[2]
LIMIT_S = 60
PROMISED_S = 5.0
TIDIES_UP_S = 0.5  # at least, for the bot, once it has drained
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

# Each timer of the process says when it would go off, and does so at once.
TOLD = """
import threading

class Told(threading.Timer):
    def __init__(self, seconds, *args):
        print("timer", seconds, flush=True)
        super().__init__(0.2, *args)

threading.Timer = Told
"""
STUCK_BOT = """
import asyncio, logging, sys
from bot import __main__ as bot

async def stuck(home, stop):
    logging.getLogger("bot").info("engine ready: it is not asked for")
    await stop.wait()
    await asyncio.to_thread(threading.Event().wait)

bot.main = stuck
sys.exit(bot.start())
"""


@contextmanager
def started(home: Home, script: str) -> Iterator[subprocess.Popen[str]]:
    """Run an engine, or what says the same on its log when it is ready."""
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


@pytest.mark.parametrize(
    ("part", "script"),
    [("engine", STUCK.replace("engine.DRAIN_S = 0.2\n", "")), ("bot", STUCK_BOT)],
)
def test_what_is_told_to_end_cuts_itself_off_as_promised_and_before_systemd_would(
    tmp_path: Path, part: str, script: str
) -> None:
    home = Home(tmp_path / "home").make()
    create_keys(home)
    config.save(home, Config(owner_ids=(42,)))
    with started(home, TOLD + script) as process:
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=LIMIT_S)
    timers = [float(seconds) for seconds in re.findall(r"^timer (.+)$", said, re.MULTILINE)]
    assert timers
    assert max(timers) <= PROMISED_S < stop_limit_s(part)


def test_the_bot_has_drained_before_it_is_cut_off() -> None:
    assert 0 < DRAIN_S <= ENDS_S - TIDIES_UP_S


def stop_limit_s(part: str) -> float:
    """Return how long systemd lets a part of ours end."""
    unit = (ROOT / f"systemd/quarterdeck-{part}.service").read_text(encoding="utf-8")
    (limit,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    return float(limit)
