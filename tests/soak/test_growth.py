"""What counts as a leak, and what does not."""

from tests.soak.growth import Size, leaks


def test_a_goal_may_leave_a_little_and_files_may_come_and_go() -> None:
    assert leaks("engine", Size(26.0, 40, 0), Size(27.0, 42, 1), 50) == []


def test_memory_files_and_children_that_only_grow_are_each_said() -> None:
    assert leaks("node", Size(14.0, 20, 0), Size(34.0, 70, 3), 50) == [
        "node: 14.0 → 34.0 MB over 50 goals",
        "node: 20 → 70 open files",
        "node: 3 children that nobody waited for",
    ]
