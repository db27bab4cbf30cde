"""Which rule Always would keep of a request, and of what it never keeps one."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import shell
from engine.rules.always import Never, rule
from engine.rules.words import AlwaysKind, AlwaysRule


def of(command: str, **more: object) -> AlwaysRule | Never:
    return rule("Bash", json.dumps({"command": command, "description": "why", **more}))


def fetch(url: object) -> AlwaysRule | Never:
    return rule("WebFetch", json.dumps({"url": url, "prompt": "Read it"}))


@pytest.mark.parametrize(
    "command",
    [
        "make lint",
        "make -j4 lint test",
        "make lint 2>&1 | tail -20",
        "pytest -q tests/rules",
        "uv run pytest -q",
        "npm run build",
        "cd web && npm test",
        "git status; git diff --stat",
        "cargo build --release",
        "./gradlew test",
        "curl -sf https://example.org/health",
        "grep -rn 'a $b' src",
    ],
)
def test_a_plain_command_is_kept_word_for_word(command: str) -> None:
    assert of(command) == AlwaysRule(AlwaysKind.COMMAND, command)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("python -m pytest", Never.ANYTHING),
        ("bash -c 'make lint'", Never.ANYTHING),
        ("env make lint", Never.ANYTHING),
        ("uv run python x.py", Never.ANYTHING),
        ("make CC=cc", Never.ANYTHING),
        ("make -f other.mk", Never.ANYTHING),
        ("find . -name x -exec cat", Never.ANYTHING),
        ("ls | tee x", Never.ANYTHING),
        ("npx jest", Never.ANYTHING),
        ("pip install left-pad", Never.ANYTHING),
        ("go run .", Never.ANYTHING),
        ("scripts/test.sh", Never.FILE),
        ("./run", Never.FILE),
        ("rm -rf build", Never.STAYS),
        ("git push", Never.STAYS),
        ("git reset --hard", Never.STAYS),
        ("git branch -D old", Never.STAYS),
        ("git -c core.pager=x log", Never.STAYS),
        ("npm publish", Never.STAYS),
        ("npm run deploy", Never.STAYS),
        ("make release", Never.STAYS),
        ("docker push shop", Never.STAYS),
        ("gh pr merge 1", Never.STAYS),
        ("curl -X POST https://example.org", Never.STAYS),
        ("curl -d @data https://example.org", Never.STAYS),
        ("make lint && git push", Never.STAYS),
        ("cat .env", Never.KEYS),
        ("cat ../.ssh/id_rsa", Never.KEYS),
        ("printenv", Never.KEYS),
        ("A=1 make lint", Never.SHELL),
        ("make lint > out", Never.SHELL),
        ("make lint &", Never.SHELL),
        ("make lint || true", Never.SHELL),
        ("make $(cat x)", Never.SHELL),
        ("make `cat x`", Never.SHELL),
        ('make "$X"', Never.SHELL),
        ("make \\\nlint", Never.SHELL),
        ("make lint\nrm -rf x", Never.SHELL),
        ("ls *", Never.SHELL),
        ("m'ak'e lint", Never.SHELL),
        ("make l\u0456nt", Never.SHELL),
        ("make lint\u202e", Never.SHELL),
        ("make lint;", Never.SHELL),
        ("", Never.SHELL),
        ("echo " + "x" * 600, Never.LONG),
    ],
)
def test_what_may_be_something_else_or_stay_is_never_kept(command: str, why: Never) -> None:
    assert of(command) is why


def test_a_command_that_asks_for_more_than_to_be_run_is_never_kept() -> None:
    assert of("make lint", dangerouslyDisableSandbox=True) is Never.SHELL
    assert of("make lint", run_in_background=True) is Never.SHELL
    assert of("make lint", timeout=9000, run_in_background=False) == of("make lint")


@pytest.mark.parametrize("broken", ["", "{", "[]", '"make lint"', '{"command": ["make"]}'])
def test_a_request_that_cannot_be_read_is_never_kept(broken: str) -> None:
    assert isinstance(rule("Bash", broken), Never)


def test_a_page_is_kept_by_its_host() -> None:
    kept = AlwaysRule(AlwaysKind.SITE, "docs.example.org")
    assert fetch("https://docs.example.org/a?b#c") == kept
    assert fetch("https://DOCS.example.org:443") == kept


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "https://example.org:8443/",
        "https://example.org@evil.example/",
        "https://example.org\\@evil.example/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://box.local/",
        "https://ex\u0430mple.org/",
        "https://example.org\n.evil.example/",
        "https://example.org./",
        "",
        None,
    ],
)
def test_a_host_that_is_not_plain_is_never_kept(url: object) -> None:
    assert fetch(url) is Never.SITE


def test_a_tool_of_a_server_is_kept_by_its_name_unless_it_changes_what_is_elsewhere() -> None:
    name = "mcp__tracker__list_issues"
    assert rule(name, "{}") == AlwaysRule(AlwaysKind.TOOL, name)
    assert rule("mcp__tracker__deleteIssue", "{}") is Never.STAYS
    assert rule("mcp__base__run_query", "{}") is Never.ANYTHING
    assert rule("mcp__quarterdeck__done", "{}") is Never.TOOL
    assert rule("Edit", "{}") is Never.EDIT
    assert rule("Read", "{}") is Never.TOOL


def test_a_rule_kept_in_a_fence_does_not_hold_outside_one() -> None:
    inside = of("make lint")
    outside = rule("Bash", '{"command": "make lint"}', unfenced=True)
    assert isinstance(inside, AlwaysRule)
    assert isinstance(outside, AlwaysRule)
    assert inside.covers(inside)
    assert outside.covers(inside)
    assert not inside.covers(outside)


HOSTILE = [*"\n\r\t\0\\`$<>&*?[]{}()~#!^", "||", "\u202e", "\u200b", "\u0430", "\uff0f", "\u2028"]
OTHERS = [
    "sh",
    "bash",
    "python3",
    "node",
    "perl",
    "ruby",
    "eval",
    "exec",
    "xargs",
    "env",
    "sudo",
    "ssh",
    "nohup",
    "rm",
    "git",
    "push",
    "dd",
]
SPELT = [
    "{} x",
    "/usr/bin/{} x",
    "'{}' x",
    "cd a && {}",
    "cd a; {}",
    "ls | {}",
    "A=1 {}",
    "uv run {}",
]


@given(st.integers(0, 9), st.sampled_from(HOSTILE), st.sampled_from(["make lint", "git diff"]))
def test_nothing_a_shell_works_out_can_be_put_into_a_command(
    at: int, bad: str, command: str
) -> None:
    assert isinstance(of(command[:at] + bad + command[at:]), Never)


@given(st.sampled_from(OTHERS), st.sampled_from(SPELT), st.booleans())
def test_no_spelling_gets_an_interpreter_kept(program: str, spelt: str, capital: bool) -> None:
    name = program.replace("\t", " ")
    command = spelt.format(name.upper() if capital else name)
    assert isinstance(of(command), Never)


@given(st.text(st.sampled_from(list("""ab-=/.,:@%+'" $`\\;|&<>~*\n\u0430""")), max_size=24))
def test_what_is_kept_is_what_a_shell_would_run(tail: str) -> None:
    command = f"grep {tail}"
    if isinstance(of(command), AlwaysRule):
        parts = shell.parts(command)
        assert parts is not None
        words = [word for part in parts for word in part.words]
        split = shlex.shlex(command, posix=True, punctuation_chars=";|&<>")
        split.whitespace_split = True
        split.commenters = ""
        assert words == [word for word in split if word not in {";", "|", "&&"}]
