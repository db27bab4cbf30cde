"""A machine whose processes are forked from this one, so that each can be ended at a point of its life.

Every process passes its points in a picture shared by all: which kind of process it is, how many of
that kind have been passed, and at which one it ends. It ends by SIGKILL, as the system would do it.
The far end of the link is here, too: it asks again what was not answered, as the engine does.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from engine.node import fence, link, points, runner, serve, title, trees, zygote

KINDS = ("node", "zygote", "runner", "script", "git")
_PATIENCE_S = 30.0
_SIZE = 4096
_GIT_SAYS = """
git() {
    read -r passed < {count}; passed=$((passed + 1)); echo "$passed" > {count}
    if [ "$passed" = "{last}" ]; then echo > {stop}; exec sleep 1000; fi
"""


class Fault(Exception):
    """The story did not come out right."""


class Points:
    """Where all processes of a play are, and at which point one of them ends."""

    def __init__(self, kind: str = "", last: int = 0) -> None:
        self.kind, self.last = kind, last
        self._shared = mmap.mmap(-1, _SIZE)

    def passed(self, kind: str, what: str) -> None:
        at = KINDS.index(kind) * 8
        (count,) = struct.unpack_from("q", self._shared, at)
        struct.pack_into("q", self._shared, at, count + 1)
        if kind == self.kind and count + 1 == self.last:
            where = what.encode()[:200]
            self._shared[1024 : 1024 + len(where)] = where
            os.kill(os.getpid(), signal.SIGKILL)

    def count(self, kind: str) -> int:
        return int(struct.unpack_from("q", self._shared, KINDS.index(kind) * 8)[0])

    @property
    def where(self) -> str:
        return self._shared[1024:1224].rstrip(b"\0").decode()


class _Process:
    """What a zygote's handle needs of the process behind it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self) -> None:
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            return


class Machine:
    """One home, the node that works on it, and the orders that node is given."""

    def __init__(self, folder: Path, passing: Points) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.passing = passing
        self.pid = 0
        self.opened = 0
        self.spools: dict[str, bytearray] = {}
        self.over: set[str] = set()
        self._joiner = link.Joiner()
        self._in = self._out = -1
        self._count = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._followed: dict[int, str] = {}
        self._refused: dict[int, str] = {}
        self.greeted: dict[str, int] = {}  # points passed until the first order
        self._gits = folder / "gits"
        self._gits.write_text("0\n")
        self.stopped = False  # at one of them
        stop = folder / "stop"
        stop.unlink(missing_ok=True)
        os.mkfifo(stop)
        self._stop = os.open(stop, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    # ---- processes

    def open(self) -> None:
        """Fork a node on this home and greet it as the engine does."""
        inner_in, self._in = os.pipe()
        self._out, inner_out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._in)
            os.close(self._out)
            self._be_node(inner_in, inner_out)
        os.close(inner_in)
        os.close(inner_out)
        self.opened += 1
        self._joiner, self._answers, self._followed = link.Joiner(), {}, {}
        there = self._once("hello", {"protocol": link.PROTOCOL})
        if there is None:
            return
        said = self._once("hello", {"protocol": link.PROTOCOL, "epoch": there["ok"]["epoch"] + 1})
        if said is not None and not said["ok"]["writes"]:
            raise Fault(f"the new node may not write: {said['ok']['may_not']}")
        self.greeted = self.greeted or {kind: self.passing.count(kind) for kind in KINDS}

    def _be_node(self, given: int, told: int) -> None:
        try:
            os.setsid()
            os.dup2(given, 0)
            os.dup2(told, 1)
            errors = os.open(self.folder / "node.err", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(errors, 2)
            os.closerange(3, 256)
            sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            self.become("node")
            self._number_gits()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            serve.main(str(self.home))
        finally:
            _last_words(70)

    def become(self, kind: str) -> None:
        points.passed = lambda what: self.passing.passed(kind, what)

    def _number_gits(self) -> None:
        """Have each git command of a script in a tree be a point: the node ends, the script hangs."""
        if self.passing.kind not in ("", "git"):
            return
        last = self.passing.last
        says = _GIT_SAYS.replace("{count}", str(self._gits)).replace("{last}", str(last))
        says = says.replace("{stop}", str(self.folder / "stop"))
        trees._GIT = trees._GIT.replace("\ngit() {\n", says)

    def _fell(self) -> None:
        os.waitpid(self.pid, 0)
        os.close(self._in)
        os.close(self._out)
        self.pid, self._followed = 0, {}

    @property
    def gits(self) -> int:
        """How many git commands were run in trees."""
        return int(self._gits.read_text())

    def end(self) -> None:
        """End the node, whatever it is at."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            self._fell()

    def close(self) -> None:
        """Let go of the link, as an engine that stops; the node ends by itself."""
        if not self.pid:
            return
        os.close(self._in)
        end = time.monotonic() + _PATIENCE_S
        while select.select([self._out], [], [], max(0.0, end - time.monotonic()))[0]:
            if not os.read(self._out, 65536):
                break
        else:
            raise Fault("the node did not end with its link")
        os.waitpid(self.pid, 0)
        os.close(self._out)
        os.close(self._stop)
        self.pid = 0

    # ---- orders

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Have an order carried out, asking again until it is answered; raises Fault for a no."""
        failed = 0
        while True:
            answer = self.try_once(op, **arguments)
            if answer is None:
                continue
            if "ok" in answer:
                return dict(answer["ok"])
            if "no" in answer:
                raise Refused(f"{op}: {answer['no']}")
            failed += 1
            if failed > 5:
                raise Fault(f"{op} fails again and again: {answer}")

    def try_once(self, op: str, **arguments: Any) -> dict[str, Any] | None:
        """Ask once; None if the node fell before it answered."""
        if not self.pid:
            self.open()
        return self._once(op, arguments) if self.pid else None

    def _once(self, op: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        self._count += 1
        number = self._count
        if not self._say({"id": number, "op": op, "args": arguments}):
            return None
        while number not in self._answers:
            if not self._take():
                return None
        return self._answers.pop(number)

    def _say(self, message: dict[str, Any]) -> bool:
        self._count += 1
        try:
            for frame in link.frames(message, self._count):
                view = memoryview(frame)
                while view:
                    view = view[os.write(self._in, view) :]
        except BrokenPipeError:
            self._fell()
            return False
        return True

    def _take(self) -> bool:
        """Take what the node says next; False once it fell."""
        ready = select.select([self._out, self._stop], [], [], _PATIENCE_S)[0]
        if not ready:
            raise Fault("the node says nothing any more")
        if self._stop in ready:
            os.read(self._stop, 16)
            self.stopped = True
            self.end()
            return False
        data = os.read(self._out, 256 * 1024)
        if not data:
            self._fell()
            return False
        for message in self._joiner.feed(data):
            if "push" in message:
                self._pushed(message)
                if not self.pid:
                    return False
            else:
                self._answers[message["id"]] = message
        return True

    # ---- following

    def follow(self, run: str) -> None:
        """Read a run on from where it was read to, on this link."""
        spool = self.spools.setdefault(run, bytearray())
        if run in self._followed.values():
            return
        self._count += 1
        number = self._count
        if not self.pid:
            self.open()
        if not self.pid:
            return
        self._followed[number] = run
        self._once("run.follow", {"runs": [[run, len(spool), number]]})
        if number in self._refused:
            self._followed.pop(number, None)
            raise Refused(self._refused.pop(number))

    def _pushed(self, push: dict[str, Any]) -> None:
        run = self._followed.get(push["follow"], "")
        if "no" in push:
            self._refused[push["follow"]] = push["no"]
        if not run or "no" in push:
            return
        spool = self.spools[run]
        if push["offset"] != len(spool):
            raise Fault(f"{run} is read from {push['offset']}, and was read to {len(spool)}")
        spool += push["data"].encode("utf-8")
        if len(spool) != push["end"]:
            raise Fault(f"{run}: {push['end']} is not where what was read ends ({len(spool)})")
        if push["over"]:
            self.over.add(run)
        self._say({"op": "run.ack", "args": {"follow": push["follow"], "offset": push["end"]}})

    def read(self, run: str, enough: Callable[[list[dict[str, Any]]], bool]) -> bool:
        """Read on until there is enough; False if the run was over before."""
        while not enough(self.lines(run)):
            if run in self.over:
                return False
            self.follow(run)
            if enough(self.lines(run)) or run in self.over:
                continue
            if self.pid:
                self._take()
        return True

    def lines(self, run: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in bytes(self.spools[run]).split(b"\n")[:-1]]


class Refused(Fault):
    """The node said no."""


# ---- what is true of this process and all it forks

_now: list[Machine] = []  # whose nodes are forked


class Forked(zygote.Zygote):
    """A zygote that is forked from its node, not started: it loads nothing, and passes our points."""

    def _begun(self, code: str, control: int) -> Any:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return _Process(pid)
        try:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            os.closerange(3, control)
            os.closerange(control + 1, 256)
            _now[0].become("zygote")
            zygote._ready.clear()
            zygote.main(control, parent)
        finally:
            _last_words(0)


def _nothing(title: str) -> None:
    """Show nothing: our arguments are this process's own."""


def _last_words(code: int) -> NoReturn:
    if sys.exc_info()[0] is not None:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(code)


def prepare(machine: Machine) -> None:
    """Have this machine's nodes fork their zygotes, and what loses its parent become our child."""
    _now[:] = [machine]
    if zygote.Zygote is Forked:
        return
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    fence.probe = lambda: fence.Probe(why="not asked for here")
    title.show = _nothing
    serve._git_version()
    serving, scripting = runner.main, trees.main

    def run(path: str, lock: int) -> None:
        _now[0].become("runner")
        serving(path, lock)

    def script(argv: Sequence[str]) -> None:
        _now[0].become("script")
        scripting(argv)

    runner.main, trees.main = run, script
    zygote.Zygote = Forked  # type: ignore[misc]


def children() -> list[int]:
    """Return the processes below this one that still live."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


@contextmanager
def nothing_left() -> Iterator[list[str]]:
    """Give what is still running a moment to end; what does not is named, and ended."""
    named: list[str] = []
    try:
        yield named
    finally:
        named += _ended_children()


def _ended_children() -> list[str]:
    """End the children that do not end by themselves in a moment, and return what they were."""
    named: list[str] = []
    end = time.monotonic() + 3.0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return named
        if pid:
            continue
        if time.monotonic() > end:
            break
        time.sleep(0.002)
    for pid in children():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        named.append(words.strip() or str(pid))
        os.kill(pid, signal.SIGKILL)
    return named
