"""A home worth robbing, two workers' runs in it, and one of them gone bad; tells what came of it.

Runs as an ordinary user, in a process of its own that is the node to both runs: they are started as
any run is, by engine/node/runs.py, with what the engine has a worker shown. Started and judged by
tests/node/test_attempts.py. Standard library only.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.node import fence, folder, metadata, network, own_network
from engine.node.runs import Runs, code_folder
from tests.node.attempts import Place

OWN, OTHER = "s-1-t1", "s-2-t1"
PYTHON = os.path.realpath(sys.executable)
PATIENCE_S = 60.0


def put(path: str, text: str) -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(text, "ascii")
    return path


def git(*words: str) -> None:
    identity = ["-c", "user.name=Owner", "-c", "user.email=owner@localhost"]
    subprocess.run(["git", *identity, *words], check=True, stdout=subprocess.DEVNULL)


def listen(path: str) -> socket.socket:
    """Return a socket that connections succeed on; nobody needs to accept them."""
    if not path.startswith("\0"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(path)
    made.listen(64)
    return made


class Grounds:
    """The folders, sockets and memory that an attempt may be after; gone again at the end."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.user = f"{stage}/user"
        self.home = f"{self.user}/.local/state/quarterdeck"
        self.held: list[socket.socket] = []
        self._outside: list[str] = []  # what lies in /tmp and /dev/shm beside the stage

    def furnish(self) -> Place:
        user, home = self.user, self.home
        put(f"{user}/.local/bin/tool", "#!/bin/sh\n")
        for name in (".ssh/id_ed25519", ".aws/credentials", ".docker/config.json", ".bashrc"):
            put(f"{user}/{name}", "secret")
        for name in (".git-credentials", ".bash_history", ".ssh/authorized_keys", ".gitconfig"):
            put(f"{user}/{name}", "")
        for name in ("vault.sqlite3", "engine.sqlite3", "bot.sqlite3", "secrets/vault.key"):
            put(f"{home}/{name}", "secret")
        put(f"{home}/secrets/bot-token", "1:secret")
        git("init", "-q", "-b", "main", f"{user}/work/shop")
        put(f"{user}/work/shop/notes", "secret")
        git("-C", f"{user}/work/shop", "commit", "-q", "--allow-empty", "-m", "first")
        for bare in ("hub", "copies"):
            git("clone", "-q", "--bare", f"{user}/work/shop", f"{home}/{bare}/shop.git")
        for session in ("s-1", "s-2"):
            tree = f"{home}/trees/{session}"
            git("clone", "-q", "--shared", f"{home}/copies/shop.git", tree)
            put(f"{home}/sessions/{session}/files/photo.jpg", "a photo")
            put(f"{home}/sessions/{session}/kit/1/tree/guard.sh", "secret")
            put(f"{home}/sessions/{session}/config/login.json", "secret")
            put(f"{home}/sessions/{session}/tmp/secret", "secret")
        put(f"{home}/trees/s-2/secret", "secret")
        return {
            "user": user,
            "home": home,
            "tree": f"{home}/trees/s-1",
            "code": code_folder(),
            "own run": OWN,
            "other run": OTHER,
            "node": os.getpid(),
            **self._shared(),
        }

    def _shared(self) -> Place:
        """Make what does not lie in the stage, or is no file."""
        mark = f"quarterdeck-test-{os.getpid()}"
        self._outside += [put(f"/tmp/{mark}", "secret"), put(f"/dev/shm/{mark}", "secret")]
        self._outside.append(f"/tmp/{mark}.stray")  # what the loose one leaves there
        self._memory = ctypes.CDLL(None).shmget(0, 4096, 0o1600)
        beside = tempfile.mkdtemp(prefix=f"{mark}-")
        self._outside.append(beside)
        sockets = {
            "link": f"{self.home}/ssh/1.sock",
            "ssh agent": f"{beside}/agent.1",
            "signing": f"{self.home}/run/1.sock",
            "ssh connection": f"{self.user}/.ssh/master",
            "gpg agent": f"{self.user}/.gnupg/S.gpg-agent",
            "docker": f"{self.user}/.docker/run/docker.sock",
            "bus": f"{beside}/dbus",
            "x11": f"{beside}/X0",
            "tmux": f"{beside}/default",
            "screen": f"{self.user}/.screen/1.here",
        }
        addresses = [*sockets.values(), f"{self.home}/engine.sock", f"\0{mark}"]
        self.held += [listen(address) for address in addresses]
        here = socket.create_server(("", 0), backlog=64)
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("", 0))
        self.held += [here, datagrams]
        own = [one.address for one in network.own_addresses() if len(one.address) == 4]
        ctypes.CDLL(None).syscall(  # add_key
            {"x86_64": 248, "aarch64": 217}[os.uname().machine],
            *(b"user", b"quarterdeck-test", b"secret", 6, -3),
        )
        return {
            "in tmp": f"/tmp/{mark}",
            "in shm": f"/dev/shm/{mark}",
            "shared memory": self._memory,
            "sockets": sockets,
            "abstract": mark,
            "port": here.getsockname()[1],
            "datagram port": datagrams.getsockname()[1],
            "address": socket.inet_ntoa(own[0]) if own else "127.0.0.2",
        }

    def clear(self) -> None:
        ctypes.CDLL(None).shmctl(self._memory, 0, None)
        for held in self.held:
            held.close()
        for path in self._outside:
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)

    def files(self) -> dict[str, str]:
        """Return all files but those of the worker's own, each with a sum of what it is."""
        own = [self.home + "/" + name for name in ("trees/s-1", "sessions/s-1/tmp", f"runs/{OWN}")]
        own.append(f"{self.home}/sessions/s-1/config")
        found = {}
        walked = [os.path.join(at, name) for at, _, names in os.walk(self.stage) for name in names]
        for path in [*walked, *glob.glob("/tmp/quarterdeck-test-*")]:
            if os.path.isfile(path) and not path.startswith(tuple(f"{at}/" for at in own)):
                content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
                found[path] = f"{os.stat(path).st_mode:o} {content}"
        return found


def spec(place: Place, run: str, session: str, argv: list[str]) -> dict[str, Any]:
    """Return the order of a worker's turn, as engine/adapters/runs.py has it."""
    home, own = place["home"], f"{place['home']}/sessions/{session}"
    read = [f"{home}/copies/shop.git/objects", *fence.toolchains(place["user"]), f"{own}/kit/1"]
    return {
        "run": run,
        "session": session,
        "kind": "agent",
        "argv": argv,
        "env": {"PATH": "/usr/bin:/bin", "HOME": place["user"], "LANG": "C.UTF-8"}
        | {"PYTHONPATH": place["code"], "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": "/tmp"},
        "desk": True,
        "call_s": 0.1,
        "fence": {
            "tree": f"{home}/trees/{session}",
            "tree_read_only": False,
            "tmp": f"{own}/tmp",
            "config_dir": f"{own}/config",
            "files": f"{own}/files",
            "read": read,
        },
    }


def wait_for(path: str) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE_S
    while not (found := folder.read(path)):
        if time.monotonic() > until:
            sys.exit(f"{path} was not written in time")
        time.sleep(0.01)
    return found


def spooled(home: str, run: str) -> list[dict[str, Any]]:
    lines = Path(f"{home}/runs/{run}/out.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def said(lines: list[str]) -> dict[str, str]:
    """Return what became of each attempt, of the lines that tell of one."""
    told = [json.loads(line) for line in lines]
    return {line["attempt"]: line["outcome"] for line in told if "attempt" in line}


def play(stage: str) -> dict[str, Any]:
    grounds = Grounds(stage)
    probe = own_network.tried(fence.probe(), grounds.home)
    if not probe.fenced:
        sys.exit(probe.describe())
    place = grounds.furnish()
    open_folder = os.open(f"{grounds.user}/.ssh", os.O_RDONLY)
    os.set_inheritable(open_folder, True)
    runs = Runs(grounds.home, probe)
    try:
        runs.start(spec(place, OTHER, "s-2", ["cat"]), {"TOKEN": "sibling-secret"})
        other = wait_for(f"{grounds.home}/runs/{OTHER}/child.json")
        place |= {"other": other["child_pid"], "other runner": other["runner"]}
        place |= {"runner": 0, "desk": "/run/desk.sock"}
        before, inside = grounds.files(), attack(runs, place)
        after = grounds.files()
        return {
            "probe": probe.describe(),
            "own network": bool(probe.network),
            "may be a cloud's": metadata.may_be_a_clouds(),
            "inside": inside,
            "own": spooled(grounds.home, OWN),
            "other": spooled(grounds.home, OTHER),
            "changed": sorted(at for at in before | after if before.get(at) != after.get(at)),
            "lives": [runs.state(OTHER)["alive"], os.path.exists(f"/proc/{other['child_pid']}")],
            "outside": loose({**place, "runner": other["runner"]}, open_folder),
        }
    finally:
        runs.kill(OTHER)
        wait_for(f"{grounds.home}/runs/{OTHER}/exit.json")
        runs.reap()
        grounds.clear()


def attack(runs: Runs, place: Place) -> dict[str, str]:
    """Have the worker try all of it; it is told its own runner's number once there is one."""
    script = "import sys, tests.node.attempts as a; sys.exit(a.main(sys.stdin.readline()))"
    runs.start(spec(place, OWN, "s-1", [PYTHON, "-c", script]), {"TOKEN": "own-secret"})
    child = wait_for(f"{place['home']}/runs/{OWN}/child.json")
    runs.input(OWN, "1", "line", json.dumps({**place, "runner": child["runner"]}))
    how = wait_for(f"{place['home']}/runs/{OWN}/exit.json")
    lines = [line["d"] for line in spooled(place["home"], OWN) if line["k"] in ("out", "err")]
    if how["code"] != 0:
        sys.exit("\n".join(lines))
    return said(lines)


def loose(place: Place, open_folder: int) -> dict[str, str]:
    """Return what the same attempts come to with no fence round them."""
    done = subprocess.run(
        [PYTHON, "-m", "tests.node.attempts", json.dumps(place)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        pass_fds=[open_folder],
        start_new_session=True,
    )
    return said(done.stdout.splitlines())


if __name__ == "__main__":
    print(json.dumps(play(sys.argv[1])))  # noqa: T201 - the test reads it
