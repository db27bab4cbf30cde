"""A forge: a real sshd that runs git-shell alone, for whoever's key stands in its authorized_keys.

Neighbours: conftest.py has one there for a test, sshd.py is the server.
"""

from __future__ import annotations

from pathlib import Path

from tests.fakes import git
from tests.machines.sshd import Sshd

GIT_ONLY = 'exec git-shell -c "$SSH_ORIGINAL_COMMAND"\n'
PARTS = [
    {
        "role": "lead",
        "turn": 1,
        "steps": [
            {
                "desk": "propose_plan",
                "with": {
                    "summary": "One piece.",
                    "pieces": [{"title": "The work", "task": "As it says.", "size": "S"}],
                },
            }
        ],
    },
    {
        "role": "lead",
        "prompt": "Every piece of the plan has landed",
        "steps": [{"desk": "put_for_review", "with": {"summary": "It works."}}],
    },
    {"role": "lead", "steps": [{"say": "Noted."}]},
    {
        "role": "worker",
        "steps": [
            {"write": {"path": "work.txt", "text": "x\n"}},
            {"commit": "Do the work"},
            {"say": "Done."},
        ],
    },
]


class Forge:
    """A git server on loopback with one repository, main and develop in it."""

    def __init__(self, folder: Path, server: Sshd) -> None:
        self.server = server
        self.repository = folder / "shop.git"
        work = folder / "work"
        work.mkdir()
        (work / "README").write_text("A shop\n")
        (work / "Makefile").write_text("test:\n\ttest -f README\n")
        git(work, "init", "-q", "-b", "main")
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", "Open")
        git(work, "branch", "develop")
        git(folder, "clone", "-q", "--bare", str(work), str(self.repository))
        (server.folder / "begin").write_text(GIT_ONLY)

    @property
    def address(self) -> str:
        return f"ssh://{self.server.text}{self.repository}"

    def let_in(self, public: str) -> None:
        (self.server.folder / "authorized_keys").write_text(f"{public}\n")
