"""An SSH agent within the engine: one key, for one git, for as long as that runs.

    git ── ssh ── IdentityAgent=<socket> ──> here: which key there is, and signatures by it

The key stays in this process's memory: it is in no file, no argument, no environment and no other process,
and whoever dies takes it along. Of the protocol (draft-ietf-sshm-ssh-agent) two requests are answered, and
what is to be signed must be a sign-in; all else fails, which ssh takes for "cannot". OpenSSH's own
ssh-agent would be a process more to be ended, and a key handed from one to the other. Neighbours:
deploy_keys.py tells git of the socket, private_socket.py makes it.
"""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.adapters import private_socket

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MOST_BYTES: Final = 256 * 1024
KIND: Final = b"ssh-ed25519"

_FAILURE: Final = bytes([5])
_WHICH, _THESE = 11, 12
_SIGN, _SIGNED = 13, 14
_USERAUTH_REQUEST: Final = 50


class Agent:
    """Answers for one key."""

    def __init__(self, private: str) -> None:
        from cryptography.hazmat.primitives import serialization as form  # slow, seldom needed
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = form.load_ssh_private_key(private.encode("ascii"), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError("no key as we make them")
        line = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
        self._key: Ed25519PrivateKey = key
        self._public = base64.b64decode(line.split()[1])

    def answer(self, asked: bytes) -> bytes:
        """Return what is said to one message."""
        if asked == bytes([_WHICH]):
            return bytes([_THESE]) + struct.pack(">I", 1) + _put(self._public) + _put(b"")
        with suppress(struct.error, ValueError):
            if asked[:1] == bytes([_SIGN]):
                public, rest = _take(asked[1:])
                data, _ = _take(rest)
                if public == self._public and _is_sign_in(data):
                    return bytes([_SIGNED]) + _put(_put(KIND) + _put(self._key.sign(data)))
        return _FAILURE


@asynccontextmanager
async def offering(private: str, folder: Path) -> AsyncIterator[Path]:
    """Answer for a key at a socket in `folder`, which is returned, until the block ends."""
    agent = Agent(private)
    visits: set[asyncio.Task[None]] = set()

    def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_serve(agent, reader, writer))
        visits.add(task)
        task.add_done_callback(visits.discard)

    listener, path = private_socket.listen(folder)
    server = await asyncio.start_unix_server(visit, sock=listener)
    try:
        yield path
    finally:
        server.close()
        path.unlink(missing_ok=True)
        for task in visits:
            task.cancel()
        await asyncio.gather(*visits, return_exceptions=True)


async def _serve(agent: Agent, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (size,) = struct.unpack(">I", await reader.readexactly(4))
                if size > MOST_BYTES:
                    return
                writer.write(_put(agent.answer(await reader.readexactly(size))))
                await writer.drain()
    finally:
        writer.close()


def _is_sign_in(data: bytes) -> bool:
    """Return whether this is what a client signs to be let in (RFC 4252, 7), and no text or commit."""
    session, rest = _take(data)
    if not session or rest[:1] != bytes([_USERAUTH_REQUEST]):
        return False
    _user, rest = _take(rest[1:])
    service, rest = _take(rest)
    method, _ = _take(rest)
    return service == b"ssh-connection" and method.startswith(b"publickey")


def _put(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _take(data: bytes) -> tuple[bytes, bytes]:
    """Return the first string of a message, and what follows it."""
    (size,) = struct.unpack_from(">I", data)
    if size > len(data) - 4:
        raise ValueError("cut off")
    return data[4 : 4 + size], data[4 + size :]
