"""After a usage limit: work goes on by itself, or asks first, or waits for the morning."""

from __future__ import annotations

import pytest

from engine import board
from engine.errors import Refused
from engine.rules.effects import StartRun
from engine.rules.events import (
    AfterLimitChosen,
    Answered,
    GaveUp,
    GoalDropped,
    GoalResumed,
    LimitReached,
    MachineSeen,
    RunExited,
    SessionNamed,
    SettingChanged,
    TurnEnded,
)
from engine.rules.session_state import Stage
from engine.rules.turn_ends import LIMIT_MARGIN_S
from engine.rules.words import Decision, TurnError
from engine.views import LimitCard, SessionCard, WorkerCard
from tests.rules.world import World, draft, started

RESETS_S = 3600.0
BEFORE_S = 1000.0


def at_a_limit(how: str = "go on") -> World:
    """Two workers met the limit of their account, and it is over now; the lead waits as well."""
    world = started(draft("Orders"), draft("Page"))
    world.after_limit = how
    world.turn("Noted.")
    resets_at = world.now + RESETS_S
    for start in (world.begin_turn(), world.begin_turn()):
        stream = f"session/{start.session}"
        world.post(stream, LimitReached(run=start.run, resets_at=resets_at))
        world.post(stream, TurnEnded(run=start.run, error="limit", kind=TurnError.LIMIT))
        world.post(stream, RunExited(run=start.run))
    world.pass_time(BEFORE_S)
    assert world.owes(StartRun) == []
    return world


def over(how: str = "go on", morning_s: float = 0.0) -> World:
    world = at_a_limit(how)
    world.morning_at = world.now + morning_s if morning_s else 0.0
    world.pass_time(RESETS_S)
    return world


def sessions(world: World) -> list[str]:
    return sorted(start.session for start in world.owes(StartRun))


def asked(world: World) -> list[LimitCard]:
    found = board.cards(world.states, "g-1", lambda _run: "")
    return [card for card in found if isinstance(card, LimitCard)]


def answer(world: World, decision: Decision) -> None:
    (card,) = asked(world)
    world.post(f"ask/{card.id}", Answered(decision=decision))


def test_by_default_work_goes_on_by_itself() -> None:
    world = over()
    assert sessions(world) == ["s-1", "s-2", "s-3"]
    assert asked(world) == []


def test_whoever_wants_to_be_asked_gets_one_card_for_a_goal_and_nothing_runs() -> None:
    """BR-112."""
    world = over("ask")
    assert sessions(world) == []
    (card,) = asked(world)
    assert (card.buttons, card.asks) == (("resume", "leave"), True)
    assert [row.text for row in board.board(world.states, lambda _run: "").now] == [
        "whether to go on after a usage limit"
    ]
    before = card.revision
    world.pass_time(100)
    assert asked(world)[0].revision == before
    answer(world, Decision.ALLOW)
    assert sessions(world) == ["s-1", "s-2", "s-3"]
    assert asked(world)[0].decided == "Goes on"


def test_what_is_left_rests_until_resume() -> None:
    world = over("ask")
    answer(world, Decision.DENY)
    world.pass_time(100_000)
    assert sessions(world) == []
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    assert "resume" in card.buttons
    world.post("goal/g-1", GoalResumed())
    assert sessions(world) == ["s-1", "s-2", "s-3"]


def test_resume_on_the_session_card_answers_the_question_too() -> None:
    world = over("ask")
    world.post("goal/g-1", GoalResumed())
    assert sessions(world) == ["s-1", "s-2", "s-3"]
    assert asked(world)[0].decided == "No longer needed: it goes on"


def test_a_goal_that_is_dropped_asks_no_more() -> None:
    world = over("ask")
    world.post("goal/g-1", GoalDropped())
    (card,) = asked(world)
    assert not card.asks
    assert sessions(world) == []


def test_at_night_work_waits_for_the_morning_and_says_until_when() -> None:
    """BR-112."""
    world = over("morning", morning_s=20_000)
    assert sessions(world) == []
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    (wait,) = card.waits
    assert (wait.what, wait.until) == ("the morning", world.morning_at)
    assert "resume" in world.card("g-1").buttons
    world.pass_time(20_000)
    assert sessions(world) == ["s-1", "s-2", "s-3"]


def test_by_day_nobody_waits_for_the_morning() -> None:
    assert sessions(over("morning")) == ["s-1", "s-2", "s-3"]


def test_whoever_waits_for_the_morning_may_go_on_at_once() -> None:
    world = over("morning", morning_s=20_000)
    world.post("goal/g-1", GoalResumed())
    assert sessions(world) == ["s-1", "s-2", "s-3"]
    world.pass_time(20_000)
    assert sessions(world) == ["s-1", "s-2", "s-3"]


def test_a_goals_own_choice_counts_before_the_owners_default() -> None:
    world = at_a_limit("ask")
    world.post("goal/g-1", AfterLimitChosen(how="goes on"))
    world.pass_time(RESETS_S)
    assert sessions(world) == ["s-1", "s-2", "s-3"]
    world = at_a_limit()
    world.post("goal/g-1", AfterLimitChosen(how="ask"))
    world.post("goal/g-1", AfterLimitChosen(how=""))
    world.pass_time(RESETS_S)
    assert sessions(world) == ["s-1", "s-2", "s-3"]


def test_the_choice_made_last_counts_however_late() -> None:
    world = at_a_limit()
    world.post("goal/g-1", AfterLimitChosen(how="ask"))
    world.pass_time(RESETS_S)
    assert sessions(world) == []


def test_a_choice_there_is_not_is_refused_with_those_there_are() -> None:
    world = at_a_limit()
    for stream, event in (
        ("goal/g-1", AfterLimitChosen(how="never")),
        ("owner", SettingChanged(name="limit", value="never")),
    ):
        with pytest.raises(Refused, match='can "go on", "ask" or wait till "morning"'):
            world.post(stream, event)
    world.post("owner", SettingChanged(name="after_limit", value="Asks"))
    assert world.states["owner"].after_limit == "ask"
    world.post("owner", SettingChanged(name="limit", value="off"))
    assert world.states["owner"].after_limit == "go on"


def test_where_nobody_can_say_what_is_wanted_work_goes_on() -> None:
    world = at_a_limit()
    world.patient = True  # nobody looks the owner's choice up
    world.pass_time(RESETS_S)
    world.settle()
    assert world.states["session/s-2"].stage is Stage.PARKED
    world.patient = False
    world.post("session/s-2", GaveUp(effect="AfterLimit", why="it did not answer"))
    assert sessions(world) == ["s-2"]


def test_after_a_limit_sessions_start_one_after_the_other() -> None:
    """BR-112."""
    world = at_a_limit()
    world.post("fleet", MachineSeen(machine="here", fenced=True, fence="fenced", cores=1))
    world.pass_time(RESETS_S + LIMIT_MARGIN_S - BEFORE_S)
    order = []
    for _ in range(3):
        (start,) = world.owes(StartRun)
        world.take(StartRun)
        order.append(start.session)
        named = SessionNamed(run=start.run, agent_session=start.agent_session)
        world.post(f"session/{start.session}", named)
    assert sorted(order) == ["s-1", "s-2", "s-3"]
