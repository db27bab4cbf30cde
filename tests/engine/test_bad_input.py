"""What the owner, the project and the remote get wrong: a sentence each, a way out, and nothing lost.

One engine for all; a good goal begun before the first trouble is shipped after the last. Real git and real
runs. Neighbours: phone.py (the owner), test_bad_agents.py (agents), tests/adapters/test_hub.py (git alone).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from engine.api import Client
from engine.errors import Refused
from engine.rules import goal_state as goal_rule
from engine.rules import landing as landing_rule
from engine.rules import plan as plan_rule
from engine.rules import session_state
from engine.rules import ship as ship_rule
from engine.views import (
    CommandCard,
    PlanCard,
    QuestionCard,
    ReviewCard,
    SessionCard,
    ShipCard,
    WorkerCard,
)
from tests.engine.phone import (
    PIECE,
    Phone,
    good_worker,
    held,
    labels,
    lead,
    plan,
    waits,
    words,
    worker,
    write,
)
from tests.fakes import git

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    """One engine; a good goal at work from before the first trouble is shipped after the last."""
    async with held(tmp_path_factory.mktemp("input")) as phone:
        phone.good = await phone.at_work()
        yield phone
        assert (await phone.brought_home(phone.good)).decided == "Shipped"


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def others_are_unharmed(phone: Phone) -> AsyncIterator[None]:
    yield
    assert phone.still_at_work(phone.good)


# ---------------------------------------------------------------- projects


def nothing_there(_: Phone, folder: Path) -> Path:
    return folder / "gone"


def no_repository(_: Phone, folder: Path) -> Path:
    return folder


def an_empty_one(_: Phone, folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    return folder


def a_detached_head(phone: Phone, _: Path) -> Path:
    path = phone.repository()
    git(path, "checkout", "-q", "--detach")
    return path


def a_folder_inside_one(phone: Phone, _: Path) -> Path:
    inside = phone.repository() / "src"
    inside.mkdir()
    return inside


def a_name_that_is_no_text(phone: Phone, folder: Path) -> Path:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
    phone.repository().rename(path)
    return path


def an_option(_: Phone, _folder: Path) -> Path:
    return Path("--upload-pack=touch /tmp/x")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (nothing_there, "There is nothing at"),
        (no_repository, "is no git repository. Run `git init` there and commit"),
        (an_empty_one, "has no commit yet. Make a first one, then add it again"),
        (a_detached_head, "Name the branch to work from with --base: main"),
        (a_folder_inside_one, "Give that folder instead"),
        (a_name_that_is_no_text, "is no UTF-8"),
        (an_option, "Give the folder of a git repository"),
    ],
)
async def test_what_cannot_be_a_project_is_refused_with_what_to_do(
    phone: Phone, tmp_path: Path, make: Callable[[Phone, Path], Path], sentence: str
) -> None:
    before = await phone.door.projects()
    with pytest.raises(Refused) as no:
        await phone.door.add_project("odd", str(make(phone, tmp_path)), cause=phone.cause())
    assert sentence in no.value.sentence
    assert await phone.door.projects() == before


async def test_an_address_nobody_answers_at_holds_nothing_up(phone: Phone) -> None:
    """The bot brings what is unavailable again and again, and all else in the chat waits for it."""
    before = await phone.door.projects()
    with pytest.raises(Refused, match=r"could not be read.*\nNothing was added\."):
        await phone.door.add_project("far", "http://127.0.0.1:1/x.git", cause=phone.cause())
    assert await phone.door.projects() == before


async def test_words_said_to_a_question_are_its_answer(phone: Phone) -> None:
    """A line for later would wait for the very turn that waits for the answer."""
    asks = {"question": {"question": "Which colour?", "options": ["Red", "Blue"]}, "keep": "colour"}
    await phone.agent(*lead(asks, plan({**PIECE, "title": "Paint it {colour}"})))
    goal = await phone.goal(await phone.project())
    card = await phone.card(goal, QuestionCard)
    said = await phone.door.hear("Green", goal=goal, card=card.id, cause=phone.cause())
    assert said == {"goal": goal, "verdict": "Answered: Green"}
    assert (await phone.card(goal, PlanCard)).pieces[0].title == "Paint it Green"
    assert not [card for card in phone.of(goal, QuestionCard) if card.asks]


async def test_names_that_are_none_are_refused_and_the_right_ones_said(phone: Phone) -> None:
    path = str(phone.repository())
    for name in ("", "Shop", "../shop", "-shop", "a/b", "sh op", "ш", "a" * 41, "a\0"):
        with pytest.raises(Refused, match="cannot be a project's name"):
            await phone.door.add_project(name, path, cause=phone.cause())
    known = await phone.project()
    with pytest.raises(Refused, match=f"There is no project shpo.*{known}"):
        await phone.door.new_goal("shpo", "Do it", cause=phone.cause())
    with pytest.raises(Refused):
        await phone.door.new_goal(known, "  ", cause=phone.cause())
    with pytest.raises(Refused):
        await phone.door.new_goal(known, "x" * 100_001, cause=phone.cause())
    with pytest.raises(Refused, match="can be driven yet"):
        await phone.door.add_account("main", agent="clod")
    with pytest.raises(Refused, match=f"Project {known} is"):
        await phone.door.add_project(known, path, cause=phone.cause())


async def test_an_account_without_a_proper_name_is_refused(phone: Phone) -> None:
    for name in ("", "a/../b", "-a", "a b", "caf\udce9"):
        with pytest.raises(Refused, match="cannot be an account's name"):
            await phone.door.add_account(name, "rehearsal", cause=phone.cause())


async def test_what_is_no_text_is_refused_before_it_reaches_the_engine(phone: Phone) -> None:
    client = Client(phone.home.engine_sock)
    try:
        with pytest.raises(Refused, match="is no UTF-8: nothing was done"):
            await client.call("new_goal", project="", text="caf\udce9")
        await client.call("projects")
    finally:
        await client.close()


async def test_settings_that_cannot_be_read_are_said_and_the_goal_goes_on(phone: Phone) -> None:
    await phone.agent(*lead(plan(PIECE)))
    goal = await phone.goal(await phone.project(settings="[worktree\ncheck = 7"))
    assert "settings.toml is not used" in await phone.noted(goal, "settings.toml")
    await phone.card(goal, PlanCard)


# ---------------------------------------------------------------- what is written

ODD = [
    "--help me with -p and --dangerously-skip-permissions",
    "-p x",
    "~^:?*[\\..@{.lock / \t \x7f.git",
    "Файлы «заказов» 订单 ✨🧑‍🚀",
    "✨✨✨",
    "Ends with half a pair \ud83d, and \0 a NUL",
    "/stop",
    "`$(touch /tmp/owned)`; \"quoted\" 'twice' \\n %s {0} <b>bold</b>",
    "\n\n  the first line is empty  \n" + "Ж" * 10_000,
]


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text.strip())[:24])
async def test_any_text_of_a_goal_reaches_the_agent_word_for_word_and_is_shipped(
    phone: Phone, text: str
) -> None:
    """BR-62, BR-06, BR-92."""
    task = text.replace("\ud83d", "").replace("\0", "")  # its desk refuses what is no text
    title = " ".join(task.split())[:100]
    await phone.agent(*lead(plan({"title": title, "task": task})), good_worker())
    goal = await phone.goal(await phone.project(remote=True), text, willing=True)
    await phone.shipped(goal)
    state = phone.state(goal)
    said = text.replace("\ud83d", "\ufffd")
    assert said in phone.heard(state.session)
    assert task in phone.heard(state.pieces[0].session)


async def test_a_goal_in_an_odd_place_with_no_remote_leaves_the_owners_work_alone(
    phone: Phone,
) -> None:
    """BR-74, BR-79, BR-91, BR-92."""
    path = phone.repository("заказы и пробелы/shop's «café» $(x)")
    for name in ("Äbc.txt", "new\nline.txt", "-rf", "tab\t.txt"):
        (path / name).write_text("owner's\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Odd names")
    linked = path.with_name("linked worktree")
    git(path, "worktree", "add", "-q", "-b", "elsewhere", str(linked))
    (path / "README").write_text("half written\n")
    (path / "staged").write_text("staged\n")
    git(path, "add", "staged")
    (path / "untracked").write_text("untracked\n")
    before = snapshot(path), snapshot(linked)
    steps = [
        {"run": "git rm -q -- -rf && printf z > 'new\nline.txt' && printf z > ÄÖÜ.txt"},
        {"commit": "Odd work"},
        {"say": "Done."},
    ]
    await phone.agent(*lead(plan(PIECE)), worker(*steps))
    goal = await phone.goal(await phone.project(path), willing=True)
    card = await phone.shipped(goal)
    assert f"git merge quarterdeck/{goal}" in words(card)
    assert (snapshot(path), snapshot(linked)) == before
    git(path, "stash", "-u", "-q")
    git(path, "merge", "-q", f"quarterdeck/{goal}")
    assert (path / "ÄÖÜ.txt").exists()
    assert not (path / "-rf").exists()


def snapshot(path: Path) -> tuple[str, ...]:
    """What the owner would miss: the branch, its commit, the index, the files."""
    return (
        git(path, "symbolic-ref", "HEAD"),
        git(path, "rev-parse", "HEAD"),
        git(path, "ls-files", "-s"),
        git(path, "status", "--porcelain"),
        (path / "README").read_text(),
    )


# ---------------------------------------------------------------- remotes


async def put_to_push(phone: Phone, **about: object) -> tuple[str, Path, ShipCard]:
    """A goal that is Ready to push; its id, its repository, its card."""
    path = phone.repository(remote=True, **about)  # type: ignore[arg-type]
    await phone.agent(*lead(plan(PIECE)), good_worker())
    goal = await phone.goal(await phone.project(path))
    phone.will(goal, until="ship")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "proceed")
    await phone.tap(card, "proceed")
    return goal, path, await phone.card(goal, ShipCard, lambda card: card.stage == "ready")


def origin(path: Path) -> Path:
    return path.with_name(f"{path.name}-origin.git")


def move_remote(path: Path, name: str, text: str = "theirs\n") -> Path:
    """Somebody else pushes to main; return their clone."""
    other = path.with_name(f"{path.name}-other-{name}")
    git(path.parent, "clone", "-q", str(origin(path)), str(other))
    (other / name).write_text(text)
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", f"Others: {name}")
    git(other, "push", "-q", "origin", "main")
    return other


async def test_a_remote_that_refuses_is_quoted_and_proceed_goes_on_once_it_does_not(
    phone: Phone,
) -> None:
    goal, path, card = await put_to_push(phone)
    hook = origin(path) / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'Pushes are frozen until Monday' >&2\nexit 1\n")
    hook.chmod(0o755)
    await phone.tap(card, "push")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "failed")
    assert "Pushes are frozen until Monday" in words(card)
    assert labels(card) == ["Proceed", "Cancel"]
    hook.unlink()
    await phone.tap(card, "proceed")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "ready")
    await phone.tap(card, "push")
    await phone.shipped(goal)


async def test_a_remote_that_is_gone_is_said_and_proceed_goes_on_once_it_is_back(
    phone: Phone,
) -> None:
    goal, path, card = await put_to_push(phone)
    away = origin(path).rename(origin(path).with_name("away.git"))
    await phone.tap(card, "push")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "failed")
    assert "could not be read" in words(card)
    await phone.tap(card, "proceed")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "failed")
    away.rename(origin(path))
    await phone.tap(card, "proceed")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "ready")
    await phone.tap(card, "push")
    await phone.shipped(goal)


async def test_a_remote_that_does_not_answer_is_said_at_once_and_can_be_cancelled(
    phone: Phone,
) -> None:
    goal, path, card = await put_to_push(phone)
    phone.will(goal, until="review")
    await phone.tap(card, "cancel")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "cancelled")
    name = phone.state(goal).project
    review = await phone.card(goal, ReviewCard)
    git(path, "remote", "set-url", "origin", "http://127.0.0.1:1/shop.git")
    await phone.door.add_project(name, str(path), cause=phone.cause())
    await phone.tap(review, "ship")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "proceed")
    await phone.tap(card, "proceed")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "failed")
    assert "could not be read" in words(card)
    assert labels(card) == ["Proceed", "Cancel"]


async def test_a_remote_that_moved_is_taken_in_checked_again_and_put_back(phone: Phone) -> None:
    goal, path, card = await put_to_push(phone, check="test -e README")
    move_remote(path, "theirs.txt")
    await phone.tap(card, "push")
    moved = card.commit
    card = await phone.card(
        goal, ShipCard, lambda card: card.stage == "ready" and card.commit != moved
    )
    assert "main moved: taken in" in words(card)
    await phone.tap(card, "push")
    await phone.shipped(goal)
    shown = git(origin(path), "ls-tree", "--name-only", "main").split()
    assert {"theirs.txt", "work.txt"} <= set(shown)


async def test_a_remote_that_moved_into_a_conflict_is_mended_and_reviewed_again(
    phone: Phone,
) -> None:
    """The lead has a worker join both sides; nothing is pushed before the owner saw what came of it."""
    path = phone.repository(remote=True)
    agent = await phone.agent(*lead(plan(PIECE)), good_worker())
    goal = await phone.goal(await phone.project(path))
    phone.will(goal, until="ship")
    first = await phone.card(goal, ShipCard, lambda card: card.stage == "proceed")
    theirs = git(move_remote(path, "work.txt"), "rev-parse", "HEAD").strip()
    joins = plan({"title": "Join both sides", "task": "Join what conflicts."})
    await phone.agent(
        {"role": "lead", "prompt": f"git merge {theirs}", "steps": [joins]},
        *lead(plan(PIECE)),
        worker(
            {"run": f"git merge {theirs} || true", "expect": "CONFLICT"},
            write("work.txt", "both\n"),
            {"commit": "Join"},
            {"say": "Joined."},
        ),
        name=agent,
    )
    await phone.tap(first, "proceed")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "handed back")
    assert "Main moved, and what is new there conflicts in work.txt" in words(card)
    assert labels(card) == []
    phone.will(goal)
    await phone.shipped(goal)
    assert git(origin(path), "show", "main:work.txt") == "both"
    assert theirs in git(origin(path), "rev-list", "main")


# ---------------------------------------------------------------- checks and setups


BAD_CHECKS = {
    "cannot be found": ("no-such-program --check", "exit 127"),
    "kills itself": ("kill -9 $$", "signal 9"),
    "floods": ("yes $(head -c 4000 /dev/zero | tr '\\0' x)", "it printed more than 64 MiB"),
}


def tries(bad: int) -> list[dict[str, object]]:
    """A worker whose first turns do bad work, and whose next does good."""
    end: list[dict[str, object]] = [{"commit": "Try"}, {"say": "Done."}]
    return [
        *(
            worker(write("work.txt", f"bad {turn}\n"), *end, turn=turn)
            for turn in range(1, bad + 1)
        ),
        worker(write("work.txt", "good\n"), *end),
    ]


def red(body: str) -> str:
    """A check that is green on the base and on good work, else `body`."""
    return f"test ! -e work.txt || grep -q good work.txt || ({body})"


@pytest.mark.parametrize("how", BAD_CHECKS)
async def test_a_check_that_is_bad_is_told_to_its_worker_and_costs_one_attempt(
    phone: Phone, how: str
) -> None:
    body, sentence = BAD_CHECKS[how]
    await phone.agent(*lead(plan(PIECE)), *tries(bad=1))
    goal = await phone.goal(await phone.project(check=red(body)))
    phone.will(goal, until="review")
    await phone.card(goal, ReviewCard)
    (piece,) = phone.state(goal).pieces
    assert piece.attempt == 2
    assert sentence in phone.heard(piece.session)


async def test_a_check_that_fails_each_time_is_a_card_and_retry_lands_once_it_is_mended(
    phone: Phone,
) -> None:
    await phone.agent(*lead(plan(PIECE)), *tries(bad=3))
    check = "echo all is red; grep -q good work.txt || exit 1"
    goal = await phone.goal(await phone.project(check=check))
    phone.will(goal, until="review")
    card = await phone.card(goal, WorkerCard)
    assert "check failed: exit 1" in words(card)
    assert "in 3 attempts" in words(card)
    assert "all is red" in words(card)
    assert labels(card) == ["Retry", "Peek", "Stop"]
    assert "already red on main" in waits(phone, goal)
    await phone.tap(card, "retry")
    await phone.card(goal, ReviewCard)


async def test_a_check_that_hangs_is_ended_at_its_limit(tmp_path: Path) -> None:
    async with held(tmp_path, check_limit_s=0.5) as phone:
        await phone.agent(*lead(plan(PIECE)), *tries(bad=3))
        goal = await phone.goal(await phone.project(check=red("echo it begins; sleep 600")))
        phone.will(goal, until="plan")
        await phone.tap(await phone.card(goal, PlanCard), "start")
        card = await phone.card(goal, WorkerCard)
        assert "it ran longer than 0.5 seconds" in words(card)
        assert "it begins" in words(card)
        assert labels(card) == ["Retry", "Peek", "Stop"]


async def test_a_check_that_is_red_only_with_what_is_new_at_the_remote_is_shown_at_proceed(
    phone: Phone,
) -> None:
    goal, path, card = await put_to_push(phone, check="echo looked; test ! -e theirs.txt")
    other = move_remote(path, "theirs.txt")
    await phone.tap(card, "push")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "failed")
    assert "The check failed (exit 1" in words(card)
    assert "looked" in words(card)
    git(other, "rm", "-q", "theirs.txt")
    git(other, "commit", "-q", "-m", "Others: mended")
    git(other, "push", "-q", "origin", "main")
    await phone.tap(card, "proceed")
    card = await phone.card(goal, ShipCard, lambda card: card.stage == "ready")
    await phone.tap(card, "push")
    await phone.shipped(goal)


async def test_a_setup_that_fails_is_said_and_retry_goes_on_once_it_does_not(phone: Phone) -> None:
    await phone.agent(*lead(plan(PIECE)), good_worker())
    setup = "test -e .git/once || (touch .git/once; echo no registry; exit 1)"
    goal = await phone.goal(await phone.project(setup=setup))
    phone.will(goal, until="review")
    card = await phone.card(goal, WorkerCard)
    assert "The project's setup failed in its tree: exit 1" in words(card)
    assert "no registry" in words(card)
    await phone.tap(card, "retry")
    await phone.card(goal, ReviewCard)


async def test_a_setup_that_hangs_can_be_stopped_and_starts_anew_when_resumed(
    phone: Phone,
) -> None:
    await phone.agent(*lead(plan(PIECE)), good_worker())
    setup = "test -e .git/once || (touch .git/once; sleep 600)"
    goal = await phone.goal(await phone.project(setup=setup))
    phone.will(goal, until="review")
    trees = phone.home.root / "trees" / phone.state(goal).project
    await phone.until(lambda: any(trees.glob("*/.git/once")), "its worker's tree to be set up")
    await phone.door.stop(goal, cause=phone.cause())
    await phone.until(lambda: not phone.runs_agents(goal), "the setup to be ended")
    await phone.door.resume(goal, cause=phone.cause())
    await phone.card(goal, ReviewCard)


async def test_a_command_that_is_not_allowed_is_not_run_and_the_goal_goes_on(phone: Phone) -> None:
    await phone.agent(*lead(plan(PIECE)), good_worker())
    goal = await phone.goal(await phone.project(check="echo never to be run"))
    card = await phone.card(goal, CommandCard)
    await phone.tap(card, "not_this")
    phone.will(goal, until="review")
    review = await phone.card(goal, ReviewCard)
    assert "No check" in words(review)
    orders = (phone.home.root / "runs").glob("*/spec.json")
    assert not [run for run in orders if '"echo never to be run"' in run.read_text()]


# ---------------------------------------------------------------- stop, anywhere


def _session_is(stage: session_state.Stage, *, lead: bool) -> Callable[[Phone, str], bool]:
    def there(phone: Phone, goal: str) -> bool:
        state = phone.state(goal)
        names = [state.session] if lead else [piece.session for piece in state.pieces]
        return any(phone.session(name).stage is stage for name in names)

    return there


def _piece_is(stage: plan_rule.Stage) -> Callable[[Phone, str], bool]:
    return lambda phone, goal: any(piece.stage is stage for piece in phone.state(goal).pieces)


def _entry_is(stage: landing_rule.Stage) -> Callable[[Phone, str], bool]:
    def there(phone: Phone, goal: str) -> bool:
        landing = phone.engine.loop.state(f"landing/{goal}")
        return bool(landing and landing.current and landing.current.stage is stage)

    return there


def _ship_is(stage: ship_rule.Stage) -> Callable[[Phone, str], bool]:
    def there(phone: Phone, goal: str) -> bool:
        ship = phone.engine.loop.state(f"ship/{goal}")
        return bool(ship and ship.stage is stage)

    return there


STAGES: dict[str, Callable[[Phone, str], bool]] = {
    "opening": lambda phone, goal: phone.state(goal).stage is goal_rule.Stage.OPENING,
    "the lead starting": _session_is(session_state.Stage.STARTING, lead=True),
    "the lead running": _session_is(session_state.Stage.RUNNING, lead=True),
    "the lead ending its turn": _session_is(session_state.Stage.CLOSING, lead=True),
    "a worker wanting a place": _session_is(session_state.Stage.WANTING, lead=False),
    "a worker starting": _session_is(session_state.Stage.STARTING, lead=False),
    "a worker running": _session_is(session_state.Stage.RUNNING, lead=False),
    "a worker ending its turn": _session_is(session_state.Stage.CLOSING, lead=False),
    "collecting": _piece_is(plan_rule.Stage.COLLECTING),
    "merging": _entry_is(landing_rule.Stage.MERGING),
    "checking": _entry_is(landing_rule.Stage.CHECKING),
    "landing": _entry_is(landing_rule.Stage.LANDING),
    "judging": lambda phone, goal: phone.state(goal).review.stage is goal_rule.ReviewStage.JUDGING,
    "taking the remote in": _ship_is(ship_rule.Stage.TAKING),
    "checking what ships": _ship_is(ship_rule.Stage.CHECKING),
    "pushing": _ship_is(ship_rule.Stage.PUSHING),
}


@pytest.mark.parametrize("stage", STAGES)
async def test_a_goal_stopped_at_any_stage_and_resumed_comes_to_the_same_end(
    phone: Phone, stage: str
) -> None:
    """BR-42, BR-76."""
    await phone.agent(
        *lead(plan(PIECE)),
        {"role": "lead", "prompt": "You were stopped", "steps": [plan(PIECE)]},
        good_worker(),
    )
    name = await phone.project(check="true", remote=True)
    stopped = asyncio.Event()
    stops: list[asyncio.Task[dict[str, str]]] = []

    def stop_there(stream: str) -> None:
        goal = phone.newest(name)
        if goal and not stops and STAGES[stage](phone, goal):
            stops.append(asyncio.create_task(phone.door.stop(goal, cause=phone.cause())))
            stopped.set()

    phone.engine.loop.watch(stop_there)
    goal = await phone.goal(name, willing=True)
    await asyncio.wait_for(stopped.wait(), 30)
    assert (await stops[0])["verdict"] == "Stopped"
    await phone.until(lambda: not phone.runs_agents(goal), "every agent of the goal to be gone")
    assert "Resume" in labels(phone.of(goal, SessionCard)[0])
    await phone.door.resume(goal, cause=phone.cause())
    await phone.until(lambda: bool(phone.state(goal).shipped), "the goal to be shipped")
    path = phone.home.hub(name)
    state = phone.state(goal)
    assert [piece.stage for piece in state.pieces] == [plan_rule.Stage.LANDED]
    assert git(path, "log", "--format=%s", f"{state.base_commit}..{state.shipped}") == "Do the work"
