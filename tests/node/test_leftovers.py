"""What a node that fell left behind, and what of that the next one lets go of."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from engine.node import fence, leftovers
from tests.node.reading import gone, until


def lay(home: Path, *names: str) -> None:
    for name in names:
        path = home / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


def left(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir())


def over(home: Path) -> None:
    for path in leftovers.take_over(str(home)):
        leftovers.discard(path)


def test_what_was_half_made_or_half_removed_goes_and_all_else_stays(tmp_path: Path) -> None:
    kept = [
        "copies/shop.git/HEAD",
        "copies/shop.git.lock",
        "runs/s-1-t1/out.jsonl",
        "sessions/s-1/config/settings.json",
        "trees/shop/damaged-s-3-ab12/a",
        "trees/shop/pool-1/a",
        "trees/shop/s-1/making-it/a.new",
    ]
    lay(
        tmp_path,
        *kept,
        "copies/other.git.ab12.new/HEAD",
        "copies/shop.modules/x.git.ab12.new/HEAD",
        "runs/.gone-ab12/out.jsonl",
        "runs/.new-s-1-t2/spec.json",
        "sessions/.gone-cd34/config/login.json",
        "trees/shop/.gone-ab12/a",
        "trees/shop/gone-ab12/a",
        "trees/shop/making-s-2/.git/HEAD",
    )
    over(tmp_path)
    assert left(tmp_path) == sorted(kept)
    over(tmp_path)
    assert left(tmp_path) == sorted(kept)


def test_a_git_that_was_cut_off_leaves_no_lock_in_a_copy(tmp_path: Path) -> None:
    lay(
        tmp_path,
        "copies/shop.git/refs/at/ab12",
        "copies/shop.git/refs/at/cd34.lock",
        "copies/shop.git/packed-refs.lock",
        "copies/shop.git/objects/pack/tmp_pack_x",
        "copies/shop.git/objects/pack/pack-1.pack",
    )
    over(tmp_path)
    assert left(tmp_path) == [
        "copies/shop.git/objects/pack/pack-1.pack",
        "copies/shop.git/refs/at/ab12",
    ]


def test_a_copy_that_another_link_works_on_is_left_alone(tmp_path: Path) -> None:
    lay(tmp_path, "copies/shop.git/refs/at/cd34.lock", "copies/shop.git.lock")
    with (tmp_path / "copies/shop.git.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        over(tmp_path)
        assert (tmp_path / "copies/shop.git/refs/at/cd34.lock").exists()


def test_a_git_of_a_node_that_fell_is_ended_and_nobody_else_s(tmp_path: Path) -> None:
    """BR-47, BR-64: by its marks, never by its number; and not what git left to its owner."""
    homes = [str(tmp_path / "ours"), str(tmp_path / "theirs")]
    lay(tmp_path, "ours/", "theirs/")
    ours, theirs = ({fence.PLACE: fence.place(home)} for home in homes)
    started = {}
    for what, name, marks in (
        ("a git of ours", "git", {fence.MARK: "node", **ours}),
        ("a script in a tree", "sleep", {fence.MARK: "tree-ab12", **ours}),
        ("a git of another home", "git", {fence.MARK: "node", **theirs}),
        ("an open connection", "ssh", {fence.MARK: "node", **ours}),
        ("a keeper of passwords", "git-credential-cache--daemon", {fence.MARK: "node", **ours}),
        ("a git of the owner's", "git", {}),
    ):
        (tmp_path / what).mkdir()
        program = shutil.copy(shutil.which("sleep") or "sleep", tmp_path / what / name)
        started[what] = subprocess.Popen([program, "1000"], env={**os.environ, **marks})
    try:
        over(Path(homes[0]))
        ended = {"a git of ours", "a script in a tree"}
        until(lambda: all(gone(started[what].pid) for what in ended))
        assert {what for what, process in started.items() if gone(process.pid)} == ended
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def test_a_link_in_the_place_of_a_folder_of_ours_leads_nowhere(tmp_path: Path) -> None:
    lay(tmp_path, "elsewhere/gone-1/letter", "home/trees/", "home/runs/")
    (tmp_path / "home/trees/shop").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "home/runs/.gone-1").symlink_to(tmp_path / "elsewhere/gone-1")
    over(tmp_path / "home")
    assert left(tmp_path / "elsewhere") == ["gone-1/letter"]
    assert (tmp_path / "home/trees/shop").is_symlink()
    assert os.listdir(tmp_path / "home/runs") == []
