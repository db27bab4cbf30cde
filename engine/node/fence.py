"""What a run may see, write and signal: the fence round every agent, check, setup and preview.

    runner ── launch() ──> bwrap ──> pid 1 inside ──> the command and whatever it starts

The fence is bubblewrap's: namespaces of its own, and a file system built from what may show, so
that a thing nobody listed does not exist inside. It is ended as a whole by ending its pid 1.
Where no fence can be had, `probe` says why and how to mend it, and `launch` starts the command
plainly: what to allow on such a machine is the engine's decision, not ours.

engine/node/runner.py calls `harden` once and then `launch`; engine/node/serve.py calls `probe`,
and ends what a dead runner left behind with `kill_tree` and `kill_marked`.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Callable, NamedTuple

TYPE_CHECKING = False  # as typing's own, which every run would pay for
if TYPE_CHECKING:
    from engine.node.network import Network

MARK = "QUARTERDECK_RUN"  # the variable by which a process can be told to be of one run
PLACE = "QUARTERDECK_PLACE"  # of that run here: two of us on one machine may both have an s-1

OWN_NETWORK = "each run has a network of its own"

_OLDEST = (0, 4)  # the first bubblewrap with --json-status-fd and the -try kinds of bind
_SIZES = (0, 7)  # the first with --size
_KILL_S = 10.0  # the kernel ends a namespace in milliseconds; longer means a process stuck in it
_EXEC_S = 0.01
_LOOK = """
[ -O /usr ] && echo own
[ -e "$1/canary" ] && echo canary
( : > "$1/stray" ) 2>/dev/null && echo stray
"$2" --unshare-user --ro-bind / / true 2>/dev/null && echo nests
echo inside
"""


class RefusedPath(ValueError):
    """A path that must not be shown to a run; the text says which and why."""


# ---- what this machine can do


@dataclass(frozen=True)
class Probe:
    """What the fence of this machine is worth, found by starting one."""

    fenced: bool = False
    why: str = ""  # why not, and what mends it; empty when fenced
    nesting: bool = False  # a sandbox can be started inside (Chromium's, Codex's)
    scope: bool = False  # abstract sockets and signals to outside can be shut off
    bwrap: str = ""
    version: tuple[int, ...] = ()
    metadata: bool = False  # the address where a cloud hands out a machine's keys may answer
    network: str = ""  # pasta, which gives each run a network of its own; empty: it was not tried
    shares: str = ""  # why runs share this machine's network all the same, and what mends it

    def describe(self) -> str:
        """Return one line for the machine's card."""
        if not self.fenced:
            return f"unfenced: {self.why}"
        notes = [f"fenced by bubblewrap {'.'.join(map(str, self.version))}"]
        if not self.nesting:
            notes.append("no sandbox can start inside")
        if self.shares:
            notes.append(f"shares this machine's network: {self.shares}")
        return "; ".join([*notes, self.stays_open()])

    def stays_open(self) -> str:
        """Return what a run can reach of the machine, fenced or not, in words."""
        if self.network:
            return OWN_NETWORK
        abstract = [] if self.scope else ["abstract sockets (kernel older than 6.12)"]
        metadata = ["a cloud's metadata"] if self.metadata else []
        found = [*abstract, "this machine's own network services", *metadata]
        most, last = ", ".join(found[:-1]), found[-1]
        return f"{most} and {last} stay reachable" if most else f"{last} stay reachable"


def probe() -> Probe:
    """Start one small fence, look round inside, and return what it is worth.

    Takes some ten milliseconds. To be called from the main thread, as `launch` is.
    """
    from engine.node import metadata  # by the probe alone: every run loads this file

    if sys.platform != "linux":
        return Probe(why="fences need Linux and bubblewrap; run the agents on a Linux machine")
    if os.geteuid() == 0:
        return Probe(
            why="running as root, and a fence that root starts holds nothing back; "
            "start the node as an ordinary user"
        )
    found = shutil.which("bwrap")
    if not found:
        return Probe(
            why="bubblewrap is not installed (no bwrap in PATH); install the package "
            "`bubblewrap`, e.g. `sudo apt-get install bubblewrap`"
        )
    version = _version(found)
    if version < _OLDEST:
        return Probe(why=f"{found} is too old or does not run; bubblewrap 0.4 or newer is needed")
    hopeful = Probe(
        fenced=True,
        scope=_landlock_abi() >= 6 and not _setuid(found),
        metadata=metadata.may_answer(),
        bwrap=os.path.realpath(found),
        version=version,
    )
    with tempfile.TemporaryDirectory(prefix="quarterdeck-probe-") as home:
        with open(os.path.join(home, "canary"), "w", encoding="ascii") as file:
            file.write("must not show inside")
        try:
            seen, said = _look(hopeful, home)
        except (RefusedPath, OSError) as error:
            return replace(hopeful, fenced=False, why=f"a trial fence did not start: {error}")
    faults = {
        "own": "root's files look like our own inside",
        "canary": "what is hidden shows inside",
        "stray": "what is read-only can be written inside",
    }
    for word, fault in faults.items():
        if word in seen:
            return replace(hopeful, fenced=False, why=f"a trial fence leaks: {fault}")
    if "inside" not in seen:
        return replace(hopeful, fenced=False, why=f"a trial fence did not start: {_mend(said)}")
    return replace(hopeful, nesting="nests" in seen)


def _version(bwrap: str) -> tuple[int, ...]:
    try:
        said = subprocess.run(
            [bwrap, "--version"], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    words = said.split()
    numbers = words[-1].split(".") if words else []
    return tuple(int(number) for number in numbers if number.isdigit())


def _look(hopeful: Probe, home: str) -> tuple[list[str], str]:
    """Return the words the trial fence printed, and what went to its standard error."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.path.expanduser("~")}
    child = launch(
        ["/bin/sh", "-c", _LOOK, "look", home, hopeful.bwrap],
        environment,
        View(home=home),
        hopeful,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = child.process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.process.communicate()
    child.wait()
    return out.decode("utf-8", "replace").split(), err.decode("utf-8", "replace").strip()


def _mend(said: str) -> str:
    """Return bubblewrap's own words with what mends it, as far as the kernel's switches tell."""
    switches = {
        "kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "AppArmor keeps ordinary users from making namespaces; install a profile for bwrap "
            "(on Ubuntu: apparmor-profiles, bwrap-userns-restrict)",
        ),
        "kernel/unprivileged_userns_clone": (
            "0",
            "set `sysctl kernel.unprivileged_userns_clone=1`",
        ),
        "user/max_user_namespaces": ("0", "set `sysctl user.max_user_namespaces=15000`"),
    }
    for name, (bad, advice) in switches.items():
        try:
            with open("/proc/sys/" + name, encoding="ascii") as file:
                value = file.read().strip()
        except OSError:
            continue
        if value == bad:
            return f"{said or 'no word from bwrap'}; {advice}"
    return f"{said or 'no word from bwrap'}; ordinary users must be allowed user namespaces here"


# ---- what a run may see


@dataclass(frozen=True)
class View:
    """What one run is shown. Every path is absolute and is the same inside as outside."""

    home: str  # QUARTERDECK_HOME: hidden, but for what is named below
    tree: str = ""  # writable, and where the command starts
    tmp: str = ""  # a real folder, shown as /tmp; without one /tmp is private and forgotten
    config_dir: str = ""  # writable: the agent's own settings and transcripts
    caches: tuple[str, ...] = ()  # writable
    read: tuple[str, ...] = ()
    sockets: tuple[tuple[str, str], ...] = ()  # (real path, path inside)
    write: tuple[str, ...] = ()
    network: bool = True
    tree_read_only: bool = False
    files: str = ""  # what the owner sent along; read-only
    ports: tuple[int, ...] = ()  # of the machine's 127.0.0.1, which a network of its own leads to


def toolchains(user_home: str) -> tuple[str, ...]:
    """Return the folders below a home that hold programs, and no keys, of those that exist."""
    usual = (
        ".local/bin",
        ".local/lib",
        ".local/pipx",
        ".local/share/claude",
        ".local/share/fnm",
        ".local/share/mise",
        ".local/share/pipx",
        ".local/share/pnpm",
        ".local/share/uv",
        ".asdf",
        ".bun/bin",
        ".cargo/bin",
        ".deno/bin",
        ".nvm",
        ".pyenv",
        ".rbenv",
        ".rustup",
        ".volta",
        "go/bin",
    )
    paths = (os.path.join(user_home, name) for name in usual)
    return tuple(path for path in paths if os.path.isdir(path))


_SYSTEM = ("/usr", "/etc", "/opt", "/nix", "/var/lib/dpkg", "/var/cache/fontconfig")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CLOSED = ("secrets", "hub", "attached")  # folders of ours that no view may name
_SIZE = {"/dev/shm": 1 << 30, "/run": 64 << 20}
_SIZE_ELSE = 2 << 30


def arguments(
    view: View,
    probe: Probe,
    user_home: str,
    json_status_fd: int = -1,
    seccomp_fd: int = -1,
    more: Sequence[str] = (),
) -> list[str]:
    """Return bubblewrap's arguments for `view`; looks at the file system, changes nothing.

    user_home        the home of the user the run belongs to: private inside, empty at first
    json_status_fd   where bubblewrap tells the pid and the exit, or -1
    seccomp_fd       where it reads the filter, or -1
    more             what else is put over the system
    raises           RefusedPath for a path that is missing or would show what must not be shown
    """
    shown = _Shown(view, user_home)
    told = ["--json-status-fd", str(json_status_fd)] if json_status_fd >= 0 else []
    told += ["--seccomp", str(seccomp_fd)] if seccomp_fd >= 0 else []
    apart = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
    apart += ["--unshare-cgroup-try"]
    apart += ["--hostname", "fence", "--die-with-parent", "--new-session"]
    apart += [] if view.network else ["--unshare-net"]
    built = [] if view.tmp else _tmpfs(probe, "/tmp")
    for where, kind, source in shown.mounts():
        built += _tmpfs(probe, where) if kind == "--tmpfs" else [kind, source, where]
    for source, where in shown.sockets:
        built += ["--ro-bind", source, where]
    last = ["--remount-ro", shown.home] if shown.home != shown.user_home else []
    last += ["--remount-ro", "/", "--chdir", shown.tree or "/tmp"]
    return [*told, *apart, *_system(probe), *more, *built, *last]


def _tmpfs(probe: Probe, where: str) -> list[str]:
    size = ["--size", str(_SIZE.get(where, _SIZE_ELSE))] if tuple(probe.version) >= _SIZES else []
    return [*size, "--tmpfs", where]


def _system(probe: Probe) -> list[str]:
    """Return the arguments for what every run is shown: the system, read-only, and no socket."""
    made: list[str] = []
    for path in _SYSTEM:
        made += ["--ro-bind-try", path, path]
    for path in _MERGED:
        if os.path.islink(path):
            made += ["--symlink", os.readlink(path), path]
        else:
            made += ["--ro-bind-try", path, path]
    made += ["--proc", "/proc", "--dev", "/dev"]
    made += [*_tmpfs(probe, "/dev/shm"), "--remount-ro", "/dev"]
    made += [*_tmpfs(probe, "/run"), "--symlink", "../run", "/var/run"]
    made += ["--symlink", "../tmp", "/var/tmp"]
    for path in ("/etc/resolv.conf", "/etc/hosts"):
        real = os.path.realpath(path)
        if not _below(real, "/etc") and not _below(real, "/usr"):
            made += ["--ro-bind-try", real, real]
    for path in ("/sys/devices/system/cpu", "/sys/fs/cgroup"):
        made += ["--ro-bind-try", path, path]
    return made


def _below(path: str, folder: str) -> bool:
    """Say whether `path` is `folder` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _follow(path: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the real path, and each link met on the way as (where it lies, what it says)."""
    if not path.startswith("/") or "\0" in path:
        raise RefusedPath(f"{path!r} is not an absolute path")
    real, links, rest = "/", [], path.split("/")[::-1]
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            real = os.path.dirname(real)
            continue
        here = os.path.join(real, part)
        if not os.path.islink(here):
            real = here
            continue
        links.append((here, os.readlink(here)))
        if len(links) > 40:
            raise RefusedPath(f"{path} leads in a circle")
        real = "/" if links[-1][1].startswith("/") else real
        rest += links[-1][1].split("/")[::-1]
    return real, links


class _Shown:
    """A view with its links followed and every path of it judged."""

    def __init__(self, view: View, user_home: str) -> None:
        self._links: dict[str, str] = {}
        self._given: dict[str, str] = {}  # real path -> as it was given
        self.user_home = self._real(user_home)
        self.home = self._real(view.home)
        if self.user_home == "/" or self.home == "/":
            raise RefusedPath("a home at / cannot be hidden: set HOME and QUARTERDECK_HOME")
        self.tree = self._real(view.tree) if view.tree else ""
        tmp = [self._real(view.tmp)] if view.tmp else []
        config = [self._real(view.config_dir)] if view.config_dir else []
        caches = [self._real(path) for path in view.caches]
        read = [self._real(path) for path in (*view.read, *([view.files] if view.files else []))]
        write = [self._real(path) for path in view.write]
        tree = [self.tree] if self.tree else []
        self.sockets = [(self._real(real), where) for real, where in view.sockets]
        self._writable = [*tree, *tmp, *config, *caches, *write]
        self._judge_links()
        self._judge([*self._writable, *read])
        self._judge_sockets()
        # Where the same path is named twice the later kind wins.
        self._mounts = {self.user_home: ("--tmpfs", ""), self.home: ("--tmpfs", "")}
        self._mounts.update((path, ("--ro-bind", path)) for path in read)
        self._mounts.update((path, ("--bind", path)) for path in [*config, *caches])
        kind = "--ro-bind" if view.tree_read_only else "--bind"
        self._mounts.update((path, (kind, path)) for path in tree)
        self._mounts.update((path, ("--bind", path)) for path in write)
        self._mounts.update(("/tmp", ("--bind", path)) for path in tmp)
        self._judge_tmp(tmp)

    def mounts(self) -> Iterator[tuple[str, str, str]]:
        """Yield (where, kind, source), the shallow before the deep so that the deeper wins."""
        bound = [path for path, (kind, _) in self._mounts.items() if kind != "--tmpfs"]
        there = [*_SYSTEM, *_MERGED, "/var/run", "/var/tmp", *bound]
        made = [(where, kind, source) for where, (kind, source) in self._mounts.items()]
        made += [
            (where, "--symlink", said)
            for where, said in self._links.items()
            if not any(_below(where, path) for path in there)
        ]
        return iter(sorted(made, key=lambda mount: (mount[0].count("/"), mount[0])))

    def _real(self, path: str) -> str:
        real, links = _follow(path)
        self._links.update(links)
        self._given[real] = path
        return real

    def _judge_links(self) -> None:
        """Refuse a link that a run could have planted, or one in a folder of ours."""
        for where in self._links:
            for folder in (self.home, *self._writable):
                if _below(where, folder):
                    raise RefusedPath(
                        f"{where} is a link inside {folder}, where a run may have put it"
                    )

    def _judge(self, paths: list[str]) -> None:
        for path in paths:
            given = self._given[path]
            if not os.path.exists(path):
                raise RefusedPath(f"{given} does not exist")
            if _below(self.user_home, path):
                raise RefusedPath(f"{given} would show the whole of {self.user_home}")
            if path == self.home or (_below(self.home, path) and path in self._writable):
                raise RefusedPath(f"{given} would show the whole of {self.home}")
            if _below(path, "/proc") or _below(path, "/sys") or _below(path, "/dev"):
                raise RefusedPath(f"{given} is the kernel's")
            self._judge_ours(path)

    def _judge_ours(self, path: str) -> None:
        """Refuse what lies directly in our home, and the folders there that are never shown."""
        if not _below(path, self.home):
            return
        inside = os.path.relpath(path, self.home).split(os.sep)
        if len(inside) < 2 or inside[0] in _CLOSED:
            raise RefusedPath(f"{self._given[path]} holds what no run may see")

    def _judge_sockets(self) -> None:
        for path, where in self.sockets:
            self._judge_ours(path)
            if not os.path.exists(path) or not stat.S_ISSOCK(os.lstat(path).st_mode):
                raise RefusedPath(f"{self._given[path]} is not a socket")
            if os.path.normpath(where) != where or not _below(where, "/run"):
                raise RefusedPath(f"{where} is not in /run, where sockets are shown")

    def _judge_tmp(self, tmp: list[str]) -> None:
        """Refuse links on the way to a mount point in a /tmp that an earlier turn wrote to."""
        for path in self._mounts:
            for folder in tmp:
                if path.startswith("/tmp/") and _follow(folder + path[len("/tmp") :])[1]:
                    raise RefusedPath(f"{folder} holds a link in place of {path}")


# ---- what a run may ask of the kernel

_PROGRAM = {  # machine: (audit architecture, socket, and the calls that are refused)
    "x86_64": (0xC000003E, 41, (175, 176, 246, 248, 249, 250, 298, 313, 320, 321, 323)),
    "aarch64": (0xC00000B7, 198, (104, 105, 106, 217, 218, 219, 241, 273, 280, 282, 294)),
}
_IO_URING = (425, 426, 427)  # opens sockets past any filter; the same numbers everywhere
_FAMILIES = (1, 2, 10, 16)  # of sockets: unix, IPv4, IPv6, and netlink, by which addresses are read
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97


def seccomp() -> bytes:
    """Return the filter of system calls as bubblewrap reads it, or nothing on other machines.

    Refused: kernel modules, kexec, keyrings, bpf, perf, userfaultfd (EPERM), io_uring and calls
    by another architecture's numbers (ENOSYS), and sockets of all families but the usual ones: to
    the hypervisor, to devices near by, of raw packets, into the kernel's rarest code (EAFNOSUPPORT).
    """
    if platform.machine() not in _PROGRAM or sys.maxsize < 1 << 32:
        return b""
    audit, socket, refused = _PROGRAM[platform.machine()]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    lines: list[tuple[int, int, int, int]] = [  # (code, steps if true, steps if false, operand)
        (load, 0, 0, 4),  # the architecture
        (equal, 1, 0, audit),
        (give, 0, 0, 0x00050000 | _ENOSYS),
        (load, 0, 0, 0),  # the number of the call
        (at_least, 0, 1, 0x40000000),  # x32: the same calls under other numbers
        (give, 0, 0, 0x00050000 | _ENOSYS),
    ]
    for number in refused:
        lines += [(equal, 0, 1, number), (give, 0, 0, 0x00050000 | _EPERM)]
    for number in _IO_URING:
        lines += [(equal, 0, 1, number), (give, 0, 0, 0x00050000 | _ENOSYS)]
    count = len(_FAMILIES)
    lines += [
        (equal, 0, count + 2, socket),
        (load, 0, 0, 16),  # its first argument, the low half
        *((equal, count - at, 0, family) for at, family in enumerate(_FAMILIES)),
        (give, 0, 0, 0x00050000 | _EAFNOSUPPORT),
        (give, 0, 0, 0x7FFF0000),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def harden() -> None:
    """Give up, in the runner, what no run needs: core dumps, the session keyring, signals, abstract sockets.

    What is started later inherits it. Where the kernel lacks one of them it is left out; `Probe`
    says so. The caller can afterwards signal nothing but what it started itself.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one would have the keys of its process in it
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    keyctl = {"x86_64": 250, "aarch64": 219}.get(platform.machine())
    if keyctl:
        libc.syscall(keyctl, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING, a new one without a name
    bwrap = shutil.which("bwrap")
    if _landlock_abi() < 6 or (bwrap and _setuid(bwrap)):
        return
    # No rights of the file system are handled: then mounting stays possible, for bwrap and inside.
    rules = ctypes.create_string_buffer(struct.pack("<QQQ", 0, 0, 3), 24)
    handle = libc.syscall(444, rules, ctypes.c_size_t(24), 0)
    if handle < 0:
        return
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which Landlock asks for
    libc.syscall(446, handle, 0)
    os.close(handle)


def _landlock_abi() -> int:
    """Return the version of Landlock this kernel speaks, below 1 for none. 6 brought scopes."""
    if sys.platform != "linux":
        return 0
    return int(ctypes.CDLL(None, use_errno=True).syscall(444, None, ctypes.c_size_t(0), 1))


def _setuid(path: str) -> bool:
    """Say whether `path` lives by its owner's rights, which a hardened runner could not give it."""
    return bool(os.stat(path).st_mode & stat.S_ISUID)


# ---- starting, watching and ending


class End(NamedTuple):
    """How a child ended."""

    code: int | None  # 128 + n after signal n; None: bubblewrap failed, or was itself killed
    signalled: bool


class Child:
    """A command that was started, and the fence round it if there is one."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        fenced: bool,
        status_fd: int,
        run: str,
        place: str = "",
        own: Network | None = None,
    ) -> None:
        self.process = process
        self.fenced = fenced
        self.pid = process.pid  # of bwrap, or of the command itself
        self.stdin: IO[bytes] | None = process.stdin
        self.stdout: IO[bytes] | None = process.stdout
        self.stderr: IO[bytes] | None = process.stderr
        self._run, self._place = run, place
        self._network = own
        self.stranded = False  # its network ended before it did, and so it was ended
        self._status_fd = status_fd
        self._status = b""
        self.child_pid = self._first_word()  # pid 1 inside, as seen outside; 0 without a fence
        self.start_time = start_time(self.child_pid or self.pid)
        self._end: End | None = None
        if own is not None:
            own.watch(self._strand)

    @property
    def ran(self) -> bool:
        """Whether the command itself ran to an end; False: bubblewrap failed or was killed."""
        return self._end is not None and self._end.code is not None

    def poll(self) -> End | None:
        """Return how it ended, or None while it runs."""
        return None if self.process.poll() is None else self.wait()

    def wait(self) -> End:
        """Wait for the end and return it; of a fence nothing is left by then.

        bubblewrap tells how the command ended and leaves; what that left running inside ends after it.
        """
        if self._end is None:
            status = self.process.wait()
            if self.fenced:
                kill_tree(self.child_pid, self.start_time)
            if self._network is not None:
                self._network.close()
            self._end = self._told(status) if self.fenced else _plain(status)
        return self._end

    def signal(self, number: int) -> None:
        """Signal the command itself, so that it may end in its own way; nothing if it is gone."""
        pid = _command(self.child_pid) if self.fenced else self.pid
        if self.process.poll() is None and pid:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return

    def kill(self) -> None:
        """End the command and all it started, at once."""
        if self.fenced:
            try:
                if kill_tree(self.child_pid, self.start_time):
                    self.process.wait(_KILL_S)  # so that it can still tell how the command ended
            except subprocess.TimeoutExpired:
                pass
            self.process.kill()
            return
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.process.kill()
        if self._run:
            kill_marked(self._run, self._place)

    def _strand(self) -> None:
        self.stranded = True
        self.kill()

    def _first_word(self) -> int:
        """Read on until bubblewrap has told the pid inside; 0 if it failed before."""
        while self._status_fd >= 0 and b"\n" not in self._status:
            more = os.read(self._status_fd, 4096)
            if not more:
                break
            self._status += more
        return self._number("child-pid") or 0

    def _told(self, status: int) -> End:
        while self._status_fd >= 0:
            more = os.read(self._status_fd, 4096)
            self._status += more
            if not more:
                os.close(self._status_fd)
                self._status_fd = -1
        code = self._number("exit-code")
        if code is not None:
            return End(code, 128 < code <= 128 + signal.SIGRTMAX)
        return End(None, status < 0 or status > 128)

    def _number(self, name: str) -> int | None:
        """Return the number bubblewrap gave under `name`, if it has."""
        for line in self._status.splitlines():
            try:
                told = json.loads(line)
            except ValueError:
                continue  # the last line may be half written
            if isinstance(told, dict) and isinstance(told.get(name), int):
                return int(told[name])
        return None


def _plain(status: int) -> End:
    return End(status, False) if status >= 0 else End(128 - status, True)


def launch(
    argv: Sequence[str],
    env: Mapping[str, str],
    view: View,
    probe: Probe,
    *,
    stdin: int | IO[bytes] | None = None,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    hidden: Mapping[str, str] | None = None,
    own: Network | None = None,
) -> Child:
    """Start `argv` with exactly `env`: in a fence where `probe` says so, else plainly.

    hidden   variables of the command alone: bubblewrap reads them from a descriptor, so that they stand
             in no environment but the command's and no argument. Only within a fence
    own      the network it is to be in; by default one is made where `probe` says that there can be

    Only 0, 1 and 2 are handed on. A fence lives no longer than the thread that started it, so the
    main thread must. Unfenced, sockets and the temporary folder have their real paths.

    raises   RefusedPath for a view that must not be had; OSError if nothing could be started
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a fence ends with the thread that starts it: use the main thread")
    run, place = env.get(MARK, ""), env.get(PLACE, "")
    if hidden and not probe.fenced:
        raise ValueError("an unfenced machine takes no key")
    if not probe.fenced:
        process = subprocess.Popen(
            list(argv),
            bufsize=0,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=dict(env),
            cwd=view.tree or None,
            start_new_session=True,
        )
        return Child(process, False, -1, run, place)
    own = own or _network(view, probe, env, run, place)
    status_read, status_write = os.pipe()
    kept = [status_write]
    try:
        program = seccomp()
        filter_fd = _memory(program) if program else -1
        kept += [filter_fd] if program else []
        more = _within(own, kept) if own is not None else []
        home = os.path.expanduser("~")
        made = arguments(view, probe, home, status_write, filter_fd, more)
        inner, outer = _environments(env)
        inner.update(hidden or {})
        for name, value in inner.items():
            made += ["--setenv", name, value]
        kept.append(_memory(b"".join(os.fsencode(word) + b"\0" for word in made)))
        process = subprocess.Popen(
            [probe.bwrap, "--args", str(kept[-1]), "--", *argv],
            bufsize=0,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=outer,
            cwd="/",
            start_new_session=True,
            pass_fds=kept,
            preexec_fn=own.enter if own is not None else None,
        )
    except BaseException as error:
        os.close(status_read)
        if own is not None:
            own.close()
        if isinstance(error, subprocess.SubprocessError):
            raise OSError("it could not join the network made for it") from error
        raise
    finally:
        for handle in kept:
            os.close(handle)
    return Child(process, True, status_read, run, place, own)


def _network(
    view: View, probe: Probe, env: Mapping[str, str], run: str, place: str
) -> Network | None:
    """Start the network of its own that a run is to have, if it is to have one."""
    if not (view.network and probe.network):
        return None
    from engine.node import network

    marks = {name: value for name, value in ((MARK, run), (PLACE, place)) if value}
    ports = {*view.ports, *network.named_in(env.values())}
    return network.begun(probe.network, ports, marks)


def _within(own: Network, kept: list[int]) -> list[str]:
    """Return the arguments for a fence in a network of its own, where we are root until it stands."""
    more = ["--uid", str(os.getuid()), "--gid", str(os.getgid()), "--cap-drop", "ALL"]
    if own.resolv:
        kept.append(_memory(own.resolv.encode()))
        more += ["--ro-bind-data", str(kept[-1]), os.path.realpath("/etc/resolv.conf")]
    return more


def _environments(env: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what is set inside only, and what bubblewrap itself is started with.

    bubblewrap runs outside until the fence stands: what would make it load code must wait.
    """
    inner = {name: env[name] for name in env if name.startswith(("LD_", "GLIBC_"))}
    return inner, {name: env[name] for name in env if name not in inner}


def _memory(data: bytes) -> int:
    """Return a descriptor from which `data` can be read."""
    handle = os.memfd_create("quarterdeck")
    with open(handle, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _command(first: int) -> int:
    """Return the outer pid of the command, the eldest child of pid 1 inside; 0 if it is gone."""
    try:
        with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        return 0
    return int(children[0]) if children else 0


def start_time(pid: int) -> str:
    """Return what tells this process from a later one of the same pid; empty if it is gone.

    The boot is part of it: after a restart of the machine pid and clock may well agree again.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        with open(f"/proc/{pid}/stat", "rb") as stats:
            fields = stats.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return f"{boot}:{int(fields[19])}"


def kill_tree(child_pid: int, started: str) -> bool:
    """End a fence by its pid 1, if that is still the process which began at `started`.

    Returns True once nothing of that fence is left: now, or because it was gone before.
    """
    if child_pid <= 1 or not started:
        return False
    return _kill(child_pid, lambda: start_time(child_pid) == started, wait_s=_KILL_S)


def place(folder: str) -> str:
    """Return what tells a run from one of the same id kept in another folder of this machine."""
    found = os.stat(folder)
    return f"{found.st_dev:x}.{found.st_ino:x}"


def kill_marked(run: str, place: str = "") -> int:
    """End every process whose environment says it is of `run`, and only those; return how many.

    place    with it, only those that were started with this PLACE as well

    For runs without a fence: what made a session of its own is found as well. A process that
    emptied its environment is not.
    """
    if not run:
        raise ValueError("no run named")
    return _kill_all({f"{MARK}={run}".encode(), *([f"{PLACE}={place}".encode()] if place else [])})


def kill_placed(place: str, which: Callable[[int], bool]) -> int:
    """End the processes that were started with this PLACE, and are such as are meant; return how many."""
    if not place:
        raise ValueError("no place named")
    return _kill_all({f"{PLACE}={place}".encode()}, which)


def is_marked(pid: int, name: str, value: str) -> bool:
    """Say whether a process was started with a variable of this value."""
    return _marked(pid, {f"{name}={value}".encode()})


def _kill_all(marks: set[bytes], which: Callable[[int], bool] = lambda pid: True) -> int:
    def is_meant(pid: int) -> bool:
        return _marked(pid, marks) and which(pid)

    ended: set[int] = set()
    looked_again = False
    until = time.monotonic() + _KILL_S
    while time.monotonic() < until:  # what is being ended may still be starting others
        found = [pid for pid in _pids() if pid != os.getpid() and is_meant(pid)]
        if not found and looked_again:
            break
        looked_again = not found
        if not found:  # who is just becoming another program has no environment to be read
            time.sleep(_EXEC_S)
        for pid in found:
            _kill(pid, lambda pid=pid: is_meant(pid), wait_s=1.0)  # type: ignore[misc]
        ended.update(found)
    return len(ended)


def marked(run: str, place: str) -> list[int]:
    """Return the processes that say of themselves that they are of this run."""
    marks = {f"{MARK}={run}".encode(), f"{PLACE}={place}".encode()}
    return [pid for pid in _pids() if _marked(pid, marks)]


def adopt() -> None:
    """Have whatever loses its parent below this process become its child, where the kernel can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_children() -> None:
    """End all below this process; after `adopt` also what made a session and emptied its marks."""
    path = f"/proc/self/task/{os.getpid()}/children"
    until = time.monotonic() + _KILL_S
    while time.monotonic() < until:  # what they leave behind becomes our child as they end
        try:
            with open(path, encoding="ascii") as file:
                found = [int(pid) for pid in file.read().split()]
        except OSError:
            return
        if not found:
            return
        for pid in found:  # ours until we wait for it: the number cannot change hands
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _pids() -> list[int]:
    if not os.path.isdir("/proc/self"):
        return []
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _marked(pid: int, marks: set[bytes]) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return marks <= set(file.read().split(b"\0"))
    except OSError:
        return False


def _kill(pid: int, is_ours: Callable[[], bool], wait_s: float) -> bool:
    """Kill `pid` if it is ours; return True once it is gone or was never there.

    The process is held by a descriptor while it is judged: a pid alone may change hands between.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):
        return _kill_by_number(pid, is_ours)
    try:
        if not is_ours():
            return True
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        gone = select.poll()
        gone.register(handle, select.POLLIN)
        return bool(gone.poll(wait_s * 1000))
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    finally:
        os.close(handle)


def _kill_by_number(pid: int, is_ours: Callable[[], bool]) -> bool:
    """As `_kill`, for kernels older than 5.3 and other systems."""
    if not is_ours():
        return True
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True
