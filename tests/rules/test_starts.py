"""Few runs start at once, and none into a machine whose memory is nearly full."""

from __future__ import annotations

from engine.rules import starts
from engine.rules.effects import Tell
from engine.rules.events import (
    FleetEvent,
    HeldAll,
    MachineAdded,
    MachineLoad,
    MachineLost,
    MachineSeen,
    Placed,
    Queued,
    RunUp,
    SlotFreed,
    SlotWanted,
    StartOver,
)
from engine.rules.fleet import Fleet, begin, decide


def here(cores: int = 2, free_mb: int = -1, at: float = 0.0) -> MachineSeen:
    return MachineSeen(
        machine="here", fenced=True, fence="fenced", cores=cores, free_mb=free_mb, at=at
    )


def wanted(number: int, machine: str = "", at: float = 0.0) -> SlotWanted:
    return SlotWanted(run=f"r-{number}", teller=f"session/r-{number}", machine=machine, at=at)


def behind(place: str, starting: int = 2) -> str:
    who = "1 agent starts" if starting == 1 else f"{starting} agents start"
    return f"here: starting, {place} in line; {who} just now"


class Line:
    """A fleet, and what each run was told last."""

    def __init__(self, *events: FleetEvent) -> None:
        self.fleet: Fleet = begin("")
        self.said: dict[str, str] = {}
        self.due: dict[str, float] = {}
        self.until: dict[str, float] = {}
        self.told = 0
        self.after(*events)

    def after(self, *events: FleetEvent) -> None:
        for event in events:
            self.fleet, effects = decide(self.fleet, event)
            for effect in effects:
                assert isinstance(effect, Tell)
                match effect.event:
                    case Placed(run=run, machine=machine):
                        self.said[run] = f"on {machine}"
                    case Queued(run=run, why=why, until=until):
                        self.said[run] = why
                        self.until[run] = until
                        self.told += 1
                    case StartOver(run=run):
                        self.due[run] = effect.due_at


def test_no_more_runs_start_at_once_than_there_are_cores() -> None:
    line = Line(here(), *(wanted(n) for n in range(1, 6)))
    assert line.said == {
        "r-1": "on here",
        "r-2": "on here",
        "r-3": behind("1st"),
        "r-4": behind("2nd"),
        "r-5": behind("3rd"),
    }


def test_who_is_in_line_is_told_when_it_starts_at_the_latest() -> None:
    """Promise 7: a start is counted for so long and no longer, so the end of the wait is known."""
    line = Line(here(), wanted(1, at=10.0), wanted(2, at=20.0), *(wanted(n) for n in (3, 4, 5)))
    assert line.until == {"r-3": 130.0, "r-4": 140.0, "r-5": 250.0}
    line.after(RunUp(run="r-2", at=50.0))
    assert line.until["r-4"] == 130.0


def test_who_waits_starts_when_an_agent_has_come_up_and_the_line_moves_on() -> None:
    line = Line(here(), *(wanted(n) for n in range(1, 6)), RunUp(run="r-2"))
    assert line.said["r-3"] == "on here"
    assert line.said["r-4"] == behind("1st")
    assert line.said["r-5"] == behind("2nd")


def test_a_start_is_over_when_its_run_is() -> None:
    line = Line(here(cores=1), wanted(1), wanted(2), SlotFreed(run="r-1"))
    assert line.said["r-2"] == "on here"


def test_a_start_that_takes_too_long_holds_nobody_up_any_longer() -> None:
    line = Line(here(cores=1), wanted(1, at=50.0), wanted(2, at=60.0))
    assert line.due == {"r-1": 50.0 + starts.START_S}
    line.after(StartOver(run="r-1", at=170.0))
    assert line.said["r-2"] == "on here"
    assert line.due == {"r-1": 170.0}  # nobody waits for the second one


def test_nobody_is_timed_while_nobody_waits() -> None:
    assert Line(here(), wanted(1), wanted(2)).due == {}


def test_who_leaves_the_line_lets_the_others_move_up() -> None:
    line = Line(here(cores=1), wanted(1), wanted(2), wanted(3), SlotFreed(run="r-2"))
    assert line.said["r-3"] == behind("1st", 1)


def test_a_run_goes_where_it_can_start_now() -> None:
    box = MachineSeen(machine="build-box", fenced=True, fence="fenced", cores=8)
    added = MachineAdded(machine="build-box", address="dev@build-box", max_runs=8)
    line = Line(here(cores=1), added, box, *(wanted(n) for n in range(1, 5)))
    assert list(line.said.values()) == ["on here", "on build-box", "on build-box", "on build-box"]


def test_a_machine_that_tells_no_cores_starts_any_number() -> None:
    line = Line(here(cores=0), *(wanted(n) for n in range(1, 6)))
    assert set(line.said.values()) == {"on here"}


def test_a_run_waits_while_memory_is_nearly_full() -> None:
    """BR-66."""
    line = Line(here(free_mb=3000), wanted(1), RunUp(run="r-1"))
    line.after(MachineLoad(machine="here", free_mb=600), wanted(2))
    assert line.said["r-2"] == "here: memory is nearly full (0.6 GB free)"
    line.after(MachineLoad(machine="here", free_mb=700))
    assert line.said["r-2"] == "here: memory is nearly full (0.7 GB free)"
    line.after(MachineLoad(machine="here", free_mb=2000))
    assert line.said["r-2"] == "on here"


def test_what_is_promised_to_those_that_start_is_counted() -> None:
    """BR-66: several together must not take what each alone would find."""
    room = starts.FLOOR_MB + 2 * starts.NEEDS_MB
    line = Line(here(cores=8, free_mb=room), *(wanted(n) for n in range(1, 6)))
    assert [run for run, said in line.said.items() if said == "on here"] == ["r-1", "r-2", "r-3"]
    assert line.said["r-4"] == "here: memory is nearly full (0.4 GB free)"


def test_one_run_is_let_through_however_little_memory_there_is() -> None:
    line = Line(here(free_mb=100), wanted(1), wanted(2))
    assert line.said["r-1"] == "on here"
    line.after(SlotFreed(run="r-1"))
    assert line.said["r-2"] == "on here"


def test_a_report_that_is_old_holds_nobody() -> None:
    line = Line(here(free_mb=100), wanted(1), RunUp(run="r-1"), wanted(2, at=starts.FRESH_S + 1))
    assert line.said["r-2"] == "on here"


def test_of_many_that_come_upon_an_old_report_one_starts_and_the_others_wait_for_a_new_one() -> (
    None
):
    """BR-66: all at once, as after /resume all, each would find the memory of an hour ago."""
    late = starts.FRESH_S + 1
    line = Line(here(cores=8, free_mb=9000), *(wanted(n, at=late) for n in range(1, 9)))
    assert [run for run, said in line.said.items() if said == "on here"] == ["r-1"]
    assert line.said["r-2"] == "here: its memory is looked at first"
    room = starts.FLOOR_MB + 3 * starts.NEEDS_MB
    line.after(MachineLoad(machine="here", free_mb=room, at=late))
    assert [run for run, said in line.said.items() if said == "on here"] == [
        *("r-1", "r-2", "r-3", "r-4")
    ]
    assert line.said["r-5"] == "here: memory is nearly full (0.4 GB free)"


def test_who_waits_for_a_look_goes_on_if_the_machine_does_not_say() -> None:
    late = starts.FRESH_S + 1
    line = Line(here(cores=8, free_mb=9000), wanted(1, at=late), wanted(2, at=late))
    line.after(MachineLoad(machine="here", free_mb=starts.UNKNOWN, at=late))
    assert line.said["r-2"] == "on here"


def test_the_reason_of_a_wait_that_comes_first_is_the_one_said() -> None:
    line = Line(here(cores=1), wanted(1), HeldAll(held=True), wanted(2))
    assert line.said["r-2"] == "everything is stopped: /resume all goes on"
    line.after(HeldAll(held=False))
    assert line.said["r-2"] == behind("1st", 1)
    line.after(MachineLost(machine="here", why="the link broke"))
    assert line.said["r-2"] == "here: the link broke"
    line.after(here(cores=1))
    assert line.said["r-2"] == behind("1st", 1)


def test_places_are_numbered_as_people_do() -> None:
    said = {n: starts.in_line(n, 2).split()[1] for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 112)}
    assert list(said.values()) == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "112th")
    ]
