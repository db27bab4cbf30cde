"""What a machine's disk lost of runs' output is told once for each machine, and added up."""

from __future__ import annotations

from engine.rules import damage
from engine.rules.effects import Say
from engine.rules.events import SpoolDamaged
from engine.rules.fleet import Fleet, begin, decide


def after(*events: SpoolDamaged) -> tuple[Fleet, list[str]]:
    fleet, said = begin(""), []
    for event in events:
        fleet, effects = decide(fleet, event)
        said += [(f"{e.goal}: {e.text}") for e in effects if isinstance(e, Say) and not e.sounds]
    return fleet, said


def test_a_machine_whose_disk_lost_lines_is_told_of_once_and_its_loss_added_up() -> None:
    fleet, said = after(
        SpoolDamaged(machine="here", run="s-1-t1", lines=1, size=1, goal="g-1"),
        SpoolDamaged(machine="here", run="s-2-t4", lines=2, size=4096, goal="g-2"),
        SpoolDamaged(machine="nas", run="s-3-t1", lines=1, size=50_000_000, goal="g-3"),
    )
    assert said == [
        "g-1: here: of what s-1-t1 printed, 1 line (1 byte) cannot be read. All else was read. Its "
        "disk loses what is written, or something there wrote over it: look at it.",
        "g-3: nas: of what s-3-t1 printed, 1 line (50 MB) cannot be read. All else was read. Its "
        "disk loses what is written, or something there wrote over it: look at it.",
    ]
    assert [damage.listed(one) for one in fleet.damages] == [
        "3 lines (4 kB) cannot be read",
        "1 line (50 MB) cannot be read",
    ]
