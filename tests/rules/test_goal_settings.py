"""What the owner sets for a lead at work, and how far it reaches."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import plan
from engine.rules.effects import StartRun
from engine.rules.events import (
    GoalChanged,
    GoalDropped,
    MachineAdded,
    MachineSeen,
    PlanProposed,
    PlanStarted,
)
from engine.rules.goal_state import Goal
from engine.rules.session_state import Session
from tests.rules.world import World, draft, opened, proposed, started

BOTH = ("here", "build-box")


def change(world: World, what: str, value: str, **more: Any) -> None:
    given = {"known": BOTH, "fenced": ("here",), **more}
    world.post("goal/g-1", GoalChanged(what=what, value=value, **given))


def goal(world: World) -> Goal:
    found: Goal = world.states["goal/g-1"]
    return found


def session(world: World, name: str) -> Session:
    found: Session = world.states[f"session/{name}"]
    return found


def with_two_machines(world: World) -> World:
    world.post("fleet", MachineAdded(machine="build-box", address="dev@build-box", max_runs=1))
    seen = MachineSeen(machine="build-box", fenced=False, fence="unfenced")
    world.post("fleet", replace(seen, agents=(("rehearsal", ""),)))
    return world


def test_a_mode_holds_from_the_next_turn_of_each_agent() -> None:
    world = started(draft("Orders"))
    running = world.begin_turn()
    change(world, "mode", "auto")
    assert goal(world).mode == "auto"
    assert [session(world, name).mode for name in ("s-1", "s-2")] == ["auto", "auto"]
    assert running.mode == "edit"


@pytest.mark.parametrize("mode", ["auto", "full"])
def test_no_mode_goes_past_edit_where_nothing_is_fenced(mode: str) -> None:
    world = opened()
    with pytest.raises(Refused, match="build-box is unfenced"):
        change(world, "mode", mode, known=("build-box",), fenced=())
    change(world, "untick", "here")
    with pytest.raises(Refused, match="no agent goes past edit"):
        change(world, "mode", mode)
    assert goal(world).mode == "edit"


def test_the_last_fenced_machine_stays_while_the_mode_needs_it() -> None:
    world = opened()
    change(world, "mode", "auto")
    with pytest.raises(Refused, match="unfenced"):
        change(world, "untick", "here")
    assert goal(world).machines == ()


@pytest.mark.parametrize(
    ("what", "value", "says"),
    [
        ("mode", "yolo", "plan, ask, edit, auto, full"),
        ("go", "maybe", "ask .* or auto"),
        ("model", "rm -rf /", "no model's name"),
        ("tick", "moon", "There are: here, build-box"),
        ("colour", "blue", "mode, go, model"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(what: str, value: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        change(opened(), what, value)


def test_a_goal_that_is_over_takes_no_settings() -> None:
    world = opened()
    world.turn()
    world.post("goal/g-1", GoalDropped())
    with pytest.raises(Refused, match="over"):
        change(world, "mode", "ask")


def test_a_model_is_the_leads_and_of_what_it_plans_next() -> None:
    world = started(draft("Orders"))
    change(world, "model", "opus")
    assert session(world, "s-1").model == "opus"
    assert session(world, "s-2").model == ""
    change(world, "model", "off")
    assert (goal(world).model, session(world, "s-1").model) == ("", "")


def test_the_lead_is_told_that_it_may_start_its_plan() -> None:
    world = proposed(opened(), draft("Orders"))
    world.turn("planned")
    world.owed.clear()
    change(world, "go", "auto")
    assert "start it if you stand by it" in world.turn()
    world.post("goal/g-1", PlanStarted(plan="pl-1", by="lead", call="s-1-t2#1"))
    assert goal(world).pieces[0].stage is plan.Stage.WORKING


def test_the_same_go_again_tells_nobody() -> None:
    world = opened()
    world.turn()
    change(world, "go", "ask")
    assert world.owes(StartRun) == []


def test_the_next_workers_go_only_where_it_is_ticked() -> None:
    world = with_two_machines(started(draft("Orders"), draft("Page", 1)))
    first = world.begin_turn()
    assert first.machine == "here"
    change(world, "untick", "here")
    change(world, "tick", "build-box")
    assert goal(world).machines == ("build-box",)
    assert session(world, "s-2").ticked == ("build-box",)
    assert session(world, "s-2").machine == "here"  # its tree is there


def test_only_one_ticked_is_the_reason_given() -> None:
    world = with_two_machines(proposed(opened(), draft("Orders")))
    world.turn("planned")
    change(world, "untick", "here")
    world.owed.clear()
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    (worker,) = [start for start in world.owes(StartRun) if start.session == "s-2"]
    assert worker.machine == "build-box"
    assert session(world, "s-2").where == "build-box: only machine ticked"


def test_a_worker_that_waits_goes_to_a_machine_ticked_meanwhile() -> None:
    world = with_two_machines(proposed(opened(), draft("Orders"), draft("Page")))
    world.turn("planned")
    change(world, "untick", "here")
    world.owed.clear()
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    assert session(world, "s-3").where == "build-box: all 1 places are taken"
    change(world, "tick", "here")
    assert goal(world).machines == ()
    assert session(world, "s-3").machine == "here"


def test_one_machine_stays_ticked() -> None:
    world = opened()
    change(world, "untick", "here")
    with pytest.raises(Refused, match="One machine must stay ticked"):
        change(world, "untick", "build-box")


def test_a_plan_that_names_a_machine_not_ticked_goes_back_to_the_lead() -> None:
    world = opened()
    change(world, "untick", "build-box")
    piece = replace(draft("Orders"), machine="build-box")
    world.post(
        "goal/g-1",
        PlanProposed(
            plan="pl-1",
            summary="",
            pieces=(piece,),
            call="s-1-t1#1",
            piece_ids=("p-1",),
            session_ids=("s-2",),
        ),
    )
    assert goal(world).plan == ""
