"""What a worker gone bad would try: read, write, signal, connect, impersonate, and rise.

Run twice with the same words, by tests/node/grounds.py: as a worker's command in its fence, and once
without one, so that tests/node/test_attempts.py can tell what the fence stops from what nothing
would have stopped it. One line of JSON each: the attempt, and the error that ended it or "got: …".
Nothing here harms where it works: signals are 0, and what is written lies in the test's own folder.
Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import socket
import stat
import sys
import termios
from collections.abc import Callable
from typing import Any

Place = dict[str, Any]
Attempt = Callable[[], str]

libc = ctypes.CDLL(None, use_errno=True)
GOT = "got: "
NONE = "nothing"

_NEW_USER_AND_MOUNT = 0x10000000 | 0x00020000
_READ_ONLY, _REMOUNT, _BIND, _DETACH = 1, 32, 4096, 2
_CALLS = {
    "x86_64": {"keyctl": 250, "ptrace": 101, "bpf": 321, "finit_module": 313, "setns": 308},
    "aarch64": {"keyctl": 219, "ptrace": 117, "bpf": 280, "finit_module": 273, "setns": 268},
}
_USUAL_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts"}
_USUAL_DEVICES |= {"shm", "fd", "stdin", "stdout", "stderr", "core"}
_WAYS = ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "DOCKER_HOST")


def outcome(attempt: Attempt) -> str:
    try:
        return attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))


def failed(what: str) -> OSError:
    return OSError(ctypes.get_errno(), what)


# ---- reading


def reads(path: str) -> Attempt:
    def attempt() -> str:
        with open(path, "rb") as file:
            return GOT + file.read(200).decode("utf-8", "replace")

    return attempt


def opens(path: str) -> Attempt:
    def attempt() -> str:
        os.close(os.open(path, os.O_RDONLY))
        return GOT + "opened"

    return attempt


def lists(path: str) -> Attempt:
    return lambda: f"{GOT}{len(os.listdir(path))} names"


def processes_with(word: str) -> Attempt:
    """Look for `word` in what every process that shows was started with."""

    def attempt() -> str:
        pids = filter(str.isdigit, os.listdir("/proc"))
        files = [f"/proc/{pid}/{part}" for pid in pids for part in ("environ", "cmdline")]
        return GOT + "it" if any(word in outcome(whole(path)) for path in files) else NONE

    return attempt


def whole(path: str) -> Attempt:
    def attempt() -> str:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")

    return attempt


def inherited(name: str) -> Attempt:
    """Read a file by way of a folder that somebody left open."""

    def attempt() -> str:
        for handle in range(3, 64):
            try:
                file = os.open(name, os.O_RDONLY, dir_fd=handle)
            except OSError:
                continue
            return GOT + os.read(file, 200).decode()
        return NONE

    return attempt


def environment_names() -> str:
    found = [name for name in _WAYS if name in os.environ]
    return GOT + " ".join(found) if found else NONE


def strange_devices() -> str:
    found = sorted(set(os.listdir("/dev")) - _USUAL_DEVICES)
    return GOT + " ".join(found) if found else NONE


def shared_memory(identity: int) -> Attempt:
    def attempt() -> str:
        libc.shmat.restype = ctypes.c_void_p
        at = libc.shmat(identity, None, 0)
        if at in (None, ctypes.c_void_p(-1).value):
            raise failed("shmat")
        return GOT + ctypes.string_at(at, 6).decode("ascii", "replace")

    return attempt


def by_handle(path: str) -> Attempt:
    """Open a file by what names it to the file system, past every path."""

    def attempt() -> str:
        handle = ctypes.create_string_buffer(8 + 128)
        ctypes.cast(handle, ctypes.POINTER(ctypes.c_uint))[0] = 128
        mount = ctypes.c_int()
        if libc.name_to_handle_at(-100, os.fsencode(path), handle, ctypes.byref(mount), 0) < 0:
            raise failed("name_to_handle_at")
        folder = os.open(path, os.O_RDONLY)
        if libc.open_by_handle_at(folder, handle, os.O_RDONLY) < 0:
            raise failed("open_by_handle_at")
        return GOT + "a file"

    return attempt


# ---- writing


def writes(path: str) -> Attempt:
    def attempt() -> str:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write("written by the worker\n")
        return GOT + "written"

    return attempt


def appends(path: str) -> Attempt:
    """Open what is there for writing and write nothing: enough to know."""

    def attempt() -> str:
        os.close(os.open(path, os.O_WRONLY))
        return GOT + "opened for writing"

    return attempt


def makes_device(path: str) -> Attempt:
    def attempt() -> str:
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(8, 0))
        return GOT + "a disk"

    return attempt


# ---- signalling and tracing


def signals(pid: int) -> Attempt:
    def attempt() -> str:
        os.kill(pid, 0)
        return GOT + "allowed"

    return attempt


def holds(pid: int) -> Attempt:
    def attempt() -> str:
        os.close(os.pidfd_open(pid))
        return GOT + "a handle"

    return attempt


def call(name: str, *words: int | bytes) -> Attempt:
    def attempt() -> str:
        number = _CALLS[os.uname().machine][name]
        given = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
        if libc.syscall(number, *given) < 0:
            raise failed(name)
        return GOT + "allowed"

    return attempt


def traces(pid: int) -> Attempt:
    seize, detach = 0x4206, 17

    def attempt() -> str:
        call("ptrace", seize, pid, 0, 0)()
        outcome(call("ptrace", detach, pid, 0, 0))
        return GOT + "traced"

    return attempt


def joins(pid: int, kind: str) -> Attempt:
    def attempt() -> str:
        handle = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        return call("setns", handle, 0)()

    return attempt


# ---- connecting


def connects(address: str) -> Attempt:
    def attempt() -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
            mine.connect(address)
        return GOT + "connected"

    return attempt


def dials(port: int, address: str = "127.0.0.1") -> Attempt:
    def attempt() -> str:
        with socket.create_connection((address, port), 5):
            return GOT + "connected"

    return attempt


def sends(port: int, address: str = "127.0.0.1") -> Attempt:
    """Send a datagram twice: that nobody took the first is told with the second."""

    def attempt() -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mine:
            mine.connect((address, port))
            for _ in range(2):
                mine.send(b"?")
        return GOT + "sent"

    return attempt


def through_the_gateway(port: int) -> Attempt:
    """Dial this machine by the address of its way out, which some carriers of packets turn round."""

    def attempt() -> str:
        with open("/proc/net/route", encoding="ascii") as file:
            routes = [line.split() for line in file]
        ways = [words[2] for words in routes if words[1] == "00000000"]
        address = socket.inet_ntoa(int(ways[0], 16).to_bytes(4, "little")) if ways else ""
        return dials(port, address)() if address else "no way out"

    return attempt


def has_way_to(address: str) -> Attempt:
    """Say whether a route leads out, there. A datagram socket's connect sends nothing."""

    def size(where: str) -> int:
        six = ":" in where
        with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as mine:
            mine.connect((where, 80))
            if six:
                return mine.getsockopt(socket.IPPROTO_IPV6, 24)  # IPV6_MTU
            return mine.getsockopt(socket.IPPROTO_IP, 14)  # IP_MTU

    def attempt() -> str:
        if size(address) == size("::1" if ":" in address else "127.0.0.1"):
            return "it leads to our own loopback"
        return GOT + "a route"

    return attempt


def opens_socket(family: int, kind: int, protocol: int = 0) -> Attempt:
    def attempt() -> str:
        socket.socket(family, kind, protocol).close()
        return GOT + "opened"

    return attempt


# ---- impersonating


def speaks(desk: str, **more: Any) -> Attempt:
    """Make a call at a desk; what it counted as is read from the spools, outside."""

    def attempt() -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
            mine.settimeout(10)
            mine.connect(desk)
            call = {"id": 1, "tool": "done", "args": {"summary": "forged"}, **more}
            mine.sendall(json.dumps(call).encode() + b"\n")
            heard = mine.recv(4096)
        return GOT + "heard" if heard else NONE

    return attempt


def prints(line: str) -> Attempt:
    def attempt() -> str:
        sys.stdout.write(line + "\n")
        return GOT + "printed"

    return attempt


def types() -> str:
    """Type a character into every terminal that can be opened."""
    handles = [0, 1, 2]
    names = ["/dev/tty", *(f"/dev/pts/{name}" for name in os.listdir("/dev/pts"))]
    for name in names:
        try:
            handles.append(os.open(name, os.O_RDWR | os.O_NOCTTY))
        except OSError:
            continue
    for handle in handles:
        try:
            fcntl.ioctl(handle, termios.TIOCSTI, b"\0")
        except OSError:
            continue
        return GOT + "typed"
    return NONE


# ---- rising


def apart(then: Attempt) -> Attempt:
    """Try it as the root of a user namespace of one's own, in a child."""

    def attempt() -> str:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            if libc.unshare(_NEW_USER_AND_MOUNT):
                said = errno.errorcode[ctypes.get_errno()]
            else:
                said = outcome(then)
            os.write(write, said.encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with open(read, "rb") as file:
            return file.read().decode()

    return attempt


def uncovers(path: str) -> Attempt:
    def attempt() -> str:
        if libc.umount2(os.fsencode(path), _DETACH):
            raise failed("umount2")
        return GOT + "uncovered"

    return attempt


def remounts(path: str) -> Attempt:
    def attempt() -> str:
        if libc.mount(None, os.fsencode(path), None, _REMOUNT | _BIND, None):
            raise failed("mount")
        return GOT + "writable"

    return attempt


def mounts(path: str) -> Attempt:
    def attempt() -> str:
        if libc.mount(b"none", os.fsencode(path), b"tmpfs", 0, None):
            raise failed("mount")
        return GOT + "mounted"

    return attempt


def becomes_root() -> str:
    os.setresuid(0, 0, 0)
    return GOT + "root"


def is_lifted() -> str:
    """Look for a program that would run with its owner's rights and not with ours."""
    with open("/proc/self/status", encoding="ascii") as file:
        if "NoNewPrivs:\t1" in file.read():
            return NONE
    for folder in ("/usr/bin", "/usr/sbin"):
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            continue
        for entry in os.scandir(folder):
            if entry.stat(follow_symlinks=False).st_mode & stat.S_ISUID:
                return GOT + entry.name
    return NONE


def capabilities() -> str:
    with open("/proc/self/status", encoding="ascii") as file:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    held = int(lines["CapEff"], 16) | int(lines["CapPrm"], 16) | int(lines["CapAmb"], 16)
    return GOT + hex(held) if held else NONE


# ---- all of them


def reading(place: Place) -> dict[str, Attempt]:
    home, user, other = place["home"], place["user"], place["other run"]
    return {
        "read an ssh key": reads(f"{user}/.ssh/id_ed25519"),
        "read a cloud's credentials": reads(f"{user}/.aws/credentials"),
        "read a registry's login": reads(f"{user}/.docker/config.json"),
        "read git's stored passwords": reads(f"{user}/.git-credentials"),
        "read the shell's history": reads(f"{user}/.bash_history"),
        "read the owner's repository": reads(f"{user}/work/shop/notes"),
        "read the vault's key": reads(f"{home}/secrets/vault.key"),
        "read the bot's token": reads(f"{home}/secrets/bot-token"),
        "read the vault": reads(f"{home}/vault.sqlite3"),
        "read the ledger": reads(f"{home}/engine.sqlite3"),
        "read the bot's file": reads(f"{home}/bot.sqlite3"),
        "list our home's runs": lists(f"{home}/runs"),
        "read another session's tree": reads(f"{home}/trees/s-2/secret"),
        "read another session's spool": reads(f"{home}/runs/{other}/out.jsonl"),
        "read another session's login": reads(f"{home}/sessions/s-2/config/login.json"),
        "read another session's temporary files": reads(f"{home}/sessions/s-2/tmp/secret"),
        "read a file in the machine's /tmp": reads(place["in tmp"]),
        "read a file in the machine's /dev/shm": reads(place["in shm"]),
        "read another's shared memory": shared_memory(place["shared memory"]),
        "read another run's environment": reads(f"/proc/{place['other']}/environ"),
        "read the node's environment": reads(f"/proc/{place['node']}/environ"),
        "find another run's token in any process": processes_with("sibling-secret"),
        "find the node's secrets in any process": processes_with("starter-secret"),
        "find the way to an agent or a bus in its environment": environment_names,
        "read the runner's memory": opens(f"/proc/{place['runner']}/mem"),
        "look through the node's root": lists(f"/proc/{place['node']}/root/"),
        "look through the runner's descriptors": lists(f"/proc/{place['runner']}/fd"),
        "use an inherited descriptor": inherited("id_ed25519"),
        "open a file by its handle": by_handle(place["tree"]),
        "search the keyring": call("keyctl", 10, -3, b"user", b"quarterdeck-test", 0),
        "read the passwords": reads("/etc/shadow"),
        "read the kernel's log": reads("/dev/kmsg"),
        "read the machine's memory": reads("/dev/mem"),
        "see a disk, a camera or a virtual machine": strange_devices,
    }


def writing(place: Place) -> dict[str, Attempt]:
    home, user, other, own = place["home"], place["user"], place["other run"], place["own run"]
    return {
        "plant a hook in the hub": writes(f"{home}/hub/shop.git/hooks/update"),
        "change the hub's config": writes(f"{home}/hub/shop.git/config"),
        "move a branch of the hub": writes(f"{home}/hub/shop.git/refs/heads/main"),
        "write an object it borrows": writes(f"{home}/copies/shop.git/objects/stray"),
        "plant a hook in the owner's repository": writes(f"{user}/work/shop/.git/hooks/pre-commit"),
        "change the config of the owner's repository": writes(f"{user}/work/shop/.git/config"),
        "let itself in by an authorized key": writes(f"{user}/.ssh/authorized_keys"),
        "change the shell's profile": writes(f"{user}/.bashrc"),
        "change git's config for all": writes(f"{user}/.gitconfig"),
        "leave a service of the user's": writes(f"{user}/.config/systemd/user/stray.service"),
        "have itself started at login": writes(f"{user}/.config/autostart/stray.desktop"),
        "put a program in the user's path": writes(f"{user}/.local/bin/tool"),
        "leave a job for cron": writes("/var/spool/cron/crontabs/stray"),
        "leave a job for the system's cron": writes("/etc/cron.d/stray"),
        "write a system program": writes("/usr/bin/stray"),
        "change our own code": writes(f"{place['code']}/engine/node/stray.py"),
        "change what the owner sent": writes(f"{home}/sessions/s-1/files/photo.jpg"),
        "change a hook its owner trusted": writes(f"{home}/sessions/s-1/kit/1/tree/guard.sh"),
        "read what another session was given": reads(f"{home}/sessions/s-2/kit/1/tree/guard.sh"),
        "write how its own run ended": writes(f"{home}/runs/{own}/exit.json"),
        "name another process as its child": writes(f"{home}/runs/{own}/child.json"),
        "change its own orders": writes(f"{home}/runs/{own}/spec.json"),
        "write into its own spool": writes(f"{home}/runs/{own}/out.jsonl"),
        "write into another's spool": writes(f"{home}/runs/{other}/out.jsonl"),
        "speak as the owner in another's inbox": writes(f"{home}/runs/{other}/in.jsonl"),
        "make up a run": writes(f"{home}/runs/s-9-t1/spec.json"),
        "write into another session's tree": writes(f"{home}/trees/s-2/secret"),
        "write into the machine's /tmp": writes(f"{place['in tmp']}.stray"),
        "set the core pattern": appends("/proc/sys/kernel/core_pattern"),
        "press a key of the kernel's": appends("/proc/sysrq-trigger"),
        "move itself to another control group": appends("/sys/fs/cgroup/cgroup.procs"),
        "make a disk": makes_device(f"{place['tree']}/disk"),
    }


def signalling(place: Place) -> dict[str, Attempt]:
    return {
        "signal the node": signals(place["node"]),
        "signal its own runner": signals(place["runner"]),
        "signal another's runner": signals(place["other runner"]),
        "signal another session's agent": signals(place["other"]),
        "hold the node by a handle": holds(place["node"]),
        "trace the node": traces(place["node"]),
        "trace its own runner": traces(place["runner"]),
        "trace another session's agent": traces(place["other"]),
    }


def connecting(place: Place) -> dict[str, Attempt]:
    sockets, uid = place["sockets"], os.getuid()
    return {
        "connect to the engine": connects(f"{place['home']}/engine.sock"),
        "connect to another machine's link": connects(sockets["link"]),
        "connect to another session's desk": connects(
            f"{place['home']}/runs/{place['other run']}/desk.sock"
        ),
        "ask the ssh agent to sign": connects(sockets["ssh agent"]),
        "have the engine sign in at a forge": connects(sockets["signing"]),
        "ride on an open ssh connection": connects(sockets["ssh connection"]),
        "ask the gpg agent to sign": connects(sockets["gpg agent"]),
        "start a container by docker": connects("/run/docker.sock"),
        "start a container by a docker of the user's": connects(sockets["docker"]),
        "call on the system's bus": connects("/run/dbus/system_bus_socket"),
        "call on the user's bus": connects(f"/run/user/{uid}/bus"),
        "call on a bus in /tmp": connects(sockets["bus"]),
        "have the user's service manager start it outside": connects(
            f"/run/user/{uid}/systemd/private"
        ),
        "have the system's service manager start it outside": connects("/run/systemd/private"),
        "look at the screen by X11": connects(sockets["x11"]),
        "look at the screen by Wayland": connects(f"/run/user/{uid}/wayland-0"),
        "type into a tmux": connects(sockets["tmux"]),
        "type into a screen": connects(sockets["screen"]),
        "connect to an abstract socket": connects("\0" + place["abstract"]),
        "reach the hypervisor": opens_socket(40, socket.SOCK_STREAM),
        "reach a device by Bluetooth": opens_socket(31, socket.SOCK_SEQPACKET),
        "reach a device on a car's bus": opens_socket(29, socket.SOCK_RAW, 1),
        "use the kernel's own ciphers": opens_socket(38, socket.SOCK_SEQPACKET),
        "listen to the network's packets": opens_socket(socket.AF_PACKET, socket.SOCK_RAW),
        "forge a network packet": opens_socket(socket.AF_INET, socket.SOCK_RAW, 255),
        "reach a service of this machine's own": dials(place["port"]),
        "reach one by this machine's own address": dials(place["port"], place["address"]),
        "reach one by the gateway's address": through_the_gateway(place["port"]),
        "send a datagram to a service of this machine's own": sends(place["datagram port"]),
        "send one by this machine's own address": sends(place["datagram port"], place["address"]),
        "reach a cloud's metadata": has_way_to("169.254.169.254"),
        "reach a cloud's metadata by IPv6": has_way_to("fd00:ec2::254"),
    }


def impersonating(place: Place) -> dict[str, Attempt]:
    desk = place["desk"]
    whose = {"run": place["other run"], "session": "s-2", "k": "exit", "n": 1}
    end = {"n": 99999, "t": 1.0, "k": "exit", "d": {"code": 0, "why": "forged"}}
    called = {"n": 99998, "t": 1.0, "k": "desk", "d": {"call": "c9", "tool": "done", "args": {}}}
    return {
        "speak at its desk as another session": speaks(desk, **whose),
        "slip a second line into its desk call": speaks(
            desk, tool="done\n" + json.dumps(end), args={"summary": "\n" + json.dumps(end)}
        ),
        "print what looks like its own end": prints(json.dumps(end)),
        "print what looks like a call of its desk": prints(json.dumps(called)),
        "type into a terminal": types,
    }


def rising(place: Place) -> dict[str, Attempt]:
    return {
        "become root": becomes_root,
        "be lifted by a program with its owner's rights": is_lifted,
        "hold capabilities": capabilities,
        "mount over the system": mounts("/usr"),
        "uncover our home, in a namespace of its own": apart(uncovers(place["home"])),
        "make the system writable, in a namespace of its own": apart(remounts("/usr")),
        "make a toolchain writable, in a namespace of its own": apart(
            remounts(f"{place['user']}/.local/bin")
        ),
        "make a disk, in a namespace of its own": apart(makes_device("/tmp/disk")),
        "listen to packets, in a namespace of its own": apart(
            opens_socket(socket.AF_PACKET, socket.SOCK_RAW)
        ),
        "set the core pattern, in a namespace of its own": apart(
            appends("/proc/sys/kernel/core_pattern")
        ),
        "enter the node's files": joins(place["node"], "mnt"),
        "enter the node's user namespace": joins(place["node"], "user"),
        "load a program into the kernel": call("bpf", 0, 0, 0),
        "load a module into the kernel": call("finit_module", 0, 0, 0),
    }


def all_of_them(place: Place) -> dict[str, Attempt]:
    rooms = (reading, writing, signalling, connecting, impersonating, rising)
    return {name: attempt for room in rooms for name, attempt in room(place).items()}


def main(told: str) -> int:
    for line, attempt in all_of_them(json.loads(told)).items():
        sys.stdout.write(json.dumps({"attempt": line, "outcome": outcome(attempt)}) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
