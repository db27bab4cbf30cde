"""What a node that fell left behind, and what of that the next one lets go of."""

from __future__ import annotations

import fcntl
import os
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
    """BR-47, BR-64: by its marks, never by its number."""
    homes = [tmp_path / "ours", tmp_path / "theirs"]
    lay(tmp_path, "ours/", "theirs/")
    marks = [{fence.MARK: "node", fence.PLACE: fence.place(str(home))} for home in homes]
    ours, theirs = (subprocess.Popen(["sleep", "1000"], env={**os.environ, **m}) for m in marks)
    try:
        over(homes[0])
        until(lambda: gone(ours.pid))
        assert not gone(theirs.pid)
    finally:
        for process in (ours, theirs):
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
