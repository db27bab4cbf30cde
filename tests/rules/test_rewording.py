"""A goal that its owner edits: while its lead has not begun, and after."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules import news
from engine.rules.effects import StartRun
from engine.rules.events import (
    BaseRead,
    GoalDropped,
    GoalOpened,
    GoalReworded,
    LineReworded,
    MachineSeen,
    Placed,
    ProjectAdded,
)
from engine.rules.rewording import has_begun
from engine.rules.session import decide
from engine.rules.session_state import Line, Session, Stage
from tests.rules.world import ACCOUNT, World, opened

GOAL = "goal/g-1"
READ = BaseRead(base_commit="b0", branch="quarterdeck/g-1-x", commands=(), asks=())


def opening(*, machine: bool = True) -> World:
    world = World()
    if machine:
        world.post("fleet", MachineSeen(machine="here", fenced=True, fence="fenced"))
    world.post("project/shop", ProjectAdded(source="/shop", push_url="/shop.git", base="main"))
    given = GoalOpened(
        project="shop", text="Add orders", session="s-1", base="main", account=ACCOUNT
    )
    world.post(GOAL, given)
    return world


def test_before_the_base_is_read_the_goal_is_the_new_one() -> None:
    world = opening()
    world.post(GOAL, GoalReworded(text="Add invoices\nby month"))
    world.post(GOAL, READ)
    goal = world.states[GOAL]
    assert (goal.text, goal.title) == ("Add invoices\nby month", "Add invoices")
    assert world.take(StartRun).prompt.endswith("The owner's goal:\n\nAdd invoices\nby month")


def test_a_lead_that_waits_for_a_place_begins_with_the_new_words() -> None:
    world = opening(machine=False)  # so there is no place yet
    world.post(GOAL, READ)
    assert not has_begun(world.states["session/s-1"])
    world.post(GOAL, GoalReworded(text="Add invoices"))
    session = world.states["session/s-1"]
    assert session.title == "Add invoices"
    world.post("session/s-1", Placed(run=session.run, machine="here", why="here: only machine"))
    prompt = world.take(StartRun).prompt
    assert prompt.endswith("The owner's goal:\n\nAdd invoices")
    assert "Add orders" not in prompt
    assert world.states["session/s-1"].brief == prompt


def test_a_lead_that_began_just_then_hears_of_the_edit_as_a_correction() -> None:
    world = opened()
    start = world.begin_turn()
    assert has_begun(world.states["session/s-1"])
    world.post(GOAL, GoalReworded(text="Add invoices"))
    world.end_turn(start, "Planned.")
    assert world.take(StartRun).prompt == news.edited("Add invoices")


def test_a_goal_that_is_over_takes_no_other_words() -> None:
    world = opened()
    world.post(GOAL, GoalDropped())
    with pytest.raises(Refused, match="over"):
        world.post(GOAL, GoalReworded(text="Add invoices"))


def test_a_line_is_read_as_edited_until_it_is_heard() -> None:
    waits = Session(
        id="s-1",
        stage=Stage.RUNNING,
        queue=(Line("Use tabs", "owner", key="42:7"), Line("News", "news")),
    )
    after, effects = decide(waits, LineReworded(key="42:7", text="Use spaces"))
    assert [line.text for line in after.queue] == ["Use spaces", "News"]
    assert effects == ()
    for key in ("42:8", ""):
        with pytest.raises(Refused, match="heard already"):
            decide(waits, LineReworded(key=key, text="Use spaces"))
