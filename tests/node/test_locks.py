"""A git that died with its run leaves locks in the tree: the next run there finds none, a live one's stay."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.node import copies, folder, locks
from engine.node.runs import Runs
from tests.node.reading import ended, said, until
from tests.node.test_runner import probe, run, runs, shell

__all__ = ["probe", "run", "runs"]

COMMIT = "git -c user.name=Q -c user.email=q@localhost commit -q --allow-empty -m work && echo made"
DIES = "touch .git/HEAD.lock .git/index.lock .git/refs/heads/main.lock && echo up && sleep 1000"


@pytest.fixture
def tree(runs: Runs) -> Path:
    """The tree that `shell` starts runs in, with a git in it."""
    made = Path(runs.path("x")).parent.parent / "trees/shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(made)], check=True)
    return made


def cut_off(runs: Runs, run: str) -> None:
    """Have a run's git die with its runner, and its end written."""
    path = shell(runs, run, DIES)
    until(lambda: "up" in said(path))
    os.kill((folder.read(str(path / "child.json")) or {})["runner"], signal.SIGKILL)
    until(lambda: not folder.alive(str(path)))
    runs.finish(run)
    assert ended(path)["why"] == "cut off"


@pytest.mark.parametrize("kind", ["command", "agent"])
def test_the_run_after_one_that_was_cut_off_in_the_midst_of_git_can_use_git(
    runs: Runs, run: str, tree: Path, kind: str
) -> None:
    cut_off(runs, f"{run}-1")
    assert locks.left(str(tree))
    path = shell(runs, f"{run}-2", COMMIT, kind=kind)
    assert ended(path)["code"] == 0
    assert said(path) == ["made"]
    assert not locks.left(str(tree))


def test_a_lock_stays_while_another_run_lives_in_the_tree_or_is_not_known_to_be_over(
    runs: Runs, run: str, tree: Path
) -> None:
    first = shell(runs, f"{run}-1", DIES)
    until(lambda: "up" in said(first))
    assert ended(shell(runs, f"{run}-2", "true"))["code"] == 0
    assert (tree / ".git/HEAD.lock").exists()
    os.kill((folder.read(str(first / "child.json")) or {})["runner"], signal.SIGKILL)
    until(lambda: not folder.alive(str(first)))
    assert ended(shell(runs, f"{run}-3", "true"))["code"] == 0
    assert (tree / ".git/HEAD.lock").exists()
    runs.finish(f"{run}-1")
    assert ended(shell(runs, f"{run}-4", "true"))["code"] == 0
    assert not (tree / ".git/HEAD.lock").exists()


def test_a_lock_stays_while_an_order_of_ours_is_at_work_in_the_tree(
    runs: Runs, run: str, tree: Path
) -> None:
    (tree / ".git/index.lock").touch()
    with copies.alone(str(tree)):
        assert ended(shell(runs, run, "true"))["code"] == 0
    assert (tree / ".git/index.lock").exists()


def test_a_run_that_is_ordered_again_keeps_the_locks_it_made_itself(
    runs: Runs, run: str, tree: Path
) -> None:
    path = shell(runs, run, DIES)
    until(lambda: "up" in said(path))
    assert shell(runs, run, DIES) == path
    assert (tree / ".git/HEAD.lock").exists()


def _a_link_to_a_folder(tree: Path, others: Path) -> None:
    (tree / ".git/refs/elsewhere").symlink_to(others)


def _a_link_for_git(tree: Path, others: Path) -> None:
    (tree / ".git").rename(tree / "git")
    (tree / ".git").symlink_to(others)


def _a_folder_of_that_name(tree: Path, others: Path) -> None:
    (tree / ".git/odd.lock").mkdir()
    (tree / ".git/link.lock").symlink_to(others / "theirs.lock")


def _a_pipe_for_git(tree: Path, others: Path) -> None:
    (tree / ".git").rename(tree / "git")
    os.mkfifo(tree / ".git")


@pytest.mark.parametrize(
    "lay", [_a_link_to_a_folder, _a_link_for_git, _a_folder_of_that_name, _a_pipe_for_git]
)
def test_nothing_outside_the_tree_is_touched_by_way_of_what_an_agent_laid_there(
    tree: Path, tmp_path: Path, lay: Callable[[Path, Path], None]
) -> None:
    others = tmp_path / "others"
    others.mkdir()
    (others / "theirs.lock").touch()
    lay(tree, others)
    locks.remove(str(tree))
    assert not locks.left(str(tree))
    assert (others / "theirs.lock").exists()


def test_a_run_in_a_folder_that_is_no_tree_of_ours_takes_nothing_away_there(
    runs: Runs, run: str, tmp_path: Path
) -> None:
    theirs = tmp_path / "checkout"
    (theirs / ".git").mkdir(parents=True)
    (theirs / ".git/index.lock").touch()
    assert ended(shell(runs, run, "true", fence={"tree": str(theirs)}))["code"] == 0
    assert (theirs / ".git/index.lock").exists()
