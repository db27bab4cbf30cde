"""A whole goal with a worker on another machine, over a real SSH server, the link cut on the way."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.engine import Engine
from engine.node import folder as run_folder
from engine.rules.events import MachineLost, MachineSeen, TurnEnded
from engine.rules.fleet import Fleet
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.views import WorkerCard
from tests.engine.scenario import COMMITS, Owner, World, is_over, judge, lay, parts
from tests.fakes import git
from tests.history.left import live_runs
from tests.machines.sshd import Sshd

MACHINE = "build-box"


def scenario() -> str:
    """The scenario's goal, its first piece named for the other machine, where it waits for a file."""
    played = parts()
    played[0]["steps"][0]["with"]["pieces"][0]["machine"] = MACHINE
    worker = next(part for part in played if part.get("session") == '"Orders endpoint"')
    steps = [step for step in worker["steps"] if "permission" not in step]
    words = [{"say": f"Line {n}"} for n in range(1, 6)]
    worker["steps"] = [*words, {"wait_for": ".git/go"}, *steps]
    return json.dumps({"parts": played})


class Play:
    """An engine at work and an owner who presses what waits."""

    def __init__(self, world: World, engine: Engine) -> None:
        self.engine = engine
        self.owner = Owner(world.inbox)
        self.changed = asyncio.Event()
        engine.loop.watch(lambda _stream: self.changed.set())

    async def until(self, found: Callable[[], Any]) -> Any:
        """Press what waits until there is what is looked for."""
        while not (value := found()):
            self.changed.clear()
            if not await self.owner.look(self.engine.door):
                with contextlib.suppress(TimeoutError):  # what an agent does is no event
                    async with asyncio.timeout(0.1):
                        await self.changed.wait()
        return value

    @property
    def there(self) -> Session | None:
        """The session on the other machine."""
        states = self.engine.loop.world().values()
        return next((s for s in states if isinstance(s, Session) and s.machine == MACHINE), None)

    def up(self) -> bool:
        fleet = self.engine.loop.state("fleet")
        known = fleet.machine(MACHINE) if isinstance(fleet, Fleet) else None
        return known is not None and known.up

    def says(self, text: str) -> bool:
        """Whether the agent there says this just now."""
        session = self.there
        return session is not None and self.engine.runs.following.doing(session.run) == text


async def test_a_goal_goes_on_over_a_machine_whose_link_is_cut(there: Sshd, tmp_path: Path) -> None:
    """M06, M13, BR-96, BR-97."""
    (tmp_path / "laid").mkdir()
    lay(tmp_path / "laid")
    world = World(tmp_path / "world", tmp_path / "laid", real=True)
    world.scenario.write_text(scenario())
    engine = world.engine()
    async with asyncio.timeout(120), engine.running():
        play = Play(world, engine)
        door = engine.door
        looked = await door.look_at_machine(there.text)
        about = await door.add_machine(MACHINE, there.text, 2, looked["fingerprint"], cause="add")
        assert about["home"] == str(there.node_home)
        await play.until(play.up)
        await play.owner.begin(door, world.repository)
        await play.until(lambda: play.says("Line 5"))
        session = play.there
        assert session is not None
        assert session.stage is Stage.RUNNING

        there.away()
        await play.until(lambda: not play.up())
        line = next(line for line in (await door.board()).machines if line.startswith(MACHINE))
        assert line == (
            f"{MACHINE} · 1 of 2 runs · down: “127.0.0.1:{there.port} refuses connections: "
            "is its SSH server running?”"
        )
        card = next(
            card for card in door.cards() if isinstance(card, WorkerCard) and card.number == 1
        )
        assert card.where == f"{MACHINE}: named in the plan"
        assert [wait.what for wait in card.waits] == [MACHINE]

        tree = there.node_home / "trees/shop" / session.id
        (tree / ".git/go").touch()
        # It works on, unheard.
        await play.until(lambda: git(tree, "log", "-1", "--format=%s") == COMMITS[0])
        there.start()
        await play.until(lambda: is_over(engine.loop.world()))
        await engine.loop.settle()
        world.cards = list(door.cards())
    judge(world)
    judge_there(world, there, session.id)


def judge_there(world: World, there: Sshd, session: str) -> None:
    """The worker's turns were read once each, its checks ran in its tree there, nothing is left."""
    told = world.rows(f"SELECT cause FROM events WHERE stream = 'session/{session}'")
    causes = [cause for (cause,) in told if cause.startswith(f"run:{session}")]
    assert len(causes) == len(set(causes))
    ends = [event for stream, event in world.events() if stream == f"session/{session}"]
    assert sum(isinstance(event, TurnEnded) for event in ends) == 1
    seen = [event for _, event in world.events() if isinstance(event, MachineSeen | MachineLost)]
    assert [type(event) for event in seen if event.machine == MACHINE] == [
        MachineSeen,
        MachineLost,
        MachineSeen,
    ]
    goal = next(state for state in world.states().values() if isinstance(state, Goal))
    piece = next(piece for piece in (*goal.earlier, *goal.pieces) if piece.session == session)
    runs = there.node_home / "runs"
    checks = [path.name for path in runs.iterdir() if path.name.startswith(f"check-{piece.id}-")]
    assert checks
    assert not [path for path in (world.home.root / "runs").iterdir() if path.name in checks]
    for run in runs.iterdir():
        assert run_folder.read(str(run / "exit.json")) is not None, run.name
    trees = [path.name for path in (there.node_home / "trees").glob("*/*")]
    assert not [name for name in trees if not name.startswith("pool-")], trees
    assert not live_runs(there.node_home)
