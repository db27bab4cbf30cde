"""Machines and their places for runs."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    AccountAdded,
    AccountRemoved,
    FleetEvent,
    HeldAll,
    MachineLost,
    MachineSeen,
    Placed,
    Queued,
    SlotFreed,
    SlotWanted,
)
from engine.rules.fleet import MAX_RUNS, Fleet, begin, decide
from engine.rules.words import Account

HERE = MachineSeen(machine="here", fenced=True, fence="fenced")
BOX = MachineSeen(machine="build-box", fenced=True, fence="fenced")


def wanted(run: str, machine: str = "") -> SlotWanted:
    return SlotWanted(run=run, teller=f"session/{run}", machine=machine)


def after(*events: FleetEvent, now: Fleet | None = None) -> tuple[Fleet, list[AnyEffect]]:
    """Decide all events; return the fleet, and what the last of them led to."""
    fleet = now or begin("")
    effects: tuple[AnyEffect, ...] = ()
    for event in events:
        fleet, effects = decide(fleet, event)
    return fleet, list(effects)


def placed(effects: list[AnyEffect]) -> dict[str, tuple[str, str]]:
    tells = [effect.event for effect in effects if isinstance(effect, Tell)]
    return {event.run: (event.machine, event.why) for event in tells if isinstance(event, Placed)}


def queued(effects: list[AnyEffect]) -> dict[str, str]:
    tells = [effect.event for effect in effects if isinstance(effect, Tell)]
    return {event.run: event.why for event in tells if isinstance(event, Queued)}


def test_a_run_goes_to_the_only_machine_and_is_told_so() -> None:
    fleet, effects = after(HERE, wanted("r-1"))
    assert placed(effects) == {"r-1": ("here", "here: only machine ticked")}
    assert [slot.run for slot in fleet.running] == ["r-1"]


def test_a_run_goes_where_fewest_agents_run_and_is_told_how_many() -> None:
    fleet, effects = after(HERE, BOX, wanted("r-1"), wanted("r-2"))
    assert placed(effects) == {"r-2": ("build-box", "build-box: fewest agents running there (0)")}
    _, effects = after(wanted("r-3", "here"), now=fleet)
    assert placed(effects) == {"r-3": ("here", "here: only machine ticked")}


def test_a_full_machine_lets_the_next_wait_its_turn() -> None:
    runs = [wanted(f"r-{n}") for n in range(MAX_RUNS)]
    fleet, effects = after(HERE, *runs, wanted("late"))
    assert queued(effects) == {"late": f"here: all {MAX_RUNS} places are taken"}
    fleet, effects = after(wanted("later"), now=fleet)
    assert list(queued(effects)) == ["later"]  # who was told before is not told again
    _, effects = after(SlotFreed(run="r-3"), now=fleet)
    assert list(placed(effects)) == ["late"]


def test_a_place_is_asked_for_once() -> None:
    fleet, _ = after(HERE, wanted("r-1"))
    assert after(wanted("r-1"), now=fleet) == (fleet, [])
    freed, _ = after(SlotFreed(run="r-1"), now=fleet)
    assert after(SlotFreed(run="r-1"), now=freed)[0].running == ()


def test_who_waits_is_told_when_the_reason_changes() -> None:
    fleet, effects = after(wanted("r-1"))
    assert queued(effects) == {"r-1": "here: its node has not answered yet"}
    fleet, effects = after(MachineLost(machine="here", why="the link broke"), now=fleet)
    assert queued(effects) == {"r-1": "here: the link broke"}
    _, effects = after(HERE, now=fleet)
    assert list(placed(effects)) == ["r-1"]


def test_a_machine_nobody_has_is_named() -> None:
    _, effects = after(HERE, wanted("r-1", "attic"))
    assert "attic" in queued(effects)["r-1"]


def test_stop_all_places_nothing_until_resume_all() -> None:
    fleet, effects = after(HERE, HeldAll(held=True), wanted("r-1"))
    assert queued(effects) == {"r-1": "everything is stopped: /resume all goes on"}
    _, effects = after(HeldAll(held=False), now=fleet)
    assert list(placed(effects)) == ["r-1"]


def test_a_machine_that_comes_back_keeps_its_place_in_the_list() -> None:
    fleet, _ = after(HERE, BOX, MachineLost(machine="here", why="away"), HERE)
    assert [machine.name for machine in fleet.machines] == ["here", "build-box"]
    assert all(machine.up for machine in fleet.machines)


def test_an_account_is_replaced_by_name_and_removed_once() -> None:
    old, new = Account("main", "claude"), Account("main", "rehearsal")
    fleet, _ = after(AccountAdded(account=old), AccountAdded(account=new))
    assert fleet.accounts == (new,)
    fleet, _ = after(AccountRemoved(name="main"), now=fleet)
    with pytest.raises(Refused, match="no account main"):
        decide(fleet, AccountRemoved(name="main"))
