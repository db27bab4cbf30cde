"""Commits to and from a machine that is not the engine's, over a channel of their own.

    supply fetch --home H --project P COMMIT...   complete the copy; the other end serves the hub
    supply serve --home H --project P --session S   serve one tree's commits, from inside its fence

The channel is our standard input and output, and git's own protocol runs on it: only what is missing
travels, and what was cut off half-way leaves nothing that counts. `fetch` starts git, and git starts
`pipe` in place of the server it thinks it has, which hands on what comes and goes.
engine/adapters/ssh.py is the other end; copies.py and trees.py beside this file do the work.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import select
import shlex
import sys
import threading
from collections.abc import Sequence
from typing import Callable

from engine.node import copies, trees
from engine.node.copies import Fields
from engine.node.link import Refusal

_IN, _OUT = 7, 8  # where the channel lies while git has our standard input and output
_STEP = 256 * 1024


def lacks(home: str, args: Fields) -> Fields:
    """Return those of `commits` that this machine's copy of a project does not hold."""
    copy = copies.path(home, copies.name(args, "project"))
    asked = [copies.commit_id(commit) for commit in args.get("commits", [])]
    there = os.path.isdir(copy)
    return {"lacks": [commit for commit in asked if not (there and copies.kept(copy, commit))]}


def _fetch(home: str, args: Fields) -> int:
    project = copies.name(args, "project")
    commits = [copies.commit_id(commit) for commit in args["commits"]]
    copy = copies.path(home, project)
    os.makedirs(os.path.dirname(copy), mode=0o700, exist_ok=True)
    os.dup2(0, _IN)
    os.dup2(1, _OUT)
    code = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    serve = shlex.join([sys.executable, "-I", "-S", code, "supply", "pipe"])
    with open(f"{copy}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another link's may still be at it
        copies.make_store(copy, commits[0])
        missing = [commit for commit in commits if not copies.kept(copy, commit)]
        if missing:
            copies.fetch_commits(copy, "/the hub", missing, serve, (_IN, _OUT))
    return 0


def _pipe() -> int:
    """Hand on between git and the channel, until either side has said all."""

    def out() -> None:
        _pass_on(0, _OUT)
        # Git has asked for all it wants, and we cannot say so: others hold the channel open too. The
        # other end would wait for more, and we for its end; so it is git that tells when it has all.
        gone = select.poll()
        gone.register(1, 0)
        gone.poll()
        os._exit(0)

    threading.Thread(target=out, daemon=True).start()
    _pass_on(_IN, 1)
    return 0


def _pass_on(source: int, target: int) -> None:
    while data := os.read(source, _STEP):
        left = memoryview(data)
        while left:
            left = left[os.write(target, left) :]


def main(argv: Sequence[str]) -> int:
    """Do one of the above; what goes wrong is a sentence on standard error."""
    words = argparse.ArgumentParser(prog="supply")
    words.add_argument("what", choices=("fetch", "serve", "pipe"))
    for name in ("home", "project", "session"):
        words.add_argument(f"--{name}", default="")
    words.add_argument("commits", nargs="*")
    given = words.parse_intermixed_args(argv)
    try:
        if given.what == "pipe":
            return _pipe()
        if given.what == "fetch":
            return _fetch(given.home, vars(given))
        named = [f"--{name}={vars(given)[name]}" for name in ("home", "project", "session")]
        return trees.upload_pack(named)
    except (OSError, Refusal) as error:
        sys.stderr.write(f"{error}\n")
        return 1


OPS: dict[str, Callable[[str, Fields], Fields]] = {"copy.lacks": lacks}
