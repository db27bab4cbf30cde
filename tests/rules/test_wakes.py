"""A lead that asked to be woken: once, at its time, with its own words, and shown as what it waits for."""

from __future__ import annotations

from engine.rules.effects import ReplyDesk, StartRun
from engine.rules.events import GoalDropped, WakeAsked
from engine.rules.session import MAX_WAKES
from engine.views import SessionCard
from tests.rules.world import World, draft, opened, proposed


def asked(in_s: float = 3600.0, times: int = 1) -> World:
    """A lead asked for its wakes in its first turn, which then ended."""
    world = opened()
    start = world.begin_turn()
    world.owed.clear()
    for number in range(times):
        wake = WakeAsked(
            due_at=world.now + in_s + number,
            clock="07:30",
            why="Look at the build",
            call=f"{start.run}#c{number}",
        )
        world.post("session/s-1", wake)
    world.end_turn(start, "I look again later.")
    return world


def test_it_is_told_when_and_is_woken_then_with_its_own_words() -> None:
    world = asked()
    assert "07:30" in world.take(ReplyDesk).text
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    (wait,) = card.waits
    assert (wait.why, wait.until) == ("Look at the build", 1000.0 + 3600)
    world.pass_time(3599)
    assert world.owes(StartRun) == []
    world.pass_time(1)
    (start,) = world.owes(StartRun)
    told = "[Quarterdeck] You asked to be woken now: “Look at the build” (your own words)"
    assert start.prompt == told
    assert world.states["session/s-1"].wakes == ()


def test_at_work_at_that_time_it_hears_it_after_its_turn() -> None:
    world = asked(in_s=10)
    world.pass_time(10)
    running = world.begin_turn()
    assert "woken" in running.prompt


def test_nobody_asks_for_wakes_without_end() -> None:
    world = asked(times=MAX_WAKES + 1)
    replies = world.owes(ReplyDesk)
    assert [reply.is_error for reply in replies] == [False] * MAX_WAKES + [True]
    assert len(world.states["session/s-1"].wakes) == MAX_WAKES


def test_a_goal_that_is_over_is_not_woken() -> None:
    world = proposed(asked(), draft("Orders"))
    world.post("goal/g-1", GoalDropped())
    world.pass_time(7200)
    assert world.owes(StartRun) == []
    assert world.states["session/s-1"].queue == ()
