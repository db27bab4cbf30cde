"""Runs outside the fence, as an ordinary user, and starts what tests/node/test_fence.py judges.

A process of its own because a fence must not be started by root: as root the tests drop to
another user here. Standard library only.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import socket
import subprocess
import sys
from typing import Any

from engine.node import fence
from tests.node.inside import NUMBERS, Place

PYTHON = os.path.realpath(sys.executable)
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}


def say(**words: Any) -> None:
    print(json.dumps(words), flush=True)  # noqa: T201 - the test reads it


def put(path: str, text: str = "") -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def git(*words: str) -> str:
    identity = ["-c", "user.name=Owner", "-c", "user.email=owner@localhost"]
    return subprocess.check_output(["git", *identity, *words], text=True).strip()


def listen(address: str) -> socket.socket:
    """Return a socket that connections succeed on; nobody needs to accept them."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(address)
    made.listen(8)
    return made


def furnish(stage: str) -> Place:
    """Make a home like a real one, with things in it worth stealing."""
    user = f"{stage}/user"
    home = f"{user}/.local/state/quarterdeck"
    put(f"{user}/.ssh/id_ed25519", "ssh-secret")
    put(f"{user}/.netrc", "netrc-secret")
    put(f"{user}/.local/bin/tool", "#!/bin/sh\necho tool\n")
    put(f"{home}/secrets/vault.key", "vault-secret")
    put(f"{home}/engine.sqlite3", "ledger")
    put(f"{home}/runs/r-1/spec.json", "{}")
    put(f"{home}/runs/r-2/spec.json", "{}")
    put(f"{home}/trees/s-2/secret.txt", "sibling's work")
    for folder in (f"{home}/tmp/s-1", f"{home}/agents/s-1", f"{user}/.npm"):
        os.makedirs(folder)
    git("init", "-q", "-b", "main", f"{stage}/seed")
    git("-C", f"{stage}/seed", "commit", "-q", "--allow-empty", "-m", "first")
    git("clone", "-q", "--bare", f"{stage}/seed", f"{home}/hub/shop.git")
    git("clone", "-q", "--bare", f"{stage}/seed", f"{home}/copies/shop.git")
    git("clone", "-q", "--shared", f"{home}/copies/shop.git", f"{home}/trees/s-1")
    return {
        "user": user,
        "home": home,
        "tree": f"{home}/trees/s-1",
        "config": f"{home}/agents/s-1",
        "cache": f"{user}/.npm",
        "abstract": f"quarterdeck-test-{os.getpid()}",
        "starter": os.getpid(),
    }


def view(place: Place, **changes: Any) -> fence.View:
    home = place["home"]
    library = [path for path in sys.path if os.path.isdir(f"{path}/engine")][:1]
    python = [] if PYTHON.startswith("/usr/") else [sys.base_prefix]
    usual = fence.View(
        home=home,
        tree=place["tree"],
        tmp=f"{home}/tmp/s-1",
        config_dir=place["config"],
        caches=(place["cache"],),
        read=(
            *fence.toolchains(place["user"]),
            f"{home}/copies/shop.git/objects",
            *library,
            *python,
        ),
        sockets=((f"{home}/runs/r-1/desk.sock", "/run/desk.sock"),),
    )
    return dataclasses.replace(usual, **changes)


def fenced() -> fence.Probe:
    """Return this machine's probe, or end here: no test may go on with a run that is loose."""
    probe = fence.probe()
    if not probe.fenced:
        sys.exit(probe.describe())
    return probe


def attack(stage: str) -> None:
    """Start a sibling and then a run that tries everything; pass on what it says."""
    place = furnish(stage)
    home = place["home"]
    held = [listen(f"{home}/engine.sock"), listen(f"{home}/runs/r-1/desk.sock")]
    held.append(listen("\0" + place["abstract"]))
    os.environ["STARTER"] = "starter-secret"
    libc = ctypes.CDLL(None)
    add_key = NUMBERS[os.uname().machine]["keyctl"] - 2
    libc.syscall(add_key, b"user", b"quarterdeck-test", b"key-secret", 10, -3)
    os.set_inheritable(os.open(f"{place['user']}/.ssh", os.O_RDONLY), True)
    probe = fenced()
    fence.harden()
    sibling = fence.launch(
        ["sleep", "600"],
        {**ENVIRONMENT, fence.MARK: "r-2", "TOKEN": "sibling-secret"},
        view(place, tree=f"{home}/trees/s-2", tmp="", sockets=()),
        probe,
    )
    place["sibling"] = sibling.child_pid
    run = fence.launch(
        [PYTHON, "-m", "tests.node.inside", json.dumps(place)],
        {**ENVIRONMENT, "HOME": place["user"], "PYTHONPATH": os.environ["PYTHONPATH"]}
        | {fence.MARK: "r-1", "PYTHONDONTWRITEBYTECODE": "1", "LD_BIND_NOW": "1"},
        view(place),
        probe,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert run.stdout is not None
    said = dict(json.loads(line) for line in run.stdout)
    end = run.wait()
    outside = {
        "sibling lives": sibling.poll() is None,
        "hub": git("-C", f"{home}/hub/shop.git", "rev-parse", "main")
        == git("-C", f"{stage}/seed", "rev-parse", "main"),
        "in the tree": os.path.exists(f"{place['tree']}/made"),
        "in the temporary folder": os.path.exists(f"{home}/tmp/s-1/made"),
        "in the config": os.path.exists(f"{place['config']}/made"),
        "in the cache": os.path.exists(f"{place['cache']}/made"),
        "in the user's home": os.path.exists(f"{place['user']}/scratch"),
        "commits": int(git("-C", place["tree"], "rev-list", "--count", "HEAD")),
    }
    sibling.kill()
    sibling.wait()
    say(said=said, end=end, outside=outside, place=place, probe=dataclasses.asdict(probe))
    del held


def hold(stage: str) -> None:
    """Start a run with children in sessions of their own, tell of it, and wait for its end.

    They hold our standard error: whoever reads the other end sees them all gone as its end.
    """
    place = furnish(stage)
    script = "for n in 1 2 3; do setsid sleep 600 & done; trap '' TERM; echo up; sleep 600; wait"
    run = fence.launch(
        ["sh", "-c", script],
        {**ENVIRONMENT, fence.MARK: os.environ["MARKED"]},
        view(place, sockets=()),
        fenced() if os.environ["FENCED"] == "yes" else fence.Probe(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert run.stdout is not None
    run.stdout.readline()
    say(pid=run.pid, child_pid=run.child_pid, start_time=run.start_time)
    sys.stdin.readline()
    if os.environ.get("KILL"):
        run.kill()
    end = run.wait()
    say(end=end, ran=run.ran)


def leave(stage: str) -> None:
    """Start a run that ends, or is killed, with much left running; count that once it is told of.

    What is left holds none of our pipes and a lot of memory, so that its end takes a moment.
    """
    place = furnish(stage)
    hog = "x = bytearray(48 << 20); open('up', 'a').write('.'); import time; time.sleep(600)"
    script = (
        f'for n in 1 2 3 4; do setsid {PYTHON} -c "{hog}" <&- >&- 2>&- & done; '
        'until [ "$(cat up 2>&-)" = .... ]; do sleep 0.01; done; ' + os.environ["LAST"]
    )
    run = fence.launch(
        ["sh", "-c", script],
        {**ENVIRONMENT, fence.MARK: os.environ["MARKED"]},
        view(place, sockets=()),
        fenced(),
        stdin=subprocess.DEVNULL,
    )
    end = run.wait()
    say(end=end, left=fence.kill_marked(os.environ["MARKED"]))


def one(stage: str) -> None:
    """Start each command of standard input (JSON) in a fence and tell how it ended."""
    place = furnish(stage)
    probe = fenced()
    asked = json.load(sys.stdin)
    changes = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in asked.get("view", {}).items()
    }
    run = fence.launch(
        asked["argv"],
        {**ENVIRONMENT, "STAGE": stage},
        view(place, sockets=(), **changes),
        probe,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert run.stdout is not None
    if asked.get("signal"):
        run.stdout.readline()
        run.signal(asked["signal"])
    said = run.stdout.read().decode()
    say(end=run.wait(), ran=run.ran, said=said)


def look(_: str) -> None:
    probe = fence.probe()
    say(probe=dataclasses.asdict(probe), line=probe.describe())


if __name__ == "__main__":
    doing = {"attack": attack, "hold": hold, "leave": leave, "one": one, "look": look}
    doing[sys.argv[1]](sys.argv[2])
