"""Which tools an agent has open, as its lines tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.adapters.agents.claude import Claude
from engine.adapters.agents.driver import Memory
from engine.adapters.at_work import MAX_KNOWN, MAX_TOOLS, SAID, AtWork

INIT = {"type": "system", "subtype": "init", "session_id": "s"}


def at_work(*printed: dict[str, Any], found: AtWork | None = None, start: float = 1.0) -> AtWork:
    """What is known after these lines, one a second of the machine's clock."""
    found, memory = found or AtWork(), Memory()
    for second, line in enumerate(printed):
        for meaning in Claude().read(json.dumps(line), memory):
            found.note(meaning, start + second)
    return found


def uses(use: str, command: str = "make", **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": command}}
    return {"type": "assistant", "message": {"content": [block]}, **more}


def gives(use: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": use, "content": "made"}
    return {"type": "user", "message": {"content": [block]}}


def says(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def open_in(found: AtWork) -> list[tuple[str, str, float]]:
    return [(tool.use, tool.given, tool.since) for tool in found.left_off().tools]


def test_a_tool_is_open_from_its_use_to_its_own_result() -> None:
    found = at_work(INIT, uses("t1", "make"), uses("t2", "ls"), gives("t1"))
    assert open_in(found) == [("t2", "ls", 3.0)]
    assert found.left_off().done == "Bash: make"


def test_what_is_read_a_second_time_changes_nothing() -> None:
    lines = (INIT, uses("t1"), uses("t2", "ls"), gives("t2"))
    found = at_work(*lines)
    assert open_in(at_work(*lines[1:], found=found, start=2.0)) == [("t1", "make", 2.0)]


def test_a_subagents_tools_are_not_the_agents_own() -> None:
    found = at_work(INIT, uses("t1", "x"), uses("t2", "y", parent_tool_use_id="t1"))
    assert [use for use, _, _ in open_in(found)] == ["t1"]


def test_the_end_of_a_turn_and_the_beginning_of_one_leave_nothing_open() -> None:
    assert open_in(at_work(INIT, uses("t1"), {"type": "result", "result": "x"})) == []
    assert open_in(at_work(INIT, uses("t1"), INIT)) == []


def test_times_are_told_by_our_clock_whatever_the_machines_says() -> None:
    found = at_work(INIT, uses("t1"))
    found.set_clock(2.0, 1007.0)  # read late
    found.set_clock(3.0, 1003.0)
    assert open_in(found) == [("t1", "make", 1002.0)]


def test_how_far_the_turn_had_gone_is_told_once_its_beginning_is_known() -> None:
    assert at_work(says("x")).left_off().went_s is None
    assert at_work(INIT, says("I look."), uses("t1")).left_off().went_s == 2.0


def test_nothing_an_agent_says_makes_it_grow_without_end() -> None:
    many = [uses(f"t{n}", "x" * 5000) for n in range(50)]
    left = at_work(INIT, says("word " * 9000), *many).left_off()
    assert len(left.said) == SAID
    assert len(left.tools) == MAX_TOOLS
    assert len(left.tools[0].given) == 300


@pytest.mark.parametrize("count", [MAX_TOOLS + 2, MAX_KNOWN + 6])
def test_of_many_open_tools_the_newest_are_told_and_how_many_more_there_are(count: int) -> None:
    found = at_work(INIT, *(uses(f"t{n}") for n in range(count)))
    left = found.left_off()
    assert [tool.use for tool in left.tools] == [f"t{n}" for n in range(count - MAX_TOOLS, count)]
    assert left.more == count - MAX_TOOLS
    left = at_work(*(gives(f"t{n}") for n in range(count - 1)), found=found).left_off()
    assert ([tool.use for tool in left.tools], left.more) == ([f"t{count - 1}"], 0)


def test_a_turn_in_which_the_clock_was_set_back_went_on_for_nobody_knows_how_long() -> None:
    found = at_work(INIT, start=7200.0)
    at_work(says("I look."), says("I work."), found=found, start=3600.0)
    assert found.left_off().went_s is None
    at_work(says("Later."), found=found, start=7200.5)
    assert found.left_off().went_s is None, "nor once it has caught up"
    at_work(INIT, says("x"), found=found, start=50.0)
    assert found.left_off().went_s == 1.0, "the next turn is measured by itself"


def test_an_end_seen_by_a_clock_set_back_is_no_early_one() -> None:
    found = at_work(INIT, start=7200.0)
    found.ended(3600.0)
    assert found.left_off().went_s is None
