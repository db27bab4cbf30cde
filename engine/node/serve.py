"""The machine's end of the link: one process, asked over its standard input and output.

    engine <── frames ──> serve ── run.* ──> runs.py      (at once, here)
                            │     tree.* ──> trees.py     (in a thread: git takes its time)
                            └── follow ────> follow.py    (pushes as the spools grow)

Who may write is settled by two things. `node.lock` is held by the one node that acts on this home.
Every link has an **epoch**, a number that grows: the largest one seen stands in `node.epoch`, and
a node of a smaller one gives the lock up, goes on answering questions, and starts nothing.

The other end is engine/adapters/machines.py; both speak engine/node/link.py. Ends when its
standard input does; the runs go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import gc
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, NamedTuple, NoReturn, TypeVar, Union

from engine.node import (
    ahead,
    fence,
    files,
    keep,
    kits,
    leftovers,
    load,
    login,
    own_network,
    points,
    pulse,
    retain,
    room,
    runs,
    sign_in,
    supply,
    tidy,
    title,
    trees,
    zygote,
)
from engine.node.follow import Follower, Watcher
from engine.node.link import PROTOCOL, Channel, Garbled, Message, Refusal

AGENTS = ("claude", "codex", "pi", "gemini", "opencode", "ollama")
_BESIDES = (".local/bin", ".claude/local", ".npm-global/bin", ".bun/bin", ".cargo/bin")

_TAKE_S = 15.0  # for the node before us to finish what it is writing
_AGAIN_S = 5.0  # between two tries to end what does not end
STUCK_S = 20.0  # for a runner to end a run past its grace, before both are ended
_CLOSE_S = 10.0  # the same, for ourselves, when the link goes
_NO_ROOM_S = 1.0  # until the end of a run is written again that found no room
_GRACE_S = 10.0  # what a run has that is told to end, if nothing else is said (runner.py)
_AT_ONCE = 25  # runs that are begun to be followed in one turn
_LOADS_S = 5.0  # for the zygote, which takes a tenth of a second; orders do without it then
_FIRST_S = 1.0  # in which what runs have printed comes first: the engine asks for it at once
_LOOKS_AFTER = 10_000  # objects more, before Python looks for cycles: messages hold none
_FAILURES = (OSError, subprocess.SubprocessError, ValueError, LookupError)

Answer = Union[dict[str, Any], Awaitable[dict[str, Any]]]
T = TypeVar("T")


class Claim:
    """The right to write on this machine."""

    def __init__(self, home: str) -> None:
        self._lock_path = os.path.join(home, "node.lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._epochs = os.open(os.path.join(home, "node.epoch"), flags, 0o600)
        self._lock = -1
        self.epoch = 0
        self.busy = 0  # orders being carried out that write
        self.taken_over = True  # what the node before us left is dealt with

    def newest(self) -> int:
        """Return the largest epoch any link has had here."""
        try:
            return int(os.pread(self._epochs, 32, 0) or b"0")
        except ValueError:  # lost to a power cut: any link is newer
            return 0

    @property
    def holds(self) -> bool:
        """Whether we may write at this moment."""
        return self._lock >= 0 and self.epoch == self.newest()

    async def take(self, epoch: int) -> None:
        """Become the node that writes; raises Refusal if there is a newer one, or one as new."""
        fcntl.flock(self._epochs, fcntl.LOCK_EX)
        try:
            newest = self.newest()
            if epoch < newest:
                raise Refusal(f"Another link, opened later, has taken over: {newest}, not {epoch}.")
            os.pwrite(self._epochs, b"%020d" % epoch, 0)
            os.fsync(self._epochs)
            points.passed("epoch written")
        finally:
            fcntl.flock(self._epochs, fcntl.LOCK_UN)
        self.epoch = epoch
        until = asyncio.get_running_loop().time() + (_TAKE_S if epoch > newest else 0)
        while self._lock < 0 and not self._try():
            if asyncio.get_running_loop().time() >= until:
                raise Refusal(f"Another node works on this machine: process {self._holder()}.")
            await asyncio.sleep(0.02)

    def _try(self) -> bool:
        lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        points.passed("claim taken")
        self._lock = lock
        self.taken_over = False
        return True

    def _holder(self) -> str:
        with open(self._lock_path, encoding="ascii") as file:
            return file.read().strip() or "unknown"

    def yield_to_newer(self) -> None:
        """Give the lock up if a later link has come and nothing is being written."""
        if self._lock >= 0 and not self.busy and self.epoch != self.newest():
            os.close(self._lock)
            self._lock = -1


class Op(NamedTuple):
    """One thing a node can be asked for."""

    do: Callable[..., Answer]
    writes: bool


class Node:
    """What one link's requests are answered from."""

    def __init__(self, home: str, channel: Channel) -> None:
        self._home = home
        self._channel = channel
        self._claim = Claim(home)
        self._runs = runs.Runs(home, own_network.tried(fence.probe(), home))
        self._sign_ins = sign_in.SignIns(home, lambda: self._runs.probe)
        self._pulse = pulse.Pulse()
        trees.know(self._runs.probe)
        self._watcher = Watcher()
        self._home_watch = self._watcher.watch(home)
        self._threads = ThreadPoolExecutor(max_workers=8)
        self._followers: dict[int, tuple[Follower, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._writing: set[asyncio.Task[Any]] = set()
        self._taking_over = asyncio.Lock()
        self._told = (
            asyncio.Event()
        )  # what was printed of the runs that are followed, for the first time
        self._again: set[str] = set()  # runs whose processes did not end, looked at again soon
        self._seen_out: dict[str, asyncio.TimerHandle] = {}  # runs told to end, looked at then
        self._ops: dict[str, Op] = {
            "hello": Op(self._hello, writes=False),
            "load": Op(self._load, writes=False),
            "run.alone": Op(self._alone, writes=True),
            "run.start": Op(self._start, writes=True),
            "run.follow": Op(self._follow, writes=False),
            "run.unfollow": Op(self._unfollow, writes=False),
            "run.ack": Op(self._ack, writes=False),
            "run.input": Op(self._runs.input, writes=True),
            "run.end": Op(self._end, writes=True),
            "run.kill": Op(self._threaded(self._runs.kill), writes=True),
            "run.list": Op(self._list, writes=False),
            "run.blob": Op(self._runs.blob, writes=False),
            "run.pulse": Op(self._feel, writes=False),
            "run.tail": Op(self._runs.tail, writes=False),
            "run.remove": Op(self._threaded(self._runs.remove), writes=True),
            "login.start": Op(self._sign_ins.start, writes=True),
            "login.wait": Op(self._sign_ins.wait, writes=False),
            "login.type": Op(self._sign_ins.type_in, writes=True),
            "login.end": Op(self._sign_ins.end, writes=True),
            "login.forget": Op(self._threaded(self._sign_ins.forget), writes=True),
        }

    def add(self, name: str, do: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        """Answer `name` by `do(home, arguments)`, in a thread."""

        async def answer(**arguments: Any) -> dict[str, Any]:
            return await self._in_thread(lambda: do(self._home, arguments))

        self._ops[name] = Op(answer, writes=True)

    async def serve(self) -> None:
        """Answer until the link ends."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)

        def told() -> None:
            loop.call_soon_threadsafe(self._reap)

        self._runs.told = told
        self._spawn(self._yield_to_newer())
        while (messages := await self._channel.receive()) is not None:
            for message in messages:
                self._spawn(self._answer(message))
        self._channel.close("the engine has gone")
        await self._sign_ins.close(_CLOSE_S)
        for _, task in self._followers.values():
            task.cancel()
        if self._writing:
            await asyncio.wait(self._writing, timeout=_CLOSE_S)

    # ---- requests

    async def _answer(self, message: Message) -> None:
        number = message.get("id")
        try:
            reply = {"id": number, "ok": await self._perform(message)}
        except (Refusal, TypeError) as error:  # TypeError: arguments the order does not have
            reply = {"id": number, "no": str(error)}
        except _FAILURES as error:
            reply = {"id": number, "failed": f"{type(error).__name__}: {error}"}
            if room.is_missing(error, self._home):
                reply = {**reply, "failed": f"no room on its disk ({error})", "full": True}
        if number is None:
            return
        points.passed(f"about to answer {message.get('op')}")
        try:
            await self._channel.send(reply)
            points.passed(f"answered {message.get('op')}")
        except ConnectionError:
            return
        except ValueError as error:
            await self._channel.send({"id": number, "no": f"The answer cannot be sent: {error}"})

    async def _perform(self, message: Message) -> dict[str, Any]:
        name, arguments = message.get("op"), message.get("args") or {}
        op = self._ops.get(str(name))
        if op is None:
            raise Refusal(f"This machine's node knows no {name!r}.")
        if not isinstance(arguments, dict):
            raise Refusal(f"{name} needs its arguments by name.")
        if not op.writes:
            return await _settled(op.do(**arguments))
        await self._take_over()
        if not self._claim.holds:
            raise Refusal("This link may only read: another one, opened later, acts here.")
        with self._acting():
            return await _settled(op.do(**arguments))

    async def _hello(self, protocol: int, epoch: int | None = None) -> dict[str, Any]:
        """Say what this machine is; with an epoch, become the node that writes here."""
        if protocol != PROTOCOL:
            raise Refusal(f"This node speaks protocol {PROTOCOL}, not {protocol}.")
        may_not = "no epoch was named"
        if epoch is not None:
            try:
                await self._claim.take(epoch)
                may_not = ""
            except Refusal as error:
                may_not = str(error)
        if not may_not:
            self._spawn(self._look_round())
        return {
            "protocol": PROTOCOL,
            "node": os.path.basename(runs.code_folder()),
            "epoch": self._claim.newest(),
            "writes": not may_not,
            "may_not": may_not,
            "git": await self._in_thread(_git_version),
            **self._about(),
        }

    async def _take_over(self) -> None:
        """Deal with what the node before us left half done, before any order is carried out."""
        async with self._taking_over:
            if self._claim.taken_over or not self._claim.holds:
                return
            zygote.start(runs.code_folder())  # till now the cores were for what runs have printed
            with self._acting():
                left = await self._in_thread(self._clear)
                self._claim.taken_over = True
        if left:
            self._spawn(self._discard(left))

    def _clear(self) -> list[str]:
        """Take over, and have the zygote loaded, sooner than an order would be carried out without."""
        left = leftovers.take_over(self._home)
        forks = zygote.ready()
        if forks is not None:
            forks.loaded.wait(_LOADS_S)
        return left

    async def _discard(self, left: list[str]) -> None:
        for path in left:
            with self._acting():
                await self._in_thread(lambda path=path: leftovers.discard(path))  # type: ignore[misc]

    def _about(self) -> dict[str, Any]:
        probe, user_home, code = self._runs.probe, os.path.expanduser("~"), runs.code_folder()
        return {
            "fenced": probe.fenced,
            "nesting": probe.nesting,
            "why": probe.describe(),
            "root": os.geteuid() == 0,
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "agents": agents(),
            **self._load(),
            "home": self._home,
            "user_home": user_home,
            "path": os.environ.get("PATH", os.defpath),
            "toolchains": list(fence.toolchains(user_home)),
            "desk": [sys.executable, "-I", "-S", code, "desk"],
            "rehearse": [sys.executable, "-I", "-S", code, "rehearse"],
        }

    def _load(self) -> dict[str, Any]:
        return {"cores": load.cores(), "free_mb": load.free_mb(), **tidy.disk(self._home)}

    async def _start(
        self, spec: dict[str, Any], secrets: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Start a run; of its session no other may live, whatever the engine knows of that."""
        session, run = str(spec.get("session") or ""), str(spec.get("run"))
        if session and (await self._alone(session, run))["left"]:
            raise BlockingIOError(f"An earlier turn of {session} has not ended yet")
        return self._runs.start(spec, secrets)  # nothing comes between the look and this

    async def _alone(self, session: str, run: str) -> dict[str, Any]:
        """End what lives of a session beside one run of it; return the runs that do not end."""
        tried: set[str] = set()
        while fresh := [r for r in self._runs.writers_beside(session, run) if r not in tried]:
            for other in fresh:  # another may be begun meanwhile
                await self._in_thread(functools.partial(self._runs.kill, other))
            tried.update(fresh)
        return {"left": self._runs.writers_beside(session, run)}

    def _end(
        self, run: str, grace_s: float | None = None, line: str = "", unless_past: int = 0
    ) -> dict[str, Any]:
        state = self._runs.end(run, grace_s, line, unless_past)
        if state["alive"] and not state.get("went_on"):
            self._see_out(run, STUCK_S + max(_GRACE_S if grace_s is None else grace_s, 0.0))
        return state

    def _see_out(self, run: str, in_s: float) -> None:
        """Look then whether a run that was told to end has; the earliest of several looks counts."""
        loop, known = asyncio.get_running_loop(), self._seen_out.get(run)
        if known is None or loop.time() + in_s < known.when():
            if known is not None:
                known.cancel()
            self._seen_out[run] = loop.call_later(in_s, self._is_out, run)

    def _is_out(self, run: str) -> None:
        del self._seen_out[run]
        self._spawn(self._end_stuck(run))

    async def _end_stuck(self, run: str) -> None:
        """End a run that did not end when told to, together with its runner, if that is ours to do."""
        if not self._claim.holds:
            return
        try:
            with self._acting():
                over = await self._in_thread(lambda: self._runs.end_stuck(run))
        except OSError as error:
            if not room.is_missing(error, self._home):
                raise
            over = False
        if not over:
            self._see_out(run, STUCK_S)

    def _list(self, runs: list[str] | None = None) -> dict[str, Any]:
        return {"runs": self._runs.states(runs)}

    def _feel(self, run: str) -> dict[str, Any]:
        return self._pulse.of(self._runs.existing(run))

    async def _follow(self, runs: list[list[Any]]) -> dict[str, Any]:
        """Follow each run from an offset under a number; one that is not there is told so by a push."""
        begun = asyncio.Event()
        for index, (run, offset, follow) in enumerate(runs, start=1):
            self._unfollow(follow)
            try:
                follower = Follower(self._runs.existing(run), run, follow, offset, begun)
            except Refusal as no:
                self._channel.post({"push": "run", "follow": follow, "run": run, "no": str(no)})
                continue
            self._followers[follow] = (follower, self._spawn(self._following(follower)))
            if index % _AT_ONCE == 0:
                await asyncio.sleep(0)  # the engine acts on the first while we look at the next
        begun.set()
        return {}

    async def _following(self, follower: Follower) -> None:
        try:
            await follower.follow(self._watcher, self._channel.send, self._look)
        except ConnectionError:
            return

    def _unfollow(self, follow: int) -> dict[str, Any]:
        if follow in self._followers:
            self._followers.pop(follow)[1].cancel()
        return {}

    def _ack(self, follow: int, offset: int) -> dict[str, Any]:
        if follow in self._followers:
            self._followers[follow][0].take(offset)
        return {}

    # ---- what goes on beside them

    async def _look_round(self) -> None:
        """Look for what the node before us left behind or undone; whoever follows a run does not wait for it."""
        await asyncio.sleep(_FIRST_S)
        try:
            await self._take_over()
        except OSError as error:
            if not room.is_missing(error, self._home):
                raise  # else the next order tries again, and hears of it
        with self._acting():
            left = await self._in_thread(self._runs.unfinished)
            ordered = await self._in_thread(self._runs.ordered)
        for run in ordered:  # with which grace is known to its runner alone
            self._see_out(run, STUCK_S + _GRACE_S)
        for run in left:
            self._spawn(self._look(run))

    async def _look(self, run: str) -> None:
        """Write the end of a run whose runner is gone, if that is ours to do."""
        if not self._claim.holds:
            return
        try:
            with self._acting():
                over = await self._in_thread(lambda: self._runs.finish(run))
                points.passed("end of a dead runner's run written")
            if not over and run not in self._again:
                self._again.add(run)
                asyncio.get_running_loop().call_later(_AGAIN_S, self._look_again, run)
        except OSError as error:
            if not room.is_missing(error, self._home):
                raise
            await asyncio.sleep(_NO_ROOM_S)  # and whoever follows the run looks again

    def _look_again(self, run: str) -> None:
        self._again.discard(run)
        self._spawn(self._look(run))

    @contextlib.contextmanager
    def _acting(self) -> Iterator[None]:
        """Hold the claim while this task writes, even if a later link wants it meanwhile."""
        task = asyncio.current_task()
        assert task is not None
        self._claim.busy += 1
        self._writing.add(task)
        try:
            yield
        finally:
            self._writing.discard(task)
            self._claim.busy -= 1
            self._claim.yield_to_newer()

    def _reap(self) -> None:
        for run in self._runs.reap():
            self._spawn(self._look(run))

    async def _yield_to_newer(self) -> None:
        while True:
            await self._watcher.wait(self._home_watch)
            self._home_watch.changed.clear()
            self._claim.yield_to_newer()

    def _threaded(self, do: Callable[..., dict[str, Any]]) -> Callable[..., Answer]:
        async def answer(**arguments: Any) -> dict[str, Any]:
            return await self._in_thread(lambda: do(**arguments))

        return answer

    async def _in_thread(self, do: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, do)

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            # Nothing we know how to go on from. The engine dials again, and the runs do not care.
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a request broke the node", "exception": task.exception()}
            )
            os._exit(70)


async def _settled(answer: Answer) -> dict[str, Any]:
    return answer if isinstance(answer, dict) else await answer


@functools.lru_cache(maxsize=1)
def _git_version() -> str:
    try:
        said = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, timeout=20, check=False
        ).stdout
    except FileNotFoundError:
        return ""
    return said.strip()


def agents() -> dict[str, str]:
    """Return the agents' commands found on this machine, by name."""
    home = os.path.expanduser("~")
    places = [os.environ.get("PATH", os.defpath)]
    places += [os.path.join(home, place) for place in _BESIDES]
    found = {name: shutil.which(name, path=os.pathsep.join(places)) for name in AGENTS}
    return {name: path for name, path in found.items() if path}


async def _serve(home: str) -> NoReturn:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout.buffer
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        node = Node(home, Channel(reader, writer))
        for module in (trees, ahead, login, retain, supply, files, keep, tidy, kits):
            for name, do in module.OPS.items():
                node.add(name, do)
        await node.serve()
    except Garbled as error:
        print(f"quarterdeck-node: {error}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(0)  # not by way of the loop's own end, which waits for whatever is left


def main(home: str) -> None:
    """Serve one link on standard input and output, then end at once.

    What a thread still does is cut off there, as by a kill: whatever it is can bear that.
    """
    gc.freeze()  # what was loaded is no garbage
    gc.set_threshold(_LOOKS_AFTER)
    title.show(f"quarterdeck-node {home}")
    os.umask(0o077)
    home = os.path.realpath(home)
    os.makedirs(home, mode=0o700, exist_ok=True)
    leftovers.mark(home)
    asyncio.run(_serve(home))
