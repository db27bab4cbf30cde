"""What a home may cost more after many goals, and what may not grow or stay."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.soak.growth import Size
from tests.soak.upkeep import Upkeep, grown, left

DAY = Upkeep(
    goals=4,
    processes={"engine": Size(29.0, 30, 0), "node": Size(14.0, 12, 0)},
    alive=Counter(python=2, node=1),
    disk_mb={"runs": 2.0, "sessions": 1.0, "attached": 0.0, "trees": 0.6, "hub": 0.8},
    ledger_mb=0.8,
    bot_mb=0.2,
    backups=0,
)
WEEK = replace(
    DAY,
    goals=50,
    processes={"engine": Size(36.0, 33, 0), "node": Size(15.0, 12, 1)},
    disk_mb={"runs": 25.0, "sessions": 12.0, "attached": 0.0, "trees": 0.6, "hub": 10.0},
    ledger_mb=10.0,
    bot_mb=2.0,
    backups=7,
)


def test_what_each_goal_leaves_may_lie_there_and_nothing_more() -> None:
    assert grown(DAY, WEEK) == []


def test_a_goal_that_costs_more_than_the_first_ones_did_is_said() -> None:
    worse = replace(
        WEEK,
        processes={"engine": Size(90.0, 80, 3), "node": Size(15.0, 12, 0)},
        alive=Counter(python=2, node=1, runner=2),
        disk_mb=WEEK.disk_mb | {"runs": 60.0, "trees": 30.0},
        ledger_mb=20.0,
        bot_mb=9.0,
    )
    assert [line.partition(":")[0] for line in grown(DAY, worse)] == [
        "engine",
        "engine",
        "engine",
        "processes",
        "runs",
        "trees",
        "ledger",
        "bot",
    ]


def test_once_all_has_had_its_time_only_commits_and_states_are_left() -> None:
    rooms = WEEK.disk_mb | {"runs": 0.0, "sessions": 0.0}
    late = replace(WEEK, disk_mb=rooms, ledger_mb=2.0, bot_mb=0.5)
    assert left(DAY, late) == []
    kept = [line.partition(":")[0] for line in left(DAY, WEEK)]
    assert kept == ["runs", "sessions", "the home", "ledger", "bot"]
