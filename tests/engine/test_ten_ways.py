"""A key sent in ten ways is nowhere afterwards: no file, no journal, no backup, no log, no chat. BR-119.

Everything is real but Telegram and the model. The same with the real Claude Code and what its model saw is
tests/real_agents/test_ten_ways.py. That it could be found is shown by planting it.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import logging
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine import backup
from tests.engine import ten_ways
from tests.engine.chat import chatting
from tests.engine.everywhere import pieces, within
from tests.fakes import git

SCENARIO = {
    "parts": [
        {
            "role": "lead",
            "prompt": "Rundown",
            "steps": [
                {"desk": "ask_owner", "with": {"question": ten_ways.QUESTION}},
                {"say": "I was told: {prompt}"},
            ],
        },
        {"steps": [{"say": "Heard: {prompt}"}]},
    ]
}


async def test_a_key_sent_in_ten_ways_is_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    repository = tmp_path / "shop"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(SCENARIO))
    keys = ten_ways.made()
    async with chatting(tmp_path, scenario=str(scenario)) as chat:
        door, home = chat.engine.door, chat.home
        await door.add_project("shop", str(repository), cause="project")
        await door.add_account("main", "rehearsal", cause="account")
        owner = ten_ways.Owner(chat.phone, chat.phone.wait_for, keys)
        await owner.goal()
        await owner.rest()
        await chat.until("Heard:", "make publish")
        vault = door._of_vault()
        assert {value for _, value in await vault.values()} >= set(keys.values())
        backup.take(home)
        assert ten_ways.found(tmp_path, keys, chat.emulator, caplog.text) == []
    assert ten_ways.found(tmp_path, keys, chat.emulator, caplog.text) == []
    # They would have been found: where their names are, they stood.
    names = within(tmp_path, ["{{GITHUB_TOKEN"])
    for part in ("engine.sqlite3", "out.jsonl", "backups/"):
        assert any(part in name for name in names), f"nothing of it came by {part}"
    assert "{{GITHUB_TOKEN" in chat.phone.transcript()


KEY = ten_ways.made()["a text"]


def in_a_free_page(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "there.sqlite3", isolation_level=None)) as there:
        there.execute("PRAGMA secure_delete = OFF")
        there.execute("CREATE TABLE lines (body TEXT)")
        there.executemany("INSERT INTO lines VALUES (?)", [("x" * 900,), (f"{KEY} " * 9,)])
        there.execute("DELETE FROM lines")


def in_a_journal(folder: Path) -> None:
    there = sqlite3.connect(folder / "there.sqlite3", isolation_level=None)
    there.execute("PRAGMA journal_mode = WAL")
    there.execute("CREATE TABLE lines (body TEXT)")
    there.execute("INSERT INTO lines VALUES (?)", (KEY,))
    wal = (folder / "there.sqlite3-wal").read_bytes()
    there.close()
    (folder / "there.sqlite3").unlink()
    (folder / "left.sqlite3-wal").write_bytes(wal)


def across_pages(folder: Path) -> None:
    """Cut in small pieces: no page holds enough of it, the row does."""
    with closing(sqlite3.connect(folder / "there.sqlite3", isolation_level=None)) as there:
        there.execute("PRAGMA page_size = 512")
        there.execute("CREATE TABLE lines (body BLOB)")
        for shift in range(0, 508, 3):
            there.execute("INSERT INTO lines VALUES (?)", (b"x" * (900 + shift) + KEY.encode(),))


def in_a_backup(folder: Path) -> None:
    with tarfile.open(folder / "home.tar.gz", "w:gz") as tar:
        about = tarfile.TarInfo("logs/engine.log")
        about.size = len(KEY)
        tar.addfile(about, io.BytesIO(KEY.encode()))


def in_git(folder: Path) -> None:
    git(folder, "init", "-q", "--bare", "hub.git")
    done = git(folder, "init", "-q", "tree")
    (folder / "tree/notes.txt").write_text(KEY)
    git(folder / "tree", "add", "-A")
    git(folder / "tree", "commit", "-q", "-m", done or "Keep it")
    git(folder / "tree", "push", "-q", str(folder / "hub.git"), "HEAD:refs/heads/one")
    for path in sorted((folder / "tree").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    git(folder / "hub.git", "repack", "-q", "-a", "-d")


def packed(folder: Path) -> None:
    (folder / "out.jsonl.gz").write_bytes(gzip.compress(KEY.encode()))


def encoded(folder: Path) -> None:
    (folder / "update.json").write_text(
        json.dumps({"sealed": base64.b64encode(f"use {KEY}".encode()).decode()})
    )


def half_of_it(folder: Path) -> None:
    (folder / "draft.txt").write_text(f"use {KEY[:20]}")


PLANTED = (
    in_a_free_page,
    in_a_journal,
    across_pages,
    in_a_backup,
    in_git,
    packed,
    encoded,
    half_of_it,
)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_one_that_lies_somewhere_is_found(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    assert within(tmp_path, pieces(KEY)) == []
    plant(tmp_path)
    assert within(tmp_path, pieces(KEY)) != []
