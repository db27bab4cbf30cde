"""A small repository, made on the spot: a pantry that knows what is in it, and a remote to push to.

Real git, so that all that follows is real too. Its check is in .quarterdeck/settings.toml, as in any
project.
"""

import os
import subprocess
from pathlib import Path

BASE = "main"
CHECK = "python3 -m unittest -q"

FILES = {
    "README.md": "# Pantry\n\nKnows what is in the kitchen, and what should be.\n",
    "stock.csv": "item,have,want\nflour,1,3\nlentils,4,4\noats,0,2\n",
    "pantry.py": '''"""What is in the pantry, and what should be."""

import csv
from pathlib import Path
from typing import NamedTuple


class Item(NamedTuple):
    name: str
    have: int
    want: int


def load(path: Path) -> list[Item]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Item(row["item"], int(row["have"]), int(row["want"])) for row in csv.DictReader(file)]
''',
    "test_pantry.py": """import unittest
from pathlib import Path

from pantry import Item, load


class Stock(unittest.TestCase):
    def test_the_stock_is_read(self) -> None:
        self.assertIn(Item("flour", 1, 3), load(Path(__file__).with_name("stock.csv")))
""",
    ".gitignore": "__pycache__/\n",
    ".quarterdeck/settings.toml": f'[worktree]\ncheck = "{CHECK}"\n',
}


def make(folder: Path) -> tuple[Path, Path]:
    """Make the repository and its remote in `folder`; return both paths."""
    repository, remote = folder / "pantry", folder / "pantry-remote.git"
    for name, text in FILES.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init", "-q", "--bare", "-b", BASE, str(remote))
    git(repository, "init", "-q", "-b", BASE)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "A pantry")
    git(repository, "remote", "add", "origin", str(remote))
    git(repository, "push", "-q", "-u", "origin", BASE)
    return repository, remote


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular, blind to the person's own settings."""
    who = {"NAME": "Rehearsal", "EMAIL": "rehearsal@localhost"}
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in who.items()
        },
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
