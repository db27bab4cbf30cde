"""Another computer of the owner's, reached over SSH: the same node, the same link.

    Link ── dial() ──> connection ──> channel: arrive.py -> node       frames, as long as it lasts
                           ├────────> channel: supply fetch <── git upload-pack of the hub
                           └────────> channel: supply serve ──> socket ──> relay.py <── git fetch

One connection a machine. Its address means what it means to the `ssh` command: ~/.ssh/config, the
agent's keys and jump hosts are honoured. Only the host key is our own matter: the owner accepted one
when the machine was added (`look`), and no other is spoken to. Nothing is installed there: the node
goes to a folder of its own, named after this box, so that two boxes may share a machine.

This module, and asyncssh with it, is loaded when there is such a machine. Neighbours: machines.py (the
link), engine/node/arrive.py and supply.py (what runs there), relay.py (what git runs here).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import inspect
import logging
import os
import re
import shlex
import socket
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import asyncssh

from engine.adapters import git, private_socket, relay, zipapp
from engine.adapters.machines import Chunk, Link, Transport
from engine.errors import NoRoom, Refused, Unavailable, Unreachable
from engine.node import arrive, room
from engine.node.link import Readable

log = logging.getLogger(__name__)
logging.getLogger("asyncssh").setLevel(logging.WARNING)  # it tells every command word for word

KEEPALIVE_S = 2.0
KEEPALIVES = 3  # unanswered, and the connection counts as lost
CONNECT_S = 10.0
ARRIVE_S = 60.0
CLOSE_S = 12.0
_STEP = 256 * 1024
_SAID = 2000  # bytes kept of what a machine says on standard error
_RELAY = (os.path.realpath(sys.executable), "-I", "-S", os.path.realpath(relay.__file__))

_ADDRESS = re.compile(
    r"(?:(?P<user>[^@\s:/]+)@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?"
)
PYTHONS = (
    *("python3", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9"),
    *("/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"),
)
_OLD_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 9))"


@dataclass(frozen=True)
class Address:
    """Where a machine is, as the `ssh` command would be told."""

    user: str  # "" = as ~/.ssh/config says, else who we are
    host: str
    port: int  # 0 = as ~/.ssh/config says, else 22

    @classmethod
    def read(cls, text: str) -> Address:
        """Return what `user@host:port` names, all but the host optional; raises Refused."""
        found = _ADDRESS.fullmatch(text.strip())
        port = int(found["port"] or 0) if found else 0
        if found is None or found["host"].startswith("-") or port > 65535:
            raise Refused(f"{text!r} is no address of a machine: user@host or user@host:port.")
        return cls(found["user"] or "", found["host"].strip("[]"), port)

    def options(self) -> dict[str, Any]:
        """Return what asyncssh is told of it; what is left out it takes from ~/.ssh/config."""
        given = {"host": self.host, "port": self.port, "username": self.user}
        return {key: value for key, value in given.items() if value}


# ---------------------------------------------------------------- host keys


async def look(address: Address) -> str:
    """Return the host key a machine shows, as a line of text; nothing is said to it."""
    options = {key: value for key, value in address.options().items() if key != "username"}
    with _spoken(address):
        async with asyncio.timeout(CONNECT_S):
            key = await asyncssh.get_server_host_key(**options)
    if key is None:
        raise Unavailable(f"{address.host} showed no host key")
    return key.export_public_key().decode("ascii").strip()


def fingerprint(key: str) -> str:
    """Return a key as people compare it: SHA256:…"""
    return asyncssh.import_public_key(key).get_fingerprint()


@contextmanager
def _spoken(address: Address) -> Iterator[None]:
    """Turn what goes wrong on the way to a machine into a sentence that says what mends it."""
    where = f"{address.host}:{address.port}" if address.port else address.host
    try:
        yield
    except asyncssh.HostKeyNotVerifiable as error:
        raise _OtherKey(address.host) from error
    except asyncssh.KeyExchangeFailed as error:
        if "host key" in error.reason.lower():  # it has none of the kind that was accepted
            raise _OtherKey(address.host) from error
        raise Unavailable(f"{where} and we have no cipher in common: {error.reason}") from error
    except asyncssh.PermissionDenied as error:
        user = f"{address.user}@" if address.user else ""
        raise Unavailable(
            f"{user}{address.host} does not let us in. Put the key that /machines add shows into "
            "~/.ssh/authorized_keys there, or one of this box's user: ssh-copy-id does that"
        ) from error
    except socket.gaierror as error:
        raise Unavailable(f"no machine called {address.host} can be found") from error
    except ConnectionRefusedError as error:
        raise Unavailable(f"{where} refuses connections: is its SSH server running?") from error
    except TimeoutError as error:
        raise Unavailable(f"{where} does not answer") from error
    except asyncssh.Error as error:
        raise Unavailable(f"{where}: {error.reason or type(error).__name__}") from error
    except OSError as error:
        raise Unavailable(f"{where}: {error.strerror or error}") from error
    except ValueError as error:  # a key or a line of ~/.ssh/config that cannot be read
        raise Unavailable(f"the SSH settings for {address.host} cannot be used: {error}") from error


_CHANGED = (
    "{host} shows another host key than the one you accepted{keys}. If it was set up anew, add it "
    "again under its name and address and accept that key; if not, somebody may be standing between"
)


class _OtherKey(Unavailable):
    """The host key is not the one that was accepted."""

    def __init__(self, host: str, accepted: str = "", shown: str = "") -> None:
        keys = f" ({accepted} was accepted, {shown} is shown now)" if shown else ""
        super().__init__(_CHANGED.format(host=host, keys=keys))


# ---------------------------------------------------------------- a channel


class _Channel:
    """A command running on a machine: its input and output as one stream, its last words kept."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._process = process
        self.why = ""  # the connection's own reason, once it was lost
        self._errors = b""
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with suppress(asyncssh.Error, OSError):
            while data := await self._process.stderr.read(_STEP):
                self._errors = (self._errors + data)[-_SAID:]

    @property
    def words(self) -> str:
        """Return the last it said on standard error."""
        lines = self._errors.decode("utf-8", "replace").split("\n")
        return "\n".join([line.strip() for line in lines if line.strip()][-3:])

    async def heard(self, mark: str) -> str:
        """Skip whatever comes before `mark`, and return the word behind it."""
        out = self._process.stdout
        try:
            await out.readuntil(f"{mark} ".encode())
            return (await out.readline()).decode("ascii", "replace").strip()
        except asyncio.IncompleteReadError:
            await self.over()
            raise Unavailable(
                f"its shell did not let us begin: {self.words or 'it said nothing'}"
            ) from None

    async def read(self, n: int = -1, /) -> bytes:
        try:
            return await self._process.stdout.read(n)
        except asyncssh.Error as error:
            self.why = error.reason or type(error).__name__
            raise ConnectionError(self.why) from error

    def write(self, data: bytes, /) -> None:
        self._process.stdin.write(data)

    async def drain(self) -> None:
        try:
            await self._process.stdin.drain()
        except asyncssh.Error as error:
            raise ConnectionError(str(error)) from error

    def write_eof(self) -> None:
        with suppress(OSError):
            self._process.stdin.write_eof()

    def close(self) -> None:
        """Say that no more is coming; what runs there ends by itself."""
        self.write_eof()

    async def over(self) -> int:
        """Wait for its end and return its exit code, -1 for none."""
        with suppress(asyncssh.Error, OSError):
            await self._process.wait_closed()
        await self._listening
        code = self._process.exit_status
        return -1 if code is None else code

    async def drop(self) -> None:
        """Let go of it, whatever it does."""
        self._process.close()
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)


class _Sink(Protocol):
    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...

    def write_eof(self) -> None: ...


async def _pump(source: Readable, sink: _Sink) -> None:
    """Hand on all of `source`, and its end."""
    while data := await source.read(_STEP):
        sink.write(data)
        await sink.drain()
    sink.write_eof()


# ---------------------------------------------------------------- the machine


class Ssh:
    """One machine over SSH.

    home   this box's own: the node's file and our sockets lie below it
    box    this box's name on other machines
    keys   the host keys accepted so far, read at each dial
    own    returns this box's own key for machines, tried where the user's are refused; "" for none
    """

    def __init__(
        self,
        name: str,
        address: Address,
        home: Path,
        *,
        box: str,
        keys: Callable[[], Sequence[str]],
        own: Callable[[], Awaitable[str]] | None = None,
        keepalive_s: float = KEEPALIVE_S,
    ) -> None:
        self.name = name
        self.address = address
        self._home = home
        self._box = box
        self._keys = keys
        self._own = own
        self._by_own = False  # what let us in last is tried first: hosts count refusals
        self._keepalive_s = keepalive_s
        self._connection: asyncssh.SSHClientConnection | None = None
        self._bringing: dict[str, asyncio.Lock] = {}
        self.link = Link(name, self._dial)

    async def hello(self) -> dict[str, Any]:
        """Return what the node said of itself when its link came up."""
        return await self.link.hello()

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Have the node do `op`; raises NodeRefused or Unavailable."""
        return await self.link.call(op, **arguments)

    def follow(self, run: str, offset: int) -> AsyncIterator[Chunk]:
        """Yield the output of a run from `offset` on until it is over."""
        return self.link.follow(run, offset)

    async def close(self) -> None:
        """Let go of the machine; its runs go on."""
        await self.link.close()

    # ---- the link

    async def _dial(self) -> Transport:
        connection = await self._connect()
        try:
            node = await self._begin(connection, ["serve", "--home"])
        except BaseException:
            connection.abort()
            raise
        self._connection = connection

        async def close() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await node.over()
            await node.drop()
            if self._connection is connection:
                self._connection = None
            connection.abort()

        def ended() -> str:
            if node.why:
                return f"the connection to it was lost ({node.why})"
            return f"its node has ended: {node.words}" if node.words else "its node has ended"

        return Transport(node, node, close, ended)

    async def _connect(self) -> asyncssh.SSHClientConnection:
        keys = [asyncssh.import_public_key(key) for key in self._keys()]
        if not keys:
            raise Unavailable("its host key was never accepted: remove the machine, add it again")
        try:
            with _spoken(self.address):
                try:
                    return await self._sign_in(keys, by_own=self._by_own)
                except asyncssh.PermissionDenied:
                    if not await self._own_key():
                        raise
                    connection = await self._sign_in(keys, by_own=not self._by_own)
                    self._by_own = not self._by_own
                    return connection
        except _OtherKey as other:
            accepted = ", ".join(key.get_fingerprint() for key in keys)
            try:
                shown = fingerprint(await look(self.address))
            except Unavailable:
                raise other from None
            raise _OtherKey(self.address.host, accepted, shown) from other

    async def _sign_in(
        self, keys: list[asyncssh.SSHKey], *, by_own: bool
    ) -> asyncssh.SSHClientConnection:
        by: dict[str, Any] = {}
        if by_own:
            key = asyncssh.import_private_key(await self._own_key())
            by = {"client_keys": [key], "agent_path": None}
        return await asyncssh.connect(
            **self.address.options(),
            **by,
            known_hosts=(keys, [], []),
            keepalive_interval=self._keepalive_s,
            keepalive_count_max=KEEPALIVES,
            connect_timeout=CONNECT_S,
            login_timeout=2 * CONNECT_S,
            agent_forwarding=False,
            env={},
            send_env=[],
        )

    async def _own_key(self) -> str:
        return await self._own() if self._own is not None else ""

    async def _begin(
        self, connection: asyncssh.SSHClientConnection, words: Sequence[str]
    ) -> _Channel:
        """Run our node there with `words`, sending it first where it is not there yet."""
        archive = zipapp.build(self._home / "node")
        data = archive.read_bytes()
        mark = f"quarterdeck-{uuid.uuid4().hex}"
        command = _arrival(mark, self._box, archive.name, data, words)
        with _spoken(self.address):
            process = await connection.create_process(command, encoding=None, request_pty=False)
        channel = _Channel(process)
        try:
            with _spoken(self.address):
                async with asyncio.timeout(ARRIVE_S):
                    word = await channel.heard(mark)
                    if word == "send":
                        log.info("node sent machine=%s file=%s", self.name, archive.name)
                        channel.write(data)
                        await channel.drain()
            if word == "none":
                raise Unavailable(
                    "no Python 3.9 or newer is there: install python3, it is all that is needed"
                )
        except BaseException:
            await channel.drop()
            raise
        return channel

    # ---- commits, each time over a channel of their own

    @asynccontextmanager
    async def _channel(self, words: Sequence[str]) -> AsyncIterator[_Channel]:
        await self.link.hello()  # Unreachable where there is no way
        connection = self._connection
        if connection is None:
            raise Unreachable(f"{self.name}: {self.link.why_down}")
        try:
            channel = await self._begin(connection, words)
        except Unavailable as away:
            kind = Unreachable if connection.is_closed() else Unavailable
            raise kind(f"{self.name}: {away.sentence}") from away
        try:
            yield channel
        finally:
            await channel.drop()

    async def bring(
        self, project: str, hub: Path, commits: Sequence[str], base: str = "", source: str = ""
    ) -> None:
        """Complete the machine's copy of a project, so that it holds these commits of the hub."""
        async with self._bringing.setdefault(project, asyncio.Lock()):
            asked = await self.call("copy.lacks", project=project, commits=list(commits))
            if not asked["lacks"]:
                return
            words = ["supply", "fetch", "--home", f"--project={project}", *asked["lacks"]]
            async with self._channel(words) as channel:
                try:
                    await _serve(hub, channel)
                except ConnectionError as error:
                    raise Unreachable(f"{self.name}: {error}") from error
                if await channel.over():
                    kind = NoRoom if room.is_said(channel.words) else Unavailable
                    raise kind(f"{self.name}: {channel.words or 'the copy was cut off'}")

    @asynccontextmanager
    async def serving(self, project: str, session: str) -> AsyncIterator[tuple[Sequence[str], str]]:
        """Give a command that serves the commits of a session's tree, and the tree's path there."""
        about = await self.hello()
        words = ["supply", "serve", "--home", f"--project={project}", f"--session={session}"]
        visits: set[asyncio.Task[None]] = set()

        def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._offer(words, reader, writer))
            visits.add(task)
            task.add_done_callback(visits.discard)

        listener, path = private_socket.listen(self._home / "run")
        server = await asyncio.start_unix_server(visit, sock=listener)
        try:
            yield [*_RELAY, str(path)], f"{about['home']}/trees/{project}/{session}"
        finally:
            server.close()
            path.unlink(missing_ok=True)
            for task in visits:
                task.cancel()
            await asyncio.gather(*visits, return_exceptions=True)

    async def _offer(
        self, words: Sequence[str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Join a git of ours that came to the socket with what serves it there."""
        try:
            async with self._channel(words) as channel:
                asking = asyncio.create_task(_pump(reader, channel))
                try:
                    await _pump(channel, writer)
                    if await channel.over():
                        log.warning("not served machine=%s: %s", self.name, channel.words)
                finally:
                    asking.cancel()
                    await asyncio.gather(asking, return_exceptions=True)
        except (Unavailable, ConnectionError) as error:
            log.warning("not served machine=%s: %s", self.name, error)
        finally:
            writer.close()


async def _serve(hub: Path, channel: _Channel) -> None:
    """Let what runs at the other end fetch from the hub, until it has what it wants."""
    server = await git.upload_pack(hub)
    assert server.stdin is not None
    assert server.stdout is not None
    telling = asyncio.create_task(_pump(server.stdout, channel))
    try:
        await _pump(channel, server.stdin)
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        if server.returncode is None:
            server.kill()
        await server.wait()


def _arrival(mark: str, box: str, name: str, data: bytes, words: Sequence[str]) -> str:
    """Return the command that arrives at a machine, for whatever shell its user has.

    One line, and nothing in it that a shell other than sh would read otherwise.
    """
    digest = hashlib.sha256(data).hexdigest()
    call = f"\narrive({mark!r}, {box!r}, {name!r}, {digest!r}, {len(data)}, {list(words)!r})\n"
    text = base64.b64encode((inspect.getsource(arrive) + call).encode()).decode("ascii")
    begin = f'import base64; exec(base64.b64decode(\\"{text}\\"))'
    script = (
        f"for p in {' '.join(PYTHONS)}; do "
        f'if "$p" -I -S -c "{_OLD_ENOUGH}" 2>/dev/null; then exec "$p" -I -S -c "{begin}"; fi; '
        f'done; printf "\\n{mark} none\\n"; exit 127'
    )
    return f"exec /bin/sh -c {shlex.quote(script)}"
