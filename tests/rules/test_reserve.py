"""The reserve: new workers wait where less is left than the owner keeps, and begin by themselves."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules import reserve
from engine.rules.effects import StartRun
from engine.rules.events import (
    AccountAdded,
    AccountUsed,
    LimitReached,
    PlanStarted,
    ReserveSet,
    RunExited,
    TurnEnded,
)
from engine.rules.piece import BATCH_S
from engine.rules.reserve import UNTOLD_S, Window, known, past, told
from engine.rules.turn_ends import LIMIT_MARGIN_S
from engine.rules.words import Role, TurnError
from engine.views import WorkerCard
from tests.rules.world import ACCOUNT, World, draft, opened, proposed, started

RESET = 5000.0
HOLD = "account main: 84 % used, past the 20 % you keep, resets 14:00; /settings reserve off starts it now"
HEARD = "Account main is 84 % used, past the 20 % the owner keeps, resets 14:00."


def used(
    percent: int = 84, resets_at: float = RESET, clock: str = "14:00", window: str = "five_hour"
) -> AccountUsed:
    return AccountUsed(
        name="main", window=window, percent=percent, resets_at=resets_at, clock=clock
    )


def past_the_reserve(*titles: str) -> World:
    """A plan that starts while 84 % of its account is used, and the owner keeps 20 %."""
    world = proposed(opened(), *(draft(title) for title in titles or ("Orders",)))
    world.turn("planned")
    world.owed.clear()
    world.post("fleet", ReserveSet(value="20"))
    world.post("fleet", used())
    world.post("goal/g-1", PlanStarted(plan="pl-1"))
    world.turn("Noted.")  # the lead hears that its plan was started: nothing holds that
    return world


def waits(world: World, piece: str = "p-1") -> list[tuple[str, float]]:
    card = world.card(piece)
    assert isinstance(card, WorkerCard)
    return [(wait.why, wait.until) for wait in card.waits]


def workers(world: World) -> int:
    return sum(start.role is Role.WORKER for start in world.owes(StartRun))


def test_a_new_worker_waits_with_the_exact_reason_and_begins_at_the_reset() -> None:
    world = past_the_reserve()
    assert (workers(world), waits(world)) == (0, [(HOLD, RESET)])
    world.pass_time(RESET - world.now - 1)
    assert workers(world) == 0
    world.pass_time(1)
    assert workers(world) == 1


def test_its_lead_hears_it_once_however_many_wait_and_however_the_share_grows() -> None:
    world = past_the_reserve("Orders", "Page", "Cart")
    world.post("fleet", used(88))
    world.pass_time(BATCH_S)
    prompt = world.turn("Noted.")
    assert prompt.count("past the 20 % the owner keeps") == 1
    assert HEARD in prompt
    world.post("fleet", used(91))
    world.pass_time(BATCH_S)
    assert world.owes(StartRun) == []
    assert waits(world)[0][0].startswith("account main: 91 % used")


@pytest.mark.parametrize("value", ["off", "0", "10", "16 %"])
def test_a_lower_reserve_starts_what_waited(value: str) -> None:
    world = past_the_reserve("Orders", "Page")
    world.post("fleet", ReserveSet(value=value))
    assert workers(world) == 2
    assert waits(world) == []


def test_a_higher_one_only_changes_the_reason() -> None:
    world = past_the_reserve()
    world.post("fleet", ReserveSet(value="30"))
    assert workers(world) == 0
    assert "past the 30 % you keep" in waits(world)[0][0]


def at_work_past_the_reserve() -> tuple[World, StartRun]:
    """A worker ran; then its account is all but used up."""
    world = started(draft("Orders"), draft("Page", 1))
    world.turn("Noted.")
    first = world.begin_turn()
    world.post("fleet", ReserveSet(value="20"))
    world.post("fleet", used(99))
    return world, first


def test_what_has_begun_goes_on_at_any_share() -> None:
    """A worker that ran before is no new one, whatever ended its turn."""
    world, first = at_work_past_the_reserve()
    world.post(f"session/{first.session}", RunExited(run=first.run, why="cut off"))
    assert world.take(StartRun).session == first.session
    assert first.role is Role.WORKER


def test_after_a_limit_it_goes_on_while_the_reserve_is_touched_still() -> None:
    world, first = at_work_past_the_reserve()
    stream = f"session/{first.session}"
    world.post(stream, LimitReached(run=first.run, resets_at=2000.0))
    world.post(stream, TurnEnded(run=first.run, kind=TurnError.LIMIT))
    world.post(stream, RunExited(run=first.run))
    assert waits(world) == [("account main", 2000.0 + LIMIT_MARGIN_S)]
    world.pass_time(2000)
    assert first.session in [start.session for start in world.owes(StartRun)]


def test_of_several_windows_the_one_that_resets_last_counts() -> None:
    world = past_the_reserve()
    world.post("fleet", used(95, 9000.0, "Tue 08:00", "seven_day"))
    assert waits(world)[0][1] == 9000.0
    assert "95 % used" in waits(world)[0][0]
    world.pass_time(RESET)
    assert workers(world) == 0
    world.pass_time(9000)
    assert workers(world) == 1


def test_a_login_given_anew_may_be_another_subscription() -> None:
    world = past_the_reserve()
    world.post("fleet", AccountAdded(account=ACCOUNT))
    assert workers(world) == 1


def test_what_one_telling_lacks_is_kept_from_those_before() -> None:
    """BR-109: a bare event, one with a reset only, one with a share only."""
    windows: tuple[Window, ...] = ()
    for event in (
        AccountUsed(name="main", window="five_hour", at=1.0),
        AccountUsed(name="main", window="five_hour", resets_at=RESET, clock="14:00", at=2.0),
        AccountUsed(name="main", window="five_hour", percent=84, at=3.0),
        AccountUsed(name="main", window="five_hour", at=4.0),
        AccountUsed(name="main", window="five_hour", resets_at=RESET, clock="14:00", at=5.0),
    ):
        windows = told(windows, event)
    (window,) = windows
    assert (window.percent, window.resets_at, window.clock) == (84, RESET, "14:00")


def test_a_window_whose_reset_has_passed_is_known_no_more() -> None:
    windows = told((), AccountUsed(name="main", window="five_hour", percent=84, at=1.0))
    assert past(windows, "main", 20, UNTOLD_S) is not None  # a share alone holds but shortly
    assert past(windows, "main", 20, UNTOLD_S + 1) is None
    windows = told((), AccountUsed(name="main", window="w", percent=99, resets_at=50.0, at=1.0))
    later = AccountUsed(name="main", window="w", resets_at=90.0, clock="15:00", at=51.0)
    assert past(told(windows, later), "main", 20, 52.0) is None


def test_a_share_is_past_the_reserve_only_above_it() -> None:
    windows = (Window(account="main", name="five_hour", percent=80, resets_at=RESET),)
    assert past(windows, "main", 20, 1.0) is None
    assert past(windows, "main", 21, 1.0) == windows[0]
    assert past(windows, "main", 0, 1.0) is None
    assert past(windows, "other", 90, 1.0) is None


def test_odd_agents_do_not_fill_the_fleet_with_windows() -> None:
    windows: tuple[Window, ...] = ()
    for number in range(100):
        windows = told(windows, AccountUsed(name="main", window=f"w{number}", percent=1, at=1.0))
    assert len(known(windows, "main", 2.0)) == reserve.MAX_WINDOWS


@pytest.mark.parametrize("value", ["all", "-5", "95", "100", "2.5", "", "9" * 50])
def test_a_share_that_cannot_be_kept_is_refused_with_what_can(value: str) -> None:
    world = opened()
    with pytest.raises(Refused, match="/settings reserve 20, or reserve off"):
        world.post("fleet", ReserveSet(value=value))
