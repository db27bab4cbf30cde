"""The way of a reviewed branch to the push."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Check, Push, TakeRemote, Tell
from engine.rules.events import (
    GaveUp,
    GoalShipped,
    PushDone,
    ShipCancelled,
    ShipChecked,
    ShipEvent,
    ShipFailed,
    ShipOpened,
    ShipProceeded,
    ShipPushed,
    ShipTaken,
)
from engine.rules.ship import Ship, Stage, begin, check_run, decide
from engine.rules.words import CheckVerdict

PASSED = CheckVerdict(passed=True, summary="passed in 1 s")
RED = CheckVerdict(passed=False, summary="exit 1", report="2 failed")
OPENED = ShipOpened(
    ship="sh-1",
    review="r-1",
    project="shop",
    base="main",
    base_commit="b0",
    head="c1",
    check="make test",
)
TAKEN = ShipTaken(remote_head="b0", commit="c1")
CHECKED = ShipChecked(commit="c1", verdict=PASSED)


def after(*events: ShipEvent, now: Ship | None = None) -> tuple[Ship, list[AnyEffect]]:
    ship = now or begin("g-1")
    ordered: list[AnyEffect] = []
    for event in events:
        ship, effects = decide(ship, event)
        ordered += effects
    return ship, ordered


def ready() -> Ship:
    return after(OPENED, ShipProceeded(), TAKEN, CHECKED)[0]


def test_what_is_pushed_is_what_was_checked_onto_what_it_was_checked_against() -> None:
    ship, ordered = after(OPENED, ShipProceeded(), TAKEN, CHECKED, ShipPushed())
    assert [type(effect) for effect in ordered] == [TakeRemote, Check, Push]
    assert ordered[-1] == Push(goal="g-1", project="shop", base="main", commit="c1", expected="b0")
    done = PushDone(commit="c1", where="main", landed=True)
    ship, ordered = after(done, now=ship)
    shipped = GoalShipped(commit="c1", where="main")
    assert ordered == [Tell(stream="goal/g-1", event=shipped)]
    assert decide(ship, done) == (ship, ())


@pytest.mark.parametrize("events", [(), (ShipProceeded(),), (ShipProceeded(), TAKEN)])
def test_nothing_is_pushed_before_it_is_ready(events: tuple[ShipEvent, ...]) -> None:
    ship, _ = after(OPENED, *events)
    with pytest.raises(Refused):
        decide(ship, ShipPushed())


def test_a_second_push_is_refused_while_the_first_is_under_way() -> None:
    """BR-16."""
    pushing, _ = after(ShipPushed(), now=ready())
    with pytest.raises(Refused, match="Already pushing"):
        decide(pushing, ShipPushed())
    with pytest.raises(Refused, match="Already pushing"):
        decide(pushing, ShipCancelled())


def test_a_remote_that_moved_asks_for_push_anew() -> None:
    moved = PushDone(commit="c1", where="", landed=False, moved=True)
    ship, ordered = after(ShipPushed(), moved, now=ready())
    assert [type(effect) for effect in ordered] == [Push, TakeRemote]
    taken = ShipTaken(remote_head="b9", commit="m9", moved=True)
    ship, ordered = after(taken, CHECKED, now=ship)  # the old commit's check comes late
    assert ship.stage is Stage.CHECKING
    ship, ordered = after(ShipChecked(commit="m9", verdict=PASSED), now=ship)
    assert (ship.stage, ordered) == (Stage.READY, [])
    assert after(ShipPushed(), now=ship)[1] == [
        Push(goal="g-1", project="shop", base="main", commit="m9", expected="b9")
    ]


@pytest.mark.parametrize(
    ("events", "why", "words"),
    [
        ((ShipTaken(remote_head="", commit="", failure="no such branch"),), "no such branch", ""),
        ((TAKEN, ShipChecked(commit="c1", verdict=RED)), "the check failed (exit 1)", "2 failed"),
        ((GaveUp(effect="TakeRemote", why="no answer"),), "no answer", ""),
        ((TAKEN, GaveUp(effect="Check", why="no answer")), "no answer", ""),
        (
            (
                TAKEN,
                CHECKED,
                ShipPushed(),
                PushDone(commit="c1", where="", landed=False, words="no"),
            ),
            "the push was refused",
            "no",
        ),
    ],
)
def test_what_goes_wrong_puts_the_card_back_to_proceed_with_the_reason(
    events: tuple[ShipEvent, ...], why: str, words: str
) -> None:
    ship, _ = after(OPENED, ShipProceeded(), *events)
    assert (ship.stage, ship.why, ship.words) == (Stage.PROCEED, why, words)
    again = after(ShipProceeded(), now=ship)[0]
    assert (again.why, again.words, again.failed) == ("", "", None)


def test_a_conflict_with_a_moved_remote_goes_back_to_the_lead() -> None:
    clash = ShipTaken(remote_head="b9", commit="", moved=True, failure="a.py", conflict=True)
    ship, ordered = after(OPENED, ShipProceeded(), clash)
    assert ship.stage is Stage.HANDED_BACK
    assert ordered[-1:] == [Tell(stream="goal/g-1", event=ShipFailed(why="a.py", moved_to="b9"))]
    with pytest.raises(Refused, match="mends a conflict"):
        decide(ship, ShipPushed())
    newer, _ = after(replace(OPENED, ship="sh-2", review="r-2", head="c2"), now=ship)
    assert (newer.id, newer.stage) == ("sh-2", Stage.PROCEED)


def test_each_proceed_has_a_check_of_its_own() -> None:
    """BR-77: a run's verdict is heard once."""
    first = after(OPENED, ShipProceeded(), TAKEN)[0]
    second = after(ShipChecked(commit="c1", verdict=RED), ShipProceeded(), TAKEN, now=first)[0]
    again = after(CHECKED, ShipCancelled(), OPENED, ShipProceeded(), TAKEN, now=second)[0]
    assert len({check_run(ship) for ship in (first, second, again)}) == 3


def test_a_cancelled_ship_lets_a_newer_review_ship() -> None:
    cancelled, ordered = after(ShipCancelled(), now=ready())
    failed = ShipFailed(why="cancelled", cancelled=True)
    assert ordered == [Tell(stream="goal/g-1", event=failed)]
    with pytest.raises(Refused, match="press Ship"):
        decide(cancelled, ShipPushed())
    newer, _ = after(replace(OPENED, ship="sh-2", review="r-2", head="c2"), now=cancelled)
    assert (newer.id, newer.head, newer.commit, newer.stage) == ("sh-2", "c2", "", Stage.PROCEED)


def test_without_a_check_it_is_ready_once_the_remote_was_read() -> None:
    ship, _ = after(replace(OPENED, check=""), ShipProceeded(), TAKEN)
    assert (ship.stage, ship.summary) == (Stage.READY, "the project has no check")


def test_commits_of_the_owners_own_that_go_along_are_kept_for_the_card() -> None:
    """What was reviewed is not all that leaves when the base was never pushed."""
    ship, _ = after(OPENED, ShipProceeded(), replace(TAKEN, beside=2), CHECKED)
    assert (ship.stage, ship.beside) == (Stage.READY, 2)


@pytest.mark.parametrize(
    ("events", "effect"), [((), "TakeRemote"), ((TAKEN, CHECKED, ShipPushed()), "Push")]
)
def test_what_was_not_tried_has_not_failed_and_goes_on_from_proceed(
    events: tuple[ShipEvent, ...], effect: str
) -> None:
    no = GaveUp(effect=effect, why="the vault is shut", untried=True)
    waits, ordered = after(no, now=after(OPENED, ShipProceeded(), *events)[0])
    assert (waits.stage, waits.failed, waits.why) == (Stage.PROCEED, None, "the vault is shut")
    assert ordered == []
    ship, ordered = after(ShipProceeded(), now=waits)
    assert (ship.why, [type(effect) for effect in ordered]) == ("", [TakeRemote])
