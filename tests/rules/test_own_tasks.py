"""Tasks of an agent's own behind its turn: seen as busy, shown, not ended, and their last words follow."""

from __future__ import annotations

import pytest

from engine.board.doing import session_doing
from engine.rules.asking import HOLD_S
from engine.rules.effects import CloseRun, Say, StartRun
from engine.rules.events import (
    HoldOver,
    Prompted,
    RunBusy,
    RunExited,
    RunQuiet,
    SessionNamed,
    SessionStopped,
    TurnEnded,
    TurnInterrupted,
    TurnOver,
)
from engine.rules.own_tasks import LAST_S
from engine.rules.session_state import Stage
from engine.rules.silence import QUIET_S
from engine.rules.words import Role, TurnError
from tests.rules.test_session import ME, me, running, told
from tests.rules.world import World


def kept(tasks: int = 2, role: Role = Role.LEAD) -> tuple[World, StartRun]:
    """A turn that ended with tasks behind it."""
    world, start = running(role)
    world.post(ME, RunBusy(run=start.run, tasks=tasks))
    world.post(ME, TurnEnded(run=start.run, text="Two look around.", cost_usd=0.5))
    return world, start


def doing(world: World) -> str:
    return session_doing(world.states, me(world), lambda _run: "Bash: make")


def words(world: World) -> list[str]:
    return [said.text for said in world.said if isinstance(said, Say) and said.kind == "words"]


@pytest.mark.parametrize("role", [Role.LEAD, Role.WORKER])
def test_a_run_with_tasks_behind_its_turn_is_shown_and_neither_ended_nor_taken_for_hung(
    role: Role,
) -> None:
    """BR-71: the task takes twenty minutes, without a word in between."""
    world, start = kept(role=role)
    world.pass_time(20 * 60)
    world.post(ME, RunQuiet(run=start.run, silent_s=QUIET_S + 300))
    assert world.owes(CloseRun) == []
    assert (me(world).stage, told(world, TurnOver)) == (Stage.RUNNING, [])
    assert doing(world) == "2 tasks of its own still run"
    assert me(world).said == "Two look around."


def test_what_follows_its_tasks_is_the_turns_end() -> None:
    """BR-71."""
    world, start = kept()
    world.post(ME, RunBusy(run=start.run, tasks=1))
    assert doing(world) == "1 task of its own still runs"
    world.post(ME, RunBusy(run=start.run, tasks=0))
    assert doing(world).startswith("its own tasks are over")
    world.post(ME, SessionNamed(run=start.run, agent_session=start.agent_session))
    assert doing(world) == "Bash: make"
    world.pass_time(HOLD_S)
    assert world.owes(CloseRun) == []
    world.post(ME, TurnEnded(run=start.run, text="Both agree.", cost_usd=0.25))
    assert world.take(CloseRun).run == start.run
    world.post(ME, RunExited(run=start.run))
    (over,) = told(world, TurnOver)
    assert isinstance(over, TurnOver)
    assert over.text == "Both agree."
    assert me(world).cost_usd == 0.75
    assert words(world) == ["Two look around.", "Both agree."]


def test_an_agent_that_says_no_more_once_its_tasks_are_over_is_seen_out_after_a_moment() -> None:
    world, start = kept()
    world.post(ME, RunBusy(run=start.run, tasks=0))
    world.pass_time(LAST_S - 1)
    assert world.owes(CloseRun) == []
    world.pass_time(1)
    assert world.take(CloseRun).run == start.run
    world.post(ME, RunExited(run=start.run))
    (over,) = told(world, TurnOver)
    assert isinstance(over, TurnOver)
    assert (over.text, over.kind) == ("Two look around.", TurnError.NONE)
    assert words(world) == ["Two look around."]
    assert me(world).cost_usd == 0.5


def test_tasks_that_never_end_are_ended_after_the_time_a_run_is_held_for_and_that_is_said() -> None:
    world, _ = kept()
    world.pass_time(HOLD_S - 1)
    assert world.owes(CloseRun) == []
    world.pass_time(1)
    assert len(world.owes(CloseRun)) == 1
    (warned,) = [said.text for said in world.said if said.kind == "warning"]
    assert "2 tasks of its own still run 30 min after its turn had ended" in warned


def test_tasks_that_outlast_a_clock_set_back_are_seen_out_when_next_looked_at() -> None:
    """What ran out by the clock there was comes once: nobody looks again."""
    world, start = kept()
    ended_at = me(world).kept_end
    assert ended_at is not None
    late = HoldOver(what="tasks", run=start.run, at=ended_at.at - 500.0)
    world.post(ME, late)
    assert len(world.owes(CloseRun)) == 1


def test_interrupt_ends_a_turn_that_only_waits_for_its_tasks() -> None:
    world, start = kept()
    world.post(ME, Prompted(text="Never mind them", source="owner"))
    world.post(ME, TurnInterrupted())
    world.take(CloseRun)
    world.post(ME, RunExited(run=start.run))
    assert world.take(StartRun).prompt == "Never mind them"


def test_stop_ends_a_run_that_is_kept_for_its_tasks() -> None:
    world, start = kept()
    world.post(ME, SessionStopped(why="stopped by you"))
    world.take(CloseRun)
    world.post(ME, RunExited(run=start.run, code=-1))
    assert me(world).stage is Stage.HELD


def test_a_run_that_dies_while_its_tasks_run_was_cut_off() -> None:
    world, start = kept()
    world.post(ME, RunExited(run=start.run, code=-1, why="Cut off"))
    assert "cut off" in world.take(StartRun).prompt


def test_a_run_that_leaves_by_itself_after_its_turn_is_over_well() -> None:
    world, start = kept()
    world.post(ME, RunExited(run=start.run))
    assert len(told(world, TurnOver)) == 1


def test_tasks_of_one_run_do_not_keep_the_next() -> None:
    world, start = kept()
    world.post(ME, Prompted(text="And now this", source="owner"))
    world.post(ME, RunExited(run=start.run))
    second = world.begin_turn()
    world.post(ME, TurnEnded(run=second.run, text="Done."))
    assert world.take(CloseRun).run == second.run
