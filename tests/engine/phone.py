"""The owner's phone in a test's hand: waits for cards, reads their words, presses their buttons.

A `Phone` is one home with its engine, its real node and the owner's repositories, opened by `held`. All
goes through the door, and what is asserted are the sentences bot/text.py would show. Agents are the
rehearsal agent with a scenario of the test's, or any command of the test's that poses as Claude Code.

Neighbours: test_bad_input.py, test_bad_agents.py; scenario.py plays one whole goal, here each goes wrong.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from bot import text
from engine.adapters.machines import Local, Machine
from engine.door import Door
from engine.engine import Engine
from engine.node.own_network import SWITCH
from engine.paths import Home
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.views import (
    AnyCard,
    Card,
    CommandCard,
    FailureCard,
    PermissionCard,
    PlanCard,
    ReviewCard,
    SessionCard,
    ShipCard,
    WorkerCard,
    sure,
)
from stores.sealing import create_keys
from tests.fakes import git

C = TypeVar("C", bound=Card)
Step = dict[str, Any]

LIMIT_S = 45.0


def desk(tool: str, **arguments: Any) -> Step:
    return {"desk": tool, "with": arguments}


def plan(*pieces: Mapping[str, Any]) -> Step:
    drafts = [{"task": "As it says.", "size": "S"} | dict(piece) for piece in pieces]
    return desk("propose_plan", summary="How it is done.", pieces=drafts)


def lead(*first: Step) -> list[Step]:
    """A lead that plays `first` in its first turn, and puts the whole for review once it landed."""
    review = desk("put_for_review", summary="It works.")
    return [
        {"role": "lead", "turn": 1, "steps": list(first)},
        {"role": "lead", "prompt": "Every piece of the plan has landed", "steps": [review]},
        {"role": "lead", "steps": [{"say": "Noted."}]},
    ]


def worker(*steps: Step, **where: Any) -> Step:
    return {"role": "worker", "steps": list(steps), **where}


def write(path: str, words: str = "x\n") -> Step:
    return {"write": {"path": path, "text": words}}


def good_worker(**where: Any) -> Step:
    """A worker that does what it should."""
    return worker(write("work.txt"), {"commit": "Do the work"}, {"say": "Done."}, **where)


PIECE = {"title": "The work"}


class Phone:
    """One owner, one engine, one machine."""

    def __init__(
        self,
        folder: Path,
        *,
        machine: Machine | None = None,
        after: Phone | None = None,
        **limits: Any,
    ) -> None:
        """`after`: the one that held this home before; what it sent is not sent again."""
        self.folder = folder
        self.ahead_s = 0.0  # how far the engine's clock was set forward
        self.home = Home(folder / "home").make()
        create_keys(self.home)
        # A network of its own costs each run some 60 ms; tests/node/test_network.py and whole goals with real
        # processes and agents have them.
        (self.home.root / SWITCH).touch()
        self.machine: Machine = machine or Local(self.home.root)
        self.engine = Engine(
            self.home,
            machines={"here": self.machine},
            clock=self.clock,
            uptime=lambda: time.monotonic() + self.ahead_s,
            **limits,
        )
        self.stays = False  # what runs is left for the next engine of this home
        self.good = ""  # a goal that goes well beside all that does not
        self._count = after.number() if after else 0
        self._changed = asyncio.Event()
        self._agents: list[tuple[str, dict[str, Any]]] = []
        self._willing: dict[str, str] = {}
        self._pressed: set[tuple[str, str, str]] = set()

    # ------------------------------------------------------------ the engine

    def clock(self) -> float:
        return time.time() + self.ahead_s

    def later(self, seconds: float) -> None:
        """Let time pass for the engine alone."""
        self.ahead_s += seconds
        self.engine.loop.wake()

    async def live(self, ready: asyncio.Event, over: asyncio.Event) -> None:
        """Run the engine until told; whatever dies in it is raised here."""
        async with self.engine.running():
            self.engine.loop.watch(lambda _stream: self._changed.set())
            pressing = asyncio.create_task(self._press_for_the_willing())
            ready.set()
            await over.wait()
            pressing.cancel()
            assert self.engine.loop.broken() == {}

    async def leave(self) -> None:
        """Stop all goals and end every run: they would outlive the engine, as they should."""
        await self.door.stop(cause=self.cause())
        for run in (await self.machine.call("run.list"))["runs"]:
            if run["alive"]:
                await self.machine.call("run.kill", run=run["run"])

    @property
    def door(self) -> Door:
        return self.engine.door

    def number(self) -> int:
        self._count += 1
        return self._count

    def cause(self) -> str:
        return f"update:{self.number()}"

    # ------------------------------------------------------------ repositories

    def repository(
        self,
        name: str = "",
        *,
        check: str = "",
        setup: str = "",
        remote: bool = False,
        settings: str = "",
    ) -> Path:
        """Make one of the owner's repositories with one commit on main."""
        path = self.folder / (name or f"repo-{self.number()}")
        path.mkdir(parents=True)
        (path / "README").write_text("A shop\n")
        lines = [f"{key} = {json.dumps(c)}" for key, c in (("check", check), ("setup", setup)) if c]
        if lines or settings:
            (path / ".quarterdeck").mkdir()
            body = settings or "\n".join(["[worktree]", *lines, ""])
            (path / ".quarterdeck/settings.toml").write_text(body)
        git(path, "init", "-q", "-b", "main")
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", "A shop")
        if remote:
            origin = path.with_name(f"{path.name}-origin.git")
            git(self.folder, "clone", "-q", "--bare", str(path), str(origin))
            git(path, "remote", "add", "origin", str(origin))
        return path

    async def project(self, path: Path | None = None, **settings: Any) -> str:
        """Add a project; return its name."""
        source = path or self.repository(**settings)
        name = f"shop{self.number()}"
        await self.door.add_project(name, str(source), cause=self.cause())
        return name

    # ------------------------------------------------------------ agents

    async def agent(self, *parts: Step, name: str = "") -> str:
        """Have the next goals driven by the rehearsal agent with this scenario; return its account."""
        name = name or f"agent{self.number()}"
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps({"parts": list(parts)}))
        return await self.account(
            name, agent="rehearsal", env=[("QUARTERDECK_SCENARIO", str(file))]
        )

    async def command(self, script: str, name: str = "") -> str:
        """Have the next goals driven by a script that poses as Claude Code; return its account."""
        name = name or f"agent{self.number()}"
        file = self.folder / name / "claude"
        file.parent.mkdir(exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
        return await self.account(name, agent="claude", command=str(file))

    async def account(self, name: str, **about: Any) -> str:
        """Add or mend an account, and make it the one that new goals take."""
        others = [(known, said) for known, said in self._agents if known != name]
        self._agents = [(name, about), *others]
        for known, said in self._agents:
            await self.door.add_account(known, cause=self.cause(), **said)
        return name

    # ------------------------------------------------------------ goals

    async def goal(self, project: str, words: str = "Do it", *, willing: bool = False) -> str:
        """Give a goal; `willing`: press by itself whatever moves it on, up to the push."""
        answer = await self.door.new_goal(project, words, cause=self.cause())
        if willing:
            self.will(answer["goal"])
        return answer["goal"]

    async def at_work(self) -> str:
        """Give a goal in a project of its own to an agent that does all right; return its id.

        Its worker goes on, saying so, until `brought_home`.
        """
        lines = [step for n in range(3000) for step in ({"say": f"Line {n}"}, {"pause_s": 0.4})]
        await self.agent(*lead(plan(PIECE)), worker(*lines, turn=1), good_worker())
        goal = await self.goal(await self.project(check="true", remote=True), willing=True)
        await self.until(
            lambda: "Line" in "".join(card.doing for card in self.of(goal, WorkerCard)),
            "the good worker to be at work",
        )
        return goal

    def _worker_runs(self, goal: str) -> bool:
        pieces = self.state(goal).pieces
        return bool(pieces) and self.session(pieces[0].session).stage is Stage.RUNNING

    def still_at_work(self, goal: str) -> bool:
        """Whether the good worker is in its first turn, which nothing has touched."""
        return (
            self._worker_runs(goal) and self.session(self.state(goal).pieces[0].session).turn == 1
        )

    async def brought_home(self, goal: str) -> ShipCard:
        """Let the good worker finish, and ship."""
        (card,) = self.of(goal, WorkerCard)
        await self.door.hear("Finish now", goal=goal, card=card.id, cause=self.cause())
        await self.tap(card, "interrupt")
        return await self.shipped(goal)

    async def shipped(self, goal: str) -> ShipCard:
        return await self.card(goal, ShipCard, lambda card: card.stage == "shipped")

    def will(self, goal: str, until: str = "") -> None:
        """From now on press what moves this goal on, until a card of the kind named would be pressed.

        until   "permission", "plan", "review", "ship": the cards that are left alone from there on
        """
        self._willing[goal] = until
        self._changed.set()

    async def _press_for_the_willing(self) -> None:
        while True:
            self._changed.clear()
            for card in self.door.cards():
                stop = self._willing.get(card.goal)
                verb = "" if stop is None else _onward(card, stop)
                mark = (card.id, card.revision, verb)
                if verb and mark not in self._pressed:
                    self._pressed.add(mark)
                    await self.tap(card, verb)
            await self._changed.wait()

    # ------------------------------------------------------------ looking

    def state(self, goal: str) -> Goal:
        found = self.engine.loop.state(f"goal/{goal}")
        assert isinstance(found, Goal)
        return found

    def newest(self, project: str) -> str:
        """The id of the last goal of a project; "" if there is none."""
        goals = self.engine.loop.states("goal").values()
        found = [goal.id for goal in goals if goal.project == project]
        return found[-1] if found else ""

    def runs_agents(self, goal: str) -> bool:
        """Whether a process of an agent of this goal may live."""
        state = self.state(goal)
        names = [state.session, *(piece.session for piece in state.pieces)]
        return any(self.session(name).live for name in names)

    def session(self, name: str) -> Session:
        found = self.engine.loop.state(f"session/{name}")
        return found if isinstance(found, Session) else Session(id=name)

    def of(self, goal: str, kind: type[C]) -> list[C]:
        """The cards of a kind that a goal has now."""
        return [card for card in self.door.cards() if card.goal == goal and isinstance(card, kind)]

    async def card(
        self, goal: str, kind: type[C], which: Callable[[C], bool] = lambda card: card.asks
    ) -> C:
        """Wait for a card of a goal."""
        found: list[C] = []

        def there() -> bool:
            found[:] = [card for card in self.of(goal, kind) if which(card)]
            return bool(found)

        await self.until(there, f"a {kind.__name__} of {goal}")
        return found[0]

    async def until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for something to be so: looked for at each commit, and for what is none, often."""
        changed = asyncio.Event()
        self.engine.loop.watch(lambda _stream: changed.set())
        try:
            async with asyncio.timeout(LIMIT_S):
                while not true():
                    changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.1)
        except TimeoutError as late:
            late.add_note(f"waited for {what}")
            late.add_note(
                "\n\n".join(words(card) for card in self.door.cards() if not card.decided)
            )
            raise

    async def tap(self, card: AnyCard | Card, verb: str, line: str = "") -> str:
        """Press a button that the phone shows on the card, and once more where it asks that."""
        assert verb in card.buttons, (verb, card)
        verb = sure(verb) if verb in card.twice else verb
        answer = await self.door.tap(card.id, card.revision, verb, line, cause=self.cause())
        return answer["verdict"]

    async def noted(self, goal: str, part: str) -> str:
        """Wait until the owner is told something of a goal; return all of that line."""
        after = 0
        async with asyncio.timeout(LIMIT_S):
            while True:
                for note in await self.door.notes(after):
                    after = note.n
                    if note.goal == goal and part in note.text:
                        return note.text
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), 0.1)

    def heard(self, session: str) -> str:
        """All that an agent was given, as its runs' orders hold it."""
        orders = sorted((self.home.root / "runs").glob(f"{session}-t*/spec.json"))
        lines = [
            line
            for order in orders
            for line in json.loads(order.read_text()).get("first_lines", ())
        ]
        return "\n".join(str(json.loads(line)["message"]["content"]) for line in lines)


def _onward(card: AnyCard, until: str) -> str:
    match card:
        case CommandCard(asks=True):
            return "allow"
        case PermissionCard(asks=True) if until != "permission":
            return "allow"
        case PlanCard(asks=True) if until != "plan":
            return "start"
        case ReviewCard(asks=True) if until not in ("plan", "review"):
            return "ship"
        case ShipCard(stage="proceed") if not until:
            return "proceed"
        case ShipCard(stage="ready") if not until:
            return "push"
        case _:
            return ""


def words(card: AnyCard | Card) -> str:
    """What the phone shows of a card."""
    return text.card(card).rich.text  # type: ignore[arg-type]


def labels(card: AnyCard | Card) -> list[str]:
    """What its buttons are called."""
    return [button.label for row in text.card(card).buttons for button in row]  # type: ignore[arg-type]


def waits(phone: Phone, goal: str) -> str:
    """What the session card says of the whole."""
    (card,) = phone.of(goal, SessionCard)
    return words(card)


@asynccontextmanager
async def held(folder: Path, **more: Any) -> AsyncIterator[Phone]:
    """A phone whose engine lives in a task of its own for the block."""
    phone = Phone(folder, **more)
    ready, over = asyncio.Event(), asyncio.Event()
    living = asyncio.create_task(phone.live(ready, over))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait([living, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        yield phone
        if not phone.stays:
            await phone.leave()
    finally:
        over.set()
        await living


def peak_kib(pid: int | str = "self") -> int:
    """The most memory a process has had since `forget_peak`, in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} tells nothing of its memory")


def forget_peak(pid: int | str = "self") -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def pid_of(words: Sequence[str]) -> int:
    """The process whose command line holds all of `words`; not its fence, which has the same words."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                name = Path(f"/proc/{entry}/comm").read_text().strip()
                line = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError):
                continue
            is_ours = name == "bwrap" or int(entry) == os.getpid()
            if all(word in line for word in words) and not is_ours:
                return int(entry)
    raise AssertionError(f"no process like {words}")


FAILED = FailureCard
WORKER = WorkerCard
