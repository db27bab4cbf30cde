"""Runs a function in a traced process and does something to the N-th call by which it changes anything.

The kernel stops the process, its threads and all it starts before each such call (a seccomp filter asks
for that), so the number of a call is one count over everything. Linux on x86-64 and ARM64.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# Where x86-64 and ARM64 number them; 0: that machine has no such call.
NUMBERS = {
    "write": (1, 64),
    "pwrite64": (18, 68),
    "writev": (20, 66),
    "pwritev": (296, 70),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "copy_file_range": (326, 285),
    "open": (2, 0),
    "creat": (85, 0),
    "openat": (257, 56),
    "mkdir": (83, 0),
    "mkdirat": (258, 34),
    "rmdir": (84, 0),
    "rename": (82, 0),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, 0),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "unlink": (87, 0),
    "unlinkat": (263, 35),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# Which argument is the path; of two the first.
PATHS = {
    **dict.fromkeys(("open", "creat", "mkdir", "rmdir", "rename", "link", "unlink", "truncate"), 0),
    **dict.fromkeys(("openat", "mkdirat", "renameat", "renameat2", "linkat", "unlinkat"), 1),
}
LONGEST = 400
SENDING = ("sendto", "sendmsg")
WRITING = ("write", "writev", *SENDING)
NEEDS_ROOM = (
    *("write", "writev", "pwrite64", "pwritev", "fallocate", "ftruncate", "copy_file_range"),
    *("open", "creat", "openat", "mkdir", "mkdirat", "link", "linkat", "symlinkat"),
    *("rename", "renameat", "renameat2"),
)
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_TRACEME, _POKEUSER, _CONT = 0, 6, 7
_SETOPTIONS, _SYSCALL_INFO = 0x4200, 0x420E
_OPTIONS = 0x100000 | 0x80 | 0x10 | 0x8 | 0x4 | 0x2  # ends with us; filter, exec, clone, fork
_SECCOMP_STOP = signal.SIGTRAP | 7 << 8
_WALL = 0x40000000
_NO_NEW_PRIVILEGES, _SECCOMP = 38, 22

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


class Untraceable(Exception):
    """This machine does not let us stop a process before its calls; says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was about to be made."""

    name: str
    about: str  # the file it is for, as far as that can be told


@dataclass(slots=True)
class Passed:
    """What came of a traced play."""

    calls: list[Call] = field(default_factory=list)
    stopped: bool = False  # the N-th call came
    code: int | None = None  # how it exited; None: it was ended
    late: bool = False  # it was ended since it took too long


def possible(*, full: bool = False) -> str:
    """Return why nothing can be traced here, "" if it can."""
    here = platform.machine()
    if sys.platform != "linux" or here not in MACHINES or (full and here != "x86_64"):
        return f"no tracer for {sys.platform} on {here}"
    passed = traced(lambda: os.close(os.open("/dev/null", os.O_WRONLY)), point=0)
    return "" if passed.calls else "the kernel lets no process be traced here"


def traced(
    play: Callable[[], None],
    point: int,
    *,
    first: Callable[[], None] | None = None,
    full: bool = False,
    network: bool = False,
    limit_s: float = 30.0,
) -> Passed:
    """Run `play` in a process of its own until it ends, or until call number `point`: all of it dies.

    first     done before anything is counted
    full      instead of that, there is no room left on the disk from that call on
    network   what goes out through sockets counts too
    limit_s   a play that takes longer is ended
    """
    main = os.fork()
    if main == 0:
        _be_traced(play, first)
    return _Tracer(main, point, full=full, network=network).run(limit_s)


def _be_traced(play: Callable[[], None], first: Callable[[], None] | None) -> None:
    code = 70
    try:
        os.setsid()
        if first is not None:
            first()
        _libc.ptrace(_TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        _filter()
        play()
        code = 0
    except BaseException:  # noqa: BLE001 - a child must not go on as its parent
        code = 1
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _filter() -> None:
    """Have the kernel stop us before each call of NUMBERS; the rest costs nothing."""
    column, _ = MACHINES[platform.machine()]
    wanted = sorted({numbers[column] for numbers in NUMBERS.values()} - {0})
    steps = [struct.pack("HBBI", 0x20, 0, 0, 0)]  # load the call's number
    for place, number in enumerate(wanted):
        steps.append(struct.pack("HBBI", 0x15, len(wanted) - place, 0, number))
    steps.append(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))  # let it pass
    steps.append(struct.pack("HBBI", 0x06, 0, 0, 0x7FF00000))  # stop
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    )
    _libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if _libc.prctl(_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0):
        raise Untraceable(os.strerror(ctypes.get_errno()))


def _text(tid: int, address: int) -> str:
    """Return the end of the path that a process has there."""
    with contextlib.suppress(OSError), Path(f"/proc/{tid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        path = memory.read(LONGEST).partition(b"\0")[0].decode("utf-8", "replace")
        return "/".join(path.split("/")[-2:])
    return ""


def _too_long(*_: object) -> None:
    raise TimeoutError


class _Tracer:
    """Follows one process and all it starts."""

    def __init__(self, main: int, point: int, *, full: bool, network: bool) -> None:
        self._main = main
        self._point = point
        self._full = full
        self._network = network
        self._alive = {main}
        self._passed = Passed()
        column, _ = MACHINES[platform.machine()]
        self._names = {numbers[column]: name for name, numbers in NUMBERS.items()}

    def run(self, limit_s: float) -> Passed:
        os.waitpid(self._main, 0)
        _libc.ptrace(_SETOPTIONS, self._main, None, _OPTIONS)
        _libc.ptrace(_CONT, self._main, None, None)
        before = signal.signal(signal.SIGALRM, _too_long)
        try:
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            while self._main in self._alive:
                self._stopped(*os.waitpid(-1, _WALL))
        except TimeoutError:
            self._passed.late = True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            self._end()
        return self._passed

    def _stopped(self, tid: int, status: int) -> None:
        if not os.WIFSTOPPED(status):
            self._alive.discard(tid)
            if tid == self._main and os.WIFEXITED(status):
                self._passed.code = os.WEXITSTATUS(status)
            return
        is_new = tid not in self._alive
        self._alive.add(tid)
        sent = os.WSTOPSIG(status)
        if status >> 8 == _SECCOMP_STOP:
            self._before_call(tid)
            return
        told = 0 if status >> 16 or (is_new and sent == signal.SIGSTOP) else sent
        _libc.ptrace(_CONT, tid, None, told)

    def _before_call(self, tid: int) -> None:
        call = self._call(tid)
        if call is not None and not self._passed.stopped:
            self._passed.calls.append(call)
            self._passed.stopped = len(self._passed.calls) == self._point
            if self._passed.stopped and not self._full:
                self._end()
                return
        if call is not None and self._passed.stopped and call.name in NEEDS_ROOM:
            self._refuse(tid)
        _libc.ptrace(_CONT, tid, None, None)

    def _call(self, tid: int) -> Call | None:
        """Return what it is about to do, None if that changes nothing that lasts."""
        found = ctypes.create_string_buffer(88)
        _libc.ptrace(_SYSCALL_INFO, tid, 88, ctypes.addressof(found))
        number, *arguments = struct.unpack_from("7Q", found, 24)
        name = self._names.get(number, "")
        if name in ("open", "openat") and not arguments[PATHS[name] + 1] & _CHANGES:
            return None
        if name in PATHS:
            return Call(name, _text(tid, arguments[PATHS[name]]))
        about = ""
        with contextlib.suppress(OSError):
            about = os.readlink(f"/proc/{tid}/fd/{arguments[0]}")
        if name in WRITING:
            if arguments[0] == 2 or about.startswith("/dev/"):
                return None  # what is said of an error
            if not about.startswith(("/", "socket:") if self._network else "/"):
                return None
        return Call(name, about.rpartition("/")[2])

    def _refuse(self, tid: int) -> None:
        """Have the call not made, and answered with "no space left"."""
        _libc.ptrace(_POKEUSER, tid, 15 * 8, ctypes.c_void_p(-1).value)
        _libc.ptrace(_POKEUSER, tid, 10 * 8, ctypes.c_void_p(-errno.ENOSPC).value)

    def _end(self) -> None:
        """End all of it, as one."""
        for tid in self._alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(tid, signal.SIGKILL)
        while self._alive:
            try:
                tid, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                self._alive.clear()
                return
            if os.WIFSTOPPED(status):
                self._alive.add(tid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(tid, signal.SIGKILL)
            else:
                self._alive.discard(tid)
