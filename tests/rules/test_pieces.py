"""What a goal does where stops, retries, new plans and ships cross each other."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules.effects import (
    CloseRun,
    Collect,
    Judge,
    KeepTree,
    Merge,
    ReadBase,
    ReplyDesk,
    StartRun,
)
from engine.rules.events import (
    BaseRead,
    GaveUp,
    GoalDropped,
    GoalOpened,
    GoalResumed,
    GoalStopped,
    Landed,
    LinesLeft,
    Merged,
    PieceCollected,
    PieceLanded,
    PieceRetried,
    PieceReturned,
    PieceStopped,
    PlanDiscarded,
    PlanProposed,
    PlanStarted,
    Prompted,
    PushDone,
    ReviewCorrected,
    ReviewJudged,
    ReviewPut,
    RunExited,
    RunRefused,
    RunStarted,
    ShipCalled,
    ShipCancelled,
    ShipProceeded,
    ShipPushed,
    ShipTaken,
    TurnEnded,
    TurnInterrupted,
    WorkerMessaged,
)
from engine.rules.goal_state import Goal, PlanStage, ReviewStage, Stage
from engine.rules.plan import Piece
from engine.rules.plan import Stage as PieceStage
from engine.rules.session_state import Session
from engine.rules.session_state import Stage as SessionStage
from engine.rules.words import CheckVerdict, Collected, PieceDraft, Stats, TurnError
from engine.views import WorkerCard
from tests.rules.world import ACCOUNT, World, collected, draft, opened, proposed, started

GOAL = "goal/g-1"
PASSED = CheckVerdict(passed=True, summary="passed")


def goal(world: World) -> Goal:
    state = world.states[GOAL]
    assert isinstance(state, Goal)
    return state


def piece(world: World, number: int = 1) -> Piece:
    return goal(world).pieces[number - 1]


def session(world: World, name: str) -> Session:
    state = world.states[f"session/{name}"]
    assert isinstance(state, Session)
    return state


def starts(world: World, name: str) -> list[StartRun]:
    return [start for start in world.owes(StartRun) if start.session == name]


def begin(world: World, name: str) -> StartRun:
    """Start the run that a session is owed."""
    (start,) = starts(world, name)
    world.owed.remove((f"session/{name}", start))
    world.post(f"session/{name}", RunStarted(run=start.run))
    return start


def end(world: World, start: StartRun, kind: TurnError = TurnError.NONE) -> None:
    world.end_turn(start, error="" if kind is TurnError.NONE else "it broke", kind=kind)


def given(*drafts: PieceDraft) -> World:
    """Every first worker has ended its turn, and its work is being taken in."""
    world = started(*(drafts or (draft("One"),)))
    end(world, begin(world, "s-2"))
    return world


def landed() -> World:
    world = given()
    collected(world, "p-1", "c1")
    world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    world.post("landing/g-1", Landed(piece="p-1", commit="c1", head="c1"))
    return world


def reviewed(world: World) -> World:
    put = ReviewPut(review="r-1", ship="sh-1", summary="Done", call="s-1-t2#9")
    world.post(GOAL, put)
    head = goal(world).head
    world.post(GOAL, ReviewJudged(review="r-1", head=head, stats=Stats(), verdict=PASSED))
    return world


def shipping() -> World:
    world = reviewed(landed())
    world.post(GOAL, ShipCalled(review="r-1"))
    return world


def fail(world: World) -> None:
    """The work of piece 1 could not be taken in: given up for now, without an attempt."""
    gave_up = GaveUp(effect="Collect", why="no such branch", about="p-1")
    world.post(GOAL, gave_up)


# ---------------------------------------------------------------- conflicts, lines, retries


def test_a_line_of_the_owner_comes_before_the_conflict_that_brings_the_tree_back() -> None:
    world = given()
    collected(world, "p-1", "c1")
    world.post("session/s-2", Prompted(text="Use tabs", source="owner"))
    assert starts(world, "s-2") == []
    conflict = Merged(piece="p-1", commit="", onto="b0", failure="conflict in a.py", conflict=True)
    world.post("landing/g-1", conflict)
    (start,) = starts(world, "s-2")
    assert start.prompt.index("Use tabs") < start.prompt.index("git merge b0")
    assert "git merge b0" in start.commands  # told to by us, so nobody is asked
    assert piece(world).attempt == 1


def test_a_failed_piece_whose_worker_rests_is_retried_at_once() -> None:
    world = given()
    fail(world)
    assert (piece(world).stage, session(world, "s-2").stage) == (
        PieceStage.FAILED,
        SessionStage.IDLE,
    )
    world.post(GOAL, PieceRetried(piece="p-1"))
    (start,) = starts(world, "s-2")
    assert "no such branch" in start.prompt
    assert (piece(world).stage, piece(world).attempt) == (PieceStage.WORKING, 1)


def test_a_failed_piece_whose_run_never_started_is_retried_with_its_task() -> None:
    """BR-54."""
    world = started(draft("One"))
    (start,) = starts(world, "s-2")
    world.post("session/s-2", RunRefused(run=start.run, why="no such agent"))
    world.owed.clear()
    world.post(GOAL, PieceRetried(piece="p-1", model="strong"))
    (start,) = starts(world, "s-2")
    assert "Build One" in start.prompt
    assert start.model == "strong"


def test_nothing_is_retried_while_the_goal_is_stopped_nor_by_its_resuming() -> None:
    world = given()
    fail(world)
    world.post(GOAL, GoalStopped())
    assert session(world, "s-2").stage is SessionStage.HELD
    with pytest.raises(Refused, match="/resume"):
        world.post(GOAL, PieceRetried(piece="p-1"))
    world.post(GOAL, GoalResumed())
    assert starts(world, "s-2") == []
    world.post(GOAL, PieceRetried(piece="p-1"))
    assert len(starts(world, "s-2")) == 1


def test_the_owners_own_line_takes_a_failed_piece_up_and_its_turn_counts() -> None:
    world = given()
    fail(world)
    world.owed.clear()
    world.post("session/s-2", Prompted(text="The branch is called x", source="owner"))
    end(world, begin(world, "s-2"))
    assert world.take(Collect).piece == "p-1"


def test_an_interrupted_piece_waits_for_a_line_or_retry() -> None:
    world = started(draft("One"))
    start = begin(world, "s-2")
    world.post("session/s-2", TurnInterrupted())
    end(world, start, TurnError.INTERRUPTED)
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert (piece(world).stage, card.buttons) == (PieceStage.PAUSED, ("retry", "stop"))
    assert card.waits
    world.post("session/s-2", Prompted(text="Go on", source="owner"))
    assert len(starts(world, "s-2")) == 1


def test_a_pause_before_the_next_attempt_says_until_when() -> None:
    world = started(draft("One"))
    end(world, begin(world, "s-2"), TurnError.API)
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert [(wait.what, wait.until) for wait in card.waits] == [
        ("its next attempt", world.now + 20)
    ]
    with pytest.raises(Refused, match="nothing to retry"):
        world.post(GOAL, PieceRetried(piece="p-1"))
    world.post(GOAL, GoalStopped())
    world.pass_time(60)
    assert starts(world, "s-2") == []
    world.post(GOAL, GoalResumed())
    assert len(starts(world, "s-2")) == 1


def test_a_worker_that_is_given_up_is_told_so_to_a_lead_that_writes_to_it() -> None:
    world = given()
    fail(world)
    world.owed.clear()
    world.post(GOAL, WorkerMessaged(piece="1", text="Hurry", call="s-1-t2#1"))
    assert "retry_piece" in world.take(ReplyDesk).text
    world.post(GOAL, PieceStopped(piece="p-1"))
    world.owed.clear()
    world.post(GOAL, WorkerMessaged(piece="1", text="Hurry", call="s-1-t2#2"))
    assert world.take(ReplyDesk).is_error


# ---------------------------------------------------------------- stops


def test_a_goal_stopped_while_its_base_is_read_starts_nothing_until_it_is_resumed() -> None:
    world = World()
    opening = GoalOpened(project="shop", text="Add", session="s-1", base="main", account=ACCOUNT)
    world.post(GOAL, opening)
    world.take(ReadBase)
    world.post(GOAL, GoalStopped())
    read = BaseRead(base_commit="b0", branch="quarterdeck/g-1")
    world.post(GOAL, read)
    assert "session/s-1" not in world.states
    world.post(GOAL, GoalResumed())
    world.take(ReadBase)
    world.post(GOAL, read)
    assert session(world, "s-1").queue
    world.post(GOAL, read)
    assert goal(world).stage is Stage.PLANNING


def test_a_worker_stopped_and_resumed_at_once_goes_on_when_its_process_has_ended() -> None:
    world = started(draft("One"))
    start = begin(world, "s-2")
    world.post(GOAL, GoalStopped())
    world.post(GOAL, GoalResumed())
    assert starts(world, "s-2") == []
    world.post("session/s-2", RunExited(run=start.run))
    assert len(starts(world, "s-2")) == 1


def test_a_piece_stopped_before_start_stays_stopped() -> None:
    world = proposed(opened(), draft("One"), draft("Two", 1))
    world.post(GOAL, PieceStopped(piece="1", call="s-1-t1#2"))
    assert "What waits for it" not in world.take(ReplyDesk).text  # nothing waits yet
    world.post(GOAL, PlanStarted(plan="pl-1"))
    assert [p.stage for p in goal(world).pieces] == [PieceStage.STOPPED, PieceStage.WAITING]
    world.post(GOAL, PieceRetried(piece="p-1"))
    assert piece(world).stage is PieceStage.WORKING


def test_a_lead_hears_what_a_stopped_piece_leaves_waiting() -> None:
    world = started(draft("One"), draft("Two", 1))
    world.post(GOAL, PieceStopped(piece="p-1"))
    said = session(world, "s-1").queue or session(world, "s-1").taken
    assert "What waits for it cannot start: piece 2." in "".join(line.text for line in said)


def test_the_rest_of_a_plan_is_told_as_landed_when_one_piece_was_stopped() -> None:
    world = given(draft("One"), draft("Two"))
    world.post(GOAL, PieceStopped(piece="p-2"))
    collected(world, "p-1", "c1")
    world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    world.post("landing/g-1", Landed(piece="p-1", commit="c1", head="c1"))
    lines = [*session(world, "s-1").taken, *session(world, "s-1").queue]
    assert any("that was not stopped has landed" in line.text for line in lines)


def test_a_failed_lead_goes_on_by_retry_with_what_it_was_told() -> None:
    world = opened()
    start = begin(world, "s-1")
    end(world, start, TurnError.AGENT)
    assert goal(world).failure == "it broke"
    world.post(GOAL, GoalResumed())
    (again,) = starts(world, "s-1")
    assert "Add orders" in again.prompt
    assert goal(world).failure == ""


def test_a_dropped_goal_leaves_no_piece_open_and_no_process() -> None:
    """BR-42: nothing of it looks as if it still ran."""
    world = started(draft("One"), draft("Two", 1))
    begin(world, "s-2")
    world.owed.clear()
    world.post(GOAL, GoalDropped())
    assert [p.stage for p in goal(world).pieces] == [PieceStage.STOPPED] * 2
    assert {close.run for close in world.owes(CloseRun)} == {"s-1-t2", "s-2-t1"}
    assert {kept.session for kept in world.owes(KeepTree)} == {"s-1", "s-2"}


# ---------------------------------------------------------------- plans


def test_a_new_plan_waits_until_a_failed_piece_is_stopped() -> None:
    world = given()
    fail(world)
    begin(world, "s-1")
    again = PlanProposed(
        plan="pl-2",
        summary="Otherwise",
        pieces=(draft("Other"),),
        call="s-1-t2#1",
        piece_ids=("p-9",),
        session_ids=("s-9",),
    )
    world.owed.clear()
    world.post(GOAL, again)
    assert "piece 1 not landed yet" in world.take(ReplyDesk).text
    world.post(GOAL, PieceStopped(piece="1", call="s-1-t2#2"))
    world.post(GOAL, again)
    assert (goal(world).plan, goal(world).plan_stage) == ("pl-2", PlanStage.PROPOSED)
    assert [p.id for p in goal(world).earlier] == ["p-1"]
    world.post(GOAL, LinesLeft(session="s-2", text="Use tabs"))
    assert "Use tabs" in session(world, "s-1").queue[-1].text


def test_a_swap_that_a_stop_came_too_late_for_still_moves_the_head() -> None:
    world = given()
    collected(world, "p-1", "c1")
    world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    world.post(GOAL, PieceStopped(piece="p-1"))
    world = proposed(world, draft("Other"))  # its pieces take the old one's place
    late = PieceLanded(piece="p-8", head="c1", commit="c1")
    world.post(GOAL, late)
    assert goal(world).head == "c1"
    assert session(world, "s-1").commit == "c1"


def test_where_the_go_is_the_leads_its_plan_starts_once() -> None:
    world = proposed(opened(go="auto"), draft("One"))
    world.post(GOAL, PlanStarted(plan="", by="lead", call="s-1-t1#2"))
    world.owed.clear()
    world.post(GOAL, PlanStarted(plan="", by="lead", call="s-1-t1#3"))
    assert world.take(ReplyDesk).is_error
    with pytest.raises(Refused, match="already started"):
        world.post(GOAL, PlanDiscarded(plan="pl-1"))


def test_two_goals_plans_never_meet() -> None:
    """BR-36."""
    world = proposed(opened(), draft("One"))
    other = GoalOpened(project="shop", text="B", session="s-51", base="main", account=ACCOUNT)
    world.post("goal/g-2", other)
    world.post("goal/g-2", BaseRead(base_commit="b0", branch="quarterdeck/g-2"))
    second = PlanProposed(
        plan="pl-2",
        summary="Another",
        pieces=(draft("Other"),),
        piece_ids=("p-51",),
        session_ids=("s-52",),
    )
    world.post("goal/g-2", second)
    with pytest.raises(Refused, match="replaced"):
        world.post(GOAL, PlanStarted(plan="pl-2"))
    world.post("goal/g-2", PlanStarted(plan="pl-2"))
    assert [start.session for start in world.owes(StartRun)] == ["s-1", "s-51", "s-52"]
    assert piece(world).stage is PieceStage.PROPOSED


def test_a_correction_is_the_go_for_the_answer_to_it_alone() -> None:
    world = reviewed(landed())
    world.post(GOAL, ReviewCorrected(review="r-1", text="Not so"))
    assert goal(world).correcting
    reviewed(world)  # the lead puts it again as it is
    world.owed.clear()
    world = proposed(world, draft("More"))
    assert goal(world).plan_stage is PlanStage.PROPOSED
    assert world.owes(StartRun) == []


# ---------------------------------------------------------------- reviews and ships


def test_what_lands_after_a_review_is_not_left_out_of_what_ships() -> None:
    world = given(draft("One"), draft("Two"))
    collected(world, "p-1", "c1")
    world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    world.post("landing/g-1", Landed(piece="p-1", commit="c1", head="c1"))
    (start,) = starts(world, "s-3")
    world.post("session/s-3", RunRefused(run=start.run, why="no such agent"))
    reviewed(world)
    world.post(GOAL, PieceRetried(piece="p-2"))
    world.post(GOAL, PieceLanded(piece="p-2", head="c2", commit="c2"))
    with pytest.raises(Refused, match="More has landed"):
        world.post(GOAL, ShipCalled(review="r-1"))


def test_nothing_takes_a_goal_out_of_shipping_but_the_ship() -> None:
    world = shipping()
    world.owed.clear()
    proposed(world, draft("More"))
    assert world.take(ReplyDesk).is_error
    with pytest.raises(Refused, match="Cancel that first"):
        world.post(GOAL, GoalDropped())
    world.post("ship/g-1", ShipProceeded())
    world.post("ship/g-1", ShipTaken(remote_head="b0", commit="c1"))
    world.post("ship/g-1", ShipPushed())
    world.post("ship/g-1", PushDone(commit="c1", where="main", landed=True))
    assert goal(world).stage is Stage.SHIPPED


def test_a_plan_put_before_the_ship_starts_only_once_that_is_over() -> None:
    world = reviewed(landed())
    proposed(world, draft("More"))
    world.post(GOAL, ShipCalled(review="r-1"))
    with pytest.raises(Refused, match="being shipped"):
        world.post(GOAL, PlanStarted(plan="pl-1"))
    world.post("ship/g-1", ShipCancelled())
    assert goal(world).review.stage is ReviewStage.OPEN
    world.post(GOAL, PlanStarted(plan="pl-1"))
    assert piece(world).stage is PieceStage.WORKING


def test_a_shipped_goal_ends_its_workers_too() -> None:
    world = given(draft("One"), draft("Two"))
    collected(world, "p-1", "c1")
    world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    world.post("landing/g-1", Landed(piece="p-1", commit="c1", head="c1"))
    start = begin(world, "s-3")
    end(world, start, TurnError.CUT_OFF)
    assert piece(world, 2).stage is PieceStage.FAILED
    reviewed(world)
    world.post(GOAL, ShipCalled(review="r-1"))
    world.post("ship/g-1", ShipProceeded())
    world.post("ship/g-1", ShipTaken(remote_head="b0", commit="c1"))
    world.post("ship/g-1", ShipPushed())
    world.owed.clear()
    world.post("ship/g-1", PushDone(commit="c1", where="main", landed=True))
    assert piece(world, 2).stage is PieceStage.STOPPED
    assert session(world, "s-3").final
    assert {kept.session for kept in world.owes(KeepTree)} == {"s-1", "s-3"}


def test_a_cancelled_ship_lets_a_newer_review_ship_under_its_own_card() -> None:
    world = shipping()
    world.post("ship/g-1", ShipCancelled())
    world.post(GOAL, ReviewPut(review="r-2", ship="sh-2", summary="Again", call="s-1-t3#1"))
    world.take(Judge)
    world.post(GOAL, ReviewJudged(review="r-2", head="c1", stats=Stats(), verdict=PASSED))
    with pytest.raises(Refused, match="replaced"):
        world.post(GOAL, ShipCalled(review="r-1"))
    world.post(GOAL, ShipCalled(review="r-2"))
    assert world.card("sh-2").buttons == ("proceed", "cancel")


def test_a_return_that_comes_after_the_piece_was_stopped_changes_nothing() -> None:
    world = given()
    collected(world, "p-1", "c1")
    world.take(Merge)
    world.post(GOAL, PieceStopped(piece="p-1"))
    before = goal(world)
    world.post(GOAL, PieceReturned(piece="p-1", why="late"))
    world.post(GOAL, PieceCollected(piece="p-1", found=Collected(head="c1", commits=1)))
    assert goal(world) == before


def test_a_turn_that_ends_after_its_piece_was_stopped_is_not_collected() -> None:
    world = started(draft("One"))
    start = begin(world, "s-2")
    world.post("session/s-2", TurnEnded(run=start.run))
    world.post(GOAL, PieceStopped(piece="p-1"))
    world.post("session/s-2", RunExited(run=start.run))
    assert world.owes(Collect) == []
