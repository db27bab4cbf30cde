"""No work begins on a disk that is nearly full; the owner hears so once, and so when it goes on."""

from __future__ import annotations

from typing import Any

from engine.rules import disks
from engine.rules.effects import Say, Tell
from engine.rules.events import (
    FleetEvent,
    MachineAdded,
    MachineLoad,
    MachineSeen,
    Placed,
    Queued,
    SlotWanted,
)
from engine.rules.fleet import begin, decide, short_of_room

NEEDS = 1000


def load(free: int, *, machine: str = "here", **more: Any) -> MachineLoad:
    return MachineLoad(
        machine=machine, free_mb=9000, disk_free_mb=free, disk_needs_mb=NEEDS, **more
    )


def tidied(free: int, *ours: tuple[str, int], machine: str = "here") -> MachineLoad:
    return load(free, machine=machine, tidied=True, ours=ours)


def seen(free: int, machine: str = "here") -> MachineSeen:
    told: dict[str, Any] = {"disk_free_mb": free, "disk_needs_mb": NEEDS}
    return MachineSeen(machine=machine, fenced=True, fence="", cores=4, free_mb=9000, **told)


def wanted(number: int) -> SlotWanted:
    return SlotWanted(run=f"r-{number}", teller=f"session/r-{number}", machine="")


class Box:
    """A fleet, what each run was told last, and all that the owner heard."""

    def __init__(self, *events: FleetEvent) -> None:
        self.fleet = begin("")
        self.said: list[Say] = []
        self.told: dict[str, str] = {}
        self.after(*events)

    def after(self, *events: FleetEvent) -> None:
        for event in events:
            self.fleet, effects = decide(self.fleet, event)
            for effect in effects:
                match effect:
                    case Say():
                        self.said.append(effect)
                    case Tell(event=Placed(run=run, machine=machine)):
                        self.told[run] = f"on {machine}"
                    case Tell(event=Queued(run=run, why=why)):
                        self.told[run] = why


def test_a_run_waits_with_the_reason_and_goes_on_by_itself() -> None:
    box = Box(seen(400), wanted(1))
    assert box.told["r-1"] == "here: disk nearly full (0.4 GB free)"
    assert short_of_room(box.fleet) == ("here",)
    box.after(load(300))
    assert box.told["r-1"] == "here: disk nearly full (0.3 GB free)"
    box.after(load(20_000))
    assert box.told["r-1"] == "on here"
    assert box.said == []  # it was over before anybody had to hear of it


def test_it_goes_on_only_with_some_to_spare() -> None:
    box = Box(seen(999), wanted(1), load(1001))
    assert box.told["r-1"] == "here: disk nearly full (1.0 GB free)"
    box.after(load(1101))
    assert box.told["r-1"] == "on here"


def test_the_owner_hears_once_what_may_be_deleted_when_nothing_else_could_be() -> None:
    box = Box(seen(400), load(390))
    assert box.said == []
    ours = (("backups", 2100), ("output of past runs", 800))
    box.after(tidied(380, *ours), load(200), tidied(180, *ours), load(160))
    (said,) = box.said
    assert (said.sounds, said.kind, said.goal) == (True, "warning", "")
    assert said.text == (
        "The box's disk is nearly full: 0.4 GB free. New work waits there, and goes on by itself once "
        "1.1 GB are free. What may be deleted on the box: in Quarterdeck's folder there: backups "
        "(2.1 GB), output of past runs (800 MB)."
    )
    health = disks.in_words(box.fleet.machines[0].disk)
    assert health == (
        "0.2 GB free, new work waits for 1.1 GB; may be deleted: backups (2.1 GB), output of past runs "
        "(800 MB)"
    )
    box.after(load(30_000))
    assert [one.sounds for one in box.said] == [True, False]
    assert box.said[1].text == (
        "There is room on the box's disk again (30.0 GB free). What waited goes on."
    )


def test_a_machine_that_does_not_say_holds_nobody_and_nothing_is_said_twice() -> None:
    box = Box(seen(410), tidied(400), wanted(1), MachineLoad(machine="here", free_mb=-1))
    assert box.told["r-1"] == "on here"
    box.after(tidied(390))
    assert len(box.said) == 1
    assert box.said[0].text.endswith("What may be deleted on the box: nothing of ours is large.")


def test_a_run_goes_where_there_is_room() -> None:
    added = MachineAdded(machine="build-box", address="dev@build-box", max_runs=8)
    box = Box(seen(400), added, seen(90_000, "build-box"), wanted(1))
    assert box.told["r-1"] == "on build-box"
    box.after(tidied(300, machine="build-box"), wanted(2))
    assert box.told["r-2"] == "here: disk nearly full (0.4 GB free)"
    assert "The disk of build-box is nearly full" in box.said[0].text
