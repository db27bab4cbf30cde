"""Two pieces made side by side enter their lead's branch: merged, swapped in, told, each once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.rules.events import LandingCalled
from tests.adapters.repositories import git
from tests.history import Expected, Span, judge_history
from tests.strace import harbour
from tests.strace.accept import scene
from tests.strace.harbour import PIECES, read
from tests.strace.walk import Story


async def play(folder: Path) -> None:
    async with harbour.open_on(folder) as loop:
        for piece in PIECES:
            called = LandingCalled(
                piece=piece,
                session="s-1",
                branch=piece,
                commit=read(folder, piece),
                title=f"Piece {piece}",
                project="shop",
            )
            await loop.post("landing/g-1", called, f"called:{piece}")
        await loop.settle(until=lambda: len(_heard(loop.state("goal/g-1"))) == len(PIECES))
        (folder / "heard").write_text("\n".join(_heard(loop.state("goal/g-1"))), encoding="utf-8")


def _heard(told: harbour.Told | None) -> tuple[str, ...]:
    return told.heard if told else ()


def left(folder: Path) -> None:
    """Assert that the branch is at a whole commit, whatever was cut off."""
    hub = folder / "hub" / "shop.git"
    git(hub, "rev-parse", f"refs/heads/{read(folder, 'branch')}^{{tree}}")
    git(hub, "fsck", "--connectivity-only")


def judge(folder: Path) -> None:
    hub, branch = folder / "hub" / "shop.git", read(folder, "branch")
    span = f"{read(folder, 'base')}..refs/heads/{branch}"
    landed = Span(hub, span, ("Add p-1", "Land Piece p-2"), first_parent=True)
    judge_history(
        replace(scene(folder, harbour.RULES), hubs=folder / "hub"), Expected(spans=(landed,))
    )
    assert read(folder, "heard").splitlines() == [f"{piece} landed" for piece in PIECES]
    assert git(hub, "ls-tree", "--name-only", f"refs/heads/{branch}").split() == [
        "README.md",
        "p-1.txt",
        "p-2.txt",
    ]


STORY = Story("land", harbour.lay, play, judge, left)
