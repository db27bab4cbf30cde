"""What Claude Code's lines mean, where the wire is easy to misread."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.adapters.agents.claude import Claude
from engine.adapters.agents.driver import (
    Asked,
    Began,
    Busy,
    Ended,
    Limit,
    Meaning,
    Memory,
    Request,
    Retrying,
    Said,
    Tool,
    ToolDone,
    Unknown,
)

driver = Claude()


def read(*lines: dict[str, Any]) -> list[Meaning]:
    memory = Memory()
    return [meaning for line in lines for meaning in driver.read(json.dumps(line), memory)]


def asked(tool: str, given: dict[str, Any]) -> Asked:
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": given}
    (meaning,) = read({"type": "control_request", "request_id": "r", "request": request})
    assert isinstance(meaning, Asked)
    return meaning


def used(tool: str, given: dict[str, Any], **more: Any) -> list[Meaning]:
    content = [{"type": "tool_use", "name": tool, "input": given}]
    return read(
        {"type": "system", "subtype": "init", "cwd": "/tree"},
        {"type": "assistant", "message": {"content": content}, **more},
    )[1:]


def brief(tool: str, given: dict[str, Any]) -> str:
    (meaning,) = used(tool, given)
    assert isinstance(meaning, Tool)
    return meaning.brief


def result(**fields: Any) -> Ended:
    (meaning,) = read({"type": "result", **fields})
    assert isinstance(meaning, Ended)
    return meaning


def test_success_is_what_the_flag_says_not_the_subtype() -> None:
    ended = result(subtype="success", is_error=True, result="API Error: 500", api_error_status=500)
    assert (ended.error, ended.error_kind, ended.text) == ("API Error: 500", "api", "")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"subtype": "error_max_turns", "terminal_reason": "max_turns"}, "turns"),
        ({"subtype": "error_max_budget_usd", "terminal_reason": "budget_exhausted"}, "budget"),
        (
            {"subtype": "error_during_execution", "terminal_reason": "aborted_streaming"},
            "interrupted",
        ),
        ({"is_error": True, "api_error": "usage_limit_reached", "api_error_status": 429}, "limit"),
        ({"is_error": True, "result": "Rate limited", "api_error_status": 429}, "api"),
        ({"is_error": True, "result": "Not logged in · Please run /login"}, "login"),
        (
            {"is_error": True, "result": "Credit balance is too low", "api_error_status": 400},
            "login",
        ),
        ({"is_error": True, "result": "no", "api_error_type": "not_found_error"}, "model"),
        ({"is_error": True, "errors": ["No conversation found with session ID: x"]}, "resume"),
        ({"is_error": True}, "api"),
    ],
)
def test_each_bad_end_is_named(fields: dict[str, Any], kind: str) -> None:
    ended = result(**fields)
    assert ended.error_kind == kind
    assert ended.error


def test_an_error_that_was_got_over_does_not_name_the_next_one() -> None:
    refused = {"type": "assistant", "message": {}, "error": "authentication_failed"}
    fine = {"type": "result", "is_error": False, "result": "x"}
    broken = {"type": "result", "is_error": True, "result": "API Error: 500"}
    ends = [one for one in read(refused, fine, broken) if isinstance(one, Ended)]
    assert [one.error_kind for one in ends] == ["", "api"]


def test_a_turn_costs_what_it_used_not_what_the_session_did() -> None:
    usage = {"a": {"costUSD": 0.25}, "b": {"costUSD": 0.5}, "c": None}
    assert result(total_cost_usd=9.0, model_usage_since_last_result=usage).cost_usd == 0.75


def test_where_only_the_total_is_told_the_difference_counts() -> None:
    first, second = read(
        {"type": "result", "total_cost_usd": 1.0}, {"type": "result", "total_cost_usd": 1.5}
    )
    assert isinstance(first, Ended)
    assert isinstance(second, Ended)
    assert (first.cost_usd, second.cost_usd) == (1.0, 0.5)


def test_a_turn_without_a_word_is_empty() -> None:
    assert result(result=" \n").is_empty
    assert not result(result="x").is_empty
    thought = {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "…"}]}}
    first, second = read(thought, {"type": "result"}, {"type": "result"})
    assert isinstance(first, Ended)
    assert isinstance(second, Ended)
    assert (first.is_empty, second.is_empty) == (False, True), "to think of it is to have heard it"


def test_what_a_subagent_says_is_not_the_turns_word_but_its_work_is_seen() -> None:
    content = [{"type": "text", "text": "sub report"}, {"type": "tool_use", "name": "Bash"}]
    line = {"type": "assistant", "parent_tool_use_id": "t", "message": {"content": content}}
    assert read(line) == [Tool("Bash", "Bash")]


def test_an_error_in_the_agents_words_is_said_though_its_usage_is_null() -> None:
    """BR-57."""
    message = {"model": "<synthetic>", "usage": None, "content": [{"type": "text", "text": "429"}]}
    assert read({"type": "assistant", "message": message, "error": "unknown"}) == [Said("429")]
    assert read({"type": "assistant", "message": {"content": "plain"}}) == [Said("plain")]


def test_every_window_told_of_is_passed_on() -> None:
    info = {
        "status": "allowed_warning",
        "rateLimitType": "five_hour",
        "resetsAt": 100,
        "utilization": 0.93,
        "unifiedWindows": {"seven_day": {"utilization": 0.8, "resetsAt": 900, "status": "allowed"}},
    }
    limits = read({"type": "rate_limit_event", "rate_limit_info": info})
    assert limits == [
        Limit(900, "seven_day", 0.8, False),
        Limit(100, "five_hour", 0.93, False),
    ]


def test_a_window_paid_for_as_overage_is_no_limit_to_wait_for() -> None:
    info = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": 100}
    event = {"type": "rate_limit_event", "rate_limit_info": info | {"isUsingOverage": True}}
    assert read(event) == [Limit(100, "five_hour", None, False)]


def test_a_bare_refusal_is_passed_on_and_a_bare_consent_says_nothing() -> None:
    """BR-109: what is not told is left open, not wiped."""
    refused = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}
    allowed = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}}
    assert read(refused) == [Limit(None, "", None, True)]
    assert read(allowed) == []


def test_tasks_behind_the_turn_are_counted() -> None:
    """BR-71."""
    changed = {"type": "system", "subtype": "background_tasks_changed"}
    assert read(changed | {"tasks": [{}, {}]}, changed | {"tasks": []}) == [Busy(2), Busy(0)]


def test_a_fallback_model_and_a_retry_are_waits_of_the_agents_own() -> None:
    fallback = {"original_model": "a", "fallback_model": "b"}
    retry = {"error": "overloaded", "error_status": None, "attempt": 3, "retry_delay_ms": 2400}
    assert read(
        {"type": "system", "subtype": "model_fallback", **fallback},
        {"type": "system", "subtype": "api_retry", **retry},
    ) == [Retrying("b stands in for a", 0, 0.0), Retrying("overloaded", 3, 2.4)]


def test_what_it_does_now_is_one_line_below_its_tree() -> None:
    assert used("Write", {"file_path": "/tree/src/a.py", "content": "x"}) == [
        Tool("Write", "Write: src/a.py", given="/tree/src/a.py x")
    ]
    assert brief("Read", {"file_path": "/etc/passwd"}) == "Read: passwd"
    assert brief("Bash", {"command": "make\n  check"}) == "Bash: make check"
    assert brief("AskUserQuestion", {}) == "asks you something"
    assert brief("mcp__quarterdeck__status", {}) == "status"
    assert len(brief("Bash", {"command": "x" * 500})) == 160


def test_a_tool_is_told_of_with_what_it_is_given_and_the_id_its_result_will_bear() -> None:
    given = {"command": "make  all", "description": "Build it"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": given}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "made"}
    line = {"type": "assistant", "message": {"content": [call]}}
    assert read(line, {"type": "user", "message": {"content": [result]}}) == [
        Tool("Bash", "Bash: Build it", "t1", "make all"),
        ToolDone("", "t1"),
    ]
    (of_subagent,) = read(line | {"parent_tool_use_id": "t0"})
    assert isinstance(of_subagent, Tool)
    assert of_subagent.use == "", "its result is not told of"


def test_a_change_is_shown_whole() -> None:
    edit = {"file_path": "/tree/a.py", "old_string": "one\ntwo", "new_string": "three"}
    assert asked("Edit", edit).detail == "/tree/a.py\n\n- one\n- two\n+ three"
    assert asked("Write", {"file_path": "/a", "content": "x\n"}).detail == "/a\n\nx\n"
    assert asked("Read", {"file_path": "/etc/hosts"}).detail == "/etc/hosts"
    assert asked("WebFetch", {"url": "http://x/", "prompt": "p"}).detail == "http://x/"
    other = asked("mcp__x__pay", {"amount": 5})
    assert other.title == "Use a tool of an MCP server"
    assert other.detail == 'mcp__x__pay\n\n{\n  "amount": 5\n}'


def test_no_title_holds_text_of_a_repository() -> None:
    titles = {asked(tool, {"command": "SECRET", "file_path": "SECRET"}).title for tool in TOOLS}
    assert not any(word in title for title in titles for word in ("SECRET", "evil", "New"))


TOOLS = ("Bash", "Write", "Edit", "NotebookEdit", "WebFetch", "mcp__evil", "SomethingNew")


def test_a_question_that_asks_nothing_is_shown_as_a_permission() -> None:
    assert asked("AskUserQuestion", {"questions": None}).kind == "permission"


def test_a_request_of_another_kind_is_named() -> None:
    request = {
        "type": "control_request",
        "request_id": "r",
        "request": {"subtype": "hook_callback"},
    }
    assert read(request) == [Unknown("control_request/hook_callback")]


def test_an_answer_carries_the_questions_back() -> None:
    request = Request("r", "AskUserQuestion", '{"questions": [{"question": "Q"}]}')
    body = json.loads(driver.answer(request, {"Q": "A"}))["response"]
    assert body["request_id"] == "r"
    assert body["response"]["updatedInput"] == {
        "questions": [{"question": "Q"}],
        "answers": {"Q": "A"},
    }


def test_an_approved_approach_never_goes_further_than_edits() -> None:
    for mode, flag in (("ask", "default"), ("edit", "acceptEdits"), ("full", "acceptEdits")):
        line = driver.approve(Request("r", "ExitPlanMode", "{}"), mode)  # type: ignore[arg-type]
        update = json.loads(line)["response"]["response"]["updatedPermissions"]
        assert update == [{"type": "setMode", "mode": flag, "destination": "session"}]


def test_a_version_never_tried_is_said() -> None:
    assert driver.version_warning("2.1.332") == ""
    assert "9.9.9" in driver.version_warning("9.9.9")


def test_a_desk_that_did_not_connect_is_noticed() -> None:
    servers = [{"name": "quarterdeck", "status": "pending"}, {"name": "x", "status": "connected"}]
    (began,) = read({"type": "system", "subtype": "init", "mcp_servers": servers, "tools": None})
    assert began == Began("", "", "", tools_ok=False, desk_ok=False)
