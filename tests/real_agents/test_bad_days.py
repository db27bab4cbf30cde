"""What goes wrong around the real Claude Code, and how the owner hears of it and gets on.

Only the phone and the model are stand-ins; see quarterdeck.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.node import fence
from engine.rules.session_state import Stage
from engine.views import SessionCard, WorkerCard
from tests.real_agents.model_server import (
    LOGIN_EXPIRED,
    Json,
    ModelServer,
    Part,
    Step,
    prompt_of,
    usage_limit,
)
from tests.real_agents.quarterdeck import CLI, Quarterdeck, git
from tests.real_agents.script import LEAD, WORKER, bash, commit, desk, piece, plan, write

pytestmark = pytest.mark.real_agent

LONG = "python3 -c 'import time; time.sleep(600)'"
RETRY = "Retry"


def lead(*steps: Step, prompt: str = "Rundown") -> Part:
    return Part(system=LEAD, prompt=prompt, steps=steps)


def goal_only(*steps: Step) -> list[Part]:
    """A lead that gets no further than these steps."""
    return [lead(*steps), Part(system=LEAD, steps=("Noted.",))]


@pytest.mark.parametrize("named", [True, False], ids=["a wrong path", "not installed"])
async def test_an_agent_that_is_not_there_is_said_so_and_retried_once_it_is(
    tmp_path: Path, named: bool
) -> None:
    where = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(one for one in where if not (Path(one) / "claude").exists())
    command = str(tmp_path / "no/claude") if named else ""
    with ModelServer(goal_only("I am here now.")) as api:
        async with Quarterdeck(tmp_path, api, command=command, path=path) as deck:
            deck.phone.send("/new shop Add a cart")
            card = await deck.shown(lambda m: RETRY in m.labels)
            assert not card.silent
            assert "The lead could not start" in card.text
            told = f"claude is not at {command}" if named else "claude is not installed on here"
            assert told in card.text
            assert "quarterdeck account add" in card.text
            assert api.requests == []
            await deck.add_account(str(CLI))
            await deck.press(RETRY)
            await deck.shown(lambda m: "I am here now." in m.text)


async def test_a_login_that_expired_is_the_owners_to_mend_and_the_goal_is_kept(
    tmp_path: Path,
) -> None:
    """BR-54."""
    with ModelServer(goal_only(LOGIN_EXPIRED)) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            deck.phone.send("/new shop Add a cart")
            card = await deck.shown(lambda m: RETRY in m.labels)
            assert not card.silent
            assert "Claude · main" in card.text
            assert "quarterdeck account add main" in card.text
            asked = len(api.requests)
            api.parts[:] = goal_only("I am signed in again.")
            await deck.press(RETRY)
            await deck.shown(lambda m: "I am signed in again." in m.text)
            assert api.prompts()[-1].endswith("Add a cart")
            assert asked < 4


async def test_a_login_stored_on_the_machine_is_used_and_its_lack_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "signed-in"
    folder.mkdir()
    login = {
        "accessToken": "sk-ant-oat01-stored-and-made-up",
        "refreshToken": "sk-ant-ort01-made-up",
        "expiresAt": int((time.time() + 86_400) * 1000),
        "scopes": ["user:inference", "user:profile"],
        "subscriptionType": "max",
    }
    with ModelServer(goal_only("I am signed in.")) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            await deck.add_account(str(CLI), config_dir=folder)
            deck.phone.send("/new shop Add a cart")
            card = await deck.shown(lambda m: RETRY in m.labels)
            assert f"There is no login at {folder}" in card.text
            (folder / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))
            await deck.press(RETRY)
            await deck.shown(lambda m: "I am signed in." in m.text)
        assert {one["authorization"] for one in api.headers} == {f"Bearer {login['accessToken']}"}


async def test_a_used_up_plan_is_waited_out_a_minute_past_its_reset(tmp_path: Path) -> None:
    resets_at = int(time.time()) + 3600
    script = [
        lead("I go on.", prompt="usage limit has reset"),
        *goal_only(bash("git status"), usage_limit(resets_at)),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            deck.phone.send("/new shop Add a cart")
            await deck.until(lambda: [s.stage for s in deck.sessions()] == [Stage.PARKED])
            (session,) = deck.sessions()
            assert session.parked_until == resets_at + 60
            back = time.strftime("%H:%M", time.localtime(session.parked_until))
            card = await deck.shown(lambda m: "usage limit" in m.text and back in m.text)
            assert RETRY not in card.labels
            assert [m.text for m in deck.phone.heard() if "Allow" not in m.labels] == []
            asked = len(api.requests)
            deck.pass_time(session.parked_until - time.time() - 30)  # past the reset itself
            await deck.engine.loop.settle()  # what was due by then has been acted on
            assert [s.stage for s in deck.sessions()] == [Stage.PARKED]
            assert len(api.requests) == asked
            deck.pass_time(31)
            await deck.shown(lambda m: "I go on." in m.text)


async def test_after_a_limit_the_owner_is_asked_first_if_they_want_that(tmp_path: Path) -> None:
    """BR-112."""
    resets_at = int(time.time()) + 3600
    script = [
        lead("I go on.", prompt="usage limit has reset"),
        *goal_only(usage_limit(resets_at)),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            deck.phone.send("/settings limit ask")
            await deck.shown(lambda m: "After a usage limit work asks you first" in m.text)
            deck.phone.send("/new shop Add a cart")
            await deck.until(lambda: [s.stage for s in deck.sessions()] == [Stage.PARKED])
            deck.pass_time(3600 + 65)
            card = await deck.shown(lambda m: "A usage limit is over: go on?" in m.text)
            assert (card.labels, card.silent) == (["Resume", "Leave it"], False)
            asked = len(api.requests)
            await deck.shown(lambda m: "and you are asked: Resume, or Leave it" in m.text)
            await deck.press("Leave it")
            await deck.shown(lambda m: "Left: Resume on its session's card goes on" in m.text)
            assert len(api.requests) == asked
            await deck.press("Resume", "Stopped")
            await deck.shown(lambda m: "I go on." in m.text)


async def test_an_agent_killed_in_its_turn_is_told_so_goes_on_and_lands(tmp_path: Path) -> None:
    """BR-42, BR-49, BR-51, BR-64: not one process of the killed turn lives beside the next."""
    beside: list[object] = []

    def note(body: Json) -> Step:
        beside.append(deck.processes_of(run))
        return commit("Add the cart")

    script = [
        lead(plan("One piece.", piece("Cart")), "Planned."),
        lead(desk("put_for_review", summary="The cart is there."), "Put.", prompt="Every piece of"),
        Part(system=LEAD, steps=("Noted.",)),
        Part(system=WORKER, prompt="was cut off", steps=(note, "Done.")),
        Part(
            system=WORKER,
            prompt='"Cart"',
            steps=(write("cart.py", "CART = []\n"), bash(LONG), "Never said."),
        ),
    ]
    with ModelServer(script) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            deck.phone.send("/new shop Add a cart")
            await deck.press("Allow", "unittest")
            await deck.press("Start")
            await deck.press("Allow", LONG)
            run = next(session.run for session in deck.sessions() if session.title == "Cart")
            await deck.until(lambda: any(is_sleeping(pid) for pid in deck.processes_of(run)))
            with anothers(run) as bystander:
                os.kill(deck.agent_of(run)[0], signal.SIGKILL)
                await deck.shown(lambda m: "killed by signal 9 during Bash: a step" in m.text)
                await deck.press("Resume")
                await deck.shown(lambda m: "Ship" in m.labels)
                assert bystander.poll() is None
            assert beside
            assert not any(beside)
            (worker,) = deck.cards(WorkerCard)
            assert (worker.stage, worker.attempt) == ("landed", 1)
            (session,) = deck.cards(SessionCard)
            hub = deck.home.hub("shop")
            assert git(hub, "show", f"{session.branch}:cart.py") == "CART = []"
        resumed = next(body for body in api.requests if "was cut off" in str(body["messages"][-1:]))
        assert "Write" in str(resumed["messages"])
        told = prompt_of(resumed)[0]
        assert f"- Bash, with `{LONG}`, begun" in told
        assert "look whether it took effect before you repeat it" in told


@contextmanager
def anothers(run: str) -> Iterator[subprocess.Popen[bytes]]:
    """Have a process of another Quarterdeck's run of the same id beside ours."""
    env = {**os.environ, fence.MARK: run, fence.PLACE: "elsewhere"}
    with subprocess.Popen(["sleep", "600"], env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def is_sleeping(pid: int) -> bool:
    try:
        return b"sleep(600)" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[-2]
    except (OSError, IndexError):
        return False


async def test_a_goal_reaches_the_agent_word_for_word_whatever_it_looks_like(
    tmp_path: Path,
) -> None:
    """BR-62."""
    # Telegram takes the blanks off both ends of a message, so a long one is not cut at a blank here.
    line = "Sell this article too, and say: {}".format
    long = "\n".join(line(f"{number:-<29}") for number in range(200))[:9_999] + "!"
    goals = ["--help me", "-p x", long]
    assert len(goals[-1]) == 10_000
    with ModelServer(goal_only("I read it.")) as api:
        async with Quarterdeck(tmp_path, api) as deck:
            for goal in goals:
                deck.phone.send(f"/new shop {goal}")
            await deck.until(lambda: len(api.requests) >= len(goals))
            asked = {prompt.partition("The owner's goal:\n\n")[2] for prompt in api.prompts()}
            assert asked - {""} == set(goals)
            assert [card.text for card in deck.cards(SessionCard)] == goals
