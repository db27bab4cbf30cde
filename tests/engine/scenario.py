"""A whole goal to play, to die in, and to judge: the world, its owner, and what must be true at the end.

    goal -> setup and check allowed -> plan -> Start -> two workers at once (one asks to run something), one after
    both -> landed -> review -> Correct… -> one more piece -> review -> Ship -> Proceed -> Push

`World` is one folder: the owner's repository, its origin, the home. `play` opens the engine on it and
has the owner press what waits, until all is shipped and still; it goes on wherever an earlier play was
ended. The owner keeps an inbox as the bot does: what was pressed is written down first, and what had no
answer is pressed again with the same cause. `judge` has tests/history look at the files alone.

Neighbours: test_goal_to_push.py (once, in peace), test_crash_walk.py (dying everywhere),
test_real_kills.py (processes killed), tests/soak (for long); tests/fakes.py is the fast outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.adapters.machines import Machine
from engine.codec import Codec
from engine.door import Door
from engine.engine import RULES, Engine
from engine.errors import Refused
from engine.paths import Home
from engine.rules import goal_state, session_state
from engine.rules.events import AnyEvent
from engine.rules.words import Attachment
from engine.views import (
    AnyCard,
    CommandCard,
    PermissionCard,
    PlanCard,
    ReviewCard,
    ShipCard,
    sure,
)
from stores.attached import Attached
from tests.fakes import FakeMachine, git
from tests.history import Chat, Expected, Scene, Span, judge_history

PROJECT = "shop"
GOAL = "Add order history"
# More than one part on its way. As in any picture no words are in it: each bot would look for keys in them.
SKETCH = b"\xff\xd8\xff\xe0\0\x10JFIF\0" + random.Random(5).randbytes(1_060_000)
CORRECTION = "Show the order total in the last column"
CHECK = "test -d .git && echo all good"
SETUP = "echo set up"
COMMITS = ("Add the orders endpoint", "Add the page", "Add tests", "Show the total")
FILES = {
    "orders.py": "ORDERS = []\n",
    "page.py": "PAGE = ''\n",
    "test_orders.py": "def test(): ...\n",
    "total.py": "TOTAL = 0\n",
}

# How often the ledger must hold each decision of the owner's, and each thing that is done once.
ONCE = {
    "ProjectAdded": 1,
    "AccountAdded": 1,
    "GoalOpened": 1,
    "PlanStarted": 1,
    "ReviewCorrected": 1,
    "ShipCalled": 1,
    "ShipProceeded": 1,
    "ShipPushed": 1,
    "PieceLanded": 4,
    "GoalShipped": 1,
}


def _piece(title: str, task: str, after: Sequence[int] = ()) -> dict[str, Any]:
    return {"title": title, "task": task, "size": "S", "after": list(after)}


def _desk(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"desk": tool, "with": arguments}


def _worker(title: str, path: str, message: str, *between: Any) -> dict[str, Any]:
    steps = [{"write": {"path": path, "text": FILES[path]}}, *between, {"commit": message}]
    done = _desk("done", summary=f"{title} is there.")
    return {"role": "worker", "session": f'"{title}"', "steps": [*steps, done, {"say": "Done."}]}


def parts(curl: str = "curl http://127.0.0.1:1/") -> list[dict[str, Any]]:
    """What the agents do, for the fake one and for the rehearsal agent alike.

    A lead's turn that was cut off is told so and may say it again: a second plan or review that comes of
    it is the desk's to refuse.
    """
    first = _desk(
        "propose_plan",
        summary="Order history in three pieces.",
        pieces=[
            _piece("Orders endpoint", "Add orders.py with a list function"),
            _piece("Orders page", "Add page.py"),
            _piece("Orders tests", "Add tests for both", after=[1, 2]),
        ],
    )
    second = _desk(
        "propose_plan",
        summary="Show the total.",
        pieces=[_piece("Order total", CORRECTION)],
    )
    permission = {"permission": {"tool": "Bash", "input": {"command": curl, "description": "look"}}}
    review = _desk("put_for_review", summary="Order history works.")
    return [
        {"role": "lead", "turn": 1, "steps": [first, {"say": "The plan is with you."}]},
        {
            "role": "lead",
            "prompt": "asks for a correction",
            "steps": [second, {"say": "Planned the correction."}],
        },
        {
            "role": "lead",
            "prompt": "Every piece of the plan has landed",
            "steps": [review, {"say": "Put for review."}],
        },
        {"role": "lead", "steps": [{"say": "Noted."}]},
        _worker("Orders endpoint", "orders.py", COMMITS[0], permission),
        _worker("Orders page", "page.py", COMMITS[1]),
        _worker("Orders tests", "test_orders.py", COMMITS[2]),
        _worker("Order total", "total.py", COMMITS[3]),
    ]


# ---------------------------------------------------------------- the world


def lay(folder: Path) -> None:
    """Make the owner's repository and its origin in `folder`, to be copied for each world."""
    repository = folder / PROJECT
    (repository / ".quarterdeck").mkdir(parents=True)
    (repository / "README").write_text("A shop\n")
    settings = repository / ".quarterdeck/settings.toml"
    settings.write_text(f"[worktree]\nsetup = '{SETUP}'\ncheck = '{CHECK}'\n")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "A shop")
    git(folder, "clone", "-q", "--bare", str(repository), "origin.git")
    git(folder / "origin.git", "config", "core.logAllRefUpdates", "always")
    git(repository, "remote", "add", "origin", "ORIGIN")


class World:
    """The files of one play.

    laid   what `lay` made
    real   with this machine's own node and the rehearsal agent, instead of the fake machine
    """

    def __init__(self, folder: Path, laid: Path, *, real: bool = False) -> None:
        shutil.copytree(laid, folder)
        self.folder = folder
        self.real = real
        self.repository = folder / PROJECT
        self.origin = folder / "origin.git"
        self.home = Home(folder / "home").make()
        self.inbox = folder / "inbox.jsonl"
        self.scenario = folder / "scenario.json"
        self.scenario.write_text(json.dumps({"parts": parts()}))
        config = self.repository / ".git/config"
        config.write_text(config.read_text().replace("ORIGIN", str(self.origin)))
        self.cards: list[AnyCard] = []

    def engine(self) -> Engine:
        if self.real:
            return Engine(self.home, scenario=str(self.scenario))
        machines: dict[str, Machine] = {"here": FakeMachine(self.home.root, self.scenario)}
        return Engine(self.home, machines=machines)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.home.engine_db)) as connection:
            return connection.execute(sql).fetchall()

    def events(self) -> list[tuple[str, AnyEvent]]:
        """Return every event there was, with its stream, oldest first."""
        codec: Codec[AnyEvent] = Codec(AnyEvent)
        rows = self.rows("SELECT stream, body FROM events ORDER BY n")
        return [(stream, codec.load(body)) for stream, body in rows]

    def states(self) -> dict[str, Any]:
        """Return where every stream stands."""
        codecs: dict[str, Codec[Any]] = {
            prefix: Codec(rule.state_type) for prefix, rule in RULES.items()
        }
        rows = self.rows("SELECT stream, body FROM states")
        return {stream: codecs[stream.partition("/")[0]].load(body) for stream, body in rows}


# ---------------------------------------------------------------- its owner


class Owner:
    """Presses what waits; writes down what is pressed before it is, as the bot does."""

    def __init__(self, inbox: Path) -> None:
        self._inbox = inbox
        self._pressed: dict[str, list[str]] = {}
        self._answered: set[str] = set()
        for line in inbox.read_text().splitlines() if inbox.exists() else []:
            cause, *what = json.loads(line)
            if what:
                self._pressed[cause] = what
            else:
                self._answered.add(cause)

    def _note(self, *line: str) -> None:
        with self._inbox.open("a") as file:
            file.write(json.dumps(line) + "\n")

    async def begin(self, door: Door, repository: Path) -> None:
        """Say what there is and what is wanted, until each of it was answered once."""
        requests: dict[str, Callable[[str], Awaitable[object]]] = {
            "update:1": lambda cause: door.add_project(PROJECT, str(repository), cause=cause),
            "update:2": lambda cause: door.add_account("main", "rehearsal", cause=cause),
            "update:3": lambda cause: door.new_goal(PROJECT, GOAL, cause=cause, files=sent(door)),
        }
        for cause, request in requests.items():
            if cause not in self._answered:
                await request(cause)
                self._answered.add(cause)
                self._note(cause)

    async def again(self, door: Door) -> None:
        """Press again what was pressed and had no answer."""
        for cause, what in self._pressed.items():
            if cause not in self._answered:
                await self._press(door, cause, what)

    async def look(self, door: Door) -> bool:
        """Press what waits; false if nothing does."""
        found = False
        for card in door.cards():
            verb, text = wish(card)
            verb = sure(verb) if verb in card.twice else verb
            cause = f"tap:{card.id}:{card.revision}:{verb}"
            if verb and cause not in self._pressed:
                found = True
                what = self._pressed[cause] = [card.id, card.revision, verb, text]
                self._note(cause, *what)
                await self._press(door, cause, what)
        return found

    async def _press(self, door: Door, cause: str, what: list[str]) -> None:
        card, revision, verb, text = what
        with contextlib.suppress(Refused):  # pressed before: the card says so by now
            await door.tap(card, revision, verb, text, cause=cause)
        self._answered.add(cause)
        self._note(cause)


def sent(door: Door) -> tuple[Attachment, ...]:
    """Keep a sketch as the bot does, to be sent along with the goal."""
    digest = Attached(door._home.attached).keep(SKETCH)
    return (Attachment("sketch.jpg", digest, len(SKETCH), "photo", "image/jpeg"),)


def wish(card: AnyCard) -> tuple[str, str]:
    """Return the button an owner who wants it all would press on a card, and the line with it."""
    match card:
        case CommandCard(asks=True) | PermissionCard(asks=True):
            return "allow", ""
        case PlanCard(asks=True):
            return "start", ""
        case ReviewCard(asks=True, corrected=0):
            return "correct", CORRECTION
        case ReviewCard(asks=True):
            return "ship", ""
        case ShipCard(buttons=buttons):
            return next((verb for verb in ("proceed", "push") if verb in buttons), ""), ""
        case _:
            return "", ""


# ---------------------------------------------------------------- a play


async def play(world: World, *, limit_s: float = 60.0) -> None:
    """Open the engine, bring the goal to its end, close it all again."""
    engine = world.engine()
    owner = Owner(world.inbox)
    async with engine.running():
        door, loop = engine.door, engine.loop
        changed = asyncio.Event()
        loop.watch(lambda _stream: changed.set())
        try:
            async with asyncio.timeout(limit_s):
                await owner.begin(door, world.repository)
                await owner.again(door)
                while not is_over(loop.world()):
                    changed.clear()
                    if not await owner.look(door):
                        await changed.wait()
                await loop.settle()
        except TimeoutError as late:
            late.add_note("\n".join(_told(loop.world())))
            raise
        world.cards = list(door.cards())


def is_over(states: Mapping[str, object]) -> bool:
    goals = [state for state in states.values() if isinstance(state, goal_state.Goal)]
    return (
        bool(goals)
        and all(goal.stage is goal_state.Stage.SHIPPED for goal in goals)
        and all(
            state.final and not state.live
            for state in states.values()
            if isinstance(state, session_state.Session)
        )
    )


def _told(states: Mapping[str, object]) -> Iterator[str]:
    for stream, state in states.items():
        yield f"{stream}: {state}"


# ---------------------------------------------------------------- what must be true


def judge(world: World, chat: Chat | None = None) -> None:
    """Assert the end, whatever happened on the way.

    chat   what the owner sees, where a bot told it
    """
    judge_history(scene(world, chat), expected(world))


def scene(world: World, chat: Chat | None = None) -> Scene:
    """Return where the evidence lies."""
    return Scene(
        ledger=world.home.engine_db,
        hubs=world.home.hubs,
        remote=world.origin,
        home=world.home,
        bot_db=world.home.bot_db if chat is not None else None,
        chat=chat,
        shown=world.cards or None,
    )


def expected(world: World) -> Expected:
    """Return what the story comes to."""
    base = git(world.repository, "rev-parse", "main")
    return Expected(
        counted=ONCE,
        never=("GaveUp", "PieceReturned"),
        spans=(Span(world.origin, f"{base}..main", COMMITS),),
        files=FILES,
        taken=len(COMMITS),
        workers=len(COMMITS),
        sent={"sketch.jpg": SKETCH},
    )
