"""What only the owner may allow is found in the command or tool that is asked for."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import ask as ask_rule
from engine.rules import asking, stakes
from engine.rules.ask import Ask
from engine.rules.effects import Tell
from engine.rules.events import Answered, AskRaised, PermissionAsked
from engine.rules.session_state import Session, Stage
from engine.rules.words import AskKind, Decision, Peril, Role, Stake

LINES = [
    line.split(" | ", 1)
    for line in (Path(__file__).parent / "stakes.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def bash(command: str) -> str:
    return json.dumps({"command": command})


@pytest.mark.parametrize(("what", "command"), LINES)
def test_each_line_of_the_table_is_found_or_let_pass(what: str, command: str) -> None:
    found = stakes.of_request("Bash", bash(command.replace("\\n", "\n")))
    assert [stake.what for stake in found][:1] == ([] if what == "-" else [what])


@pytest.mark.parametrize(
    ("tool", "peril"),
    [
        ("mcp__github__merge_pull_request", Peril.IRREVERSIBLE),
        ("mcp__mail__sendEmail", Peril.IRREVERSIBLE),
        ("mcp__db__delete_rows", Peril.IRREVERSIBLE),
        ("mcp__shop__search_and_delete", Peril.IRREVERSIBLE),
        ("mcp__stripe__create_charge", Peril.SPEND),
        ("mcp__cloud__create_account", Peril.ACCOUNT),
        ("mcp__github__get_release", None),
        ("mcp__docs__search", None),
        ("mcp__quarterdeck__put_for_review", None),
        ("Read", None),
        ("Edit", None),
    ],
)
def test_a_tool_is_told_by_its_name(tool: str, peril: Peril | None) -> None:
    found = [stake.peril for stake in stakes.of_request(tool, "{}")]
    expected = [] if peril is None or tool.endswith("get_release") else [peril]
    if tool.endswith("get_release"):  # "release" is a thing here: in doubt it costs a tap
        expected = [Peril.IRREVERSIBLE]
    assert found == expected


def test_names_of_what_is_lost_are_told() -> None:
    (found,) = stakes.of_request("Bash", bash("git push origin --delete feature/x"))
    assert found == Stake(Peril.IRREVERSIBLE, "branch there", ("origin", "feature/x"))
    (found,) = stakes.of_request("Bash", bash("git push -f origin HEAD:main"))
    assert found == Stake(Peril.IRREVERSIBLE, "force push", ("origin", "main"))


def test_files_elsewhere_are_at_stake_without_a_fence_alone() -> None:
    assert not stakes.of_request("Bash", bash("rm -rf ~/work"))
    (found,) = stakes.of_request("Bash", bash("rm -rf ~/work"), unfenced=True)
    assert found.what == "files"
    assert not stakes.of_request("Bash", bash("rm -rf build dist"), unfenced=True)


def nested(command: str, times: int) -> str:
    for _ in range(times):
        command = shlex.join(["sh", "-c", command])
    return command


@pytest.mark.parametrize(
    ("what", "command"),
    [
        ("tangled", ": " + "a " * 4000 + "; npm publish"),
        ("publishes", "env " + "A=1 " * 201 + "npm publish"),
        ("tangled", "env " + "npm " * 201),
        ("publishes", nested("npm publish", 4)),
        ("tangled", nested("npm publish", 5)),
        ("publishes", "python3 -c '" + "a=1;" * 300 + " npm publish'"),
        ("publishes", "cat > x <<'E'\n" + "a b\n" * 3000 + "npm publish\nE"),
    ],
)
def test_padding_hides_nothing(what: str, command: str) -> None:
    assert stakes.of_request("Bash", bash(command))[0].what == what


def test_a_long_file_that_is_only_written_is_no_stake() -> None:
    command = "cat > notes.md <<'E'\n" + "It's a line of a file\n" * 3000 + "E\npytest -q"
    assert not stakes.of_request("Bash", bash(command))


def test_a_request_that_cannot_be_read_is_a_stake() -> None:
    assert stakes.of_request("Bash", '{"command": "ls')[0].what == "tangled"
    assert not stakes.of_request("Write", '{"content": "a')


@given(st.text(max_size=300))
def test_any_text_at_all_is_judged(text: str) -> None:
    for stake in stakes.of_request("Bash", bash(text), unfenced=True):
        assert all(len(name) <= 120 for name in stake.names)


def raised(command: str) -> AskRaised:
    return AskRaised(
        run="r-1",
        ask="a-1",
        request="q1",
        kind=AskKind.PERMISSION,
        title="Run a command",
        detail=command,
        tool="Bash",
        input_json=bash(command),
        at=9.0,
    )


def asked_of(command: str) -> PermissionAsked:
    session = Session(
        id="s-1",
        role=Role.WORKER,
        goal="g-1",
        project="shop",
        stage=Stage.RUNNING,
        run="r-1",
    )
    _, effects = asking.put(session, raised(command))
    (tell,) = effects
    assert isinstance(tell, Tell)
    assert isinstance(tell.event, PermissionAsked)
    return tell.event


@pytest.mark.parametrize(("what", "command"), LINES)
def test_always_is_offered_for_nothing_that_is_at_stake(what: str, command: str) -> None:
    asked = asked_of(command).asked
    if what != "-":
        assert asked.rule is None
        assert asked.never


@pytest.mark.parametrize("by", ["its lead", "your rule", "its chief"])
def test_nobody_but_the_owner_says_yes_where_something_is_at_stake(by: str) -> None:
    asked = asked_of("git push -f origin main").asked
    opened, _ = ask_rule.decide(Ask(id="a-1"), asked)
    with pytest.raises(Refused, match="Only the owner"):
        ask_rule.decide(opened, Answered(decision=Decision.ALLOW, by=by))
    allowed, _ = ask_rule.decide(opened, Answered(decision=Decision.ALLOW))
    assert allowed.decision is Decision.ALLOW
    without = replace(opened, stakes=())
    assert ask_rule.decide(without, Answered(decision=Decision.ALLOW, by=by))[0].by == by
