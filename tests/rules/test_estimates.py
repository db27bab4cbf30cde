"""What a plan may cost and take: medians of what landed, kept with the plan."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine import history
from engine.rules import estimates
from engine.rules.estimates import Landed, by_size, total
from engine.rules.events import PlanChanged, PlanProposed
from engine.rules.plan import Piece
from engine.rules.words import Estimate, PlanEstimate
from engine.views import PlanCard
from tests.rules.test_plan_changes import goal, land_all, planned, start
from tests.rules.world import World, draft, opened

SMALL = Estimate("S", 3, 0.2, 60.0)
LARGE = Estimate("L", 5, 1.0, 600.0)


def piece(number: int, size: str, *after: int) -> Piece:
    return Piece(id=f"p-{number}", number=number, title="t", task="t", size=size, after=after)


def test_each_size_is_estimated_by_the_median_of_the_projects_own_pieces() -> None:
    landed = [
        *(Landed("shop", "S", cost, took) for cost, took in ((0.1, 10), (0.3, 90), (9.0, 40))),
        Landed("other", "S", 5.0, 5.0),
        Landed("other", "L", 2.0, 300.0),
    ]
    assert by_size(landed, "shop") == (
        Estimate("S", 3, 0.3, 40),
        Estimate("L", 1, 2.0, 300.0, same_project=False),
    )
    assert by_size([], "shop") == ()


def test_money_adds_up_and_time_is_that_of_the_longest_chain() -> None:
    pieces = (piece(1, "S"), piece(3, "L", 1), piece(4, "S"), piece(5, "S", 1, 4))
    assert total(pieces, (SMALL, LARGE)) == PlanEstimate(1.6, 660.0, 8)


def test_nothing_is_estimated_without_a_history_and_what_is_missing_is_counted() -> None:
    assert total((piece(1, "M"),), (SMALL, LARGE)) is None
    assert total((piece(1, "M"), piece(2, "S", 1)), (SMALL,)) == PlanEstimate(
        0.2, 60.0, 3, unknown=1
    )


@given(
    st.lists(st.tuples(st.sampled_from("SML"), st.sets(st.integers(1, 5), max_size=2)), min_size=1)
)
def test_no_plan_takes_longer_than_its_pieces_one_after_the_other_nor_less_than_one(
    drawn: list[tuple[str, set[int]]],
) -> None:
    pieces = [
        piece(number, size, *(n for n in after if n < number))
        for number, (size, after) in enumerate(drawn, start=1)
    ]
    each = [found.took_s for one in pieces if (found := estimates.of(one, (SMALL, LARGE)))]
    whole = total(pieces, (SMALL, LARGE))
    assert (whole is None) == (not each)
    if whole:
        assert max(each) <= whole.took_s <= sum(each)


def proposed_with(*found: Estimate) -> World:
    world = opened()
    event = PlanProposed(
        plan="pl-1",
        summary="Do it",
        pieces=(draft("One"), draft("Two", 1)),
        piece_ids=("p-1", "p-2"),
        session_ids=("s-2", "s-3"),
        estimates=found,
    )
    world.post("goal/g-1", event)
    return world


def card(world: World) -> PlanCard:
    found = world.card("pl-1")
    assert isinstance(found, PlanCard)
    return found


def test_the_card_says_the_same_until_the_owner_changes_a_size_or_drops_a_piece() -> None:
    medium = Estimate("M", 4, 0.5, 300.0)
    world = proposed_with(medium, LARGE)
    assert card(world).estimate == PlanEstimate(1.0, 600.0, 4)
    assert [line.cost_usd for line in card(world).pieces] == [0.5, 0.5]
    world.post("goal/g-1", PlanChanged(plan="pl-1", piece=1, what="size", value="L"))
    assert card(world).estimate == PlanEstimate(1.5, 900.0, 9)
    world.post("goal/g-1", PlanChanged(plan="pl-1", piece=1, what="drop"))
    assert card(world).estimate == PlanEstimate(0.5, 300.0, 4)


def test_what_a_piece_took_is_remembered_from_its_workers_start_to_its_landing() -> None:
    world = planned((), (1,))
    start(world)
    world.now += 100
    land_all(world)
    first, second = goal(world).pieces
    assert (first.landed_at - first.started_at, second.started_at) == (100, first.landed_at)
    found = list(history.landed(world.states, "rehearsal"))
    assert [(one.project, one.size, one.took_s) for one in found] == [
        ("shop", "M", 100),
        ("shop", "M", 0),
    ]


def test_rehearsals_say_nothing_of_what_a_real_agent_costs() -> None:
    world = planned(())
    start(world)
    land_all(world)
    assert list(history.landed(world.states, "claude")) == []
