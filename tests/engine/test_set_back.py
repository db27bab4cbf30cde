"""The clock ran ahead and is set right: a pause of ours lasts minutes still, a moment given by others stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Unavailable
from engine.rules import killed
from engine.rules.effects import InterruptRun, Tell
from engine.rules.events import RetryDue
from engine.rules.session_state import Stage
from tests.engine.phone import held, lead
from tests.engine.test_loop import Outside, open_goal, owing
from tests.engine.toy import Clock, World, engine

DAY = 86_400.0


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "play")


def waking(due_at: float) -> Tell:
    return Tell(stream="goal/g-1", event=RetryDue(piece="wake"), due_at=due_at)


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_pause_of_ours_is_no_longer_than_it_was_meant(world: World, restarts: bool) -> None:
    rules = owing(waking(30 * DAY + 20.0))
    async with engine(world, rules=rules, clock=Clock(30 * DAY)) as e:
        await open_goal(e)
        await e.loop.settle()
        if not restarts:
            await e.pass_time(-30 * DAY)
            assert e.loop.state("goal/g-1").heard == ()
            await e.pass_time(60.0)
            assert e.loop.state("goal/g-1").heard == ("wake",)
    if restarts:
        async with engine(world, rules=rules, clock=Clock(100.0)) as e:
            await e.loop.settle()
            await e.pass_time(60.0)
            assert e.loop.state("goal/g-1").heard == ("wake",)


async def test_a_try_put_off_while_the_clock_ran_ahead_comes_within_its_pause(
    world: World,
) -> None:
    outside = Outside()
    outside.away["r-7"] = Unavailable("build-box did not answer")
    rules = owing(InterruptRun(run="r-7"))
    async with engine(world, perform=outside, rules=rules, clock=Clock(30 * DAY)) as e:
        await open_goal(e)
        await e.loop.settle()
        await e.pass_time(-30 * DAY)
        await e.pass_time(600.0)
    assert outside.calls == ["r-7"] * 2


async def test_what_the_outside_asked_for_is_kept_to_when_the_clock_is_set_back(
    world: World,
) -> None:
    outside = Outside()
    outside.away["r-7"] = Unavailable("too many requests", retry_after_s=3 * 3600.0)
    rules = owing(InterruptRun(run="r-7"))
    async with engine(world, perform=outside, rules=rules, clock=Clock(DAY)) as e:
        await open_goal(e)
        await e.loop.settle()
        await e.pass_time(-3600.0)
        await e.pass_time(2 * 3600.0)
    assert outside.calls == ["r-7"]


async def test_a_killed_agent_goes_on_minutes_after_the_clock_was_set_right(
    tmp_path: Path,
) -> None:
    async with held(tmp_path) as phone:
        phone.later(30 * DAY)
        await phone.agent(*lead({"say": "I look."}, {"crash": True}))
        goal = await phone.goal(await phone.project())
        name = phone.state(goal).session
        await phone.until(lambda: phone.session(name).stage is Stage.PARKED, "the pause")
        phone.later(-30 * DAY)
        await phone.engine.loop.settle()
        assert phone.session(name).stage is Stage.PARKED
        phone.later(killed.PAUSE_S + 60)
        await phone.until(lambda: phone.session(name).stage is not Stage.PARKED, "it to go on")
