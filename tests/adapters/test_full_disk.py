"""A full disk under git, at the hub and on a machine: it fails with the reason, spoils nothing, and goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from engine.adapters.hub import Hub
from engine.adapters.reading import Output
from engine.errors import NoRoom
from engine.node import copies, folder, room, trees
from engine.node.hold import NO_ROOM
from tests.fakes import git
from tests.small_disk import PAGE_KIB, SmallDisk, alone, small_disk

SIZE_KIB = 8192
FILLS = (0, 1, 2, 3, 4, 6, 8, 16, 32, 64)  # pages that are left


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", SIZE_KIB) as disk:
        yield disk


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The owner's repository: two branches that each have a good deal of their own."""
    path = tmp_path / "shop"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    for branch in ("main", "lead", "worker"):
        if branch != "main":
            git(path, "checkout", "-q", "-b", branch, "main")
        for number in range(12):
            # Words that do not compress to nothing.
            words = "\n".join(f"{branch} {number} {hash((branch, n)):x}" for n in range(200))
            (path / f"{branch}-{number}.txt").write_text(words)
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", f"Files of {branch}")
    git(path, "checkout", "-q", "main")
    return path


def sound(repository: Path) -> None:
    subprocess.run(
        ["git", "-C", str(repository), "fsck", "--strict"], check=True, capture_output=True
    )
    assert not list(repository.rglob("*.lock"))


class Filled:
    """Does a thing at less and less room, and once more when there is some."""

    def __init__(self, disk: SmallDisk, repository: Callable[[], Path]) -> None:
        self._disk = disk
        self._repository = repository
        self.noes: list[str] = []

    async def at(self, pages: int, do: Callable[[], Awaitable[object]]) -> None:
        self._disk.fill(pages * PAGE_KIB)
        try:
            await do()
        except NoRoom as no:
            self.noes.append(no.sentence)
        self._disk.free()
        if self._repository().is_dir():
            sound(self._repository())
        await do()
        sound(self._repository())


async def test_the_hub_brings_a_project_in_at_every_fill(disk: SmallDisk, source: Path) -> None:
    main = git(source, "rev-parse", "main")
    for pages in FILLS:
        hub = Hub(disk.root / f"hub-{pages}")
        filled = Filled(disk, lambda hub=hub: hub.path("shop"))  # type: ignore[misc]

        async def bring(hub: Hub = hub) -> None:
            assert await hub.bring("shop", str(source), "main") == main

        await filled.at(pages, bring)
        if pages < 4:
            assert filled.noes, pages
            assert "found no room on the box's disk: " in filled.noes[0]


async def test_a_piece_is_joined_and_lands_at_every_fill(disk: SmallDisk, source: Path) -> None:
    lead, worker = (git(source, "rev-parse", name) for name in ("lead", "worker"))
    noes = 0
    for pages in FILLS:
        hub = Hub(disk.root / f"hub-{pages}")
        path = hub.path("shop")
        await hub.bring("shop", str(source), "lead")
        branch = await hub.begin("shop", "g-1", lead, "Order history")
        await hub.bring("shop", str(source), "worker")
        filled = Filled(disk, lambda path=path: path)  # type: ignore[misc]

        async def land(hub: Hub = hub, branch: str = branch, path: Path = path) -> None:
            made = await hub.merge("shop", branch, worker, "Land it\n")
            assert made.commit or made.contained, made
            if made.commit:
                assert await hub.land("shop", branch, made.commit, made.onto)
            git(path, "merge-base", "--is-ancestor", worker, branch)

        await filled.at(pages, land)
        assert git(path, "rev-list", "--count", "--merges", branch) == "1"
        noes += len(filled.noes)
    assert noes >= 3


async def test_a_push_reaches_a_remote_that_had_no_room_and_its_words_are_told(
    disk: SmallDisk, source: Path, tmp_path: Path
) -> None:
    """The remote's disk is the remote's matter: its no is an answer, not a wait of ours."""
    hub = Hub(tmp_path / "hub")
    main = await hub.bring("shop", str(source), "main")
    for pages in (0, 1, 2, 3, 4, 8, 12, 16, 24, 64):
        remote = disk.root / f"origin-{pages}.git"
        git(tmp_path, "init", "-q", "--bare", str(remote))
        disk.fill(pages * PAGE_KIB)
        first = await hub.push("shop", str(remote), "main", main, "")
        assert first.landed or first.words, pages
        disk.free()
        again = await hub.push("shop", str(remote), "main", main, "")
        assert again.landed
        sound(remote)
        assert git(remote, "rev-parse", "main") == main


# ---------------------------------------------------------------- on a machine


def test_a_tree_is_laid_at_every_fill(disk: SmallDisk, source: Path) -> None:
    main = git(source, "rev-parse", "main")
    noes = 0
    for pages in FILLS:
        home = disk.root / f"home-{pages}"
        home.mkdir()
        words = {
            "project": "shop",
            "session": "s-1",
            "branch": "quarterdeck/worker-a",
            "commit": main,
        }

        def lay(home: Path = home, words: dict[str, str] = words) -> Path:
            asked = {"project": "shop", "hub": str(source), "commits": [main], "source": ""}
            copies.update(str(home), asked)
            made = trees.make(str(home), {**words, "name": "A", "email": "a@localhost"})
            return Path(made["tree"])

        disk.fill(pages * PAGE_KIB)
        try:
            lay()
        except OSError as error:
            noes += 1
            assert room.is_missing(error, str(home)), error  # noqa: PT017 - whichever it was
        disk.free()
        tree = lay()
        assert git(tree, "status", "--porcelain") == ""
        assert git(tree, "rev-parse", "HEAD") == main
        sound(home / "copies/shop.git")
        assert not [path.name for path in tree.parent.iterdir() if path.name.startswith("making-")]
    assert noes >= 4


def test_unsaved_work_is_kept_though_there_was_no_room_for_it_at_first(
    disk: SmallDisk, source: Path
) -> None:
    main = git(source, "rev-parse", "main")
    home, noes = disk.root / "home", 0
    home.mkdir()
    copies.update(
        str(home), {"project": "shop", "hub": str(source), "commits": [main], "source": ""}
    )
    for pages in (0, 1, 2, 4, 8, 16):
        session = {"project": "shop", "session": f"s-{pages}"}
        words = {**session, "branch": "quarterdeck/worker-a", "commit": main}
        tree = Path(trees.make(str(home), {**words, "name": "A", "email": "a@localhost"})["tree"])
        (tree / "work.txt").write_text("not committed\n" * (500 + pages))
        disk.fill(pages * PAGE_KIB)
        try:
            trees.keep(str(home), session)
        except OSError as error:
            noes += 1
            assert room.is_missing(error, str(home)), error  # noqa: PT017 - whichever it was
            assert (tree / "work.txt").exists()
        disk.free()
        trees.keep(str(home), session)
        kept = git(home / "copies/shop.git", "show", f"quarterdeck/rescue-s-{pages}:work.txt")
        assert kept == ("not committed\n" * (500 + pages)).strip()
        sound(home / "copies/shop.git")
    assert noes >= 3


def test_a_check_that_was_ended_for_want_of_room_says_nothing_of_the_work() -> None:
    """Else it would count as one of the worker's attempts."""
    words = "Ended: the disk of its machine took nothing more for 2 minutes."
    output = Output()
    output.take(folder.line(1, "out", "compiling"))
    assert output.take(folder.line(2, "exit", {"code": None, "why": NO_ROOM, "words": words}))
    verdict = output.verdict()
    assert (verdict.passed, verdict.ran, verdict.failure) == (False, False, words)


def test_played_in_a_namespace_where_nobody_else_may_mount() -> None:
    alone(__file__)
