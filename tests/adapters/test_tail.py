"""The end of a spool, as a person reads it."""

from __future__ import annotations

import json
from typing import Any, cast

from engine.adapters.agents.claude import Claude
from engine.adapters.machines import Machine
from engine.adapters.tail import FAILURE_LINES, LONGEST, SHOWN, at_work, seen
from engine.rules.words import LeftOff


def spool(*printed: dict[str, Any] | str) -> str:
    """One entry a second, from second 1 on."""
    return "".join(
        json.dumps(
            {"n": n, "t": float(n), "k": "out", "d": d if isinstance(d, str) else json.dumps(d)}
        )
        + "\n"
        for n, d in enumerate(printed, 1)
    )


def assistant(**block: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [block]}}


def uses(command: str) -> dict[str, Any]:
    return assistant(type="tool_use", id="t1", name="Bash", input={"command": command})


def says(text: str) -> dict[str, Any]:
    return assistant(type="text", text=text)


def result(words: str, *, error: bool = False, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": words, "is_error": error}
    return {"type": "user", "message": {"content": [block]}, **more}


def test_the_tool_in_use_is_told_with_its_beginning() -> None:
    found = seen(Claude(), spool(says("I run the tests."), uses("pytest -q")))
    assert (found.doing, found.since, found.last_at) == ("Bash: pytest -q", 2.0, 2.0)
    assert found.lines == ("I run the tests.", "▸ Bash: pytest -q")


def test_a_tool_that_is_done_is_not_in_use_and_its_error_is_shown() -> None:
    words = "Exit code 1\n\nfour\nlines\nof it"
    found = seen(Claude(), spool(uses("pytest"), result(words, error=True)))
    assert found.doing == ""
    assert found.lines == ("▸ Bash: pytest", "✗ Exit code 1", "✗ four", "✗ lines")
    assert len(found.lines) == 1 + FAILURE_LINES


def test_what_a_tool_printed_is_not_shown_nor_what_a_subagents_tool_did() -> None:
    found = seen(
        Claude(),
        spool(uses("ls"), result("a\nb\nc"), result("no", error=True, parent_tool_use_id="t9")),
    )
    assert found.lines == ("▸ Bash: ls",)


def test_only_the_newest_lines_are_kept_and_none_is_endless() -> None:
    found = seen(Claude(), spool(says("\n".join(f"line {n}" for n in range(50))), says("x" * 9000)))
    assert len(found.lines) == SHOWN
    assert found.lines[0] == "line 31"
    assert len(found.lines[-1]) == LONGEST


def test_what_is_no_line_of_ours_is_passed_over() -> None:
    torn = '{"n": 1, "t": 1.0, "k": "out", "d": "{\\n' + "\0\0\n[]\n" + '"text"\n'
    blob = json.dumps({"n": 7, "t": 7.0, "k": "out", "d": "{", "blob": "1", "size": 9}) + "\n"
    deep = spool("[" * 5000)
    found = seen(Claude(), torn + blob + deep + spool(says("Still here.")))
    assert found.lines == ("… a line too long to show", "Still here.")


class Spooled:
    """A machine that has one spool."""

    def __init__(self, data: str) -> None:
        self.data = data

    async def call(self, op: str, **asked: Any) -> dict[str, Any]:
        return {"data": self.data, "now": 9.0, "start": 0}


def too_long(start: str) -> str:
    return (
        json.dumps({"n": 5, "t": 5.0, "k": "out", "d": start, "blob": "1", "size": 2_000_000})
        + "\n"
    )


async def left_off(data: str) -> LeftOff:
    found = await at_work(cast(Machine, Spooled(data)), Claude(), "r1", lambda: 9.0)
    return found.left_off()


async def test_a_result_too_long_to_be_read_ends_the_tool_it_names() -> None:
    start = json.dumps(result("x" * 3000))[:2048]
    left = await left_off(spool(uses("git push")) + too_long(start))
    assert (left.tools, left.done, left.unread) == ((), "Bash: git push", 0)


async def test_a_line_too_long_that_names_no_open_tool_is_said_to_be_unknown() -> None:
    subagents = '{"type":"assistant","parent_tool_use_id":"t1","message":{'
    for start in ('{"type":"user","message":{', subagents):
        left = await left_off(spool(uses("git push")) + too_long(start))
        assert ([tool.use for tool in left.tools], left.unread) == (["t1"], 1)
