"""Trees made ready ahead, and what of a project is copied into a new one: in real fences."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.node.test_trees import No, Shop, machine, needs_a_fence, shop

__all__ = ["machine", "shop"]
pytestmark = needs_a_fence


def ready(shop: Shop, count: int) -> dict[str, object]:
    return shop.machine.ask("tree.ready", project="shop", commit=shop.base, count=count)


def fill(shop: Shop, *paths: str, source: Path | None = None, session: str = "s-1") -> str:
    filled = shop.machine.ask(
        "tree.fill",
        project="shop",
        session=session,
        paths=list(paths),
        source=str(source or ""),
    )
    return str(filled["note"])


def pool(shop: Shop) -> list[str]:
    trees = shop.machine.home / "trees/shop"
    return sorted(path.name for path in trees.iterdir() if path.name.startswith("pool-"))


def checkout(shop: Shop) -> Path:
    """The owner's own checkout, with what it once took long to install."""
    source = shop.repo
    shop.machine.write(source / "node_modules/left-pad/index.js", "pad")
    shop.machine.write(source / "node_modules/.bin-of/run", "#!/bin/sh\n", mode="755")
    shop.machine.run("ln", "-s", "../left-pad/index.js", "node_modules/.bin-of/pad", cwd=source)
    shop.machine.run("ln", "-s", str(shop.machine.user), "node_modules/out", cwd=source)
    return source


def test_one_tree_at_a_time_is_made_ready_up_to_the_number_asked_for(shop: Shop) -> None:
    assert ready(shop, 2) == {"free": 1, "made": True}
    assert ready(shop, 2) == {"free": 2, "made": True}
    assert ready(shop, 2) == {"free": 2, "made": False}
    for _ in range(9):
        ready(shop, 9)
    assert len(pool(shop)) == 4  # never more than the pool holds
    assert not [p for p in (shop.machine.home / "trees/shop").iterdir() if "making" in p.name]


def test_a_session_finds_the_tree_that_was_made_ready(shop: Shop) -> None:
    ready(shop, 1)
    (free,) = pool(shop)
    inode = (shop.machine.home / "trees/shop" / free / "a").stat().st_ino
    tree = shop.make()
    assert pool(shop) == []
    assert (tree / "a").stat().st_ino == inode  # not a file was written again
    assert shop.machine.git(tree, "symbolic-ref", "HEAD") == "refs/heads/quarterdeck/worker-x"
    assert shop.machine.git(tree, "status", "--porcelain") == ""


def test_what_was_cut_off_half_way_is_made_anew(shop: Shop) -> None:
    rough = shop.machine.home / "trees/shop/making-pool-ahead-1"
    shop.machine.write(rough / "half", "done")
    assert ready(shop, 1) == {"free": 1, "made": True}
    assert not rough.exists()


def test_paths_are_copied_from_the_owners_checkout_and_git_leaves_them_alone(shop: Shop) -> None:
    source, tree = checkout(shop), shop.make()
    assert fill(shop, "node_modules", ".venv", source=source) == ""  # it has no .venv
    assert (tree / "node_modules/left-pad/index.js").read_text() == "pad"
    assert os.access(tree / "node_modules/.bin-of/run", os.X_OK)
    assert os.readlink(tree / "node_modules/.bin-of/pad") == "../left-pad/index.js"
    assert shop.machine.git(tree, "status", "--porcelain") == ""
    assert not (tree / ".git/quarterdeck-copy").exists()


def test_what_an_agent_writes_into_its_copy_is_not_written_through(shop: Shop) -> None:
    source, tree = checkout(shop), shop.make()
    fill(shop, "node_modules", source=source)
    ours, theirs = (f / "node_modules/left-pad/index.js" for f in (tree, source))
    assert (ours.stat().st_ino, ours.stat().st_nlink) != (theirs.stat().st_ino, 2)
    shop.machine.write(ours, "changed")
    assert theirs.read_text() == "pad"


def test_a_link_out_of_the_checkout_is_not_followed(shop: Shop) -> None:
    shop.machine.write(shop.machine.user / "secret", "key")
    source, tree = checkout(shop), shop.make()
    shop.machine.run("ln", "-s", str(shop.machine.user), ".venv", cwd=source)
    note = fill(shop, ".venv", "node_modules", source=source)
    assert note == ".venv: a link, and links are not followed"
    assert (tree / "node_modules/out").is_symlink()  # as a link, which leads nowhere in a fence
    assert not (tree / ".venv").exists()


LATE = """
import sys
from engine.node import ahead

ahead._there = lambda source, paths: (paths, [])  # the agent puts its link there after the look
home, source, path = sys.argv[1:]
print(ahead.fill(home, {"project": "shop", "session": "s-1", "source": source, "paths": [path]}))
"""


@pytest.mark.parametrize("path", ["secrets", "up/secrets"])
def test_a_link_put_there_after_the_look_leads_nowhere(shop: Shop, path: str) -> None:
    """What is copied from may be the tree of an agent at work, which wants what it cannot see."""
    home = shop.machine.home
    shop.machine.write(home / "secrets/key", "key")
    source, tree = shop.make("s-2", branch="quarterdeck/worker-y"), shop.make()
    shop.machine.run("ln", "-s", str(home / "secrets"), "secrets", cwd=source)
    shop.machine.run("ln", "-s", str(home), "up", cwd=source)
    shop.machine.run(shop.machine.python, "-c", LATE, str(home), str(source), path)
    assert (home / "secrets/key").exists()
    assert not [found for found in tree.rglob("key") if not found.is_symlink()]
    assert not (tree / path).exists() or (tree / path).is_symlink()


def test_a_link_in_the_tree_is_not_written_through(shop: Shop) -> None:
    shop.machine.run("ln", "-s", str(shop.machine.user), "deep", cwd=shop.repo)
    linked = shop.machine.commit(shop.repo, "a link")
    shop.update(linked)
    source = shop.machine.folder / "elsewhere"
    shop.machine.write(source / "deep/lib/x", "x")
    tree = shop.make(commit=linked)
    note = fill(shop, "deep/lib", source=source)
    assert "deep/lib: ./deep is a link here" in note
    assert (tree / "deep").is_symlink()
    assert list(shop.machine.user.iterdir()) == []


def test_what_is_in_the_tree_already_is_left(shop: Shop) -> None:
    source, tree = checkout(shop), shop.make()
    shop.machine.write(tree / "node_modules/mine", "mine")
    assert fill(shop, "node_modules", "a", source=source) == ""
    assert sorted(os.listdir(tree / "node_modules")) == ["mine"]


def test_without_a_checkout_the_tree_that_was_set_up_last_is_copied_from(shop: Shop) -> None:
    first = shop.make("s-1")
    assert fill(shop, "node_modules") == ""  # nothing to copy from is no failure
    shop.machine.write(first / "node_modules/x", "x")
    shop.machine.ask("tree.set_up", project="shop", session="s-1")
    second = shop.make("s-2", branch="quarterdeck/worker-y")
    assert fill(shop, "node_modules", session="s-2") == ""
    assert (second / "node_modules/x").read_text() == "x"


def test_what_cannot_be_copied_is_said(shop: Shop) -> None:
    source, tree = checkout(shop), shop.make()
    shop.machine.run("chmod", "000", str(source / "node_modules/left-pad/index.js"))
    note = fill(shop, "node_modules", source=source)
    assert note.startswith("node_modules: ")
    assert "Permission denied" in note
    assert not (tree / "node_modules").exists()  # half of it would be worse than nothing


@pytest.mark.parametrize("path", ["/etc", "../x", ".git/hooks", ".", "a/../../x", ""])
def test_a_path_that_leads_elsewhere_is_refused(shop: Shop, path: str) -> None:
    shop.make()
    with pytest.raises(No, match="cannot be a path to copy"):
        fill(shop, path, source=shop.repo)
