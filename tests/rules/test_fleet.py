"""Machines and their places for runs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    AccountAdded,
    AccountRemoved,
    FleetEvent,
    HeldAll,
    MachineAdded,
    MachineLost,
    MachineOffered,
    MachinePaused,
    MachineRemoved,
    MachineSeen,
    OfferLeft,
    Placed,
    Queued,
    SlotFreed,
    SlotWanted,
)
from engine.rules.fleet import MAX_RUNS, Fleet, begin, decide
from engine.rules.words import Account

HERE = MachineSeen(machine="here", fenced=True, fence="fenced")
ADDED = MachineAdded(machine="build-box", address="dev@build-box", max_runs=2)
BOX = MachineSeen(
    machine="build-box", fenced=True, fence="fenced", agents=(("claude", "/usr/bin/claude"),)
)


def wanted(run: str, machine: str = "", agent: str = "", why: str = "") -> SlotWanted:
    return SlotWanted(run=run, teller=f"session/{run}", machine=machine, agent=agent, why=why)


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


def test_a_new_login_is_untried_until_a_turn_was_taken_up_with_that_one() -> None:
    claude = AccountAdded(account=Account("main", "claude"), at=10)
    fleet, _ = after(HERE, claude, AccountAdded(account=Account("play", "rehearsal")))
    assert fleet.untried == (("main", 10),)
    want = SlotWanted(run="r-1", teller="session/s-1", account="main", agent="claude", at=20)
    fleet, _ = after(want, now=fleet)
    assert after(SlotFreed(run="r-1"), now=fleet)[0].untried == fleet.untried
    over = SlotFreed(run="r-1", let_in=True)
    assert after(over, now=fleet)[0].untried == ()
    again = replace(claude, at=30)  # another token meanwhile: the turn says nothing of it
    assert after(again, over, now=fleet)[0].untried == (("main", 30),)


def test_a_run_goes_to_the_only_machine_and_is_told_so() -> None:
    fleet, effects = after(HERE, wanted("r-1"))
    assert placed(effects) == {"r-1": ("here", "here: only machine ticked")}
    assert [slot.run for slot in fleet.running] == ["r-1"]


def test_a_run_goes_where_fewest_agents_run_and_is_told_how_many() -> None:
    fleet, effects = after(HERE, ADDED, BOX, wanted("r-1"), wanted("r-2"))
    assert placed(effects) == {"r-2": ("build-box", "build-box: fewest agents running there (0)")}
    _, effects = after(wanted("r-3", "here", why="leads run here"), now=fleet)
    assert placed(effects) == {"r-3": ("here", "here: leads run here")}


def test_a_run_goes_only_where_its_agent_is() -> None:
    now, _ = after(HERE, ADDED, BOX, wanted("r-1"))
    assert placed(after(wanted("r-2", agent="claude"), now=now)[1])["r-2"][0] == "build-box"
    assert placed(after(wanted("r-2", agent="rehearsal"), now=now)[1])["r-2"][0] == "build-box"
    assert placed(after(wanted("r-2", agent="codex"), now=now)[1]) == {
        "r-2": ("here", "here: only machine with codex")
    }


def test_a_machine_that_is_down_gets_nothing_new_and_its_own_wait_for_it() -> None:
    down = MachineLost(machine="build-box", why="it refuses connections")
    now, effects = after(HERE, ADDED, BOX, down, wanted("r-1"))
    assert placed(effects)["r-1"][0] == "here"
    now, effects = after(wanted("r-2", "build-box", why="its tree is there"), now=now)
    assert queued(effects) == {"r-2": "build-box: it refuses connections"}
    _, effects = after(BOX, now=now)
    assert placed(effects) == {"r-2": ("build-box", "build-box: its tree is there")}


def test_a_machine_is_full_at_its_own_number_of_runs() -> None:
    named = [wanted(f"r-{n}", "build-box", why="named in the plan") for n in range(3)]
    now, effects = after(HERE, ADDED, BOX, *named)
    assert queued(effects) == {"r-2": "build-box: all 2 places are taken"}
    more = MachineAdded(machine="build-box", address="dev@build-box", max_runs=3)
    assert list(placed(after(more, now=now)[1])) == ["r-2"]


def test_a_machine_with_agents_at_work_is_not_removed() -> None:
    now, _ = after(HERE, ADDED, BOX, wanted("r-1", "build-box"))
    with pytest.raises(Refused, match="build-box has an agent at work"):
        decide(now, MachineRemoved(machine="build-box"))
    now, _ = after(SlotFreed(run="r-1"), MachineRemoved(machine="build-box"), BOX, now=now)
    assert [machine.name for machine in now.machines] == ["here"]


def test_this_machine_is_neither_added_nor_removed() -> None:
    now, _ = after(HERE, ADDED)
    for odd in (
        MachineRemoved(machine="here"),
        MachineAdded(machine="here", address="x", max_runs=1),
        MachineAdded(machine="build-box", address="elsewhere", max_runs=1),
        MachineRemoved(machine="attic"),
    ):
        with pytest.raises(Refused):
            decide(now, odd)


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
    fleet, _ = after(HERE, ADDED, BOX, MachineLost(machine="here", why="away"), HERE)
    assert [machine.name for machine in fleet.machines] == ["here", "build-box"]
    assert all(machine.up for machine in fleet.machines)


def test_an_account_is_replaced_by_name_and_removed_once() -> None:
    old, new = Account("main", "claude"), Account("main", "rehearsal")
    fleet, _ = after(AccountAdded(account=old), AccountAdded(account=new))
    assert fleet.accounts == (new,)
    fleet, _ = after(AccountRemoved(name="main"), now=fleet)
    with pytest.raises(Refused, match="no account main"):
        decide(fleet, AccountRemoved(name="main"))


def test_a_paused_machine_takes_no_new_run_and_says_so() -> None:
    paused = MachinePaused(machine="here", paused=True)
    fleet, effects = after(HERE, paused, wanted("r-1"))
    assert queued(effects) == {"r-1": "here: paused by you; /machines resumes it"}
    _, effects = after(MachinePaused(machine="here", paused=False), now=fleet)
    assert placed(effects) == {"r-1": ("here", "here: only machine ticked")}
    _, effects = after(HERE, ADDED, BOX, paused, wanted("r-1", agent="claude"))
    assert placed(effects) == {"r-1": ("build-box", "build-box: fewest agents running there (0)")}
    with pytest.raises(Refused, match="There is no machine there"):
        after(MachinePaused(machine="there", paused=True))


def test_what_was_looked_at_waits_for_add_and_is_gone_then() -> None:
    offered = MachineOffered(
        machine="build-box", address="dev@build-box", max_runs=2, fingerprint="S:1"
    )
    fleet, _ = after(offered)
    assert fleet.offer("build-box") is not None
    assert after(OfferLeft(machine="build-box"), now=fleet)[0].offers == ()
    fleet, _ = after(ADDED, now=fleet)
    assert fleet.offers == ()
    with pytest.raises(Refused, match="is there already"):
        after(offered, now=fleet)
    anew = replace(offered, fingerprint="S:2", expected="S:1")
    assert after(anew, now=fleet)[0].offer("build-box") is not None
