"""Which rule Always would keep of a request, and of what it never keeps one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.rules import known_commands, shell
from engine.rules.always import Never, holds, rule
from engine.rules.words import AlwaysKind, AlwaysRule


def of(command: str, **more: object) -> AlwaysRule | Never:
    return rule("Bash", json.dumps({"command": command, "description": "why", **more}))


def fetch(url: object) -> AlwaysRule | Never:
    return rule("WebFetch", json.dumps({"url": url, "prompt": "Read it"}))


KEPT = [
    "make lint",
    "make -j4 lint test",
    "make lint 2>&1 | tail -20",
    "pytest -q tests/rules",
    "pytest -xvs --tb=short -k 'not slow' tests/test_cart.py::test_total",
    "uv run pytest -q",
    "ruff check . && ruff format --check . && mypy .",
    "npm test",
    "npm run build",
    "yarn lint",
    "npm run test:unit -s",
    "git status; git diff --stat",
    "git log --oneline -5",
    "git diff main..HEAD --name-only",
    "cargo build --release",
    "cargo clippy --all-targets -- -D warnings",
    "cargo test -- --nocapture",
    "go test -race -run=TestCart ./...",
    "eslint --max-warnings=0 src",
    "tsc --noEmit",
    "./gradlew test",
    "tox -e py311",
    "grep -rn 'a $b' src",
    "cat README.md | head -n5",
    "cd web && ls src",
    "ls -la .github/workflows | sort -u | cut -f1",
]


@pytest.mark.parametrize("command", KEPT)
def test_a_plain_command_is_kept_word_for_word(command: str) -> None:
    assert of(command) == AlwaysRule(AlwaysKind.COMMAND, command)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("python -m pytest", Never.UNKNOWN),
        ("bash -c 'make lint'", Never.UNKNOWN),
        ("env make lint", Never.KEYS),
        ("uv run python x.py", Never.UNKNOWN),
        ("make CC=cc", Never.UNKNOWN),
        ("make -f other.mk", Never.UNKNOWN),
        ("find . -name x -exec cat", Never.UNKNOWN),
        ("ls | tee x", Never.UNKNOWN),
        ("npx jest", Never.UNKNOWN),
        ("pip install left-pad", Never.UNKNOWN),
        ("go run .", Never.UNKNOWN),
        ("make", Never.UNKNOWN),
        ("make everything", Never.UNKNOWN),
        ("make build-and-ship", Never.UNKNOWN),
        ("make format-disk", Never.UNKNOWN),
        ("pnpm ci", Never.UNKNOWN),
        ("./gradlew test:other", Never.FILE),
        ("npm run shop", Never.UNKNOWN),
        ("npm test -- --globalSetup=./x.js", Never.UNKNOWN),
        ("pytest -p evil", Never.UNKNOWN),
        ("pytest -pevil", Never.UNKNOWN),
        ("pytest -qp evil", Never.UNKNOWN),
        ("pytest @x", Never.UNKNOWN),
        ("pytest --last-fail", Never.UNKNOWN),
        ("pytest /tmp/x", Never.UNKNOWN),
        ("pytest tests/../../x", Never.UNKNOWN),
        ("go test -exec=x ./...", Never.UNKNOWN),
        ("go vet example.org/x", Never.UNKNOWN),
        ("git log -p", Never.UNKNOWN),
        ("git diff --outpu=x", Never.UNKNOWN),
        ("git show HEAD:x", Never.UNKNOWN),
        ("cd web && npm test", Never.UNKNOWN),
        ("cd .. && ls", Never.UNKNOWN),
        ("cd /srv && ls", Never.UNKNOWN),
        ("cd web", Never.UNKNOWN),
        ("ls && cd web", Never.UNKNOWN),
        ("cat server.key", Never.UNKNOWN),
        ("cat .git/config", Never.UNKNOWN),
        ("grep -r x .", Never.UNKNOWN),
        ("grep -rf x src", Never.UNKNOWN),
        ("ls | sort -o x", Never.UNKNOWN),
        ("ls | uniq - x", Never.UNKNOWN),
        ("sort x", Never.UNKNOWN),
        ("curl -sf https://example.org/health", Never.UNKNOWN),
        ("claude -p x", Never.UNKNOWN),
        ("MAKE lint", Never.UNKNOWN),
        ("scripts/test.sh", Never.FILE),
        ("/usr/bin/make lint", Never.FILE),
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
        "https://127.0.0.1.nip.io/x",
        "https://127-0-0-1.example.org/",
        "https://7f000001.example.org/",
        "https://localtest.me/",
        "https://app.lvh.me/",
        "https://a.b.localhost.x.com",
        "https://router.fritz.box/",
        "https://nas.lan/",
        "https://nas.home.arpa/",
        "https://intranet.corp/",
        "https://metadata.google.internal/",
        "https://169.254.169.254/",
        "https://x.local.",
        "https://webhook.site/x?d=1",
        "https://requestbin.com/x",
        "https://a1.m.pipedream.net",
        "https://a1.ngrok-free.app",
        "https://pastebin.com/x",
        "https://gist.github.com/x",
        "https://hooks.example.org/x",
        "https://xn--exmple-cua.org/",
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
    assert rule("mcp__base__run_query", "{}") is Never.NO_READ
    assert rule("mcp__quarterdeck__done", "{}") is Never.TOOL
    assert rule("Edit", "{}") is Never.EDIT
    assert rule("Read", "{}") is Never.TOOL


@pytest.mark.parametrize(
    "name",
    [
        "mcp__gh__get_issue",
        "mcp__github__github_list_issues",
        "mcp__docs__searchPages",
        "mcp__files__read_file",
    ],
)
def test_a_tool_that_says_it_reads_is_kept_by_its_name(name: str) -> None:
    assert rule(name, "{}") == AlwaysRule(AlwaysKind.TOOL, name)


TOOLS = """
gh__fork_repository gh__add_issue_comment fs__edit_file fs__move_file browser__navigate browser__click
pay__buy pay__spend mail__forward mail__reply k8s__apply k8s__scale db__alter cloud__start_instance
ads__launch slack__say x__share x__invite_user board__move_list board__list_and_archive
cache__get_or_create shop__list_item_for_sale web__fetch web__get_url db__query db__query_table
list__buy get__spend a__get__buy mail__getting fs__reader x__frobnicate x__status_set
vault__read_entry x__get_token
"""


@pytest.mark.parametrize("name", TOOLS.split())
def test_a_tool_is_never_kept_unless_its_name_says_that_it_reads_and_no_more(name: str) -> None:
    assert isinstance(rule(f"mcp__{name}", "{}"), Never)


def test_no_command_of_the_long_list_is_ever_kept() -> None:
    """Wrappers, interpreters, other agents, short and cut spellings, what costs, stays or shows keys."""
    lines = (Path(__file__).parent / "never_kept.txt").read_text().splitlines()
    assert len(lines) > 800
    assert [line for line in lines if not isinstance(of(line), Never)] == []


def test_a_rule_kept_in_a_fence_does_not_hold_outside_one() -> None:
    inside = of("make lint")
    outside = rule("Bash", '{"command": "make lint"}', unfenced=True)
    assert isinstance(inside, AlwaysRule)
    assert isinstance(outside, AlwaysRule)
    assert inside.covers(inside)
    assert outside.covers(inside)
    assert not inside.covers(outside)


CARRIERS = known_commands.CARRIERS
PROGRAMS = {name.split()[0] for name in known_commands.ALL} - {"true"}


def test_a_rule_kept_once_is_told_to_hold_only_while_it_would_still_be_offered() -> None:
    for kind, kept, no_more in (
        (AlwaysKind.COMMAND, "make lint", "prlimit make lint"),
        (AlwaysKind.SITE, "docs.example.org", "webhook.site"),
        (AlwaysKind.TOOL, "mcp__tracker__list_issues", "mcp__tracker__move_list"),
    ):
        for unfenced in (False, True):
            assert holds(AlwaysRule(kind, kept, unfenced))
            assert not holds(AlwaysRule(kind, no_more, unfenced))


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


WRAPPERS = """
prlimit setpriv choom setarch fakeroot xvfb-run hyperfine concurrently chronic unbuffer run-parts env nice
nohup timeout stdbuf time sudo doas xargs watch entr direnv chamber rbenv systemd-run flock ltrace exec
command builtin eval python node sh npx uvx pipx claude codex aider coverage poetry uv bundle
"""
STUFF = ["", "-n 0 ", "-- ", "-c ", "x86_64 ", "run ", "exec ", "--with x ", "-q "]


@given(
    st.one_of(
        st.sampled_from(WRAPPERS.split()), st.from_regex(r"[a-z][a-z0-9-]{0,11}", fullmatch=True)
    ),
    st.sampled_from(STUFF),
    st.sampled_from(KEPT),
    st.sampled_from(["{}", "ls && {}", "ls; {}", "uv run {}", "ls | {}"]),
)
def test_no_kept_command_stays_one_behind_a_program_that_is_not_known(
    program: str, stuff: str, command: str, spelt: str
) -> None:
    assume(program not in PROGRAMS)
    assume(f"{program} {stuff}".strip() not in CARRIERS)
    assert isinstance(of(spelt.format(f"{program} {stuff}{command}")), Never)


@given(st.text(max_size=12), st.sampled_from(["pytest", "git diff", "go test", "npm test", "tsc"]))
def test_no_option_is_kept_that_is_not_in_the_table(option: str, command: str) -> None:
    told = f"--{option}"
    if isinstance(of(f"{command} {told}"), AlwaysRule):
        table = {
            **known_commands.ALL[command].valued,
            **dict.fromkeys(known_commands.ALL[command].flags),
        }
        assert told.partition("=")[0].split()[0] in table


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
