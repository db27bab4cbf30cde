"""The alarm, as systemd calls it, against an emulated Telegram."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot import alarm
from bot.emulator import Emulator
from engine.config import Config
from engine.lock import EngineLock
from engine.paths import Home
from engine.setup import write

TOKEN = "7000000001:AAtest-token-that-must-never-be-in-a-log-x"
OWNER = 42


@pytest.fixture
async def telegram() -> AsyncIterator[Emulator]:
    async with Emulator(token=TOKEN, owner_id=OWNER, flood=False) as running:
        running.phone.send("/start")  # a bot cannot write to who never wrote to it
        yield running


class Unit:
    """A unit of systemd that fails, again and again."""

    def __init__(self, home: Home, memory: Path) -> None:
        self.home = home
        self.memory = memory
        self.waits: list[float] = []
        self.runs = 0

    async def fails(self, part: str = "engine", **env: str) -> int:
        """Have the unit end once more; return the alarm's exit code."""
        self.runs += 1
        given = {
            "QUARTERDECK_HOME": str(self.home.root),
            "RUNTIME_DIRECTORY": str(self.memory),
            "SERVICE_RESULT": "exit-code",
            "EXIT_STATUS": "1",
            "INVOCATION_ID": f"run-{self.runs}",
        } | env
        return await asyncio.to_thread(alarm.main, [part], given, self.waits.append)

    async def fails_for_good(self, part: str = "engine", **env: str) -> int:
        return await self.fails(part, SERVICE_RESULT="start-limit-hit", **env)


@pytest.fixture
def unit(tmp_path: Path, telegram: Emulator) -> Unit:
    home = Home(tmp_path / "home")
    write(home, Config(owner_ids=(OWNER, 43), api_url=telegram.url), TOKEN)
    memory = tmp_path / "run"
    memory.mkdir()
    return Unit(home, memory)


def said(telegram: Emulator) -> list[str]:
    return [message.text for message in telegram.phone.from_bot()]


async def test_the_third_failure_in_a_row_is_told_once_and_the_first_two_are_not(
    telegram: Emulator, unit: Unit
) -> None:
    """BR-41: that it cannot start is told by another road than its own."""
    assert [await unit.fails() for _ in range(2)] == [alarm.TOLD] * 2
    assert said(telegram) == []
    assert [await unit.fails() for _ in range(4)] == [alarm.TOLD] * 4
    (text,) = said(telegram)
    assert text.splitlines()[0] == "⚠ The engine does not start."
    assert "It failed 3 times in a row: it ended with exit code 1. Agents at work go on" in text
    assert "journalctl --user -u quarterdeck-engine" in text


async def test_it_uses_no_parse_mode_and_never_polls(telegram: Emulator, unit: Unit) -> None:
    await unit.fails_for_good()
    (call,) = telegram.calls
    assert call.method == "sendMessage"
    assert set(call.params) == {"chat_id", "text"}
    assert telegram.notes == []


async def test_bot_and_engine_are_counted_apart(telegram: Emulator, unit: Unit) -> None:
    for part in ("bot", "engine", "bot", "engine", "bot"):
        await unit.fails(part)
    (text,) = said(telegram)
    assert text.startswith("⚠ The bot does not start.")


async def test_one_end_that_is_told_to_it_twice_counts_once(telegram: Emulator, unit: Unit) -> None:
    """ExecStopPost= and OnFailure= may both call it; each names the run of the unit that failed."""
    for number in range(2):
        await unit.fails(INVOCATION_ID=f"run-{number}")
        await unit.fails(
            INVOCATION_ID="the alarm's own",
            MONITOR_INVOCATION_ID=f"run-{number}",
            MONITOR_SERVICE_RESULT="exit-code",
            MONITOR_EXIT_STATUS="1",
        )
    assert said(telegram) == []


async def test_failures_far_apart_are_no_row(telegram: Emulator, unit: Unit) -> None:
    for _ in range(2):
        await unit.fails()
    kept = unit.memory / "engine.failures"
    failures, last, told, run = json.loads(kept.read_text())
    kept.write_text(json.dumps([failures, last - alarm.APART_S - 1, told, run]))
    for _ in range(2):
        await unit.fails()
    assert said(telegram) == []


async def test_a_row_that_goes_on_for_hours_is_told_again(telegram: Emulator, unit: Unit) -> None:
    for _ in range(3):
        await unit.fails()
    kept = unit.memory / "engine.failures"
    failures, last, told, run = json.loads(kept.read_text())
    kept.write_text(json.dumps([failures, last, told - alarm.QUIET_S - 1, run]))
    await unit.fails()
    first, second = said(telegram)
    assert "3 times" in first
    assert "4 times" in second


async def test_a_stop_by_the_owner_is_no_failure(telegram: Emulator, unit: Unit) -> None:
    for _ in range(3):
        assert await unit.fails(SERVICE_RESULT="success") == alarm.TOLD
    assert said(telegram) == []


async def test_an_engine_that_runs_elsewhere_is_no_failure_of_the_engine(
    telegram: Emulator, unit: Unit
) -> None:
    with EngineLock(unit.home.engine_lock):
        assert await unit.fails_for_good() == alarm.TOLD
    assert said(telegram) == []


async def test_a_lock_file_with_a_living_foreign_process_in_it_holds_nothing_back(
    telegram: Emulator, unit: Unit
) -> None:
    """BR-47: the kernel's lock counts, not a number in a file."""
    unit.home.engine_lock.write_text("1\n")
    await unit.fails_for_good()
    assert len(said(telegram)) == 1


async def test_memory_nobody_can_read_begins_a_new_row(telegram: Emulator, unit: Unit) -> None:
    (unit.memory / "engine.failures").write_bytes(b"\0" * 100)
    for _ in range(3):
        assert await unit.fails() == alarm.TOLD
    assert len(said(telegram)) == 1


async def test_too_fast_it_waits_as_told_and_tries_once_more(
    telegram: Emulator, unit: Unit
) -> None:
    telegram.faults.flood("sendMessage", retry_after=7)
    assert await unit.fails_for_good() == alarm.TOLD
    assert unit.waits == [7.0]
    assert len(said(telegram)) == 1


async def test_a_wait_longer_than_systemd_waits_for_us_is_cut(
    telegram: Emulator, unit: Unit
) -> None:
    telegram.faults.flood("sendMessage", retry_after=4000, times=2)
    assert await unit.fails_for_good() == alarm.NO_ANSWER
    assert unit.waits == [alarm.LONGEST_WAIT_S]


@pytest.mark.parametrize("weather", ["cut", "gateway"])
async def test_a_network_that_fails_once_is_tried_once_more(
    telegram: Emulator, unit: Unit, weather: str
) -> None:
    if weather == "cut":
        telegram.faults.cut("sendMessage", done=False)
    else:
        telegram.faults.gateway("sendMessage")
    assert await unit.fails_for_good() == alarm.TOLD
    assert len(said(telegram)) == 1


async def test_what_nobody_answered_is_told_at_the_next_failure(
    telegram: Emulator, unit: Unit, capsys: pytest.CaptureFixture[str]
) -> None:
    telegram.faults.cut("sendMessage", done=False, times=2)
    assert await unit.fails_for_good() == alarm.NO_ANSWER
    assert TOKEN not in "".join(capsys.readouterr())
    assert await unit.fails_for_good() == alarm.TOLD
    assert len(said(telegram)) == 1


async def test_a_revoked_token_is_said_by_the_exit_code_and_tried_no_second_time(
    telegram: Emulator, unit: Unit, capsys: pytest.CaptureFixture[str]
) -> None:
    telegram.faults.revoked = True
    assert await unit.fails_for_good() == alarm.REFUSED
    assert unit.waits == []
    printed = capsys.readouterr()
    assert "401" in printed.err
    assert TOKEN not in printed.err + printed.out


@pytest.mark.parametrize(
    ("part", "broken"), [("token", ""), ("token", "no token"), ("config", "owner_ids = []")]
)
async def test_without_a_token_or_an_owner_the_exit_code_says_so(
    telegram: Emulator, unit: Unit, part: str, broken: str
) -> None:
    """BR-122: no owner, nobody is told."""
    path = unit.home.bot_token if part == "token" else unit.home.config
    path.unlink()
    assert await unit.fails_for_good() == alarm.NOTHING_TO_READ
    path.write_text(broken)
    assert await unit.fails_for_good() == alarm.NOTHING_TO_READ
    assert said(telegram) == []


async def test_a_config_written_by_hand_is_read_as_the_engine_reads_it(
    telegram: Emulator, unit: Unit
) -> None:
    unit.home.config.write_text(
        f"# owner_ids = [1]\nowner_ids = [ # 2\n  {OWNER}, # me\n  43,\n]\n"
        f"api_url = '{telegram.url}/'\n"
    )
    assert await unit.fails_for_good() == alarm.TOLD
    assert len(said(telegram)) == 1


@pytest.mark.parametrize("argv", [[], ["both"], ["bot", "engine"], ["bot", "--user"]])
def test_wrong_use_exits_2(argv: list[str]) -> None:
    assert alarm.main(argv, {}, lambda _s: None) == alarm.WRONG_USE


async def test_alone_in_a_folder_the_systems_python_runs_it(
    telegram: Emulator, unit: Unit, tmp_path: Path
) -> None:
    """Nothing of ours is there for it: no environment, no package, no memory."""
    alone = tmp_path / "alone.py"
    alone.write_text(Path(alarm.__file__).read_text(encoding="utf-8"), encoding="utf-8")

    def call() -> Any:
        return subprocess.run(
            ["/usr/bin/python3", "-I", "-S", str(alone), "bot", "--system"],
            env={"QUARTERDECK_HOME": str(unit.home.root)},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )

    done = await asyncio.to_thread(call)
    assert (done.returncode, done.stderr) == (0, "")
    (text,) = said(telegram)
    assert "journalctl -u quarterdeck-bot" in text
    assert "It failed. Agents at work go on." in text
