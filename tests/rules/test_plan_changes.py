"""The owner changes a plan before Start: what is taken, what is refused, and what the lead is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import choices
from engine.adapters.hub import Hub
from engine.calls import Desk
from engine.errors import Refused
from engine.rules import news, plan
from engine.rules.changing import change
from engine.rules.effects import Collect, Land, Merge, ReplyDesk, StartRun
from engine.rules.events import (
    AccountAdded,
    GoalDropped,
    Landed,
    MachineAdded,
    MachineSeen,
    Merged,
    PlanChanged,
    PlanDiscarded,
    PlanStarted,
)
from engine.rules.fleet import Fleet, Machine, reach
from engine.rules.goal_state import Goal
from engine.rules.plan import Piece, Stage
from engine.rules.session_state import Session
from engine.rules.words import Account, Reach
from engine.views import PlanCard
from stores.ledger import Ledger
from tests.rules.world import ACCOUNT, World, collected, draft, opened, proposed

OTHER = Account("second", "claude")
REACH = Reach(
    machines=(("here", ("rehearsal", "claude")), ("build-box", ("rehearsal",))),
    accounts=(ACCOUNT, OTHER),
)


def planned(*after: tuple[int, ...]) -> World:
    """A proposed plan, its lead's turn over; `after`: what each piece waits for."""
    drafts = [draft(f"Piece {n}", *before) for n, before in enumerate(after, start=1)]
    world = proposed(opened(), *drafts)
    world.turn("planned")
    world.owed.clear()
    return world


def changed(world: World, piece: int, what: str, value: str = "", *after: int) -> World:
    event = PlanChanged(plan="pl-1", piece=piece, what=what, value=value, after=after, reach=REACH)
    world.post("goal/g-1", event)
    return world


def goal(world: World) -> Goal:
    found = world.states["goal/g-1"]
    assert isinstance(found, Goal)
    return found


def pieces(world: World) -> dict[int, Piece]:
    return {piece.number: piece for piece in goal(world).pieces}


def order(world: World) -> dict[int, tuple[int, ...]]:
    return {number: piece.after for number, piece in pieces(world).items()}


def start(world: World) -> str:
    """Start the plan; return what the lead is told."""
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    return next(run.prompt for run in world.owes(StartRun) if run.session == "s-1")


def land_all(world: World) -> list[int]:
    """Build and land whatever starts; return the numbers in the order in which they started."""
    begun = []
    while any(run.session != "s-1" for run in world.owes(StartRun)):
        world.turn("done")
        if not (collects := world.owes(Collect)):
            continue
        piece = goal(world).piece(collects[0].piece)
        assert piece is not None
        begun.append(piece.number)
        collected(world, world.take(Collect).piece, f"c{piece.number}")
        merge = world.take(Merge)
        onto = goal(world).head
        merged = Merged(piece=merge.piece, commit=f"m{piece.number}", onto=onto)
        world.post("landing/g-1", merged)
        assert world.take(Land).onto == onto
        landed = Landed(piece=merge.piece, commit=merged.commit, head=merged.commit)
        world.post("landing/g-1", landed)
    return begun


def test_a_dropped_piece_never_starts_and_the_others_keep_their_numbers() -> None:
    world = changed(planned((), (), ()), 2, "drop")
    start(world)
    assert {run.session for run in world.owes(StartRun)} == {"s-1", "s-2", "s-4"}
    assert list(pieces(world)) == [1, 3]


def test_who_waited_for_a_dropped_piece_waits_for_what_that_one_waited_for() -> None:
    world = changed(planned((), (), (1, 2), (3,)), 3, "drop")
    assert order(world) == {1: (), 2: (), 4: (1, 2)}
    start(world)
    assert land_all(world) == [1, 2, 4]


def test_the_only_piece_left_cannot_be_dropped() -> None:
    world = changed(planned((), ()), 1, "drop")
    with pytest.raises(Refused, match="Discard the plan instead"):
        changed(world, 2, "drop")


def test_size_model_machine_and_agent_are_taken_into_the_workers_session() -> None:
    world = planned((), ())
    world.post("fleet", MachineAdded(machine="build-box", address="dev@build-box", max_runs=4))
    world.post(
        "fleet", MachineSeen(machine="build-box", fenced=True, fence="", agents=(("claude", "2"),))
    )
    world.post("fleet", AccountAdded(account=OTHER))
    changed(world, 1, "size", "L")
    changed(world, 1, "machine", "build-box")
    changed(world, 1, "model", "fast-1")
    changed(world, 2, "agent", "claude")
    changed(world, 2, "model", "opus")
    start(world)
    first, second = (
        next(run for run in world.owes(StartRun) if run.session == session)
        for session in ("s-2", "s-3")
    )
    assert pieces(world)[1].size == "L"
    assert (first.machine, first.model, first.account) == ("build-box", "fast-1", ACCOUNT)
    assert (second.machine, second.model, second.account) == ("here", "opus", OTHER)


def test_a_model_does_not_go_along_to_another_agent() -> None:
    world = planned(())
    changed(world, 1, "model", "fast-1")
    changed(world, 1, "agent", "claude")
    assert pieces(world)[1].model == ""


@pytest.mark.parametrize(
    ("piece", "what", "value", "sentence"),
    [
        (7, "drop", "", "There is no piece 7 in this plan."),
        (1, "size", "XL", "A piece is small, medium or large"),
        (1, "model", "--help", "That is no model's name"),
        (1, "model", "two words", "That is no model's name"),
        (1, "agent", "codex", "No account drives codex. Add one first; there are: rehearsal, cl"),
        (1, "machine", "moon", "There is no machine moon. There are: here, build-box."),
        (1, "colour", "red", "its size, model, agent, machine and order can be changed"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(
    piece: int, what: str, value: str, sentence: str
) -> None:
    world = planned((), ())
    before = goal(world)
    with pytest.raises(Refused) as refused:
        changed(world, piece, what, value)
    assert sentence in str(refused.value)
    assert goal(world) == before


def test_a_piece_goes_to_no_machine_without_its_agent() -> None:
    world = changed(planned((), ()), 1, "agent", "claude")
    with pytest.raises(Refused, match="build-box has no claude"):
        changed(world, 1, "machine", "build-box")
    changed(world, 2, "machine", "build-box")
    with pytest.raises(Refused, match=r"build-box has no claude. Choose another machine"):
        changed(world, 2, "agent", "claude")


def test_no_order_is_taken_in_which_pieces_wait_for_each_other() -> None:
    world = planned((), (1,), (2,))
    with pytest.raises(Refused, match="Pieces 1, 2, 3 wait for each other"):
        changed(world, 1, "after", "", 3)
    with pytest.raises(Refused, match="cannot wait for itself"):
        changed(world, 1, "after", "", 1)
    with pytest.raises(Refused, match="There is no piece 9"):
        changed(world, 1, "after", "", 9)
    changed(world, 3, "after", "", 1)
    assert order(world) == {1: (), 2: (1,), 3: (1,)}


def test_only_a_plan_that_waits_can_be_changed() -> None:
    for over in (PlanStarted(plan="pl-1"), PlanDiscarded(plan="pl-1"), GoalDropped()):
        world = planned((), ())
        world.post("goal/g-1", over)
        with pytest.raises(Refused, match=r"already started|already discarded|goal is over"):
            changed(world, 1, "drop")
    with pytest.raises(Refused, match="replaced by a newer one"):
        planned(()).post("goal/g-1", PlanChanged(plan="pl-0", piece=1, what="drop"))


def test_of_two_taps_on_one_showing_the_second_is_refused() -> None:
    """Both were judged by the card, before either was taken."""
    world = planned((), ())
    drop = PlanChanged(plan="pl-1", piece=2, what="drop", edits=0)
    world.post("goal/g-1", drop)
    for late in (PlanStarted(plan="pl-1", edits=0), replace(drop, piece=1, what="size", value="L")):
        with pytest.raises(Refused, match="changed since it was shown"):
            world.post("goal/g-1", late)
    world.post("goal/g-1", PlanStarted(plan="pl-1", edits=1))
    assert set(pieces(world)) == {1}


def test_every_change_gives_the_card_another_revision_and_its_undoing_the_first_again() -> None:
    world = planned((), (), ())
    seen = {world.card("pl-1").revision}
    for piece, what, value, after in (
        (1, "size", "L", ()),
        (1, "model", "fast-1", ()),
        (1, "agent", "claude", ()),
        (2, "machine", "here", ()),
        (3, "after", "", (1,)),
        (2, "drop", "", ()),
    ):
        changed(world, piece, what, value, *after)
        seen.add(world.card("pl-1").revision)
    assert len(seen) == 7
    again = planned((), ())
    first = again.card("pl-1").revision
    changed(changed(again, 1, "size", "L"), 1, "size", "M")
    assert again.card("pl-1").revision == first


def test_the_lead_hears_in_one_line_what_became_of_its_plan() -> None:
    world = planned((), (), (2,))
    changed(world, 2, "drop")
    changed(world, 3, "size", "L")
    changed(world, 3, "after", "", 1)
    told = start(world)
    assert (
        'The owner changed it first: piece 2 "Piece 2" dropped, not wanted now; '
        "piece 3: size L, after piece 1." in told
    )
    assert "2 pieces" in told


def test_nothing_is_said_of_changes_that_were_taken_back() -> None:
    world = changed(changed(planned((), ()), 1, "size", "L"), 1, "size", "M")
    assert "changed" not in start(world)


def test_the_workers_prompt_is_as_its_lead_wrote_it() -> None:
    world = planned((), ())
    before = pieces(world)[2].task
    changed(changed(world, 1, "drop"), 2, "size", "L")
    start(world)
    worker = next(run for run in world.owes(StartRun) if run.session == "s-3")
    assert worker.prompt.endswith(f"Its task:\n\n{before}")
    assert 'number 2, "Piece 2"' in worker.prompt


def test_another_plan_of_the_leads_starts_from_its_own_words() -> None:
    world = changed(planned((), ()), 1, "drop")
    world.owed.clear()
    proposed(world, draft("Anew"), draft("Beside"))
    assert news.plan_changes(goal(world).as_proposed, goal(world).pieces) == ""
    card = world.card("pl-1")
    assert isinstance(card, PlanCard)
    assert not card.changed


def test_a_lead_that_may_start_its_plan_starts_what_the_owner_left_of_it() -> None:
    world = proposed(opened(go="auto"), draft("One"), draft("Two"))
    changed(world, 1, "drop")
    world.owed.clear()
    world.post("goal/g-1", PlanStarted(plan="", by="lead", call="s-1-t1#2"))
    assert not world.take(ReplyDesk).is_error
    assert [piece.stage for piece in goal(world).pieces] == [Stage.WORKING]


def test_what_is_offered_to_wait_for_is_never_refused() -> None:
    world = planned((), (1,), (2,), ())
    card = world.card("pl-1")
    assert isinstance(card, PlanCard)
    offered = choices.of_plan(goal(world), Fleet(accounts=(ACCOUNT,)), card)
    assert [choice.may_wait_for for choice in offered.pieces] == [
        (4,),
        (1, 4),
        (1, 2, 4),
        (1, 2, 3),
    ]


def test_machines_that_are_not_ticked_are_not_offered_and_those_away_say_why() -> None:
    world = planned(())
    card = world.card("pl-1")
    assert isinstance(card, PlanCard)
    away = Machine(name="build-box", why="it does not answer")
    scarce = Fleet(machines=(Machine(name="here", up=True), away, Machine(name="attic")))
    ticked = replace(goal(world), machines=("here", "build-box"))
    offered = choices.of_plan(ticked, scarce, card)
    assert offered.machines == ("here", "build-box")
    assert offered.away == (("build-box", "it does not answer"),)


def at_desk(world: World) -> tuple[Desk, Session]:
    desk = Desk(cast(Ledger, None), Hub(Path("/nowhere")), lambda: world.states, lambda: 0.0)
    return desk, world.states["session/s-1"]


async def test_the_leads_status_shows_what_the_owner_changed() -> None:
    world = changed(planned((), ()), 1, "drop")
    desk, lead = at_desk(world)
    told = await desk(lead, "s-1-t2#1", "status", {})
    assert 'plan: proposed, changed by the owner: piece 1 "Piece 1" dropped' in str(told)


async def test_a_plan_that_names_an_agent_no_account_drives_is_sent_back() -> None:
    """Its worker would run on its lead's account, whatever the plan said."""
    desk, lead = at_desk(planned(()))
    piece = {"title": "A", "task": "Do A", "size": "S", "agent": "codex"}
    plan = {"summary": "One", "pieces": [piece]}
    assert await desk(lead, "s-1-t2#1", "propose_plan", plan) == (
        "Piece 1 names the agent codex, and no account drives it. There are: rehearsal. Name none, "
        "and it has yours."
    )


# ---------------------------------------------------------------- whatever the owner does

KINDS = st.sampled_from(["drop", "size", "model", "agent", "machine", "after"])
VALUES = st.sampled_from(["", "S", "L", "opus", "claude", "rehearsal", "build-box", "here", "-x"])
NUMBERS = st.integers(0, 7)
CHANGES = st.lists(
    st.builds(
        PlanChanged,
        plan=st.just("pl-1"),
        piece=NUMBERS,
        what=KINDS,
        value=VALUES,
        after=st.lists(NUMBERS, max_size=3).map(tuple),
        reach=st.just(REACH),
    ),
    max_size=25,
)


@st.composite
def plans(draw: Any) -> World:
    count = draw(st.integers(1, 6))
    return planned(
        *(
            tuple(sorted(draw(st.sets(st.integers(1, n - 1), max_size=3)))) if n > 1 else ()
            for n in range(1, count + 1)
        )
    )


@given(world=plans(), wanted=CHANGES)
def test_whatever_is_changed_leaves_a_plan_that_can_start_and_land_as_a_whole(
    world: World, wanted: list[PlanChanged]
) -> None:
    now, said = goal(world), []
    for event in wanted:
        try:
            now = change(now, event)
        except Refused as refusal:
            said.append(refusal.sentence)
    assert all(sentence.endswith(".") for sentence in said)
    left = {piece.number: piece for piece in now.pieces}
    assert left
    for piece in now.pieces:
        assert piece.size in plan.SIZES
        assert left.keys() >= {*piece.after}
        assert not piece.machine or piece.agent in dict(REACH.machines)[piece.machine]
        assert (piece.account or ACCOUNT).agent == piece.agent
    waiting = tuple(replace(piece, stage=Stage.WAITING) for piece in now.pieces)
    while ready := plan.ready(waiting):
        waiting = tuple(
            replace(piece, stage=Stage.LANDED) if piece in ready else piece for piece in waiting
        )
    assert all(piece.stage is Stage.LANDED for piece in waiting)


def test_a_machine_offers_the_agents_that_some_account_drives_there() -> None:
    away = Machine(name="build-box", agents=(("claude", "2"),))
    scarce = Fleet(machines=(Machine(name="here"), away), accounts=(OTHER,))
    assert reach(scarce).machines == (("here", ("claude",)), ("build-box", ("claude",)))
