"""The rehearsal agent behind its driver: real processes, real files, real commits."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from engine.adapters.agents.driver import (
    Asked,
    AskWithdrawn,
    Began,
    Busy,
    Ended,
    Limit,
    Retrying,
    Said,
    Tool,
    TurnSpec,
    Unknown,
)
from engine.adapters.agents.rehearsal import Rehearsal
from engine.rules.words import Role
from tests.adapters.agents.talk import REHEARSE, Talk

DESK = Path(__file__).with_name("small_desk.py")
RESETS_AT = 2_000_000_000

Step = dict[str, Any]
Rehearse = Callable[..., Talk]

driver = Rehearsal()


@pytest.fixture
def spec(tmp_path: Path) -> TurnSpec:
    for folder in ("tree", "config"):
        (tmp_path / folder).mkdir()
    for words in (["init", "-q"], ["config", "user.name", "w"], ["config", "user.email", "w@w"]):
        subprocess.run(["git", *words], cwd=tmp_path / "tree", check=True)
    return TurnSpec(
        session_id=str(uuid.uuid4()),
        resume=False,
        role=Role.WORKER,
        mode="edit",
        prompt="go",
        config_dir=str(tmp_path / "config"),
        tree=str(tmp_path / "tree"),
        command=REHEARSE,
    )


def parts(spec: TurnSpec, *script: Step) -> TurnSpec:
    """Return the turn with a scenario of these parts."""
    path = Path(spec.config_dir).parent / f"{uuid.uuid4()}.json"
    path.write_text(json.dumps({"parts": script}))
    return replace(spec, account_env={"QUARTERDECK_SCENARIO": str(path)})


def talk(spec: TurnSpec, *steps: Step) -> Talk:
    home = str(Path(spec.tree).parent)
    return Talk(driver, parts(spec, {"steps": steps}) if steps else spec, home)


def commits(spec: TurnSpec) -> str:
    log = ["git", "log", "--format=%s", "--name-only"]
    done = subprocess.run(log, cwd=spec.tree, check=True, capture_output=True, text=True)
    return done.stdout


async def played(spec: TurnSpec, *steps: Step) -> tuple[Ended, Talk]:
    """Return how a turn that needs nobody ended."""
    async with talk(spec, *steps) as turn:
        ended = await turn.until(Ended)
        await turn.finish()
    return ended, turn


async def test_a_turn_makes_real_files_and_real_commits_unasked(spec: TurnSpec) -> None:
    ended, turn = await played(
        spec,
        {"say": "I start."},
        {"write": {"path": "src/app.py", "text": "print('hello')\n"}},
        {"edit": {"path": "src/app.py", "old": "hello", "new": "{role}"}},
        {"commit": "app: it's there"},
        {"run": "git status --porcelain", "keep": "left"},
        {"say": "Left: <{left}>."},
    )
    assert (ended.text, ended.error) == ("Left: <>.", "")
    assert ended.cost_usd == pytest.approx(0.01)
    assert commits(spec).split("\n") == ["app: it's there", "", "src/app.py", ""]
    assert (Path(spec.tree) / "src/app.py").read_text() == "print('worker')\n"
    assert turn.seen(Asked) == []
    assert turn.seen(Unknown) == []
    assert [one.model for one in turn.seen(Began)] == ["rehearsal"]


async def test_a_command_beyond_its_mode_is_asked_for(spec: TurnSpec) -> None:
    steps = (
        {"run": "python3 -c 'print(6*7)'", "keep": "answer"},
        {"run": "curl http://127.0.0.1:1", "keep": "why", "denied": [{"say": "No: {why}"}]},
        {"say": "{answer}, and not: {why}"},
    )
    async with talk(spec, *steps) as turn:
        first = await turn.until(Asked)
        await turn.send(driver.allow(first))
        second = await turn.until(Asked)
        await turn.send(driver.deny(second, "no network"))
        ended = await turn.until(Ended)
    assert [first.detail, second.detail] == ["python3 -c 'print(6*7)'", "curl http://127.0.0.1:1"]
    assert ended.text == "42, and not: no network"
    assert Said("No: no network") in turn.seen(Said)


@pytest.mark.parametrize(
    ("mode", "command", "asks"),
    [
        ("ask", "git status && git log --oneline | head -3", False),
        ("ask", "git add -A; git commit -m 'a && b'", False),
        ("ask", "git commit -m $(id)", True),
        ("ask", "touch a", True),
        ("ask", "echo a > b", True),
        ("edit", "touch a && echo a > b", False),
        ("edit", "touch a && git push", True),
        ("edit", "make check", False),
        ("edit", "make check && rm -rf /", True),
        ("auto", "make", False),
    ],
)
async def test_what_runs_unasked_is_what_the_mode_says(
    spec: TurnSpec, mode: Any, command: str, asks: bool
) -> None:
    spec = replace(spec, mode=mode, commands=("make check",))
    async with talk(spec, {"run": command}) as turn:
        if asks:
            await turn.send(driver.deny(await turn.until(Asked), "no"))
        await turn.until(Ended)
    assert len(turn.seen(Asked)) == asks


async def test_a_lead_has_no_tool_to_write_with(spec: TurnSpec) -> None:
    ended, _ = await played(
        replace(spec, role=Role.LEAD, mode="full"),
        {"write": {"path": "a", "text": "x"}, "keep": "why"},
        {"say": "{why}"},
    )
    assert ended.text.startswith("No such tool available: Write")
    assert not (Path(spec.tree) / "a").exists()


async def test_questions_are_answered_and_the_answers_kept(spec: TurnSpec) -> None:
    question = {"question": "Which one?", "header": "One", "options": ["A", "B"]}
    async with talk(spec, {"question": question, "keep": "one"}, {"say": "It is {one}."}) as turn:
        asked = await turn.until(Asked)
        await turn.send(driver.answer(asked, {"Which one?": "neither, C"}))
        ended = await turn.until(Ended)
    assert asked.kind == "question"
    assert asked.questions[0].options == ("A", "B")
    assert ended.text == "It is neither, C."


async def test_an_approach_is_shown_sent_back_and_approved(spec: TurnSpec) -> None:
    again = [{"approach": "1. b"}]
    steps = (
        {"approach": "1. a", "keep": "line", "denied": again},
        {"write": {"path": "done.txt", "text": "x"}},
        {"say": "After: {line}"},
    )
    async with talk(replace(spec, mode="plan"), *steps) as turn:
        first = await turn.until(Asked)
        await turn.send(driver.send_back(first, "smaller"))
        second = await turn.until(Asked)
        await turn.send(driver.approve(second, "edit"))
        ended = await turn.until(Ended)
    assert [(one.kind, one.detail) for one in (first, second)] == [
        ("approach", "1. a"),
        ("approach", "1. b"),
    ]
    assert ended.text == "After: smaller"
    assert (Path(spec.tree) / "done.txt").exists()


async def test_the_desk_is_a_real_server_and_its_answer_is_kept(
    spec: TurnSpec, tmp_path: Path
) -> None:
    spec = replace(spec, desk_argv=(sys.executable, str(DESK), str(tmp_path / "notes")))
    ended, turn = await played(
        spec,
        {"desk": "note", "with": {"text": "for {role}"}, "expect": "Noted", "keep": "it"},
        {"say": "{it}"},
    )
    assert ended.text == "Noted: for worker"
    assert (tmp_path / "notes").read_text() == "for worker\n"
    assert turn.seen(Began)[0].desk_ok
    assert turn.seen(Asked) == []


async def test_a_desk_that_is_missing_ends_the_turn_with_a_sentence(spec: TurnSpec) -> None:
    ended, turn = await played(
        replace(spec, desk_argv=("/no/such/desk",)), {"desk": "note", "with": {"text": "x"}}
    )
    assert not turn.seen(Began)[0].desk_ok
    assert ended.error == "Rehearsal: the desk was not there for note."


async def test_an_interrupt_ends_what_runs_and_the_session_goes_on(spec: TurnSpec) -> None:
    script = (
        {"turn": 1, "steps": [{"run": "touch begun; sleep 600"}]},
        {"turn": 2, "steps": [{"say": "Again: {prompt}"}]},
    )
    async with talk(replace(parts(spec, *script), mode="auto")) as turn:
        await turn.until(Tool)
        await turn.send(driver.interrupt())
        assert (await turn.until(Ended)).error_kind == "interrupted"
        await turn.send(driver.prompt("go on"))
        assert (await turn.until(Ended)).text == "Again: go on"
        assert await turn.finish() == 0


async def test_an_interrupt_withdraws_an_open_ask(spec: TurnSpec) -> None:
    async with talk(spec, {"run": "make"}) as turn:
        asked = await turn.until(Asked)
        await turn.send(driver.interrupt())
        assert (await turn.until(AskWithdrawn)).request_id == asked.request_id
        assert (await turn.until(Ended)).error_kind == "interrupted"


async def test_a_crashed_turn_is_resumed_with_what_it_kept(spec: TurnSpec) -> None:
    script = (
        {
            "turn": 1,
            "session": "go",
            "steps": [{"run": "echo plum", "keep": "word"}, {"crash": True}],
        },
        {"turn": 2, "session": "go", "prompt": "cut off", "steps": [{"say": "{word}, {turn}"}]},
    )
    spec = parts(spec, *script)
    async with talk(spec) as turn:
        assert await turn.exit_code() == -9
    assert turn.seen(Ended) == []
    ended, _ = await played(replace(spec, resume=True, prompt="you were cut off"))
    assert ended.text == "plum, 2"


async def test_a_missing_or_taken_conversation_fails_like_the_real_one(spec: TurnSpec) -> None:
    async with talk(replace(spec, resume=True), {"say": "x"}) as turn:
        ended = await turn.until(Ended)
        assert await turn.exit_code() == 1
    assert ended.error_kind == "resume"
    await played(spec, {"say": "x"})
    async with talk(spec, {"say": "x"}) as turn:
        stderr = await turn.last_words()
    assert driver.last_words(stderr, turn.process.returncode).error_kind == "exists"


async def test_a_limit_an_error_and_a_refused_login_end_the_turn_as_what_they_are(
    spec: TurnSpec,
) -> None:
    for step, kind in (
        ({"limit": {"resets_at": RESETS_AT}}, "limit"),
        ({"api_error": {"status": 401, "text": "no"}}, "login"),
        ({"api_error": {"status": 404, "text": "no"}}, "model"),
        ({"api_error": {"status": 529, "text": "Overloaded"}}, "api"),
    ):
        ended, turn = await played(replace(spec, session_id=str(uuid.uuid4())), step)
        assert ended.error_kind == kind
        assert turn.process.returncode == 1
    _, turn = await played(
        replace(spec, session_id=str(uuid.uuid4())), {"limit": {"resets_at": RESETS_AT}}
    )
    assert turn.seen(Limit) == [Limit(RESETS_AT, "five_hour", None, True)]


async def test_odd_lines_cost_nothing_but_themselves(spec: TurnSpec) -> None:
    """BR-56, BR-57, BR-61."""
    ended, turn = await played(
        spec,
        {"garbage": "Welcome to this machine!"},
        {"garbage": "Warning: odd", "glued": True},
        {"line": {"type": "weather", "wind": None}},
        {"line": {"type": "assistant", "message": None}},
        {"line": {"type": "rate_limit_event", "rate_limit_info": ["five"]}},
        {"huge": 3_000_000},
        {"retry": {"status": 529, "attempt": 2, "wait_s": 1.5}},
        {"usage": {"window": "five_hour", "utilization": 0.84, "resets_at": RESETS_AT}},
        {"busy": 2},
        {"busy": 0},
        {"cost": 0.25},
        {"say": "Done."},
    )
    assert ended.text == "Done."
    assert ended.cost_usd == pytest.approx(0.25)
    assert [one.kind for one in turn.seen(Unknown)] == ["text", "text", "weather"]
    assert max(len(one.text) for one in turn.seen(Said)) == 3_000_000
    assert turn.seen(Retrying) == [Retrying("overloaded (529)", 2, 1.5)]
    assert turn.seen(Limit) == [Limit(RESETS_AT, "five_hour", 0.84, False)]
    assert turn.seen(Busy) == [Busy(2), Busy(0)]


async def test_it_waits_for_a_file_and_ends_with_its_input(spec: TurnSpec) -> None:
    """The turn that runs when the input ends is finished first."""
    async with talk(spec, {"say": "I wait."}, {"wait_for": "go.txt"}, {"say": "There."}) as turn:
        await turn.until(Said)
        assert turn.process.stdin is not None
        turn.process.stdin.close()
        (Path(spec.tree) / "go.txt").touch()
        assert (await turn.until(Ended)).text == "There."
        assert await turn.exit_code() == 0


async def test_a_deaf_agent_hears_no_interrupt(spec: TurnSpec) -> None:
    """BR-67."""
    async with talk(spec, {"say": "Hm."}, {"hang": "deaf"}) as turn:
        await turn.until(Said)
        await turn.send(driver.interrupt())
        turn.process.kill()
        assert await turn.exit_code() == -9
    assert turn.seen(Ended) == []


async def test_a_turn_that_no_part_fits_says_so_and_ends(spec: TurnSpec) -> None:
    for script, words in (
        (
            {"prompt": "other", "steps": []},
            "no part of the scenario fits turn 1 of this worker: go",
        ),
        ({"steps": [{"dance": True}]}, "no one verb that is known"),
        ({"steps": [], "rol": "lead"}, "means nothing"),
    ):
        ended, _ = await played(parts(replace(spec, session_id=str(uuid.uuid4())), script))
        assert words in ended.error
        assert ended.error_kind == "api"
    ended, _ = await played(replace(spec, session_id=str(uuid.uuid4())))
    assert "no scenario was given" in ended.error


async def test_the_same_turn_prints_the_same_lines_twice(spec: TurnSpec) -> None:
    _, one = await played(replace(spec, config_dir=f"{spec.config_dir}/one"), {"say": "a"})
    _, two = await played(replace(spec, config_dir=f"{spec.config_dir}/two"), {"say": "a"})
    assert one.lines == two.lines
