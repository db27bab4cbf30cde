"""Trees that are there before their workers are, with what git does not keep copied into them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.ahead import wanted
from engine.rules.effects import StartRun
from engine.rules.events import GoalDropped
from engine.views import CommandCard, PlanCard, WorkerCard
from tests.engine.phone import Phone, good_worker, held, lead, plan, words, worker
from tests.fakes import git
from tests.rules.world import draft, proposed, started
from tests.rules.world import opened as world_opened

SETTINGS = '[worktree]\ncopy = ["deps"]\n'
PIECES = tuple({"title": f"Piece {n}"} for n in range(1, 7))
AT_WORK = worker({"say": "At work."}, {"pause_s": 60})


def pool(phone: Phone) -> int:
    return len(list((phone.home.root / "trees").glob("*/pool-*")))


async def project(phone: Phone, **more: Any) -> tuple[str, Path]:
    path = phone.repository(settings=SETTINGS, **more)
    (path / ".gitignore").write_text("deps\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Keep no deps")
    return await phone.project(path), path


async def test_trees_are_made_ready_while_the_plan_waits_for_its_go(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(*PIECES)), AT_WORK)
        name, path = await project(phone)
        (path / "deps").mkdir()
        (path / "deps/lib").write_text("installed once\n")
        goal = await phone.goal(name)
        asked = await phone.card(goal, CommandCard)
        assert "agents can read all that is in it" in words(asked)
        await phone.tap(asked, "allow")
        card = await phone.card(goal, PlanCard)
        await phone.until(
            lambda: pool(phone) == 4, "four free trees, however many pieces there are"
        )
        await phone.tap(card, "start")
        await phone.until(
            lambda: sum(card.doing == "At work." for card in phone.of(goal, WorkerCard)) == 6,
            "all workers to be at work",
        )
        trees = [
            phone.home.root / "trees" / name / piece.session for piece in phone.state(goal).pieces
        ]
        assert {(tree / "deps/lib").read_text() for tree in trees} == {"installed once\n"}
        assert {git(tree, "status", "--porcelain") for tree in trees} == {""}
        assert pool(phone) == 0
        assert all(card.uncopied == "" for card in phone.of(goal, WorkerCard))


async def test_what_could_not_be_copied_is_said_on_the_workers_card(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECES[0])), AT_WORK, good_worker())
        name, path = await project(phone)
        (path / "deps").symlink_to(tmp_path)
        goal = await phone.goal(name)
        phone.will(goal)
        card = await phone.card(goal, WorkerCard, lambda card: bool(card.uncopied))
        assert "⚠ Not copied into its tree: deps: a link, and links are not followed" in words(card)
        await phone.card(goal, WorkerCard, lambda card: card.doing == "At work.")


async def test_nothing_is_copied_that_the_owner_did_not_allow(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(plan(PIECES[0])), AT_WORK)
        name, path = await project(phone)
        (path / "deps").mkdir()
        (path / "deps/key").write_text("of the owner\n")
        goal = await phone.goal(name)
        asked = await phone.card(goal, CommandCard)
        await phone.tap(await phone.card(goal, PlanCard), "start")
        assert phone.of(goal, WorkerCard) == []  # no worker before the owner's word
        await phone.tap(asked, "not_this")
        await phone.card(goal, WorkerCard, lambda card: card.doing == "At work.")
        (piece,) = phone.state(goal).pieces
        assert not (phone.home.root / "trees" / name / piece.session / "deps").exists()


def trees(world: Any) -> list[tuple[str, int]]:
    return [(order.machine, order.trees) for order in wanted(world.states)]


def test_trees_are_wanted_for_workers_that_have_been_nowhere() -> None:
    assert trees(proposed(world_opened(), draft("One"), draft("Two", 1))) == [("here", 2)]
    world = started(draft("One"), draft("Two", 1))
    assert world.owes(StartRun)
    assert trees(world) == [("here", 1)]
    assert trees(started(*(draft(f"Piece {n}") for n in range(15)))) == [("here", 4)]
    world.post("goal/g-1", GoalDropped())
    assert trees(world) == []
