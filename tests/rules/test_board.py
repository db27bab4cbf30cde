"""What the owner sees of all that: cards and /status."""

from __future__ import annotations

from msgspec.structs import replace

from engine import board
from engine.rules.effects import Judge, StartRun
from engine.rules.events import (
    Answered,
    AskRaised,
    BaseRead,
    GaveUp,
    GoalDropped,
    GoalOpened,
    GoalStopped,
    HeldAll,
    MachineLost,
    Merged,
    PlanDiscarded,
    PlanStarted,
    ReviewPut,
    RunExited,
    RunStarted,
)
from engine.rules.turn_ends import MAX_CUT_OFFS
from engine.rules.words import AskKind, Decision, Question
from engine.views import STOPPED, Board, CommandCard, PlanCard, Row, SessionCard, WorkerCard
from tests.rules.world import ACCOUNT, CHECK, World, collected, draft, opened, proposed, started

GOAL = "goal/g-1"


def silent(_run: str) -> str:
    return ""


def seen(world: World) -> Board:
    return board.board(world.states, silent)


def texts(rows: tuple[Row, ...]) -> list[str]:
    """As the phone shows them, but for the signs between."""
    return [f"{row.title}{row.piece}: {_said(row)}" for row in rows]


def _said(row: Row) -> str:
    said = f"{row.text}: {row.why}" if row.why else row.text
    return f"{row.doing} · {said}" if row.doing else said


def second_goal(world: World, ask: str) -> None:
    """Another goal of the same project that needs the same check."""
    goal = GoalOpened(project="shop", text="B", session="s-51", base="main", account=ACCOUNT)
    world.post("goal/g-2", goal)
    read = BaseRead(base_commit="b0", branch="quarterdeck/g-2", commands=(CHECK,), asks=(ask,))
    world.post("goal/g-2", read)


def test_a_goal_is_on_the_board_from_its_first_moment() -> None:
    world = World()
    goal = GoalOpened(project="shop", text="Add", session="s-1", base="main", account=ACCOUNT)
    world.post(GOAL, goal)
    assert texts(seen(world).running) == ["Add · Lead: main is read · here"]
    world.post(GOAL, GaveUp(effect="ReadBase", why="no such branch"))
    assert texts(seen(world).now) == ["Add: The goal could not start"]


def test_a_plan_waits_for_start_and_then_its_pieces_for_each_other() -> None:
    world = proposed(opened(), draft("One"), draft("Two", 1))
    world.turn()
    assert texts(seen(world).now) == ["Add orders: a plan of 2 to start"]
    assert world.card("pl-1").buttons == ("start", "change", "discard")
    world.post(GOAL, PlanStarted(plan="pl-1"))
    assert "2. Two: after piece 1 (starts once landed)" in texts(seen(world).next)
    assert world.card("pl-1").buttons == ()
    assert world.card("pl-1").decided == "Started by you"


def test_a_lead_that_ended_its_turn_with_nothing_under_way_waits_for_a_line() -> None:
    world = opened()
    world.turn()
    (row,) = seen(world).now
    assert row.text.startswith("waits for a line from you")
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    assert card.stage == "waits for you"
    assert card.waits


def test_a_discarded_plan_says_what_to_do_and_that_drop_needs_no_stop() -> None:
    world = proposed(opened(), draft("One"))
    world.turn()
    world.post(GOAL, PlanDiscarded(plan="pl-1"))
    world.turn()
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    assert card.stage == "waits for you"
    assert card.waits[0].why == "the plan was discarded. Write what you want instead, or Drop"
    assert card.buttons[:2] == ("stop", "drop")


def test_a_plan_a_lead_may_start_itself_still_shows_what_it_waits_for() -> None:
    world = proposed(opened(go="auto"), draft("One"))
    world.turn()
    assert texts(seen(world).next) == [
        "Add orders · Lead: waits for Start: its lead left the plan for you"
    ]


def test_one_question_of_two_goals_stays_on_the_board_when_its_goal_is_dropped() -> None:
    world = opened(CHECK)
    second_goal(world, "a-91")
    assert [row.card for row in seen(world).now] == ["a-90"]
    world.post(GOAL, GoalDropped())
    (row,) = seen(world).now
    assert (row.card, row.text) == ("a-90", "the project's check to allow")
    world.post("ask/a-90", Answered(decision=Decision.ALLOW))
    assert world.states["goal/g-2"].command("check") == "make test"
    assert all(row.card != "a-90" for row in seen(world).now)


def test_a_plan_says_that_its_pieces_wait_for_the_check_too() -> None:
    world = proposed(opened(CHECK), draft("One"))
    world.turn()
    plan, ask = world.card("pl-1"), world.card("a-90")
    assert isinstance(plan, PlanCard)
    assert isinstance(ask, CommandCard)
    assert (plan.first, plan.first_elsewhere, ask.held_since) == ("the check", False, 0.0)
    world.pass_time(5)
    world.post(GOAL, PlanStarted(plan="pl-1", at=world.now))
    assert world.card("pl-1").decided == "Started by you: it waits for your word on the check"
    held = world.card("a-90")
    assert isinstance(held, CommandCard)
    assert (held.held_since, held.revision) == (world.now, ask.revision)
    world.post("ask/a-90", Answered(decision=Decision.ALLOW))
    assert world.card("pl-1").decided == "Started by you"


def test_a_plan_stays_the_same_when_the_check_is_allowed_while_it_waits() -> None:
    world = proposed(opened(CHECK), draft("One"))
    before = world.card("pl-1").revision
    world.post("ask/a-90", Answered(decision=Decision.ALLOW))
    assert world.card("pl-1").revision == before


def test_a_long_goal_leaves_room_for_its_piece_on_the_board() -> None:
    world = started(draft("Orders page"))
    world.states[GOAL] = replace(world.states[GOAL], title="A goal of very many words " * 2)
    world.begin_turn()
    titles = [f"{row.title}{row.piece}" for row in (*seen(world).running, *seen(world).next)]
    assert "A goal of very many words A g… · 1. Orders page" in titles


def test_each_decision_has_one_card_of_its_own_and_earlier_ones_show_their_result() -> None:
    """BR-21."""
    world = proposed(opened(CHECK), draft("One"))
    start = world.begin_turn()
    asked = AskRaised(
        run=start.run,
        ask="a-1",
        request="req-1",
        kind=AskKind.PERMISSION,
        title="Look",
        detail="ls",
        tool="Bash",
    )
    world.post("session/s-1", asked)
    world.post("ask/a-90", Answered(decision=Decision.DENY))
    cards = {card.id: card for card in board.cards(world.states, "g-1", silent)}
    assert cards["pl-1"].buttons == ("start", "change", "discard")
    assert cards["a-1"].buttons == ("allow", "deny")
    command = cards["a-90"]
    assert isinstance(command, CommandCard)
    assert command.buttons == ()
    assert command.decided.startswith("Not this: it never runs")


def test_every_open_ask_is_a_row_of_its_own() -> None:
    """BR-22."""
    world = opened()
    start = world.begin_turn()
    for number in (1, 2, 3):
        asked = AskRaised(
            run=start.run,
            ask=f"a-{number}",
            request=f"req-{number}",
            kind=AskKind.PERMISSION,
            title="Look",
            detail="ls",
            tool="Bash",
        )
        world.post("session/s-1", asked)
    assert [row.card for row in seen(world).now] == ["a-1", "a-2", "a-3"]


def test_the_next_question_shows_its_own_options() -> None:
    """BR-19."""
    world = opened()
    start = world.begin_turn()
    questions = (Question("Currency?", options=("Euro", "Pound")), Question("Column?"))
    asked = AskRaised(
        run=start.run,
        ask="a-1",
        request="req-1",
        kind=AskKind.QUESTION,
        title="Currency?",
        detail="",
        questions=questions,
    )
    world.post("session/s-1", asked)
    assert world.card("a-1").buttons == ("option-0", "option-1", "answer")
    shown = world.card("a-1").revision
    world.post("ask/a-1", Answered(decision=Decision.ANSWER, text="Euro", index=0))
    assert world.card("a-1").buttons == ("answer",)
    assert world.card("a-1").revision != shown  # a second tap on the first is a tap on another card


def test_a_worker_whose_work_is_taken_in_and_landed_says_so() -> None:
    world = started(draft("One"))
    world.turn()
    world.turn()
    said = []
    for step in range(3):
        card = world.card("p-1")
        assert isinstance(card, WorkerCard)
        said.append(card.doing)
        if step == 0:
            collected(world, "p-1", "c1")
        else:
            world.post("landing/g-1", Merged(piece="p-1", commit="c1", onto="b0"))
    assert said == ["its work is being taken in", "merging", "landing"]


def test_what_plain_code_does_with_the_whole_is_seen_while_the_lead_rests() -> None:
    world = started(draft("One"))
    world.turn()
    world.states[GOAL] = replace(world.states[GOAL], head="c1", pieces=())
    world.post(GOAL, ReviewPut(review="r-1", ship="sh-1", summary="", call="s-1-t2#1"))
    assert world.take(Judge)
    assert texts(seen(world).running)[0].endswith("Lead: the check runs on the whole · here")


def test_a_lead_that_keeps_dying_is_shown_as_waiting_with_retry() -> None:
    """BR-42: nothing goes on looking as if it ran."""
    world = opened()
    for _ in range(MAX_CUT_OFFS + 1):
        start = world.take(StartRun)
        world.post("session/s-1", RunStarted(run=start.run))
        world.post("session/s-1", RunExited(run=start.run, why="killed"))
    assert texts(seen(world).now) == ["Add orders: The lead keeps being cut off"]
    assert seen(world).running == ()
    failure = next(c for c in board.cards(world.states, "g-1", silent) if "failed" in c.id)
    assert failure.buttons == ("retry", "stop")


def test_a_stopped_goal_says_what_takes_it_up_again() -> None:
    world = started(draft("One"))
    world.post(GOAL, GoalStopped())
    for start in world.owes(StartRun):
        world.post(f"session/{start.session}", RunExited(run=start.run))
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    assert card.stage == "stopped"
    assert "resume" in card.buttons
    assert all("/resume" in row.text for row in seen(world).next)


def test_a_worker_held_while_its_machine_is_away_says_both() -> None:
    """Seed 44 of the first simulation: a piece in its landing check, stopped with all the rest."""
    world = started(draft("Orders"))
    world.turn()
    world.turn("built")
    collected(world, "p-1", "c1")
    world.post("fleet", MachineLost(machine="here", why="the link broke"))
    world.post(GOAL, GoalStopped())
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert [wait.what for wait in card.waits] == ["here", STOPPED]


def test_a_run_that_waits_for_a_place_says_why() -> None:
    world = World()
    world.post("fleet", HeldAll(held=True))
    goal = GoalOpened(project="shop", text="Add", session="s-1", base="main", account=ACCOUNT)
    world.post(GOAL, goal)
    world.post(GOAL, BaseRead(base_commit="b0", branch="quarterdeck/g-1"))
    (row,) = seen(world).next
    assert row.text == "waits for a place to run: everything is stopped: /resume all goes on"
