"""BR-66: an agent the kernel killed is not followed by another at once, which would be killed as well."""

from __future__ import annotations

import pytest

from engine.board.waits import may_be_resumed, session_waits
from engine.rules import killed, starts
from engine.rules.effects import StartRun
from engine.rules.events import MachineLoad, RunExited, SessionResumed, SlotWanted, TurnOver
from engine.rules.killed import PAUSE_S
from engine.rules.session_state import Stage
from engine.rules.words import TurnError
from tests.rules.test_session import ME, me, running, told
from tests.rules.test_starts import Line, here
from tests.rules.world import World

OOM = 9


def killed_once(signal: int = OOM, *, named: bool = True) -> World:
    world, start = running(named=named)
    world.post(ME, RunExited(run=start.run, code=-1, signal=signal, beside=3))
    return world


@pytest.mark.parametrize("signal", [OOM, 6, 11])
def test_a_run_that_was_killed_is_not_started_again_at_once_and_why_is_said(signal: int) -> None:
    world = killed_once(signal)
    world.pass_time(PAUSE_S - 1)
    assert world.owes(StartRun) == []
    (wait,) = session_waits(world.states, me(world))
    assert wait.why.startswith(f"killed by signal {signal}")
    assert ("want of memory" in wait.why) == (signal == OOM)
    assert wait.why.endswith("3 agents ran there")
    assert (wait.until, may_be_resumed(me(world))) == (world.now + 1, True)
    (said,) = [said.text for said in world.said if said.kind == "warning"]
    assert f"killed by signal {signal}" in said


def test_it_goes_on_by_itself_once_after_a_pause() -> None:
    world = killed_once()
    world.pass_time(PAUSE_S)
    again = world.begin_turn()
    assert "killed by signal 9" in again.prompt
    world.post(ME, RunExited(run=again.run, code=-1, signal=OOM, beside=1))
    world.pass_time(9 * PAUSE_S)
    assert world.owes(StartRun) == []
    assert me(world).stage is Stage.FAILED
    (over,) = told(world, TurnOver)
    assert isinstance(over, TurnOver)
    assert over.kind is TurnError.CUT_OFF


def test_a_turn_that_went_well_between_them_makes_two_kills_two_first_ones() -> None:
    world = killed_once()
    world.pass_time(PAUSE_S)
    world.end_turn(world.begin_turn())
    assert me(world).kills == 0


def test_resume_goes_on_now() -> None:
    world = killed_once()
    world.post(ME, SessionResumed())
    assert "killed by signal 9" in world.take(StartRun).prompt
    world.pass_time(PAUSE_S)
    assert world.owes(StartRun) == []


def test_what_it_never_took_up_is_said_again() -> None:
    world = killed_once(named=False)
    world.pass_time(PAUSE_S)
    assert "Build it" in world.take(StartRun).prompt


@pytest.mark.parametrize("signal", [0, *killed.IN_ORDER])
def test_a_machine_or_runner_that_went_as_a_whole_is_gone_on_from_at_once(signal: int) -> None:
    """BR-42."""
    world = killed_once(signal)
    assert "was cut off" in world.take(StartRun).prompt


def careful(run: str, at: float) -> SlotWanted:
    return SlotWanted(run=run, teller=f"session/{run}", careful=True, at=at)


def test_a_killed_run_starts_only_where_memory_is_known_to_be_free_even_alone() -> None:
    line = Line(here(free_mb=16_000, at=0.0), careful("r-1", 500.0))
    assert line.said["r-1"] == f"here: {starts.LOOKED_AT}"
    line.after(MachineLoad(machine="here", free_mb=starts.FLOOR_MB - 100, at=503.0))
    assert line.said["r-1"] == "here: memory is nearly full (0.7 GB free)"
    line.after(MachineLoad(machine="here", free_mb=4_000, at=506.0))
    assert line.said["r-1"] == "on here"


def test_memory_nobody_can_tell_holds_up_no_killed_run() -> None:
    line = Line(here(), careful("r-1", 500.0))
    assert line.said["r-1"] == "on here"
