"""A goal's rule, together with those it speaks to."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules.effects import (
    Check,
    Collect,
    Judge,
    Land,
    Merge,
    Push,
    ReplyDesk,
    StartRun,
    TakeRemote,
)
from engine.rules.events import (
    Answered,
    Checked,
    CommandDecided,
    GoalDropped,
    GoalResumed,
    GoalStopped,
    Landed,
    Merged,
    PieceCollected,
    PieceLanded,
    PieceRetried,
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
    RunStarted,
    SessionOpened,
    ShipCalled,
    ShipCancelled,
    ShipProceeded,
    ShipPushed,
    ShipTaken,
    TurnEnded,
    WorkerMessaged,
)
from engine.rules.goal_state import ReviewStage, Stage
from engine.rules.plan import Stage as PieceStage
from engine.rules.words import CheckVerdict, Collected, Decision, Stats, TurnError
from engine.views import ReviewCard, SessionCard
from tests.rules.world import CHECK, World, collected, draft, opened, proposed, started

PASSED = CheckVerdict(passed=True, summary="passed in 1 s")
RED = CheckVerdict(passed=False, summary="exit 1", report="2 failed")


def goal(world: World):  # type: ignore[no-untyped-def]
    return world.states["goal/g-1"]


def piece(world: World, number: int):  # type: ignore[no-untyped-def]
    return goal(world).pieces[number - 1]


def land(world: World, name: str, commit: str) -> None:
    """Take a collected piece through merge and swap; the project has no check."""
    merge = world.take(Merge)
    assert merge.piece == name
    onto = goal(world).head
    world.post("landing/g-1", Merged(piece=name, commit=commit, onto=onto))
    assert world.take(Land).onto == onto
    world.post("landing/g-1", Landed(piece=name, commit=commit, head=commit))


def build(world: World, name: str, commit: str) -> None:
    """One worker's turn, collected and landed."""
    world.turn("built")
    assert world.take(Collect).piece == name
    collected(world, name, commit)
    land(world, name, commit)


def reviewed(world: World) -> World:
    """The lead, in a turn, puts the whole for review, and it passes."""
    world.post("goal/g-1", ReviewPut(review="r-1", ship="sh-1", summary="Done", call="s-1-t2#1"))
    world.take(Judge)
    judged = ReviewJudged(
        review="r-1", head=goal(world).head, stats=Stats(2, 3, 4, 1), verdict=PASSED
    )
    world.post("goal/g-1", judged)
    return world


def test_the_lead_starts_at_once_with_a_rundown_and_the_goal_word_for_word() -> None:
    world = opened()
    start = world.take(StartRun)
    assert start.prompt.startswith("[Quarterdeck] Rundown")
    assert start.prompt.endswith("The owner's goal:\n\nAdd orders")


def test_no_worker_starts_before_the_owners_go() -> None:
    world = proposed(opened(), draft("One"))
    world.turn()
    assert not world.owes(StartRun)
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    assert {start.session for start in world.owes(StartRun)} == {"s-1", "s-2"}


def test_a_lead_may_start_its_plan_only_where_the_go_is_its_own() -> None:
    world = proposed(opened(), draft("One"))
    world.owed.clear()
    world.post("goal/g-1", PlanStarted(plan="", by="lead", call="s-1-t1#2"))
    assert world.take(ReplyDesk).is_error
    assert piece(world, 1).stage is PieceStage.PROPOSED
    trusted = proposed(opened(go="auto"), draft("One"))
    trusted.post("goal/g-1", PlanStarted(plan="", by="lead", call="s-1-t1#2"))
    assert piece(trusted, 1).stage is PieceStage.WORKING


@pytest.mark.parametrize(
    ("drafts", "words"),
    [
        ((), "no pieces"),
        ((draft(" "),), "no title"),
        ((draft("One", 2),), "names piece 2"),
        ((draft("One", 1),), "names piece 1"),
        ((draft("One", 2), draft("Two", 1)), "wait for each other"),
    ],
)
def test_an_unsound_plan_is_refused_to_its_lead_in_a_sentence(drafts, words) -> None:  # type: ignore[no-untyped-def]
    world = proposed(opened(), *drafts)
    reply = world.take(ReplyDesk)
    assert reply.is_error
    assert words in reply.text
    assert not goal(world).plan


def test_a_plan_may_be_started_once_and_only_while_it_is_the_one_shown() -> None:
    world = proposed(opened(), draft("One"))
    with pytest.raises(Refused, match="replaced"):
        world.post("goal/g-1", PlanStarted(plan="pl-0"))
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    with pytest.raises(Refused, match="already started"):
        world.post("goal/g-1", PlanStarted(plan="pl-1"))
    with pytest.raises(Refused, match="already started"):
        world.post("goal/g-1", PlanDiscarded(plan="pl-1"))


def test_pieces_wait_for_what_they_come_after_and_then_start_by_themselves() -> None:
    world = started(draft("Endpoint"), draft("Page"), draft("Tests", 1, 2))
    world.turn()  # the lead hears of the start
    assert [start.session for start in world.owes(StartRun)] == ["s-2", "s-3"]
    build(world, "p-1", "c1")
    assert piece(world, 3).stage is PieceStage.WAITING
    world.turn()  # the lead hears of the first landing, or the second worker ends its turn
    for _ in range(4):
        if world.owes(Collect):
            break
        world.turn()
    assert world.take(Collect).piece == "p-2"
    collected(world, "p-2", "c2")
    land(world, "p-2", "c2")
    third = next(start for start in world.owes(StartRun) if start.session == "s-4")
    assert third.commit == "c2"


def test_no_worker_starts_before_the_word_on_the_projects_commands() -> None:
    world = proposed(opened(CHECK), draft("One"))
    world.turn()
    world.owed.clear()
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    assert piece(world, 1).stage is PieceStage.WAITING
    world.post("ask/a-90", Answered(decision=Decision.ALLOW))
    assert piece(world, 1).stage is PieceStage.WORKING
    assert world.take(Check).about == "base"


def test_a_command_is_asked_for_once_and_its_answer_holds_for_later_goals() -> None:
    world = opened(CHECK)
    world.post("project/shop", CommandDecided(command=CHECK, allowed=True))
    assert world.states["project/shop"].allowed == (CHECK,)
    assert goal(world).command("check") == "make test"


def test_not_this_means_the_command_never_runs_and_the_work_goes_on() -> None:
    world = proposed(opened(CHECK), draft("One"))
    world.turn()
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    world.post("ask/a-90", Answered(decision=Decision.DENY))
    assert not world.owes(Check)
    assert piece(world, 1).stage is PieceStage.WORKING


def test_a_landing_is_told_to_the_lead_in_one_line() -> None:
    world = started(draft("Orders page"))
    world.turn()
    world.turn("built")
    world.take(Collect)
    collected(world, "p-1", "c1")
    land(world, "p-1", "m1")
    prompt = world.take(StartRun).prompt
    assert (
        'Piece 1 "Orders page": the project has no check, so branch '
        "quarterdeck/worker-orders-page landed in your branch." in prompt
    )
    assert goal(world).head == "m1"


def test_a_red_piece_goes_back_three_times_and_then_to_the_owner() -> None:
    world = started(draft("One"))
    for attempt in (1, 2, 3):
        while not world.owes(Collect):
            world.turn()
        world.take(Collect)
        assert piece(world, 1).attempt == attempt
        world.post("goal/g-1", PieceCollected(piece="p-1", found=Collected(head="b0")))
    assert piece(world, 1).stage is PieceStage.FAILED
    card = world.card("p-1")
    assert card.asks
    assert card.buttons == ("retry", "stop")


def test_uncommitted_work_is_named_to_its_worker() -> None:
    world = started(draft("One"))
    while not world.owes(Collect):
        world.turn()
    world.take(Collect)
    found = Collected(head="c1", commits=1, dirty=("café.py",))
    world.post("goal/g-1", PieceCollected(piece="p-1", found=found))
    prompts = [start.prompt for start in world.owes(StartRun) if start.session == "s-2"]
    assert "café.py" in prompts[0]


def test_the_first_merge_conflict_is_no_attempt() -> None:
    world = started(draft("One"))
    while not world.owes(Collect):
        world.turn()
    for attempt in (1, 2):
        world.take(Collect)
        collected(world, "p-1", f"c{attempt}")
        world.take(Merge)
        world.post(
            "landing/g-1",
            Merged(piece="p-1", commit="", onto="b0", failure="conflict in a.py", conflict=True),
        )
        assert piece(world, 1).attempt == attempt
        while not world.owes(Collect):
            world.turn()
    assert piece(world, 1).conflicts == 1


@pytest.mark.parametrize("kind", [TurnError.CUT_OFF, TurnError.START])
def test_what_no_worker_can_mend_is_no_attempt_and_waits_for_the_owner(kind: TurnError) -> None:
    world = started(draft("One"))
    starts = {start.session: start for start in world.owes(StartRun)}
    start = starts["s-2"]
    world.post("session/s-2", RunStarted(run=start.run))
    world.post("session/s-2", TurnEnded(run=start.run, error="it is broken", kind=kind))
    world.post("session/s-2", RunExited(run=start.run))
    assert piece(world, 1).stage is PieceStage.FAILED
    assert piece(world, 1).attempt == 1
    world.post("goal/g-1", PieceRetried(piece="p-1"))
    assert piece(world, 1).stage is PieceStage.WORKING
    assert any(
        effect.session == "s-2" and effect.run != start.run for effect in world.owes(StartRun)
    )


def test_a_broken_agent_is_tried_again_after_a_pause() -> None:
    world = started(draft("One"))
    world.turn()
    world.turn(error="overloaded", kind=TurnError.API)
    assert not [start for start in world.owes(StartRun) if start.session == "s-2"]
    world.pass_time(60)
    assert [start for start in world.owes(StartRun) if start.session == "s-2"]
    assert piece(world, 1).attempt == 2


def test_a_review_waits_until_everything_has_landed() -> None:
    world = started(draft("One"))
    world.owed.clear()
    world.post("goal/g-1", ReviewPut(review="r-1", ship="sh-1", summary="", call="s-1-t2#1"))
    assert world.take(ReplyDesk).is_error
    assert goal(world).review.stage is ReviewStage.NONE


def landed_world() -> World:
    world = started(draft("One"))
    world.turn()
    world.turn("built")
    world.take(Collect)
    collected(world, "p-1", "c1")
    land(world, "p-1", "c1")
    world.turn()
    return world


def test_all_landed_with_nothing_put_for_review_says_what_to_write() -> None:
    card = landed_world().card("g-1")
    assert isinstance(card, SessionCard)
    assert "Write “put it for review”" in card.waits[0].why
    assert "drop" in card.buttons


def test_a_review_names_what_had_landed_when_it_was_put() -> None:
    world = reviewed(landed_world())
    before = world.card("r-1")
    assert isinstance(before, ReviewCard)
    assert before.pieces == ("One",)
    world.post("goal/g-1", ReviewCorrected(review="r-1", text="More"))
    more = PlanProposed(
        plan="pl-2",
        summary="More",
        pieces=(draft("Two"),),
        call="s-1-t4#1",
        piece_ids=("p-8",),
        session_ids=("s-8",),
    )
    world.post("goal/g-1", more)
    world.post("goal/g-1", PieceLanded(piece="p-8", commit="c2", head="c2"))
    after = world.card("r-1")
    assert isinstance(after, ReviewCard)
    assert (after.pieces, after.revision) == (before.pieces, before.revision)


def test_a_review_whose_check_is_red_goes_back_to_the_lead_not_to_the_owner() -> None:
    world = landed_world()
    world.post("goal/g-1", ReviewPut(review="r-1", ship="sh-1", summary="", call="s-1-t3#1"))
    world.take(Judge)
    world.post("goal/g-1", ReviewJudged(review="r-1", head="c1", stats=Stats(), verdict=RED))
    assert goal(world).review.stage is ReviewStage.HANDED_BACK
    assert "2 failed" in world.take(StartRun).prompt
    with pytest.raises(Refused):
        world.post("goal/g-1", ShipCalled(review="r-1"))


def test_a_correction_reaches_the_lead_word_for_word_and_is_the_go_for_its_plan() -> None:
    world = reviewed(landed_world())
    words = "Show the order total in the last column"
    world.post("goal/g-1", ReviewCorrected(review="r-1", text=words))
    assert words in world.begin_turn().prompt
    proposed(world, draft("Total"))
    assert piece(world, 1).stage is PieceStage.WORKING
    assert world.card("r-1").decided
    assert goal(world).corrected == 1


def test_nothing_is_pushed_before_push_and_then_what_was_checked() -> None:
    world = reviewed(landed_world())
    world.post("goal/g-1", ShipCalled(review="r-1"))
    with pytest.raises(Refused, match="Proceed"):
        world.post("ship/g-1", ShipPushed())
    world.post("ship/g-1", ShipProceeded())
    world.take(TakeRemote)
    world.post("ship/g-1", ShipTaken(remote_head="b0", commit="c1"))
    assert not world.owes(Push)
    world.post("ship/g-1", ShipPushed())
    push = world.take(Push)
    assert (push.commit, push.expected) == ("c1", "b0")
    world.post("ship/g-1", PushDone(commit="c1", where="main", landed=True))
    assert goal(world).stage is Stage.SHIPPED
    with pytest.raises(Refused):
        world.post("ship/g-1", ShipPushed())


def test_a_moved_remote_is_taken_in_checked_again_and_put_back_to_the_owner() -> None:
    world = proposed(opened(CHECK), draft("One"))
    world.turn()
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    world.post("ask/a-90", Answered(decision=Decision.ALLOW))
    while not world.owes(Collect):
        world.turn()
    world.take(Collect)
    world.owed.clear()
    collected(world, "p-1", "c1")
    world.take(Merge)
    world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    world.post("landing/g-1", Checked(piece="p-1", commit="c1", verdict=PASSED))
    world.post("landing/g-1", Landed(piece="p-1", commit="c1", head="c1"))
    world.turn()
    reviewed(world)
    world.post("goal/g-1", ShipCalled(review="r-1"))
    world.owed.clear()
    from engine.rules.events import ShipChecked

    world.post("ship/g-1", ShipProceeded())
    world.post("ship/g-1", ShipTaken(remote_head="b0", commit="c1"))
    world.post("ship/g-1", ShipChecked(commit="c1", verdict=PASSED))
    world.post("ship/g-1", ShipPushed())
    world.post("ship/g-1", PushDone(commit="c1", where="main", landed=False, moved=True))
    world.post("ship/g-1", ShipTaken(remote_head="b9", commit="m9", moved=True))
    with pytest.raises(Refused, match="check runs"):
        world.post("ship/g-1", ShipPushed())
    world.post("ship/g-1", ShipChecked(commit="c1", verdict=PASSED))  # late, of the old commit
    assert world.card("sh-1").buttons == ("cancel",)
    world.post("ship/g-1", ShipChecked(commit="m9", verdict=PASSED))
    assert world.card("sh-1").buttons == ("push", "cancel")
    assert len(world.owes(Push)) == 1


def test_a_conflict_with_a_moved_remote_is_mended_and_put_for_review_again() -> None:
    world = reviewed(landed_world())
    world.post("goal/g-1", ShipCalled(review="r-1"))
    world.post("ship/g-1", ShipProceeded())
    why = "main moved, and what is new there conflicts in a.py"
    world.post("ship/g-1", ShipTaken(remote_head="b9", commit="", failure=why, conflict=True))
    shipping = world.card("sh-1")
    assert (shipping.buttons, shipping.asks) == ((), False)
    assert "new review" in shipping.decided
    assert "git merge b9" in world.begin_turn().prompt
    proposed(world, draft("Join"))
    assert piece(world, 1).stage is PieceStage.WORKING  # it serves what the owner asked for
    opened_last = [h.event for h in world.history if isinstance(h.event, SessionOpened)][-1]
    assert "git merge b9" in opened_last.commands  # told to by us, so nobody is asked


def test_cancel_puts_the_review_back_and_ship_begins_anew() -> None:
    world = reviewed(landed_world())
    world.post("goal/g-1", ShipCalled(review="r-1"))
    world.post("ship/g-1", ShipCancelled())
    assert world.card("r-1").buttons == ("ship", "correct", "diff", "drop")
    world.post("goal/g-1", ShipCalled(review="r-1"))
    world.post("ship/g-1", ShipProceeded())
    assert world.take(TakeRemote).head == "c1"


def test_a_stopped_goal_runs_nothing_until_it_is_resumed() -> None:
    world = started(draft("One"), draft("Two", 1))
    starts = {start.session: start for start in world.owes(StartRun)}
    start = starts["s-2"]
    world.post("session/s-2", RunStarted(run=start.run))
    world.post("goal/g-1", GoalStopped())
    world.post("session/s-2", RunExited(run=start.run))
    world.owed.clear()
    world.post("goal/g-1", GoalResumed())
    assert "s-2" in {effect.session for effect in world.owes(StartRun)}
    world.post("goal/g-1", GoalDropped())
    with pytest.raises(Refused):
        world.post("goal/g-1", GoalStopped())


def test_stopping_a_goal_while_a_worker_is_checked_does_not_start_it_under_the_check() -> None:
    world = started(draft("One"))
    world.turn()
    world.turn("built")
    world.take(Collect)
    collected(world, "p-1", "c1")
    world.post("goal/g-1", GoalStopped())
    world.post("goal/g-1", GoalResumed())
    assert not [start for start in world.owes(StartRun) if start.session == "s-2"]
    land(world, "p-1", "c1")
    assert piece(world, 1).stage is PieceStage.LANDED


def test_a_line_to_a_worker_whose_work_landed_reaches_the_lead_instead() -> None:
    world = started(draft("One"))
    world.turn()
    world.turn("built")
    world.take(Collect)
    collected(world, "p-1", "c1")
    world.post("session/s-2", Prompted(text="Use tabs", source="owner"))
    land(world, "p-1", "c1")
    assert "Use tabs" in world.take(StartRun).prompt or "Use tabs" in str(
        world.states["session/s-1"]
    )


def test_the_lead_may_speak_to_stop_and_retry_its_workers_by_number() -> None:
    world = started(draft("One"), draft("Two"))
    world.owed.clear()
    world.post("goal/g-1", WorkerMessaged(piece="1", text="Hurry", call="s-1-t2#1"))
    assert not world.take(ReplyDesk).is_error
    world.post("goal/g-1", PieceStopped(piece="2", why="not needed", call="s-1-t2#2"))
    assert not world.take(ReplyDesk).is_error
    assert piece(world, 2).stage is PieceStage.STOPPED
    world.post("goal/g-1", PieceRetried(piece="1", call="s-1-t2#3"))
    assert "nothing to retry" in world.take(ReplyDesk).text
    world.post("goal/g-1", WorkerMessaged(piece="7", text="x", call="s-1-t2#4"))
    assert "no piece 7" in world.take(ReplyDesk).text


def test_a_dropped_goal_ends_everything_of_it() -> None:
    world = started(draft("One"))
    world.post("goal/g-1", GoalDropped())
    assert goal(world).stage is Stage.DROPPED
    world.owed.clear()
    world.post("goal/g-1", ReviewPut(review="r-9", ship="sh-9", summary="", call="s-1-t9#1"))
    assert world.take(ReplyDesk).is_error
