"""Machines: where runs run. Each is reached by a link to the node that works on it.

    machine.call("run.start", spec=...)  ──> Link ──> dial() ──> node
    machine.follow(run, offset)          <── Link <── pushes

`Link` is the same for all: it dials, says hello with a new epoch, matches answers to questions,
and dials again when the node or the way to it is gone. `Local` adds what this machine needs: the
node is a child of ours, spoken to by its input and output. ssh.py beside this file adds what another
one needs. The runs are nobody's children and notice none of it.

A link that is down raises errors.Unreachable; a node's "no" raises NodeRefused. The other end is
engine/node/serve.py; runs.py and hub.py beside this file are the callers.
"""

import asyncio
import base64
import logging
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from engine.adapters import zipapp
from engine.errors import NoRoom, Refused, Unavailable, Unreachable
from engine.node import trees
from engine.node.follow import WINDOW
from engine.node.link import PROTOCOL, Channel, Garbled, Message, Readable, Writable

log = logging.getLogger(__name__)

_HELLO_S = 60.0
_BACK_OFF_S = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)
_CLOSE_S = 12.0
TELL_TAKEN = WINDOW // 4  # bytes read of a run, and the node hears of it


class NodeRefused(Refused):
    """The machine will not do it; asking again does not help."""


@dataclass(frozen=True)
class Chunk:
    """What was read on from a run's output."""

    lines: list[bytes]
    offset: int  # after them: where to read on


class Machine(Protocol):
    """What the engine asks of a machine, however it is reached."""

    name: str

    async def hello(self) -> dict[str, Any]:
        """Return what the machine said of itself when its link came up."""
        ...

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Have the node do `op`; raises NodeRefused or Unavailable."""
        ...

    def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        """Yield a run's output from `offset` to its end, across any number of links."""
        ...

    async def bring(
        self, project: str, hub: Path, commits: Sequence[str], base: str = "", source: str = ""
    ) -> None:
        """Complete the machine's copy of a project, so that it holds these commits of the hub.

        base     the owner's own commit: submodules come from the addresses it names, no others
        source   the address that relative ones start from
        """
        ...

    def serving(
        self, project: str, session: str
    ) -> AbstractAsyncContextManager[tuple[Sequence[str], str]]:
        """Give a command that serves the commits of a session's tree to git here, and its path.

        The command runs in that tree's fence, and is good while the block lasts.
        """
        ...

    async def close(self) -> None:
        """Let go of the machine; its runs go on."""
        ...


@dataclass(frozen=True)
class Transport:
    """Two byte streams to a node, and how to be rid of them."""

    reader: Readable
    writer: Writable
    close: Callable[[], Awaitable[None]]
    ended: Callable[[], str] = lambda: "its node has ended"  # why nothing more comes


Dial = Callable[[], Awaitable[Transport]]


@dataclass
class _Following:
    """A reader of one run, while one link lasts."""

    pushes: deque[Message] = field(default_factory=deque)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    broken: bool = False


class Link:
    """The way to one node, made again whenever it breaks."""

    def __init__(self, name: str, dial: Dial) -> None:
        """Take the machine's name and what makes a new way to its node.

        dial   raises Unavailable or OSError when the machine cannot be reached
        """
        self.name = name
        self.up = False
        self.why_down = "not dialled yet"
        self._dial = dial
        self._channel: Channel | None = None
        self._hello: dict[str, Any] = {}
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._followings: dict[int, _Following] = {}
        self._to_follow: list[list[Any]] = []  # run, offset, number
        self._count = 0
        self._keeper: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()  # the try that is on its way has come to an end
        self._is_up = asyncio.Event()
        self._closed = False
        self.changed: list[Callable[[], None]] = []  # called when the link comes up or goes down

    async def hello(self) -> dict[str, Any]:
        """Return what the node said of itself when this link came up."""
        await self._ready()
        return self._hello

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Have the node do `op`; raises NodeRefused or Unavailable."""
        return await self._ask(await self._ready(), op, arguments)

    async def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        """Yield the output of a run from `offset` on until it is over."""
        while not self._closed:
            try:
                async for chunk in self._follow_once(run, offset):
                    offset = chunk.offset
                    yield chunk
                return
            except Unavailable:
                if self._closed:
                    raise
                await self._is_up.wait()
        raise Unreachable(f"{self.name}: its link is closed")

    async def close(self) -> None:
        """Close the link and stop dialling."""
        self._closed = True
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait([keeper])
        self._down("closed")
        self._is_up.set()  # for whoever waits to follow on: it is told by its next question

    # ---- keeping it up

    def dial(self) -> None:
        """Begin to keep the link up, unless that was begun."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())
            self._keeper.add_done_callback(lambda keeper: self._tried.set())

    async def _ready(self) -> Channel:
        """Return the channel, dialling or waiting for the try that is on its way."""
        if self._closed:
            raise Unreachable(f"{self.name}: its link is closed")
        self.dial()
        if not self.up:
            await self._tried.wait()
        if self._keeper is not None and self._keeper.done() and not self._closed:
            self._keeper.result()  # a fault of ours: it ends whoever asks
        if not self.up or self._channel is None:
            raise Unreachable(f"{self.name}: {self.why_down}")
        return self._channel

    async def _keep(self) -> None:
        failures = 0
        while True:
            try:
                await self._live_once()
                failures = 0  # it was up, so the next try is at once
                wait_s = 0.0
            except (OSError, Unavailable, NodeRefused, Garbled, TimeoutError) as error:
                self._down(str(error))
                wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S) - 1)]
                failures += 1
            if failures:
                self._tried.set()
                log.warning(
                    "link down machine=%s wait_s=%.1f why=%s", self.name, wait_s, self.why_down
                )
                await asyncio.sleep(wait_s)
            self._tried.clear()

    async def _live_once(self) -> None:
        """Dial, say hello, and read until the link ends."""
        transport = await self._dial()
        channel = Channel(transport.reader, transport.writer)
        reading = asyncio.create_task(self._read(channel, transport.ended))
        try:
            async with asyncio.timeout(_HELLO_S):
                self._hello = await self._greet(channel)
            self._channel = channel
            self.up = True
            self._is_up.set()
            self._tried.set()
            self._tell()
            log.info("link up machine=%s epoch=%s", self.name, self._hello.get("epoch"))
            await reading
        finally:
            channel.close()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await transport.close()

    async def _greet(self, channel: Channel) -> dict[str, Any]:
        """Take over the machine with an epoch above all before it."""
        there = await self._ask(channel, "hello", {"protocol": PROTOCOL})
        said = await self._ask(
            channel, "hello", {"protocol": PROTOCOL, "epoch": there["epoch"] + 1}
        )
        if not said["writes"]:
            raise Unavailable(f"{self.name}: {said['may_not']}")
        return said

    def _down(self, why: str) -> None:
        was_up, self.up, self.why_down = self.up, False, why
        self._is_up.clear()
        self._channel = None
        if was_up:
            self._tried.clear()  # the next try comes at once: whoever asks now waits for it
            self._tell()

    def _tell(self) -> None:
        for listener in self.changed:
            listener()

    def _lose(self) -> None:
        """Tell all who wait on the link that nothing more will come."""
        asked, self._asked = self._asked, {}
        for answer in asked.values():
            if not answer.done():
                answer.set_exception(Unreachable(f"{self.name}: the link to it broke"))
        for following in self._followings.values():
            following.broken = True
            following.more.set()

    # ---- messages

    async def _ask(self, channel: Channel, op: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        number = self._count
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            await channel.send({"id": number, "op": op, "args": arguments})
            return await answer
        except ConnectionError as error:
            raise Unreachable(f"{self.name}: {error}") from error
        finally:
            self._asked.pop(number, None)

    async def _read(self, channel: Channel, ended: Callable[[], str]) -> None:
        """Hand out what comes until the link ends; then nobody waits on it any more."""
        try:
            while (messages := await channel.receive()) is not None:
                for message in messages:
                    self._take(message)
        finally:
            self._down(ended())
            self._lose()

    def _take(self, message: Message) -> None:
        if "push" not in message:
            self._answered(message)
            return
        following = self._followings.get(message.get("follow", -1))
        if following is not None:
            following.pushes.append(message)
            following.more.set()

    def _answered(self, message: Message) -> None:
        answer = self._asked.get(message.get("id", -1))
        if answer is None or answer.done():
            return
        if "ok" in message:
            answer.set_result(message["ok"])
        elif "no" in message:
            answer.set_exception(NodeRefused(str(message["no"])))
        else:
            kind = NoRoom if message.get("full") else Unavailable
            answer.set_exception(kind(f"{self.name}: {message.get('failed')}"))

    async def _follow_once(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        channel = await self._ready()
        self._count += 1
        number = self._count
        following = self._followings[number] = _Following()
        taken = offset
        try:
            self._ask_to_follow(channel, [run, offset, number])
            while True:
                while following.pushes:
                    push = following.pushes.popleft()
                    if "no" in push:
                        raise NodeRefused(str(push["no"]))
                    if push["data"]:
                        lines = push["data"].encode("utf-8").split(b"\n")[:-1]
                        yield Chunk(lines, push["end"])
                    if push["over"]:
                        return
                    taken = min(taken, push["end"])  # its spool may have become shorter
                    if push["end"] - taken >= TELL_TAKEN:
                        taken = push["end"]
                        channel.post({"op": "run.ack", "args": {"follow": number, "offset": taken}})
                if following.broken:
                    raise Unreachable(f"{self.name}: the link to it broke")
                following.more.clear()
                await following.more.wait()
        finally:
            del self._followings[number]
            if self._channel is channel:
                channel.post({"op": "run.unfollow", "args": {"follow": number}})

    def _ask_to_follow(self, channel: Channel, asked: list[Any]) -> None:
        """Ask for a run, with all others asked for in this turn of the loop: after a start, for all."""
        if not self._to_follow:
            asyncio.get_running_loop().call_soon(self._ask_together, channel)
        self._to_follow.append(asked)

    def _ask_together(self, channel: Channel) -> None:
        asked, self._to_follow = self._to_follow, []
        channel.post({"op": "run.follow", "args": {"runs": asked}})


@dataclass(frozen=True)
class _Child:
    """A node of our own."""

    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    ear: asyncio.StreamWriter  # of the socket that the reader reads; nothing is written to it

    async def end(self) -> None:
        """Return once it has ended, as it does when told no more."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
        finally:
            self.ear.close()


class Local:
    """This machine."""

    def __init__(
        self, home: Path, name: str = "here", python: str = "", env: dict[str, str] | None = None
    ) -> None:
        """Take where everything lies and what the node is started with.

        python   the interpreter for node and runs; by default the one we run on, outside any venv
        env      the node's whole environment; by default ours, without what is secret in it
        """
        self.name = name
        self._home = home
        self._python = os.path.realpath(python or sys.executable)
        self._env = _plain(dict(os.environ)) if env is None else env
        self._node: _Child | None = None
        self._warmed: _Child | None = None
        self.link = Link(name, self._dial)

    @property
    def pid(self) -> int | None:
        """The node's process, while there is one."""
        return self._node.process.pid if self._node is not None else None

    async def hello(self) -> dict[str, Any]:
        """Return what the node said of itself when its link came up."""
        return await self.link.hello()

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Have the node do `op`; raises NodeRefused or Unavailable."""
        return await self.link.call(op, **arguments)

    def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        """Yield the output of a run from `offset` on until it is over."""
        return self.link.follow(run, offset)

    async def bring(
        self, project: str, hub: Path, commits: Sequence[str], base: str = "", source: str = ""
    ) -> None:
        """Complete the copy of a project, so that it holds these commits of the hub."""
        await self.call(
            "copy.update",
            project=project,
            hub=str(hub),
            commits=list(commits),
            base=base,
            source=source,
        )

    @asynccontextmanager
    async def serving(self, project: str, session: str) -> AsyncIterator[tuple[Sequence[str], str]]:
        """Give a command that serves the commits of a session's tree, and the tree's path."""
        about = await self.hello()
        command = trees.upload_pack_command(about["desk"][0], about["home"], project, session)
        yield command, f"{about['home']}/trees/{project}/{session}"

    async def close(self) -> None:
        """End the node; the runs go on."""
        await self.link.close()
        node, self._warmed = self._warmed, None
        if node is not None:  # nobody has asked it anything
            await node.end()

    async def warm(self) -> None:
        """Start the node ahead of its first question: it loads while we do, and acts on nothing."""
        with suppress(OSError):  # for want of room: it is tried again when it is dialled
            self._warmed = await self._start()

    async def _dial(self) -> Transport:
        node, self._warmed = self._warmed or await self._start(), None
        self._node = node
        assert node.process.stdin is not None
        return Transport(node.reader, node.process.stdin, node.end)

    async def _start(self) -> _Child:
        archive = zipapp.build(self._home / "node")
        argv = ["-I", "-S", str(archive), "serve", "--home", str(self._home)]
        # Not a pipe: those hold two pages once their user has a thousand of them, as with 200 runs.
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    self._python,
                    *argv,
                    stdin=subprocess.PIPE,
                    stdout=theirs.fileno(),
                    env=self._env,
                    cwd="/",
                    start_new_session=True,  # a Ctrl-C in our terminal is for us
                )
            reader, ear = await asyncio.open_unix_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        return _Child(process, reader, ear)


def blob(answer: dict[str, Any]) -> bytes:
    """Return the bytes in an answer to `run.blob`."""
    return base64.b64decode(answer["data"])


_PASSED = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "SSH_AUTH_SOCK")


def _plain(ours: dict[str, str]) -> dict[str, str]:
    """Return of our environment what a node needs: a token in it is nobody's business there."""
    return {name: ours[name] for name in ours if name in _PASSED or name.startswith("LC_")}
