"""Runs inside a fence and tries to get out of it: one attempt a line, its outcome as JSON.

An outcome is the name of the error that stopped the attempt, or what it got. Standard library
only; started by tests/node/outside.py and judged by tests/node/test_fence.py.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from typing import Any

Place = dict[str, Any]

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"keyctl": 250, "bpf": 321, "io_uring_setup": 425},
    "aarch64": {"keyctl": 219, "bpf": 280, "io_uring_setup": 425},
}


def outcome(attempt: Callable[[], Any]) -> Any:
    try:
        return attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))


def reads(path: str) -> Callable[[], Any]:
    def attempt() -> str:
        with open(path, "rb") as file:
            return "read " + file.read(65536).decode("utf-8", "replace")

    return attempt


def appends(path: str) -> Callable[[], Any]:
    """Open for writing and write nothing: enough to know, and harmless where it works."""

    def attempt() -> str:
        with open(path, "ab"):
            return "opened for writing"

    return attempt


def writes(path: str) -> Callable[[], Any]:
    def attempt() -> str:
        with open(path, "w", encoding="ascii") as file:
            file.write("written inside\n")
        return "written"

    return attempt


def lists(path: str) -> Callable[[], Any]:
    return lambda: sorted(os.listdir(path))


def makes_folder(path: str) -> Callable[[], Any]:
    def attempt() -> str:
        os.mkdir(path)
        return "made"

    return attempt


def signals(pid: int) -> Callable[[], Any]:
    def attempt() -> str:
        os.kill(pid, 0)
        return "allowed"

    return attempt


def connects(address: str) -> Callable[[], Any]:
    def attempt() -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
            mine.connect(address)
            return "connected"

    return attempt


def call(name: str, *args: int) -> Callable[[], Any]:
    def attempt() -> str:
        number = NUMBERS[os.uname().machine][name]
        if libc.syscall(number, *(ctypes.c_long(value) for value in args)) < 0:
            raise OSError(ctypes.get_errno(), name)
        return "allowed"

    return attempt


def environments_with(word: str) -> Callable[[], Any]:
    """Look for `word` in what every process that shows was started with."""

    def attempt() -> list[str]:
        processes = filter(str.isdigit, os.listdir("/proc"))
        files = [f"/proc/{pid}/{part}" for pid in processes for part in ("environ", "cmdline")]
        return [path for path in files if word in outcome(reads(path))]

    return attempt


def descriptors() -> list[int]:
    open_ones = []
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))
        except OSError:
            continue  # the listing's own
        open_ones.append(int(name))
    return sorted(open_ones)


def vsock() -> str:
    socket.socket(40, socket.SOCK_STREAM).close()
    return "opened"


def usual_sockets() -> str:
    """Open what programs open: names looked up and interfaces listed need netlink."""
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        socket.socket(family, socket.SOCK_DGRAM).close()
    socket.create_server(("127.0.0.1", 0)).close()
    for end in socket.socketpair():
        end.close()
    names = [name for _, name in socket.if_nameindex()]
    return f"opened {names[0]} {socket.getaddrinfo('127.0.0.1', 80)[0][4][0]}"


def uncovers(path: str) -> Callable[[], Any]:
    """Take the cover off a hidden folder, as the root of a user namespace of one's own."""

    def attempt() -> str:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            new_user_and_mount = 0x10000000 | 0x00020000
            code = 0
            if libc.unshare(new_user_and_mount) or libc.umount2(os.fsencode(path), 2):
                code = ctypes.get_errno()
            os.write(write, errno.errorcode.get(code, "uncovered").encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        with open(read, "rb") as file:
            return file.read().decode()

    return attempt


def status_line(name: str) -> Callable[[], Any]:
    def attempt() -> str:
        with open("/proc/self/status", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return lines[name].strip()

    return attempt


def block_devices() -> list[str]:
    return [
        entry.name
        for entry in os.scandir("/dev")
        if stat.S_ISBLK(entry.stat(follow_symlinks=False).st_mode)
    ]


def runs(*argv: str) -> Callable[[], Any]:
    def attempt() -> str:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return f"{done.returncode}" if done.returncode == 0 else done.stderr.strip()

    return attempt


def attempts(place: Place) -> dict[str, Callable[[], Any]]:
    home, user, tree = place["home"], place["user"], place["tree"]
    return {
        # what must not be had
        "read the vault key": reads(f"{home}/secrets/vault.key"),
        "read the ledger": reads(f"{home}/engine.sqlite3"),
        "connect to the engine": connects(f"{home}/engine.sock"),
        "list a sibling's run folder": lists(f"{home}/runs/r-2"),
        "read a sibling's tree": reads(f"{home}/trees/s-2/secret.txt"),
        "list all trees": lists(f"{home}/trees"),
        "read an ssh key": reads(f"{user}/.ssh/id_ed25519"),
        "read other files of the home": reads(f"{user}/.netrc"),
        "read root's home": lists("/root"),
        "read the passwords": reads("/etc/shadow"),
        "write a ref of the hub": writes(f"{home}/hub/shop.git/refs/heads/main"),
        "plant a hook in the hub": writes(f"{home}/hub/shop.git/hooks/update"),
        "make a folder in our home": makes_folder(f"{home}/hub"),
        "write a borrowed object": writes(f"{home}/copies/shop.git/objects/stray"),
        "write the system": writes("/usr/stray"),
        "write the root folder": writes("/stray"),
        "write a toolchain": writes(f"{user}/.local/bin/tool"),
        "read a sibling's environment by pid": reads(f"/proc/{place['sibling']}/environ"),
        "find a sibling's environment": environments_with("sibling-secret"),
        "find the starter's environment": environments_with("starter-secret"),
        "signal a sibling": signals(place["sibling"]),
        "signal the starter": signals(place["starter"]),
        "connect to an abstract socket": connects("\0" + place["abstract"]),
        "use an inherited descriptor": descriptors,
        "search the keyring": call("keyctl", 10, -3, 0, 0, 0),
        "load a program into the kernel": call("bpf", 0, 0, 0),
        "open a ring past the filter": call("io_uring_setup", 1, 0),
        "reach the hypervisor": vsock,
        "set the core pattern": appends("/proc/sys/kernel/core_pattern"),
        "press a key of the kernel's": appends("/proc/sysrq-trigger"),
        "open a terminal": appends("/dev/tty"),
        "see a disk": block_devices,
        "see a bus or an agent socket": lists("/run"),
        "uncover our home": uncovers(home),
        "gain privileges": status_line("NoNewPrivs"),
        "hold capabilities": status_line("CapEff"),
        # what a run needs
        "start in the tree": os.getcwd,
        "write the tree": writes(f"{tree}/made"),
        "write the temporary folder": writes("/tmp/made"),
        "write the config": writes(f"{place['config']}/made"),
        "write a cache": writes(f"{place['cache']}/made"),
        "write its own home": writes(f"{user}/scratch"),
        "read a toolchain": reads(f"{user}/.local/bin/tool"),
        "connect to the desk": connects("/run/desk.sock"),
        "commit in the tree": runs(
            "git", "-c", "user.name=Run", "-c", "user.email=run@localhost",
            "commit", "-q", "--allow-empty", "-m", "inside",
        ),
        "see the certificates": lambda: os.path.isdir("/etc/ssl"),
        "use the usual sockets": usual_sockets,
        "use shared memory": writes("/dev/shm/made"),
        "keep its environment": lambda: " ".join(sorted(set(os.environ) - {"PWD", "LC_CTYPE"})),
    }  # fmt: skip


if __name__ == "__main__":
    told: Place = json.loads(sys.argv[1])
    for line, attempt in attempts(told).items():
        sys.stdout.write(json.dumps([line, outcome(attempt)]) + "\n")
