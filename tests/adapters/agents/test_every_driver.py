"""What every driver must make of its agent's lines, from recordings of the agents themselves.

The lines are in tests/fixtures/<driver>/; tests/real_agents/record.py writes them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.adapters.agents import DRIVERS
from engine.adapters.agents.driver import (
    Asked,
    Began,
    Driver,
    Ended,
    Limit,
    Meaning,
    Memory,
    Request,
    Said,
    TurnSpec,
    Unknown,
)
from engine.rules.words import Question, Role

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
RESETS_AT = 2_000_000_000
SITUATIONS = (
    "approach",
    "interrupted",
    "limit",
    "login",
    "permission",
    "plain",
    "question",
    "resume",
)

every_driver = pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))


def recorded(driver: Driver, situation: str) -> list[str]:
    return (FIXTURES / driver.name / f"{situation}.jsonl").read_text().splitlines()


def read(driver: Driver, lines: list[str]) -> list[Meaning]:
    memory = Memory()
    return [meaning for line in lines for meaning in driver.read(line, memory)]


def one(meanings: list[Meaning], kind: type[Any]) -> Any:
    found = [meaning for meaning in meanings if isinstance(meaning, kind)]
    assert len(found) == 1, meanings
    return found[0]


def spec(**changes: Any) -> TurnSpec:
    turn = TurnSpec(
        session_id=str(uuid.UUID(int=4, version=4)),
        resume=False,
        role=Role.WORKER,
        mode="edit",
        prompt="go",
        config_dir="/config",
        tree="/tree",
        command=("agent",),
    )
    return replace(turn, **changes)


@every_driver
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_turn_ends_once_and_every_line_is_known(driver: Driver, situation: str) -> None:
    meanings = read(driver, recorded(driver, situation))
    assert isinstance(meanings[-1], Ended)
    one(meanings, Ended)
    assert [meaning for meaning in meanings if isinstance(meaning, Unknown)] == []


@every_driver
def test_a_plain_turn_begins_speaks_and_ends(driver: Driver) -> None:
    meanings = read(driver, recorded(driver, "plain"))
    began = one(meanings, Began)
    assert began.session_id
    assert began.model
    assert driver.version_warning(began.version) == ""
    assert began.tools_ok
    assert not began.desk_ok  # it was given none
    assert one(meanings, Said) == Said("All is well.")
    ended = one(meanings, Ended)
    assert (ended.text, ended.error, ended.error_kind) == ("All is well.", "", "")
    assert ended.cost_usd > 0


@every_driver
def test_a_permission_shows_the_whole_command(driver: Driver) -> None:
    asked = one(read(driver, recorded(driver, "permission")), Asked)
    assert (asked.kind, asked.tool, asked.detail) == ("permission", "Bash", "touch made.txt")
    assert asked.title == "Run a command"


@every_driver
def test_a_question_has_its_options(driver: Driver) -> None:
    asked = one(read(driver, recorded(driver, "question")), Asked)
    assert asked.kind == "question"
    assert asked.questions == (Question("Which database?", "Database", ("SQLite", "Postgres")),)


@every_driver
def test_an_approach_comes_whole(driver: Driver) -> None:
    asked = one(read(driver, recorded(driver, "approach")), Asked)
    assert (asked.kind, asked.detail) == ("approach", "1. write a.txt\n")


@every_driver
@pytest.mark.parametrize("kind", ["interrupted", "limit", "login", "resume"])
def test_an_end_that_is_none_of_the_agents_doing_is_told_apart(driver: Driver, kind: str) -> None:
    ended = one(read(driver, recorded(driver, kind)), Ended)
    assert ended.error_kind == kind
    assert ended.error
    assert not ended.is_empty


@every_driver
def test_a_limit_says_which_window_and_until_when(driver: Driver) -> None:
    limits = [it for it in read(driver, recorded(driver, "limit")) if isinstance(it, Limit)]
    assert {(it.window, it.resets_at) for it in limits if it.rejected} == {("five_hour", RESETS_AT)}


@every_driver
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_last_line_alone_tells_how_the_turn_ended(driver: Driver, situation: str) -> None:
    """The engine was restarted in the middle of the run: nothing before is remembered."""
    lines = recorded(driver, situation)
    whole, last = one(read(driver, lines), Ended), one(read(driver, lines[-1:]), Ended)
    assert last.error_kind == whole.error_kind
    assert last.text == whole.text
    assert last.cost_usd == pytest.approx(whole.cost_usd)


@every_driver
def test_a_greeting_before_the_first_line_costs_nothing(driver: Driver) -> None:
    """BR-61."""
    first, *rest = recorded(driver, "plain")
    meanings = read(driver, ["Welcome to {host}!", f"warning: no tty{first}", *rest])
    assert one(meanings, Began)
    assert one(meanings, Ended).text == "All is well."
    assert meanings.count(Unknown("text")) == 2


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_ANY = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything within a JSON value."""
    if isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value)) if isinstance(value, list) else []
    return [path] * bool(path) + [at for key, one in inner for at in places(one, (*path, key))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


LINES = [
    (driver, line)
    for driver in DRIVERS.values()
    for situation in SITUATIONS
    for line in recorded(driver, situation)
]


@given(st.data())
def test_no_line_that_is_odd_anywhere_is_too_odd_to_read(data: st.DataObject) -> None:
    """BR-56, BR-57: a field may be missing, null, or of another shape in the next release."""
    driver, line = data.draw(st.sampled_from(LINES))
    body = json.loads(line)
    for _ in range(data.draw(st.integers(1, 3))):
        put(body, data.draw(st.sampled_from(places(body))), data.draw(_ANY))
    memory = Memory()
    driver.read(json.dumps(body), memory)
    assert one(list(driver.read(recorded(driver, "plain")[-1], memory)), Ended).error == ""


@given(st.text() | st.from_regex(r"\{.*", fullmatch=True) | _ANY.map(json.dumps))
def test_no_text_is_too_odd_to_read(line: str) -> None:
    for driver in DRIVERS.values():
        driver.read(line, Memory())


@every_driver
def test_depth_and_size_do_no_harm(driver: Driver) -> None:
    for line in (
        "{" * 200_000,
        '{"a":' * 200_000,
        "[" * 200_000,
        "9" * 100_000,
        '{"type":' + "9" * 9999,
    ):
        assert driver.read(line, Memory()) == (Unknown("text"),)


_REQUEST = Request("r-1", "AskUserQuestion", '{"questions": []}')
_WORDS = st.text(alphabet=st.characters(codec="utf-8"))

_WAYS_IN: dict[str, Callable[[Driver, str], str]] = {
    "prompt": lambda driver, text: driver.prompt(text),
    "deny": lambda driver, text: driver.deny(_REQUEST, text),
    "send_back": lambda driver, text: driver.send_back(_REQUEST, text),
    "answer": lambda driver, text: driver.answer(_REQUEST, {"Which?": text}),
    "allow": lambda driver, _: driver.allow(_REQUEST),
    "approve": lambda driver, _: driver.approve(_REQUEST, "edit"),
    "interrupt": lambda driver, _: driver.interrupt(),
    "end": lambda driver, _: driver.end(),
}


@every_driver
@pytest.mark.parametrize("way", _WAYS_IN)
@given(text=_WORDS)
def test_whatever_is_said_goes_in_as_one_line_and_word_for_word(
    driver: Driver, way: str, text: str
) -> None:
    line = _WAYS_IN[way](driver, text)
    assert len(line.splitlines()) == 1
    body = json.loads(line)
    if way in ("prompt", "answer"):
        assert text in values(body)
    if way in ("deny", "send_back") and text:
        assert text in values(body)


def values(body: Any) -> list[Any]:
    if isinstance(body, dict):
        return [one for inner in body.values() for one in values(inner)]
    return [one for inner in body for one in values(inner)] if isinstance(body, list) else [body]


@every_driver
@pytest.mark.parametrize("prompt", ["--help me", "-p x", "a\nb", "'; rm -rf ~ #", "x" * 1_000_000])
def test_a_prompt_is_never_an_argument(driver: Driver, prompt: str) -> None:
    """BR-62; and an argument could not hold a long one."""
    launch = driver.launch(spec(prompt=prompt))
    assert not any(prompt in argument for argument in launch.argv)
    assert prompt not in launch.env.values()
    assert [prompt in values(json.loads(line)) for line in launch.first_lines] == [True]


@every_driver
def test_an_account_cannot_loosen_what_keeps_a_session_apart(driver: Driver) -> None:
    theirs = {"CLAUDE_CONFIG_DIR": "/else", "TMPDIR": "/else", "CLAUDE_CODE_OAUTH_TOKEN": "t"}
    env = driver.launch(spec(account_env=theirs)).env
    assert (env["CLAUDE_CONFIG_DIR"], env["TMPDIR"]) == ("/config", "/tmp")
    assert env["CLAUDE_CODE_OAUTH_TOKEN"] == "t"


@every_driver
def test_a_run_that_died_without_a_word_still_has_an_end(driver: Driver) -> None:
    killed = driver.last_words("", -9)
    assert killed.error == "The agent was killed and said nothing."
    told = driver.last_words("warning: x\nfatal: disk full\n", 3)
    assert (told.error, told.error_kind) == ("fatal: disk full", "api")
