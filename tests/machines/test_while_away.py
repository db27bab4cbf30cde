"""Orders about a machine while the way to it is down: none is given up, and silence proves nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from engine.adapters.hub import Hub
from engine.adapters.machines import Local, Machine
from engine.adapters.runs import Runs
from engine.calls import Desk
from engine.errors import Unreachable
from engine.perform import Performer
from engine.rules.effects import KeepTree, Watch
from engine.rules.events import RunQuiet
from engine.rules.fleet import Fleet
from engine.rules.fleet import Machine as Known
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session, Stage
from engine.rules.silence import QUIET_S
from engine.rules.words import LeftOff, Role
from stores.ledger import Ledger

BOX = "build-box"


def world(*, up: bool) -> dict[str, object]:
    box = Known(name=BOX, address="dev@build-box", up=up, why="" if up else "it does not answer")
    running = Session(id="s-2", stage=Stage.RUNNING, machine=BOX, run="s-2-t1", goal="g-1")
    return {
        "fleet": Fleet(machines=(Known(name="here", up=True), box)),
        "goal/g-1": Goal(id="g-1", session="s-1"),
        "session/s-2": running,
    }


class Silence:
    """Runs that have printed nothing for an hour, until they are heard anew; the reader of them too."""

    def __init__(self) -> None:
        self.silent = 3600.0
        self.following = self

    def count_anew(self, run: str) -> None:
        self.silent = 0.0

    def has_heard_itself(self, run: str) -> bool:
        return True

    def silent_s(self, run: str) -> float:
        return self.silent

    def has_heard(self, run: str) -> bool:
        return True

    def read_to(self, run: str) -> int:
        return 1

    async def left_off(self, run: str) -> LeftOff:
        return LeftOff()


class Answers(Local):
    """A machine that is there, and sees nothing of a run but how much it printed."""

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        assert op == "run.pulse"
        return {"spooled": self.spooled, "silent_s": 0.0}

    spooled = 1


def performer(machines: dict[str, Machine], *, up: bool) -> Performer:
    runs = cast(Runs, Silence())
    return Performer(Hub(Path("/nowhere")), runs, machines, lambda: world(up=up))


@pytest.mark.parametrize(
    ("up", "spooled", "silent"), [(True, 1, True), (True, 2, False), (False, 1, False)]
)
async def test_a_run_whose_link_is_down_or_whose_lines_are_on_their_way_is_not_taken_for_hung(
    tmp_path: Path, up: bool, spooled: int, silent: bool
) -> None:
    box = Answers(tmp_path, name=BOX)
    box.spooled = spooled
    act = performer({BOX: box}, up=up)
    ((stream, event),) = await act(1, "session/s-2", Watch(run="s-2-t1", session="s-2"))
    assert stream == "session/s-2"
    assert isinstance(event, RunQuiet)
    assert (event.silent_s >= QUIET_S) is silent


async def test_a_tree_is_not_given_up_while_its_machine_is_out_of_reach(tmp_path: Path) -> None:
    gone: Machine = Local(tmp_path, name=BOX, python="/bin/false")
    act = performer({BOX: gone}, up=False)
    with pytest.raises(Unreachable, match="build-box: "):
        await act(1, "goal/g-1", KeepTree(session="s-2", project="shop"))
    await gone.close()


async def test_a_plan_that_names_a_machine_there_is_none_of_is_sent_back() -> None:
    """Promise 7: its worker would wait for ever."""
    desk = Desk(cast(Ledger, None), Hub(Path("/nowhere")), lambda: world(up=False), lambda: 0.0)
    lead = Session(id="s-1", goal="g-1", role=Role.LEAD)
    piece: dict[str, Any] = {"title": "A", "task": "Do A", "size": "S", "machine": "attic"}
    plan = {"summary": "One", "pieces": [{**piece, "machine": BOX}, piece]}
    assert await desk(lead, "s-1-t1#1", "propose_plan", plan) == (
        "Piece 2 names the machine attic, and there is none. There are: here, build-box. Name none, "
        "and it runs where fewest agents do."
    )
    told = await desk(lead, "s-1-t1#2", "status", {})
    assert "machine build-box: down: it does not answer" in str(told)
