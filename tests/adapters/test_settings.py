"""The project's own settings file, read at a commit of a real hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.adapters import settings
from engine.adapters.hub import Hub
from engine.adapters.settings import Preview, Settings
from engine.rules.words import Command
from tests.adapters.repositories import commit, repository

OURS, OTHERS = settings.PATHS


async def read(tmp_path: Path, files: dict[str, str | None]) -> Settings:
    repo = repository(tmp_path / "shop", {"README.md": "hello\n", **files})
    hub = Hub(tmp_path / "hub")
    base = await hub.bring("shop", str(repo), "main")
    return await settings.read(hub, "shop", base)


async def test_setup_check_and_preview_are_read(tmp_path: Path) -> None:
    body = (
        '[worktree]\nsetup = "npm ci"\ncheck = "npm test"\n[preview]\ncommand = "npm run dev"\n'
        'url = "http://127.0.0.1:$PORT"\nready = "ready in"\n[other]\nunknown = 1\n'
    )
    assert await read(tmp_path, {OURS: body}) == Settings(
        OURS,
        (Command("setup", "npm ci"), Command("check", "npm test")),
        Preview("npm run dev", "http://127.0.0.1:$PORT", "ready in"),
    )


async def test_what_is_to_be_copied_is_read(tmp_path: Path) -> None:
    found = await read(tmp_path, {OURS: '[worktree]\ncopy = ["node_modules", "./web//.venv/"]\n'})
    assert found.commands == (Command("copy", "node_modules\nweb/.venv"),)


@pytest.mark.parametrize(
    "listed", ['"node_modules"', "[3]", '["/etc"]', '["../x"]', '[".git/hooks"]', '["."]', '[""]']
)
async def test_what_lies_outside_the_project_is_not_copied_and_that_is_said(
    tmp_path: Path, listed: str
) -> None:
    found = await read(tmp_path, {OURS: f"[worktree]\ncopy = {listed}\n"})
    assert found.commands == ()
    assert "is not used: “copy in [worktree]" in found.note


async def test_a_project_without_a_file_has_no_commands(tmp_path: Path) -> None:
    assert await read(tmp_path, {}) == Settings()


async def test_the_other_place_counts_where_ours_is_missing(tmp_path: Path) -> None:
    found = await read(tmp_path, {OTHERS: '[worktree]\ncheck = "make test"\n'})
    assert (found.path, found.commands) == (OTHERS, (Command("check", "make test"),))


async def test_of_two_files_the_first_counts_and_that_is_said(tmp_path: Path) -> None:
    found = await read(
        tmp_path,
        {OURS: '[worktree]\ncheck = "make a"\n', OTHERS: '[worktree]\ncheck = "make b"\n'},
    )
    assert found.commands == (Command("check", "make a"),)
    assert found.note == f"{OURS} counts; {OTHERS} is there too and is not read."


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("[worktree\ncheck=", "Expected ']'"),
        ("[worktree]\ncheck = 3\n", "check in [worktree] is no text in quotes"),
        ("worktree = 3\n", "[worktree] is no table"),
        ("# " + "x" * settings.MAX_BYTES, "it is larger than 256 KiB"),
    ],
)
async def test_a_file_that_cannot_be_read_is_said_and_runs_nothing(
    tmp_path: Path, body: str, why: str
) -> None:
    found = await read(tmp_path, {OURS: body})
    assert found.commands == ()
    assert why in found.note


async def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", {"real.toml": '[worktree]\ncheck = "make"\n'})
    (repo / ".quarterdeck").mkdir()
    (repo / OURS).symlink_to("../real.toml")
    commit(repo, "a link", {})
    hub = Hub(tmp_path / "hub")
    base = await hub.bring("shop", str(repo), "main")
    assert await settings.read(hub, "shop", base) == Settings()
