"""Accounts that rest: one limit or one stale login holds all their runs, and each goes on by itself."""

from __future__ import annotations

import pytest

from engine import board
from engine.errors import Refused
from engine.rules.effects import StartRun
from engine.rules.events import (
    AccountAdded,
    AccountFreed,
    HeldAll,
    LimitReached,
    MachineSeen,
    RunExited,
    RunRefused,
    TurnEnded,
)
from engine.rules.piece import BATCH_S
from engine.rules.words import TurnError
from engine.views import LoginCard, WorkerCard
from tests.rules.world import ACCOUNT, World, draft, started


def silent(_run: str) -> str:
    return ""


def refused(world: World, start: StartRun, kind: TurnError, resets_at: float = 0.0) -> None:
    """An agent at work is refused by its provider, and its process ends."""
    stream = f"session/{start.session}"
    if resets_at:
        world.post(stream, LimitReached(run=start.run, resets_at=resets_at))
    world.post(stream, TurnEnded(run=start.run, error="Not logged in", kind=kind))
    world.post(stream, RunExited(run=start.run))


def two_at_work() -> tuple[World, StartRun, StartRun]:
    world = started(draft("Orders"), draft("Page"))
    world.turn("Noted.")  # the lead hears that its plan was started
    return world, world.begin_turn(), world.begin_turn()


def general(world: World) -> list[LoginCard]:
    return [card for card in board.general(world.states) if isinstance(card, LoginCard)]


def waits(world: World, piece: str) -> list[str]:
    card = world.card(piece)
    assert isinstance(card, WorkerCard)
    return [wait.why for wait in card.waits]


def test_a_stale_login_is_one_card_and_holds_every_run_of_its_account() -> None:
    """BR-54."""
    world, first, second = two_at_work()
    refused(world, first, TurnError.LOGIN)
    refused(world, second, TurnError.LOGIN)
    assert world.owes(StartRun) == []
    (card,) = general(world)
    assert (card.account, card.stage, card.buttons[-1]) == ("main", "needed", "retry")
    assert waits(world, "p-1") == waits(world, "p-2") == ["account main: not signed in"]
    assert [piece.attempt for piece in world.states["goal/g-1"].pieces] == [1, 1]


def test_a_run_that_cannot_start_for_want_of_a_login_waits_on_the_same_card() -> None:
    world = started(draft("Orders"))
    world.turn("Noted.")
    (start,) = world.owes(StartRun)
    why = "There is no login at /there."
    world.post(f"session/{start.session}", RunRefused(run=start.run, why=why, kind=TurnError.LOGIN))
    (card,) = general(world)
    assert why in card.why
    assert world.states["goal/g-1"].failure == ""
    world.post("fleet", AccountFreed(name="main"))
    again = world.owes(StartRun)[-1]
    assert (again.session, again.prompt) == (start.session, start.prompt)
    assert again.run != start.run


@pytest.mark.parametrize("mended", [AccountFreed(name="main"), AccountAdded(account=ACCOUNT)])
def test_signed_in_again_all_that_was_refused_goes_on_by_itself(
    mended: AccountFreed | AccountAdded,
) -> None:
    world, first, second = two_at_work()
    refused(world, first, TurnError.LOGIN)
    refused(world, second, TurnError.LOGIN)
    world.post("fleet", mended)
    assert general(world) == []
    again = world.owes(StartRun)
    assert sorted(start.session for start in again) == ["s-2", "s-3"]
    assert all("Build" in start.prompt for start in again)
    assert [piece.attempt for piece in world.states["goal/g-1"].pieces] == [1, 1]


def test_a_retry_of_a_login_that_works_again_is_refused_with_a_sentence() -> None:
    world = started(draft("Orders"))
    with pytest.raises(Refused, match="does not wait for you"):
        world.post("fleet", AccountFreed(name="main"))


def test_nobody_is_started_into_a_limit_that_another_run_has_met() -> None:
    world, first, second = two_at_work()
    refused(world, first, TurnError.LIMIT, resets_at=world.now + 3600)
    world.end_turn(second, "Built.")
    world.pass_time(BATCH_S)  # its lead has news now
    assert world.owes(StartRun) == []
    lead = world.states["session/s-1"]
    assert lead.where == "account main: its plan's usage limit"
    assert lead.waits_until == world.now - BATCH_S + 3600 + 60
    assert general(world) == []
    world.pass_time(3661 - BATCH_S)
    assert sorted(start.session for start in world.owes(StartRun)) == ["s-1", "s-2"]


def test_the_later_of_two_limits_counts() -> None:
    world, first, second = two_at_work()
    refused(world, first, TurnError.LIMIT, resets_at=world.now + 3600)
    refused(world, second, TurnError.LIMIT, resets_at=world.now + 7200)
    world.pass_time(4000)
    assert world.owes(StartRun) == []
    world.pass_time(3600)
    assert len(world.owes(StartRun)) == 3


def test_resume_all_tries_at_once_whatever_the_provider_said() -> None:
    world, first, _ = two_at_work()
    refused(world, first, TurnError.LIMIT, resets_at=world.now + 3600)
    world.pass_time(BATCH_S)
    world.post("fleet", HeldAll(held=False))
    assert [start.session for start in world.owes(StartRun)] == ["s-1"]


def test_an_account_at_rest_holds_no_run_of_another() -> None:
    world, first, _ = two_at_work()
    refused(world, first, TurnError.LOGIN)
    world.post("fleet", MachineSeen(machine="here", fenced=True, fence="fenced"))
    assert world.owes(StartRun) == []
    fleet = world.states["fleet"]
    assert [slot.account for slot in fleet.wanting] == ["main"]
