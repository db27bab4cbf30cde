"""The engine's end of its socket: hears one user's requests, and tells all followers what changes.

Neighbours: wire.py (the lines), verbs.py (what may be asked), engine/door.py (who does it).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from engine.api.verbs import VERBS, FollowChanges
from engine.api.wire import (
    ENCODER,
    MAX_LINE,
    REQUEST,
    Answer,
    Clean,
    Push,
    Request,
    lines_of,
    reply,
    write,
)
from engine.asker import Asker, on_behalf_of
from engine.errors import Refused, StreamBroken, Unavailable
from engine.node import room
from engine.room import FULL, Room
from engine.views import AnyCard, Note, OwnerView

log = logging.getLogger(__name__)

LOOK_S = 5.0  # how often the engine looks whether its socket is still there
SET_ASIDE: Final = (
    "That part is set aside after an error of mine, so nothing was done. Its card in General says why, "
    "with Retry and Leave it."
)
_UCRED: Final = struct.Struct("3i")


class Door(Protocol):
    """Who does what is asked: for each of VERBS an async method of its name, and what follows.

    A method takes the fields of its arguments by name, and `cause` where the verb changes anything.
    It raises Refused or Unavailable; anything else ends the engine.
    """

    def owner(self) -> OwnerView:
        """Return what the owner set for themself."""
        ...

    def cards(self) -> Iterable[AnyCard]:
        """Return all live cards."""
        ...

    async def permits(self, verb: str, cause: str) -> None:
        """Raise Refused where nothing is to be changed now."""
        ...

    async def notes(self, after: int) -> Sequence[Note]:
        """Return the next notes past number `after`, oldest first; none means there are no more."""
        ...


class _Follower:
    """One reader of changes: what it has not been sent yet, the newest of each card."""

    def __init__(self, cards: Iterable[AnyCard]) -> None:
        self.pending: dict[str, Push] = {card.id: Push(card=card) for card in cards}
        self.noted = True
        self.wake = asyncio.Event()

    def push(self, card: str, push: Push) -> None:
        self.pending[card] = push  # in the place of an older one: who changes often waits no longer
        self.wake.set()

    def note(self) -> None:
        self.noted = True
        self.wake.set()

    def take(self) -> Push:
        return self.pending.pop(next(iter(self.pending)))


class Server:
    """Listens at `path` and hands requests to `door`.

    owner   the user heard; ours
    room    how requests that change something wait for the disk
    clean   takes what must not be shown out of each line that goes out (engine/net.py)
    """

    def __init__(
        self,
        path: Path,
        door: Door,
        *,
        owner: int | None = None,
        room: Room | None = None,
        clean: Clean = lambda line: line,
    ) -> None:
        self.listening = asyncio.Event()
        self._path = path
        self._door = door
        self._owner = os.getuid() if owner is None else owner
        self._room = room or Room(path.parent)
        self._clean = clean
        self._followers: set[_Follower] = set()

    async def run(self) -> None:
        """Serve until cancelled; what the door did not foresee ends it."""
        listener = _listen(self._path)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    server = await asyncio.start_unix_server(
                        lambda reader, writer: group.create_task(self._talk(reader, writer)),
                        sock=listener,
                    )
                    self.listening.set()
                    try:
                        # Not serve_forever: from Python 3.12 on, its end waits for all who talk to us.
                        while self._is_there():  # noqa: ASYNC110 - files tell nobody
                            await asyncio.sleep(LOOK_S)
                    finally:
                        server.close()
                    log.warning("the socket was taken away; made anew at %s", self._path)
                    listener = _listen(self._path)
        finally:
            self.listening.clear()
            self._path.unlink(missing_ok=True)

    def _is_there(self) -> bool:
        return self._path.is_socket()

    @property
    def followed(self) -> bool:
        """Whether anybody follows."""
        return bool(self._followers)

    def changed(self, card: AnyCard) -> None:
        """Tell all followers how a card looks now."""
        for follower in self._followers:
            follower.push(card.id, Push(card=card))

    def gone(self, card: str) -> None:
        """Tell all followers that a card is no more."""
        for follower in self._followers:
            follower.push(card, Push(gone=card))

    def owner_changed(self, owner: OwnerView) -> None:
        """Tell all followers what the owner set."""
        for follower in self._followers:
            follower.push("", Push(owner=owner))

    def noted(self) -> None:
        """Have all followers look for new notes."""
        for follower in self._followers:
            follower.note()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = _peer(writer)
        if uid not in (self._owner, None):
            log.warning("turned away a process of uid=%s", uid)
            writer.close()
            return
        streams: set[asyncio.Task[None]] = set()
        try:
            async with asyncio.TaskGroup() as group:
                async for line in lines_of(reader, writer):
                    self._take_up(line, writer, group, streams)
                # What was asked is done, heard or not; only the streams end with their reader.
                for stream in streams:
                    stream.cancel()
        finally:
            writer.close()

    def _take_up(
        self,
        line: bytes,
        writer: asyncio.StreamWriter,
        group: asyncio.TaskGroup,
        streams: set[asyncio.Task[None]],
    ) -> None:
        try:
            request = REQUEST.decode(line)
        except (msgspec.MsgspecError, RecursionError) as fault:
            no = Answer(0, refused=f"That is no request: {fault}.")
            group.create_task(reply(writer, no, self._clean))
            return
        if request.do == "changes":
            streams.add(group.create_task(self._follow(request, writer)))
        else:
            group.create_task(self._answer(request, writer))

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        try:
            ok = ENCODER.encode(await self._do(request))
            if len(ok) > MAX_LINE - 1024:
                raise Refused("The answer is too long for this socket.")
            answer = Answer(request.id, ok=msgspec.Raw(ok))
        except Refused as no:
            answer = Answer(request.id, refused=no.sentence or "No.")
        except StreamBroken:  # asked again by itself it would hold up all that comes after it
            answer = Answer(request.id, refused=SET_ASIDE)
        except Unavailable as away:
            answer = Answer(request.id, unavailable=away.sentence or "No answer.")
        except OSError as fault:
            if fault.errno not in room.TAKES_NOTHING:
                raise
            answer = Answer(request.id, unavailable=FULL)
        await reply(writer, answer, self._clean)

    async def _do(self, request: Request) -> Any:
        verb = VERBS.get(request.do)
        if verb is None:
            raise Refused(f"There is no request {request.do!r}.")
        arguments = _arguments(request, verb.takes)
        named = {field: getattr(arguments, field) for field in arguments.__struct_fields__}
        method: Callable[..., Awaitable[Any]] = getattr(self._door, request.do)
        if not verb.changes:
            return await method(**named)
        named["cause"] = request.cause or f"api:{uuid.uuid4().hex}"
        asked_by = replace(request.by or Asker(), verb=request.do, card="", revision="", made="")
        with on_behalf_of(asked_by):
            await self._door.permits(request.do, named["cause"])
            async with self._room.patience():
                return await method(**named)

    async def _follow(self, request: Request, writer: asyncio.StreamWriter) -> None:
        try:
            after = _arguments(request, FollowChanges).notes_after
        except Refused as no:
            await reply(writer, Push(refused=no.sentence), self._clean)
            return
        follower = _Follower(self._door.cards())
        self._followers.add(follower)
        try:
            await write(writer, Push(owner=self._door.owner()), self._clean)
            while follower.pending:
                await write(writer, follower.take(), self._clean)
            await write(writer, Push(ready=True))
            while True:
                follower.wake.clear()
                after = await self._catch_up(follower, after, writer)
                await follower.wake.wait()
        except ConnectionError:
            pass  # its reader went away; it will come again
        finally:
            self._followers.discard(follower)

    async def _catch_up(self, follower: _Follower, after: int, writer: asyncio.StreamWriter) -> int:
        """Send what the follower has not been sent; return the last note sent."""
        while follower.pending or follower.noted:
            while follower.pending:
                await write(writer, follower.take(), self._clean)
            if follower.noted:
                follower.noted = False
                for note in await self._door.notes(after):
                    await write(writer, Push(note=note), self._clean)
                    after, follower.noted = note.n, True
        return after


def _arguments(request: Request, takes: type[Any]) -> Any:
    try:
        return msgspec.json.decode(request.args, type=takes)
    except msgspec.MsgspecError as fault:
        raise Refused(f"{request.do}: {fault}.") from fault


def _listen(path: Path) -> socket.socket:
    """Bind the socket for its owner only. Whoever calls holds the engine's lock."""
    path.unlink(missing_ok=True)  # left by one that was killed
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # from its first moment on, not a chmod later
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def _peer(writer: asyncio.StreamWriter) -> int | None:
    """Return the other end's user, None where the kernel does not tell (the file's mode holds)."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    connection: socket.socket = writer.get_extra_info("socket")
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    _, uid, _ = _UCRED.unpack(raw)
    return int(uid)
