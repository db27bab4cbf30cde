"""A home that cannot be written to: engine, bot and command say so in a sentence, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine import config
from engine.config import Config
from engine.paths import Home
from engine.setup import recovery_code
from stores.sealing import create_keys

NOBODY = 65534
BWRAP = shutil.which("bwrap")
pytestmark = pytest.mark.skipif(not BWRAP, reason="a read-only disk is made with bubblewrap")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home").make()
    create_keys(home)
    recovery_code(home)
    home.bot_token.write_text("123456789:AAH-a_good_one")
    config.save(home, Config(owner_ids=(42,), api_url="http://127.0.0.1:9"))
    return home


def started(home: Home, *walls: str, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a program of ours inside walls of bubblewrap's."""
    return subprocess.run(
        (str(BWRAP), "--dev-bind", "/", "/", *walls, sys.executable, "-m", *words),
        env=os.environ | {"QUARTERDECK_HOME": str(home.root)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("words", [("engine",), ("bot",), ("engine.cli", "status")])
def test_on_a_read_only_disk(home: Home, words: tuple[str, ...]) -> None:
    root = str(home.root)
    assert "(Read-only file system)" in said(started(home, "--ro-bind", root, root, words=words))


def test_from_a_read_only_disk_a_backup_goes_to_another(home: Home, tmp_path: Path) -> None:
    with closing(sqlite3.connect(home.engine_db)) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE kept (it)")
    root, stick = str(home.root), tmp_path / "stick"
    stick.mkdir()
    here = started(home, "--ro-bind", root, root, words=("engine.cli", "backup"))
    assert "takes no backup: Read-only file system" in said(here)
    words = ("engine.cli", "backup", "--to", str(stick))
    there = started(home, "--ro-bind", root, root, words=words)
    assert (there.returncode, there.stderr) == (0, "")
    assert [str(path) for path in stick.iterdir()] == [there.stdout.strip()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a home away")
@pytest.mark.parametrize("words", [("engine",), ("bot",), ("engine.cli", "status")])
def test_of_another_user(home: Home, words: tuple[str, ...]) -> None:
    home.root.chmod(0o755)
    for path in (home.root, *home.root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o755 if path.is_dir() else 0o644)
    heard = said(started(home, "--cap-drop", "ALL", words=words))
    assert "must be of the user that runs Quarterdeck" in heard
