"""A week in an hour: `python -m tests.soak.week [--sessions 300]`, real processes on a clock that is set.

    each day    goals two at a time, ten workers at once, the owner pressing what waits
    each night  a day passes in steps: backup, retention, limits that reset, all by their own timers
    on the way  a usage limit, an agent that is killed, questions, kill -9 of engine and bot, links lost,
                a power cut that lasts hours, a polite restart
    then        half a year in which nothing is done, until all that has its time is over

Engine and bot live by the clock of aboard.py; the node, its runs and git are real and live in the machine's
time, so what they left is aged as the days go. Judged: that each goal ended as it should and all is still,
that nothing waited without a reason whenever all stood still, and that what the home costs at rest is as
after the first day (upkeep.py). Neighbours: crew.py runs the processes, scenario.py lays the world.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.emulator import Message
from engine import board
from engine.codec import Codec
from engine.engine import RULES
from engine.nightly import KEPT
from engine.rules.goal_state import Goal, Stage
from engine.rules.session_state import Session
from tests import processes
from tests.bench.idles import child_of
from tests.engine.person import YES
from tests.engine.scenario import PROJECT, World, is_over, lay
from tests.fakes import git
from tests.history import Chat, Expected, Scene, Span, behind, faults
from tests.rules.promises import silent, unfinished, unreasoned_waits
from tests.simulation import invariants
from tests.soak import part, upkeep
from tests.soak.aboard import Clock
from tests.soak.crew import Crew, crew
from tests.soak.part import say
from tests.soak.upkeep import Upkeep

DAYS = 7
WORKERS = 5  # of each goal
TOGETHER = 2  # goals
A_BATCH = TOGETHER * (1 + WORKERS)
PIECES = ("Orders", "Page", "Search", "Totals", "Export")
ODD = ("Limited", "Killed", "Asking")  # what else may come between

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
STEP_S = 240.0  # shorter than what counts as an absence
STILL_S = 1.5  # without any news: then only time can help
LOOK_S = 0.1
STEP_TAKES_S = 0.12
BATCH_LIMIT_S = 240.0
AT_WORK_S = 90.0
CHAT_LIMIT_S = REST_LIMIT_S = 60.0
CHAT_STILL_S = 12.0  # longer than a card rests between two edits
MOST_DAYS = 2.0  # that a batch may take, most of them waiting for a limit
QUIET_YEARS = (*[DAY_S] * 8, *[30 * DAY_S] * 3, *[31 * DAY_S] * 3)


# ---------------------------------------------------------------- what agents do


def scenario(go: str, resets_at: float) -> list[dict[str, Any]]:
    """Return the scenario of one batch; workers are at work until `go` lies in their trees."""

    def plan(titles: tuple[str, ...]) -> list[dict[str, Any]]:
        pieces = [{"title": title, "task": f"Build {title}", "size": "S"} for title in titles]
        proposed = {"desk": "propose_plan", "with": {"summary": "So.", "pieces": pieces}}
        return [proposed, {"say": "The plan is with you."}]

    put = {"desk": "put_for_review", "with": {"summary": "It works."}}
    build = [
        {"write": {"path": "{session}.txt", "text": "x\n"}},
        {"commit": "Do the work"},
        {"desk": "done", "with": {"summary": "It is there."}},
        {"say": "Done."},
    ]
    asked = {"permission": {"tool": "Bash", "input": {"command": "curl http://127.0.0.1:1/"}}}
    limit = {"limit": {"resets_at": resets_at}}
    lead = {"role": "lead"}
    return [
        {**lead, "session": "with trouble", "turn": 1, "steps": plan((*ODD, *PIECES[3:]))},
        {**lead, "turn": 1, "steps": plan(PIECES)},
        {**lead, "prompt": "Every piece of the plan has landed", "steps": [put, {"say": "Put."}]},
        {**lead, "steps": [{"say": "Noted."}]},
        {"role": "worker", "session": '"Limited"', "turn": 1, "steps": [limit]},
        {"role": "worker", "session": '"Killed"', "turn": 1, "steps": [{"crash": True}]},
        {"role": "worker", "session": '"Asking"', "turn": 1, "steps": [asked, *build]},
        {"role": "worker", "steps": [{"wait_for": f".git/{go}", "timeout_s": 200}, *build]},
    ]


# ---------------------------------------------------------------- the ledger, as it grows


class Ledger:
    """Where every stream stands, read on from the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.states: dict[str, Any] = {}
        self.events = 0
        self._codecs: dict[str, Codec[Any]] = {
            prefix: Codec(rule.state_type) for prefix, rule in RULES.items()
        }

    def read_on(self) -> bool:
        """Say whether anything happened since."""
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as file:
            (newest,) = file.execute("SELECT coalesce(max(n), 0) FROM events").fetchone()
            rows = file.execute(
                "SELECT stream, body FROM states WHERE n > ?", (self.events,)
            ).fetchall()
        for stream, body in rows:
            self.states[stream] = self._codecs[stream.partition("/")[0]].load(body)
        before, self.events = self.events, int(newest)
        return self.events != before

    def owed(self) -> list[str]:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as file:
            return list(invariants.owed_still(file))

    def rows(self, sql: str) -> int:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as file:
            return int(file.execute(sql).fetchone()[0])


# ---------------------------------------------------------------- the week


@dataclass
class Sailed:
    """What there was of it."""

    sessions: int = 0
    most_at_once: int = 0
    limits: int = 0
    nights: int = 0
    kills: int = 0
    links: int = 0
    restarts: int = 0
    stills: int = 0  # times that all waited, and said why
    upkeep: list[Upkeep] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.sessions} sessions, {self.most_at_once} agents at once, {self.nights} nights, "
            f"{self.limits} limits, {self.kills} kills, {self.links} links lost, "
            f"{self.restarts} restarts"
        )


class Week:
    """One box and its owner."""

    def __init__(self, hands: Crew, clock: Clock, seed: int) -> None:
        self._hands = hands
        self._world = hands.world
        self._home = hands.world.home
        self._clock = clock
        self._ledger = Ledger(self._home.engine_db)
        self._lots = random.Random(seed)
        self._pressed: set[str] = set()
        self._batches = 0
        self._aged_to = 0.0
        self._still_at = (0, False)  # as of which event that was looked at, and what it was
        self.sailed = Sailed()

    @property
    def now(self) -> float:
        return time.time() + self._clock.ahead_s

    async def live(self, days: list[int]) -> None:
        """Live through so many days, each with so many batches, and the half year after."""
        self._clock.ahead_s = DAY_S - time.time() % DAY_S + 9 * HOUR_S
        for number, batches in enumerate(days, 1):
            began = self.now
            for batch in range(batches):
                await self._batch(number if batch == 0 else 0)
            await self._rested()
            if number in (1, len(days)):
                await self._measure()
            await self._night(began + DAY_S)
            say(f"day {number}: {self.sailed.sessions} sessions, {self._ledger.events} events")
        await self._judge()
        first, last = self.sailed.upkeep
        assert not (found := upkeep.grown(first, last)), found
        await self._years()

    # ------------------------------------------------------------ a batch of goals

    async def _batch(self, day: int) -> None:
        """Have two goals done, ten workers at once; `day`: with what comes between on that one."""
        self._batches += 1
        go = f"go-{self._batches}"
        trouble = day in (2, 6)
        resets_at = self.now + (3 if day == 2 else 5) * HOUR_S
        self._world.scenario.write_text(json.dumps({"parts": scenario(go, resets_at)}))
        words = " with trouble" if trouble else ""
        for number in range(TOGETHER):
            self._hands.phone.send(
                f"/new {PROJECT} Goal {self._batches}.{number + 1}{words if number else ''}"
            )
        # Where one meets the limit, whoever comes after it in that goal waits too.
        wanted = WORKERS if trouble else TOGETHER * WORKERS
        await self._until(lambda: self._at_work() >= wanted, AT_WORK_S, skip=trouble)
        self.sailed.most_at_once = max(self.sailed.most_at_once, self._at_work())
        await self._between(day)
        shown = len(self._ended())
        until = self.now + MOST_DAYS * DAY_S

        def over() -> bool:
            for tree in self._home.trees.glob("*/s-*/.git"):
                with suppress(FileNotFoundError):
                    (tree / go).touch()
            assert self.now < until, f"batch {self._batches} takes for ever\n{self._told()}"
            done = len(self._goals()) >= TOGETHER * self._batches
            return done and is_over(self._ledger.states) and not self._buttons()

        await self._until(over, BATCH_LIMIT_S, skip=True)
        self.sailed.limits += trouble
        self.sailed.sessions += A_BATCH
        say(
            f"batch {self._batches}: {wanted} workers at once, {len(self._ended()) - shown} runs, "
            f"day {day or 'goes on'}"
        )

    async def _until(self, fact: Any, limit_s: float, *, skip: bool) -> None:
        """Press what waits until the fact; `skip`: let time pass while nothing else can help."""
        still_since = time.monotonic()
        try:
            async with asyncio.timeout(limit_s):
                while not fact():
                    if self._ledger.read_on() or self._press() or not self._still():
                        still_since = time.monotonic()
                    elif skip and time.monotonic() - still_since > STILL_S:
                        await self._pass(STEP_S)
                    await asyncio.sleep(LOOK_S)
                    self._alive()
        except TimeoutError as late:
            await self._ask_where()
            late.add_note(self._told())
            raise

    async def _ask_where(self) -> None:
        """Have engine and bot log what they are at (aboard.py)."""
        for process in self._hands.processes.values():
            for number in (signal.SIGUSR1, signal.SIGUSR2):
                process.send_signal(number)
                await asyncio.sleep(STILL_S)

    def _still(self) -> bool:
        """Whether nobody works and nobody is asked; then whatever waits must say why."""
        states, at = self._ledger.states, self._ledger.events
        if self._still_at[0] == at:
            return self._still_at[1]
        sessions = (state for state in states.values() if isinstance(state, Session))
        busy = any(session.live for session in sessions)
        still = not busy and not any(card.asks for card in board.everything(states, silent))
        self._still_at = (at, still)
        if still and not self._ledger.owed():
            assert not (waits := unreasoned_waits(states)), waits
            self.sailed.stills += 1
        return still

    def _press(self) -> bool:
        """Press each button that waits once."""
        found = False
        for message, label, value in self._buttons():
            if value not in self._pressed:
                self._pressed.add(value)
                with suppress(LookupError):  # it has changed meanwhile
                    self._hands.phone.tap(message, label)
                found = True
        return found

    def _buttons(self) -> list[tuple[Message, str, str]]:
        return [
            (message, button.label, button.value)
            for message in self._hands.phone.from_bot()
            for button in message.buttons
            if button.label in YES
        ]

    def _goals(self) -> list[Goal]:
        return [state for state in self._ledger.states.values() if isinstance(state, Goal)]

    def _runs(self, *, over: bool) -> Iterator[Path]:
        for run in (self._home.root / "runs").iterdir():
            if (run / "exit.json").exists() is over:
                yield run

    def _ended(self) -> list[Path]:
        return list(self._runs(over=True))

    def _at_work(self) -> int:
        """How many agents run, by what the sessions say."""
        sessions = (s for s in self._ledger.states.values() if isinstance(s, Session))
        working = {session.run for session in sessions if session.live}
        return sum(
            run.name in working and (run / "child.json").exists() for run in self._runs(over=False)
        )

    def _alive(self) -> None:
        for module, process in self._hands.processes.items():
            assert process.poll() is None, f"{module} ended by itself\n{self._hands.last()}"

    def _told(self) -> str:
        waits = unreasoned_waits(self._ledger.states)
        lines = self._hands.phone.transcript().splitlines()[-60:]
        goals = [f"{goal.id}: {goal.stage}" for goal in self._goals() if goal.live]
        return "\n".join([*lines, *goals, *waits, *self._ledger.owed(), self._hands.last()])

    # ------------------------------------------------------------ what comes between

    async def _between(self, day: int) -> None:
        match day:
            case 3:
                self._kill("engine")
                self._kill("bot")
            case 4:
                for _ in range(3):
                    await self._lose_link()
            case 5:
                await self._power_cut(6 * HOUR_S)
            case 6:
                self._kill("bot")
            case 7:
                await self._restart()

    def _kill(self, target: str) -> None:
        process = self._hands.processes[target]
        process.kill()
        process.wait()
        self._hands.start(target)
        self.sailed.kills += 1

    async def _lose_link(self) -> None:
        """End the node, as a broken way to it would; wait for the next one."""
        before, _ = self._hands._node()
        os.kill(before, signal.SIGKILL)
        self.sailed.links += 1
        async with asyncio.timeout(30):
            while self._hands._node()[0] in (0, before):  # noqa: ASYNC110 - another process tells
                await asyncio.sleep(LOOK_S)
        await asyncio.sleep(self._lots.random())

    async def _power_cut(self, hours_s: float) -> None:
        """End all there is at one moment, and come back hours later."""
        node, _ = self._hands._node()
        for process in self._hands.processes.values():
            process.kill()
        for pid in (node, *processes.of_runs(self._runs(over=False))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._hands.processes.values():
            process.wait()
        self._clock.ahead_s += hours_s
        for module in self._hands.processes:
            self._hands.start(module)
        self.sailed.kills += 1

    async def _restart(self) -> None:
        """End engine and bot politely, as an update does."""
        for module, process in list(self._hands.processes.items()):
            process.terminate()
            await asyncio.to_thread(process.wait, 30)
            self._hands.start(module)
            self.sailed.restarts += 1

    # ------------------------------------------------------------ time

    async def _pass(self, seconds: float) -> None:
        """Let time pass for engine and bot; the owner presses what comes."""
        self._clock.ahead_s += seconds
        await asyncio.sleep(STEP_TAKES_S)
        self._ledger.read_on()
        self._press()
        self._alive()

    async def _night(self, until: float) -> None:
        """Come to the next morning; the node's files age by what went by without it."""
        before = self._backup()
        while self.now < until:
            await self._pass(min(HOUR_S, until - self.now))
        self._age()
        async with asyncio.timeout(60):
            while self._backup() <= before:  # noqa: ASYNC110 - another process tells
                await asyncio.sleep(LOOK_S)
        self.sailed.nights += 1

    def _backup(self) -> str:
        """The newest backup's name; "" if there is none."""
        there = self._home.backups
        return max((path.name for path in there.iterdir()), default="") if there.exists() else ""

    def _age(self) -> None:
        """Set back the times of what the node left, by what was only skipped since."""
        skipped, self._aged_to = self._clock.ahead_s - self._aged_to, self._clock.ahead_s
        ended = [run / "exit.json" for run in self._runs(over=True)]
        for path in (*ended, *(self._home.root / "sessions").iterdir()):
            with suppress(FileNotFoundError):
                then = path.stat().st_mtime - skipped
                os.utime(path, (then, then))

    async def _years(self) -> None:
        """Let all that is kept for a time come to its end."""
        for step in QUIET_YEARS:
            await self._pass(step)
            self._age()
            await self._pass(DAY_S)  # what is done daily sees it
        await self._gone("events", lambda: self._ledger.rows("SELECT count(*) FROM events") == 0)
        await self._gone("runs", lambda: not self._ended())
        last = self._upkeep()
        say(f"half a year later: {last}")
        assert last.backups <= KEPT + 1, last.backups
        assert not (found := upkeep.left(self.sailed.upkeep[0], last)), found

    async def _gone(self, what: str, fact: Any) -> None:
        try:
            async with asyncio.timeout(60):
                while not fact():
                    await self._pass(DAY_S)
                    await asyncio.sleep(LOOK_S)
        except TimeoutError as late:
            late.add_note(f"{what} stay")
            raise

    # ------------------------------------------------------------ judging

    async def _rested(self) -> None:
        """Assert that all is done, once what is owed for it is, and nothing waits."""
        until = time.monotonic() + REST_LIMIT_S
        while self._left() and time.monotonic() < until:
            await self._pass(1.0)
        assert not (found := self._left()), found
        await self._all_said()
        assert {goal.stage for goal in self._goals()} == {Stage.SHIPPED}

    def _left(self) -> list[str]:
        """Return what is not at rest."""
        self._ledger.read_on()
        states = self._ledger.states
        return [
            *unfinished(states),
            *invariants.asks_of_nobody(states),
            *[f"{card.id} asks" for card in board.everything(states, silent) if card.asks],
            *self._ledger.owed(),
            *[f"{run.name} has not ended" for run in self._runs(over=False)],
            *[f"process {pid} is of a run" for pid in processes.of_runs(self._ended())],
        ]

    async def _judge(self) -> None:
        """Have all that happened judged by one checker, once the chat has it all."""
        goals, base = len(self._goals()), git(self._world.repository, "rev-parse", "main")
        pieces = goals * WORKERS
        expected = Expected(
            spans=(Span(self._world.origin, f"{base}..main", ["Do the work"] * pieces),),
            pushes=goals,
            taken=pieces,
            workers=pieces,
        )
        await self._all_said()
        until = self.now + CHAT_LIMIT_S
        # Two goals that ship at once: the later one is taken in, checked again and put back once more.
        moved = re.compile(r"ship/\S+ has ShipPushed 2 times")
        while behind(self._scene(), expected) and self.now < until:
            await self._pass(1.0)
        found = [fault for fault in faults(self._scene(), expected) if not moved.fullmatch(fault)]
        assert not found, found

    async def _all_said(self) -> None:
        """Return once the bot has said what it had to say, and rests: words come a second apart.

        A real day is long enough for that. While it is judged the chat answers nobody, so that what is
        judged before must be late.
        """
        left, still_since = self._to_say(), self.now
        until = self.now + CHAT_LIMIT_S
        while self.now < until and (left[0] or self.now - still_since < CHAT_STILL_S):
            await self._pass(1.0)
            if (now := self._to_say()) != left:
                left, still_since = now, self.now
                until = self.now + CHAT_LIMIT_S

    def _to_say(self) -> tuple[int, int]:
        """How many lines wait to be said, and how often the chat has changed."""
        with closing(sqlite3.connect(f"file:{self._home.bot_db}?mode=ro", uri=True)) as file:
            lines = int(file.execute("SELECT count(*) FROM outbox").fetchone()[0])
        return lines, self._hands.emulator.revision

    def _scene(self) -> Scene:
        return Scene(
            ledger=self._home.engine_db,
            hubs=self._home.hubs,
            remote=self._world.origin,
            bot_db=self._home.bot_db,
            # Which updates it handled is forgotten after two days.
            chat=replace(Chat.of(self._hands.emulator, copies=self.sailed.kills), updates=()),
        )

    async def _measure(self) -> None:
        await asyncio.sleep(2.0)
        self.sailed.upkeep.append(self._upkeep())
        say(f"at rest: {self.sailed.upkeep[-1]}")

    def _upkeep(self) -> Upkeep:
        node, _ = self._hands._node()
        pids = {name: process.pid for name, process in self._hands.processes.items()}
        pids |= {"node": node, "zygote": child_of(node)}
        return upkeep.of(self._home, pids, len(self._goals()))


def spread(sessions: int, days: int = DAYS) -> list[int]:
    """Return how many batches each day has; no day has none."""
    batches = max(days, -(-sessions // A_BATCH))
    return [batches // days + (day < batches % days) for day in range(days)]


async def sail(folder: Path, sessions: int, seed: int) -> str:
    """Live the week in a folder; return its figures."""
    (folder / "laid").mkdir()
    lay(folder / "laid")
    world = World(folder / "world", folder / "laid", real=True)
    clock = Clock(folder / "clock")
    async with crew(world, folder / "clock") as hands:
        week = Week(hands, clock, seed)
        await week.live(spread(sessions))
    return str(week.sailed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.week", description=__doc__)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    os.environ["TZ"] = "UTC"
    time.tzset()
    return part.run("week", lambda folder: sail(folder, asked.sessions, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
