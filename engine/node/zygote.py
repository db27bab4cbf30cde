"""One small process kept ready to be forked: what it forks has all it needs loaded already.

    node ── order, descriptors ──> zygote ── fork ──> a runner, which outlives them both
      └──<─── how each one ended ────┘  └──────────> a script in a tree, which ends with them

A new interpreter takes ten times as long to load the same, and memory that forked ones share. The
kernel ends the zygote with the node; a runner is nobody's child then and goes on. Linux only: where
there is none, or it is gone, runs.py and trees.py start an interpreter as they would without.

serve.py starts it, before the first order; nothing here waits for anything but orders.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Callable, NoReturn

from engine.node import points

RUNNER = "runner"
SCRIPT = "script"

_ORDER = 64 * 1024
_DESCRIPTORS = 4
_FORK_S = 5.0  # for one that is stopped; forking takes a millisecond or two
_KILLED = -int(signal.SIGKILL)
_ROOM = " " * 160  # for the titles of those to come: they are written over our own arguments
_BEGIN = (
    "import sys;sys.path.insert(0,sys.argv[1]);"
    "from engine.node.zygote import main;main(int(sys.argv[2]),int(sys.argv[3]))"
)


class Zygote:
    """The node's handle on it."""

    def __init__(self, code: str) -> None:
        """Start it, from the main thread, with the package found in `code`."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        self._count = 0
        self._ends: dict[int, Callable[[int], None]] = {}
        self._forked: dict[int, threading.Event] = {}
        self._takes = False  # it has loaded all and not ended
        self._lock = threading.Lock()
        self.loaded = threading.Event()
        with theirs:
            process = self._begun(code, theirs.fileno())
        self._process = process
        self.pid = process.pid
        threading.Thread(target=self._listen, name="zygote", daemon=True).start()

    def _begun(self, code: str, control: int) -> subprocess.Popen[bytes]:
        """Start the process itself, which is ordered through the socket `control`."""
        argv = [sys.executable, "-I", "-S", "-c", _BEGIN, code]
        return subprocess.Popen(
            [*argv, str(control), str(os.getpid()), _ROOM],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd="/",
            env={k: v for k, v in os.environ.items() if not k.startswith("QUARTERDECK_")},
            start_new_session=True,
            pass_fds=[control],
        )

    def fork(
        self,
        what: str,
        args: Sequence[str],
        descriptors: Sequence[int],
        on_end: Callable[[int], None],
    ) -> bool:
        """Have a process forked; False if the zygote is not there, yet or any more.

        Once this returns the process no longer depends on us, if the zygote does as it is told; should
        it end under way, `on_end` is called as for a process that was killed.

        descriptors   its standard input, output and error; for a runner the lock besides
        on_end        called in a thread of ours with its exit code, or minus a signal
        """
        forked = threading.Event()
        with self._lock:
            if not self._takes:
                return False
            self._count += 1
            number = self._count
            self._ends[number] = on_end
            self._forked[number] = forked
        order = json.dumps([number, what, list(args)]).encode()
        try:
            socket.send_fds(self._socket, [order], list(descriptors))
        except OSError:
            with self._lock:
                self._forked.pop(number, None)
                # If the listener was faster, it has told of the end: that was the answer.
                return self._ends.pop(number, None) is None
        forked.wait(_FORK_S)
        return True

    def _listen(self) -> None:
        while True:
            try:
                told = self._socket.recv(_ORDER)
            except OSError:
                told = b""
            if not told:
                break
            self._hear(*json.loads(told))
        with self._lock:
            self._takes = False
            self._socket.close()
            left, self._ends = list(self._ends.values()), {}
            waiting, self._forked = list(self._forked.values()), {}
        for on_end in left:
            on_end(_KILLED)
        for forked in waiting:
            forked.set()
        self.loaded.set()
        self._process.wait()

    def _hear(self, number: int, code: int | None) -> None:
        """Take in that it is ready (0), that a process was forked (None), or how one ended."""
        if number == 0:
            self._takes = True
            self.loaded.set()
        elif code is None:
            with self._lock:
                forked = self._forked.pop(number)
            forked.set()
        else:
            with self._lock:
                on_end = self._ends.pop(number)
            on_end(code)


_ready: list[Zygote] = []


def start(code: str) -> None:
    """Have one for this process, where there can be."""
    if sys.platform == "linux" and not _ready:
        _ready.append(Zygote(code))


def ready() -> Zygote | None:
    """Return this process's zygote, if it has one."""
    return _ready[0] if _ready else None


# ---- the process itself


def end_with(parent: int) -> bool:
    """Have the kernel end this process with its parent; False if that is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    return os.getppid() == parent


def main(control: int, parent: int) -> None:
    """Fork what is ordered through the socket `control` until that or `parent` is gone."""
    from engine.node import network, runner, title, trees

    del network  # loaded, so that what is forked shares it
    title.show("quarterdeck-node zygote")
    if not end_with(parent):
        return
    os.set_inheritable(control, False)

    def run(args: list[Any]) -> None:
        runner.main(str(args[0]), int(args[1]))

    _Parent(socket.socket(fileno=control), {RUNNER: run, SCRIPT: trees.main}).serve()


class _Parent:
    """Forks, and tells how each child ended."""

    def __init__(
        self, control: socket.socket, doing: dict[str, Callable[[list[Any]], None]]
    ) -> None:
        self._control = control
        self._doing = doing
        self._children: dict[int, int] = {}
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        self._handles = (self._wake, wake)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def serve(self) -> None:
        """Do what is ordered until the other end closes."""
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        gc.collect()
        gc.freeze()  # what is shared stays so: the collector would write into it
        self._tell(0, None)
        while True:
            ready = {file for file, _ in poll.poll()}
            if self._wake in ready:
                self._reap()
            if self._control.fileno() in ready and not self._obey():
                return

    def _obey(self) -> bool:
        try:
            order, descriptors, _, _ = socket.recv_fds(
                self._control, _ORDER, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:  # the other end died with a word of ours unread
            return False
        if not order:
            return False
        number, what, args = json.loads(order)
        points.passed("zygote ordered")
        pid = os.fork()
        if pid == 0:
            self._be(what, args, descriptors)
        points.passed("zygote forked")
        for handle in descriptors:
            os.close(handle)
        self._children[pid] = number
        self._tell(number, None)
        return True

    def _be(self, what: str, args: list[str], descriptors: Sequence[int]) -> NoReturn:
        """Become what was ordered, and end with it."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            for handle in self._handles:
                os.close(handle)
            os.setsid()
            for number, handle in enumerate(descriptors[:3]):
                os.dup2(handle, number)
                os.close(handle)
            self._doing[what]([*args, *descriptors[3:]])
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if not isinstance(end.code, int):
                sys.stderr.write(f"{end.code}\n")
        finally:
            if sys.exc_info()[0] is not None:
                sys.excepthook(*sys.exc_info())
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        try:
            while os.read(self._wake, 4096):
                pass
        except BlockingIOError:
            pass
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            self._tell(self._children.pop(pid), code)

    def _tell(self, number: int, code: int | None) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it is gone: `_obey` will see that
            self._control.send(json.dumps([number, code]).encode())
        points.passed("zygote told")
