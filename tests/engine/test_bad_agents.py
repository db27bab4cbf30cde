"""Agents that are not there, not signed in, broken, silent, loud or lying: each a sentence and a way out.

One engine for all of them, so that each goes wrong beside what the others left; a good goal begun before
them must be shipped after them. Real processes, real git, real fences where there are any. Neighbours:
phone.py (the owner), test_bad_input.py (what the owner and the remote get wrong), tests/node (one run).
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from bot import text
from engine.adapters.machines import Local
from engine.rules import killed, session_state, silence, steering
from engine.views import (
    Card,
    FailureCard,
    LoginCard,
    PermissionCard,
    PlanCard,
    QuestionCard,
    ReviewCard,
    SessionCard,
    ShipCard,
    WorkerCard,
)
from tests.engine.phone import (
    PIECE,
    WORKER,
    Phone,
    desk,
    forget_peak,
    good_worker,
    held,
    labels,
    lead,
    peak_kib,
    pid_of,
    plan,
    waits,
    words,
    worker,
    write,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

GOAL = "Add a page that lists the orders, newest first"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    """One engine; a good goal at work from before the first trouble is shipped after the last."""
    async with held(tmp_path_factory.mktemp("agents")) as phone:
        phone.good = await phone.at_work()
        yield phone
        assert (await phone.brought_home(phone.good)).decided == "Shipped"


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def others_are_unharmed(phone: Phone) -> AsyncIterator[None]:
    yield
    assert phone.still_at_work(phone.good)


SCRIPTS = {
    "exits at once": (
        "#!/bin/sh\nexit 3\n",
        "The agent ended with exit code 3 and said nothing.",
    ),
    "exits with a word": (
        "#!/bin/sh\necho 'claude: cannot read its settings' >&2\nexit 1\n",
        "claude: cannot read its settings",
    ),
    "ends well without a word": (
        "#!/bin/sh\nexit 0\n",
        "The agent ended with exit code 0 and said nothing.",
    ),
    "prints no JSON": (
        "#!/bin/sh\necho Welcome to an agent that knows no protocol\necho {broken\nexit 0\n",
        "The agent ended with exit code 0 and said nothing.",
    ),
    "is no program": ("\x7fELF, as it were\n", "/claude"),
}


@pytest.mark.parametrize("how", SCRIPTS)
async def test_a_lead_whose_agent_fails_is_a_card_and_retry_goes_on_once_it_is_mended(
    phone: Phone, how: str
) -> None:
    """BR-54, BR-61."""
    script, sentence = SCRIPTS[how]
    account = await phone.command(script)
    goal = await phone.goal(await phone.project(), GOAL)
    card = await phone.card(goal, FailureCard)
    assert sentence in words(card)
    assert labels(card) == ["Retry", "Stop"]
    assert ("Give account" in words(card)) == (how == "is not signed in")
    await phone.command(WORKS, account)
    await phone.tap(card, "retry")
    await phone.until(lambda: not phone.state(goal).failure, "the failure to be over")
    lead_id = phone.state(goal).session
    await phone.until(lambda: "It was read." in phone.session(lead_id).said, "the agent's words")
    assert GOAL in phone.heard(lead_id).split("\n")


SIGNED_OUT = (
    "#!/bin/sh\ncat <<'.'\n"
    + json.dumps(
        {
            "type": "assistant",
            "error": "authentication_failed",
            "message": {"content": [{"type": "text", "text": "Not logged in · Please run /login"}]},
        }
    )
    + "\n"
    + json.dumps(
        {
            "type": "result",
            "subtype": "success",
            "is_error": True,
            "terminal_reason": "api_error",
            "api_error_status": None,
            "result": "Not logged in · Please run /login",
        }
    )
    + "\n.\nexit 1\n"
)


async def test_an_agent_that_is_not_signed_in_is_one_card_and_goes_on_by_itself_once_it_is(
    phone: Phone,
) -> None:
    """BR-54."""
    account = await phone.command(SIGNED_OUT)
    goal = await phone.goal(await phone.project(), GOAL)
    card = await phone.card("", LoginCard, lambda card: card.account == account)
    assert "Not logged in · Please run \N{DIVISION SLASH}login" in words(card)  # no command to tap
    assert labels(card) == ["Log in", "Token…", "Retry"]
    told = f"account {account}: not signed in"
    await phone.until(lambda: told in waits(phone, goal), "the reason of its wait")
    assert not phone.of(goal, FailureCard)
    await phone.command(WORKS, account)
    lead_id = phone.state(goal).session
    await phone.until(lambda: "It was read." in phone.session(lead_id).said, "the agent's words")
    assert GOAL in phone.heard(lead_id).split("\n")
    assert not phone.of("", LoginCard)


# The least that poses as the real one: it takes its prompt, says a word, and ends.
WORKS = """#!/bin/sh
read -r prompt
cat <<'.'
{"type":"system","subtype":"init","session_id":"","tools":["AskUserQuestion"],\
"mcp_servers":[{"name":"quarterdeck","status":"connected"}],"claude_code_version":"2.1.332"}
{"type":"result","subtype":"success","is_error":false,"result":"It was read."}
.
read -r end
"""


# ---------------------------------------------------------------- what agents print


async def test_a_line_of_two_hundred_megabytes_costs_neither_memory_nor_the_turn(
    phone: Phone,
) -> None:
    wait = {"permission": {"tool": "WebFetch", "input": {"url": "http://127.0.0.1:1/"}}}
    await phone.agent(*lead({"huge": 200_000_000}, wait, {"say": "It went on."}))
    forget_peak()
    before = peak_kib()
    goal = await phone.goal(await phone.project(), GOAL)
    card = await phone.card(goal, PermissionCard)
    run = phone.session(phone.state(goal).session).run
    for process in (
        "self",
        json.loads((phone.home.runs / run / "child.json").read_text())["runner"],
        pid_of(["quarterdeck-node", str(phone.home.root)]),
    ):
        assert peak_kib(process) - (before if process == "self" else 0) < 100_000, process
    await phone.tap(card, "deny")
    lead_id = phone.state(goal).session
    await phone.until(lambda: phone.session(lead_id).said == "It went on.", "the turn's end")


async def test_what_no_protocol_knows_is_passed_over_and_the_turn_still_ends_well(
    phone: Phone,
) -> None:
    """BR-56, BR-57, BR-61."""
    await phone.agent(
        *lead(
            {"garbage": "warning: glued to the first line ", "glued": True},
            {"line": {"type": "something_new", "with": None}},
            {"line": {"type": "assistant", "message": {"content": None, "usage": None}}},
            {"line": {"type": "result_of_nothing", "n": [[[]]]}},
            {"line": {"type": 7, "subtype": {}}},
            {"garbage": "[" * 5000},
            {"garbage": '{"type": ' + '{"a": ' * 900 + "1" + "}" * 901},
            {"garbage": '{"type": "result", "total_cost_usd": NaN, "is_error": true, "result": 7'},
            {"garbage": "\x00\x01\x1b[2J"},
            {"say": "half a pair \ud83d, and \x00 and \x1b[2J"},
        )
    )
    goal = await phone.goal(await phone.project(), GOAL)
    lead_id = phone.state(goal).session
    await phone.until(lambda: bool(phone.session(lead_id).said), "the turn's end")
    assert phone.session(lead_id).said.startswith("half a pair \ufffd, and")
    await phone.noted(goal, "half a pair")
    said = await phone.noted(goal, "of line not known here")
    assert said.startswith("rehearsal rehearsal says 3 kinds"), said
    assert "something_new, result_of_nothing" in said
    await phone.until(lambda: not phone.session(lead_id).live, "its process to be gone")
    (health,) = text.health(await phone.door.health())
    assert "something_new, result_of_nothing" in health.rich.text
    await phone.door.hear("Once more", goal=goal, cause=phone.cause())
    await phone.until(lambda: phone.session(lead_id).turn == 2, "its second turn")
    again = [note for note in await phone.door.notes(0) if "not known here" in note.text]
    assert [note.goal for note in again] == [goal], "once for a version"


async def test_an_agent_that_falls_silent_is_ended_and_told_so_in_its_next_turn(
    tmp_path: Path,
) -> None:
    """BR-67, BR-49."""
    async with held(tmp_path) as phone:
        await phone.agent(
            {"role": "lead", "turn": 1, "steps": [{"say": "I look."}, {"hang": "deaf"}]},
            {"role": "lead", "prompt": "silent for long", "steps": [plan(PIECE)]},
            {"role": "lead", "steps": [{"say": "Noted."}]},
        )
        goal = await phone.goal(await phone.project(), GOAL)
        lead_id = phone.state(goal).session
        await phone.until(lambda: "I look." in waits(phone, goal), "the lead to be at work")
        first = phone.session(lead_id).agent_session
        phone.later(silence.SHOWN_S + 1)
        await phone.until(lambda: phone.session(lead_id).silence is not None, "a first look")
        phone.later(silence.QUIET_S)
        await phone.card(goal, PlanCard)
        assert "silent for long" in phone.heard(lead_id)
        assert phone.session(lead_id).agent_session == first, "the conversation goes on"


async def test_an_agent_that_is_killed_goes_on_once_after_a_pause_and_is_a_card_the_second_time(
    phone: Phone,
) -> None:
    """BR-66."""
    await phone.agent({"role": "lead", "steps": [{"crash": True}]})
    goal = await phone.goal(await phone.project(), GOAL)
    said = await phone.noted(goal, "killed by signal 9, perhaps for want of memory")
    assert "2 agents ran there" in said, "the good worker is the other"
    shown = await phone.card(goal, SessionCard, lambda card: "resume" in card.buttons)
    assert "a pause, and for free memory" in words(shown)
    assert phone.session(phone.state(goal).session).turn == 1
    phone.later(killed.PAUSE_S + 1)
    card = await phone.card(goal, FailureCard)
    assert "that was the second time in a row" in words(card)
    assert phone.session(phone.state(goal).session).turn == 2
    assert labels(card) == ["Retry", "Stop"]
    account = phone.state(goal).account.name
    await phone.agent({"role": "lead", "steps": [{"say": "Well again."}]}, name=account)
    await phone.tap(card, "retry")
    lead_id = phone.state(goal).session
    await phone.until(lambda: phone.session(lead_id).said == "Well again.", "the turn's end")
    assert GOAL in phone.heard(lead_id)


async def test_an_agent_that_is_not_installed_is_said_by_name(tmp_path: Path) -> None:
    home = tmp_path / "alone"
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    machine = Local(home / "home", env=bare)
    async with held(home, machine=machine) as phone:
        await phone.account("main", agent="claude")
        goal = await phone.goal(await phone.project(), GOAL)
        card = await phone.card(goal, FailureCard)
        assert "claude is not installed on here: install it there, or name it with" in words(card)
        await phone.command(WORKS, "main")
        await phone.tap(card, "retry")
        lead_id = phone.state(goal).session
        await phone.until(lambda: "It was read." in phone.session(lead_id).said, "the words")


async def test_an_agent_that_is_interrupted_and_does_not_hear_is_ended(phone: Phone) -> None:
    await phone.agent(
        {"role": "lead", "turn": 1, "steps": [{"say": "I look."}, {"hang": "deaf"}]},
        {"role": "lead", "steps": [{"say": "Here again."}]},
    )
    goal = await phone.goal(await phone.project(), GOAL)
    lead_id = phone.state(goal).session
    await phone.until(lambda: "I look." in waits(phone, goal), "the lead to be at work")
    (card,) = phone.of(goal, SessionCard)
    await phone.tap(card, "interrupt")
    phone.later(steering.INTERRUPT_GRACE_S + 1)
    await phone.until(
        lambda: phone.session(lead_id).stage is session_state.Stage.IDLE, "the lead to rest"
    )
    await phone.door.hear("Go on then", goal=goal, cause=phone.cause())
    await phone.until(lambda: phone.session(lead_id).said == "Here again.", "the next turn")
    assert "Go on then" in phone.heard(lead_id)


# ---------------------------------------------------------------- what leads and workers ask for


RAW = r"""
import json, socket, sys
lines = json.load(open(sys.argv[1]))
for line in lines:
    talk = socket.socket(socket.AF_UNIX)
    talk.connect(__import__("os").environ["QUARTERDECK_DESK"])
    talk.sendall(line.encode("utf-8", "surrogatepass") + b"\n")
    print(json.loads(talk.makefile().readline())["text"])
"""


def raw(*lines: object) -> str:
    """A command that talks to the desk's socket without the desk's own checks."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    program = RAW.replace("open(sys.argv[1])", "sys.stdin")
    return f"python3 -c {shlex.quote(program)} <<'.'\n{json.dumps(texts)}\n."


def call(tool: object, **arguments: object) -> dict[str, object]:
    return {"id": 1, "tool": tool, "args": arguments}


async def test_a_worker_that_goes_round_its_desk_gets_sentences_and_changes_nothing(
    phone: Phone,
) -> None:
    nonsense = raw(
        call("propose_plan", summary="Mine", pieces=[]),
        call("put_for_review", summary="Mine"),
        call("start_plan"),
        call("retry_piece", piece=1),
        call("answer", ask="a-1", decision="allow"),
        call("done", summary=7),
        call("done", summary="a\0b"),
        call("ask_owner", question=" "),
        call("ask_owner", question="?", options=[str(n) for n in range(500)]),
        call("ask_owner", question="?", kind="spend", amount_usd=float("nan")),
        call({"no": "name"}),
        {"tool": "done", "args": [1]},
        '{"tool": "done", "args": {"summary": "\\ud83d"}}',
        '{"tool": "done", "args": ' + "[" * 20000 + "}",
        *('{"tool": "done", "args": {"summary": ' + "[" * n + "]" * n + "}}" for n in (600, 940)),
        "no JSON",
    )
    await phone.agent(
        *lead(plan(PIECE)),
        worker(
            write("work.txt"),
            {"commit": "Do the work"},
            {"run": nonsense, "keep": "heard"},
            {"say": "{heard}"},
        ),
    )
    goal = await phone.goal(await phone.project(), GOAL)
    await phone.tap(await phone.card(goal, PlanCard), "start")
    await phone.tap(await phone.card(goal, PermissionCard), "allow")
    await phone.card(goal, ReviewCard)
    (piece,) = phone.state(goal).pieces
    heard = phone.session(piece.session).said
    assert heard.count("There is no tool") == 5
    assert heard.count("too deep to be read") == 2
    assert not [c for c in phone.of(goal, QuestionCard) if c.asks]
    (health,) = text.health(await phone.door.health())
    assert "Damaged output" not in health.rich.text


async def test_a_lead_that_asks_for_nonsense_gets_sentences_and_its_plan_in_the_end(
    phone: Phone,
) -> None:
    one = {"title": "A", "task": "B", "size": "S"}
    many = [one] * 21
    circle = [one | {"after": [2]}, one | {"after": [1]}]
    nonsense = raw(
        call("propose_plan"),
        call("propose_plan", summary="S", pieces=[]),
        call("propose_plan", summary="S", pieces=many),
        call("propose_plan", summary="S", pieces=circle),
        call("propose_plan", summary="S", pieces=[one | {"after": [1]}]),
        call("propose_plan", summary="S", pieces=[one | {"after": [10**40]}]),
        call("propose_plan", summary="S", pieces=[one | {"size": "XXL"}]),
        call("propose_plan", summary="S", pieces=[one | {"title": " "}]),
        call("propose_plan", summary="S", pieces=[one | {"title": "t" * 5000}]),
        call("propose_plan", summary="S", pieces=[one | {"budget_usd": float("inf")}]),
        call("propose_plan", summary="S", pieces="none"),
        call("put_for_review", summary="S"),
        call("start_plan"),
        call("diff", path="a\0b"),
        call("diff", path="../../../etc/passwd"),
        call("diff", path=":(exclude)*"),
        call("diff", piece=99),
        call("message_worker", piece="x", text="y"),
        call("message_worker", piece=-1, text="y"),
        call("stop_worker", piece=10**18),
        call("answer", ask="a-999999", decision="answer", text="yes"),
        call("answer", ask="../goal", decision="allow"),
    )
    steps = [{"run": nonsense, "keep": "heard"}, plan({"title": "The work"}), {"say": "{heard}"}]
    await phone.agent(*lead(*steps), good_worker())
    goal = await phone.goal(await phone.project(), GOAL)
    card = await phone.card(goal, PermissionCard)
    await phone.tap(card, "allow")
    await phone.card(goal, PlanCard)
    lead_id = phone.state(goal).session
    await phone.until(lambda: bool(phone.session(lead_id).said), "the turn's end")
    phone.will(goal)
    await phone.shipped(goal)


# ---------------------------------------------------------------- what workers leave behind


LEFT = {
    "nothing": ([{"say": "Done."}], "it made no commit, so there is nothing to land"),
    "uncommitted changes": (
        [write("work.txt"), {"commit": "Half"}, write("more.txt"), {"say": "Done."}],
        "it left changes uncommitted",
    ),
    "its work on another branch": (
        [{"run": "git checkout -q -b mine"}, write("work.txt"), {"commit": "Mine"}],
        "its tree is on mine and not on quarterdeck/worker-the-work",
    ),
    "a detached head": (
        [{"run": "git checkout -q --detach"}, write("work.txt"), {"commit": "Nowhere"}],
        "its tree is on no branch (a detached HEAD)",
    ),
    "its branch deleted": (
        [{"run": "git checkout -q -b mine && git branch -D quarterdeck/worker-the-work"}],
        "its branch quarterdeck/worker-the-work is not there any more",
    ),
    "a merge half done": (
        [
            write("work.txt"),
            {"commit": "One"},
            {"run": "git branch other HEAD~1 && git checkout -q other"},
            write("work.txt", "y\n"),
            {"commit": "Two"},
            {"run": "git checkout -q - && git merge other || true"},
        ],
        "a merge is not finished in its tree",
    ),
}
MEND = (
    "rm -f .git/MERGE_HEAD; git checkout -q -f -B quarterdeck/worker-the-work && git add -A && "
    "(git commit -q -m Mended || git commit -q --allow-empty -m Mended) && echo z > z && "
    "git add -A && git commit -q -m z"
)


@pytest.mark.parametrize("how", LEFT)
async def test_a_worker_is_told_what_it_left_behind_and_lands_once_it_mended_that(
    phone: Phone, how: str
) -> None:
    """BR-94."""
    steps, sentence = LEFT[how]
    await phone.agent(
        *lead(plan(PIECE)),
        worker(*steps, turn=1),
        worker({"run": MEND}, {"say": "Mended."}, prompt=f"has not landed: {sentence}"),
    )
    goal = await phone.goal(await phone.project(), GOAL)
    await phone.tap(await phone.card(goal, PlanCard), "start")
    for _ in range(9):
        card = await phone.card(
            goal,
            Card,
            lambda card: card.asks and isinstance(card, PermissionCard | ReviewCard | WorkerCard),
        )
        if not isinstance(card, PermissionCard):
            break
        await phone.tap(card, "allow")
    assert isinstance(card, ReviewCard), words(card)
    (piece,) = phone.state(goal).pieces
    assert piece.attempt == 2
    assert sentence in phone.heard(phone.state(goal).session)


async def test_a_worker_that_never_gets_there_is_a_card_after_three_attempts_and_retry_starts_anew(
    phone: Phone,
) -> None:
    account = await phone.agent(*lead(plan(PIECE)), worker({"say": "I could not."}))
    goal = await phone.goal(await phone.project(), GOAL)
    await phone.tap(await phone.card(goal, PlanCard), "start")
    card = await phone.card(goal, WorkerCard)
    assert "it made no commit, so there is nothing to land, in 3 attempts" in words(card)
    assert labels(card) == ["Retry", "Peek", "Stop"]
    await phone.agent(*lead(plan(PIECE)), good_worker(), name=account)
    await phone.tap(card, "retry")
    await phone.card(goal, ReviewCard)
    assert "As it says." in phone.heard(phone.state(goal).pieces[0].session)


def attempted(number: int) -> Callable[[WorkerCard], bool]:
    return lambda card: card.attempt == number


async def test_a_worker_whose_agent_breaks_is_tried_again_after_a_pause(phone: Phone) -> None:
    account = await phone.agent(*lead(plan(PIECE)), worker({"stderr": "no memory"}, {"exit": 1}))
    goal = await phone.goal(await phone.project(), GOAL)
    await phone.tap(await phone.card(goal, PlanCard), "start")
    for attempt in (2, 3):
        card = await phone.card(goal, WorkerCard, attempted(attempt))
        assert "no memory" in words(card)
        phone.later(120)
    card = await phone.card(goal, WorkerCard)
    assert "no memory, in 3 attempts" in words(card)
    await phone.agent(*lead(plan(PIECE)), good_worker(), name=account)
    await phone.tap(card, "retry")
    await phone.card(goal, ReviewCard)


async def test_a_turn_that_ends_with_its_question_open_goes_on_with_the_answer(
    phone: Phone,
) -> None:
    """BR-24."""
    asks = desk("ask_owner", question="Red or blue?", options=["Red", "Blue"])
    await phone.agent(
        {"role": "lead", "turn": 1, "steps": [asks, {"say": "I asked."}]},
        {"role": "lead", "prompt": "Blue", "steps": [plan(PIECE)]},
    )
    goal = await phone.goal(await phone.project(), GOAL)
    card = await phone.card(goal, QuestionCard)
    lead_id = phone.state(goal).session
    await phone.until(
        lambda: phone.session(lead_id).stage is session_state.Stage.IDLE, "the turn's end"
    )
    assert labels(card) == ["Red", "Blue", "Answer…"]
    await phone.tap(card, "option-1")
    await phone.card(goal, PlanCard)


async def test_a_permission_whose_turn_is_over_says_so_and_harms_nobody(phone: Phone) -> None:
    request = {
        "type": "control_request",
        "request_id": "r1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "WebFetch",
            "input": {"url": "http://127.0.0.1:1/"},
        },
    }
    await phone.agent(*lead({"line": request}, {"say": "I did not wait."}))
    goal = await phone.goal(await phone.project(), GOAL)
    card = await phone.card(goal, PermissionCard, lambda card: bool(card.decided))
    assert "No longer needed: the agent's turn ended" in words(card)
    assert labels(card) == []


async def test_a_lead_that_ends_its_turn_with_nothing_is_said_to_wait_for_a_line(
    phone: Phone,
) -> None:
    await phone.agent(
        {"role": "lead", "turn": 1, "steps": [{"say": "What a fine repository."}]},
        {"role": "lead", "prompt": "Plan it, please", "steps": [plan(PIECE)]},
    )
    goal = await phone.goal(await phone.project(), GOAL)
    sentence = "its lead ended its turn and nothing is under way"
    await phone.until(lambda: sentence in waits(phone, goal), "the reason on the card")
    assert any(row.goal == goal for row in await phone.door.asks())
    await phone.door.hear("Plan it, please", goal=goal, cause=phone.cause())
    await phone.card(goal, PlanCard)


async def test_a_request_too_long_to_be_read_is_turned_down_and_the_turn_goes_on(
    phone: Phone,
) -> None:
    body = {"url": "http://127.0.0.1:1/", "more": "x" * 2_000_000}
    long = {"permission": {"tool": "WebFetch", "input": body}, "keep": "no", "denied": []}
    await phone.agent(*lead(long, {"say": "It said: {no}"}))
    goal = await phone.goal(await phone.project(), GOAL)
    lead_id = phone.state(goal).session
    await phone.until(
        lambda: "too long to be put to the owner" in phone.session(lead_id).said, "the no"
    )
    assert not phone.of(goal, PermissionCard)


async def test_a_request_of_brackets_by_the_hundred_is_turned_down(phone: Phone) -> None:
    deep: object = "x"
    for _ in range(400):
        deep = [deep]
    asked = {"permission": {"tool": "WebFetch", "input": {"url": deep}}, "keep": "no", "denied": []}
    await phone.agent(*lead(asked, {"say": "It said: {no}"}))
    goal = await phone.goal(await phone.project(), GOAL)
    lead_id = phone.state(goal).session
    await phone.until(
        lambda: "too long to be put to the owner" in phone.session(lead_id).said, "the no"
    )
    assert not phone.of(goal, PermissionCard)


async def test_a_turn_whose_folder_is_taken_away_is_ended_and_taken_up_again(phone: Phone) -> None:
    lost = worker(write("lost.txt"), {"say": "At it"}, {"pause_s": 600}, turn=1)
    again = worker({"run": "git add -A; git commit -qm Again"}, {"say": "Done."})
    await phone.agent(*lead(plan(PIECE)), lost, again)
    goal = await phone.goal(await phone.project(), GOAL, willing=True)
    await phone.until(lambda: any("At it" in c.doing for c in phone.of(goal, WORKER)), "the turn")
    (piece,) = phone.state(goal).pieces
    folder = phone.home.root / "runs" / phone.session(piece.session).run
    runner = json.loads((folder / "child.json").read_text())["runner"]
    shutil.rmtree(folder)
    await phone.until(lambda: not Path(f"/proc/{runner}/exe").exists(), "its runner to end")
    await phone.card(goal, ShipCard, lambda card: bool(card.decided))
    assert "is gone" in phone.heard(piece.session)


async def test_a_spool_that_its_disk_spoiled_is_read_on_and_the_loss_is_said(phone: Phone) -> None:
    lost = worker(write("found.txt"), {"say": "At it"}, {"pause_s": 600}, turn=1)
    again = worker({"run": "git add -A; git commit -qm Again"}, {"say": "Done."})
    await phone.agent(*lead(plan(PIECE)), lost, again)
    goal = await phone.goal(await phone.project(), GOAL, willing=True)
    await phone.until(lambda: any("At it" in c.doing for c in phone.of(goal, WORKER)), "the turn")
    (card,) = phone.of(goal, WorkerCard)
    run = phone.session(phone.state(goal).pieces[0].session).run
    with (phone.home.root / "runs" / run / "out.jsonl").open("ab") as spool:
        spool.write(b"\0" * 4095 + b"\n")
        spool.write(b'{"n":1,"t":"never","k":"out","d":{},"blob":"1","size":"big"}\n')
        spool.write(b"caf\xe9\n")
    await phone.door.hear("Finish now", goal=goal, card=card.id, cause=phone.cause())
    await phone.tap(card, "interrupt")
    await phone.card(goal, ShipCard, lambda card: bool(card.decided))
    said = await phone.noted(goal, "cannot be read")
    assert said.startswith(f"here: of what {run} printed, 3 lines (4 kB) cannot be read."), said
    (health,) = text.health(await phone.door.health())
    assert "⚠ Damaged output: here 3 lines (4 kB) cannot be read" in health.rich.text
