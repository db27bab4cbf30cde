"""Real repositories on real folders, for the tests of the hub and of the trees."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PLAIN = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.org",
    "GIT_COMMITTER_NAME": "Somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.org",
    "LC_ALL": "C",
}


def git(at: Path, *args: str | bytes, **env: str) -> str:
    """Run git as anybody would and return what it printed."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-C", at, *args],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"} | PLAIN | env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(at: Path, message: str, files: dict[str, str | None], **env: str) -> str:
    """Write files (None: remove), commit them all, and return the commit."""
    for name, text in files.items():
        path = at / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    git(at, "add", "-A", **env)
    git(at, "commit", "-q", "--allow-empty", "-m", message, **env)
    return git(at, "rev-parse", "HEAD")


def repository(at: Path, files: dict[str, str | None] | None = None) -> Path:
    """Make a repository on branch main with one commit."""
    at.mkdir(parents=True)
    git(at, "init", "-q", "-b", "main")
    commit(at, "first", files or {"README.md": "hello\n"})
    return at
