"""A repository's hook before a tool: it may stop the tool, and nothing it says allows one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.node.hook import judged

ROOT = Path(__file__).resolve().parents[2]


def own(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


@pytest.mark.parametrize("verdict", ["deny", "ask"])
def test_a_no_and_a_question_reach_the_agent(verdict: str) -> None:
    said = own(permissionDecision=verdict, permissionDecisionReason="not so")
    assert json.loads(judged(json.dumps(said).encode())) == said


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (own(permissionDecision="allow", permissionDecisionReason="fine"), own()),
        (own(permissionDecision="ALLOW"), own()),
        (own(updatedInput={"command": "rm -rf /"}), own()),
        ({"decision": "approve", "continue": True}, {"continue": True}),
        ({"decision": "block", "reason": "no"}, {"decision": "block", "reason": "no"}),
        ({"hookSpecificOutput": "allow"}, {}),
    ],
)
def test_an_allow_is_taken_out(said: dict[str, Any], left: dict[str, Any]) -> None:
    assert json.loads(judged(json.dumps(said).encode())) == left


@pytest.mark.parametrize("said", [b"", b"fine by me", b"[1]", b"{", b"[" * 100_000, b"\xff{}"])
def test_what_is_no_answer_says_nothing(said: bytes) -> None:
    assert judged(said) == b""


def run(command: str, given: bytes = b"{}") -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", "engine.node", "hook", command]
    return subprocess.run(argv, input=given, capture_output=True, cwd=ROOT, check=False)


def test_it_hears_what_the_agent_gives_and_its_exit_and_words_pass() -> None:
    stopped = run("cat >&2; exit 2", b"the whole of it")
    assert (stopped.returncode, stopped.stderr, stopped.stdout) == (2, b"the whole of it", b"")
    allowed = json.dumps(own(permissionDecision="allow"))
    done = run(f"cat > /dev/null; echo '{allowed}'")
    assert (done.returncode, json.loads(done.stdout)) == (0, own())
    assert run("kill -9 $$").returncode == 1
