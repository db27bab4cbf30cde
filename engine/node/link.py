"""Messages over a pair of byte streams, between the engine and a machine's node.

A frame is one JSON object on one line, at most 64 KiB. A longer message travels as numbered parts,
and the parts of several messages take turns, so that a large answer never holds up a small one.

    {"id": 7, "op": "run.start", "args": {...}}       engine -> node
    {"id": 7, "ok": {...}}                            node -> engine; or "no": it will not,
                                                      or "failed": it could not this time
    {"op": "run.ack", "args": {...}}                  engine -> node; no answer is wanted
    {"push": "run", "follow": 3, ...}                 node -> engine, unasked
    {"part": 2, "last": false, "text": "..."}         a piece of any of these

Both ends use this file: engine/node/serve.py and engine/adapters/machines.py.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from typing import Any, Protocol

PROTOCOL = 1  # of the link and of the run folder; a node reads what older ones left

MAX_FRAME = 64 * 1024
MAX_MESSAGE = 64 * 1024 * 1024
MAX_OPEN = 64  # messages in parts at a time
_READ = 256 * 1024

Message = dict[str, Any]


class Garbled(Exception):
    """The other end does not speak this protocol; the link is of no more use."""


class Refusal(Exception):
    """The node will not do it, and why, in one sentence; asking again does not help."""


class Readable(Protocol):
    """What we need of a stream to read from; asyncio's and asyncssh's both have it."""

    async def read(self, n: int = -1, /) -> bytes:
        """Return up to `n` bytes, none at the end."""
        ...


class Writable(Protocol):
    """What we need of a stream to write to."""

    def write(self, data: bytes, /) -> None:
        """Buffer `data`."""
        ...

    async def drain(self) -> None:
        """Wait until the buffer is short enough for more."""
        ...

    def close(self) -> None:
        """Close once all is written."""
        ...


def frames(message: Message, number: int) -> Iterator[bytes]:
    """Yield the lines `message` travels as; `number` names it should it need several."""
    whole = _line(message)
    if len(whole) <= MAX_FRAME:
        yield whole
        return
    if len(whole) > MAX_MESSAGE:
        raise ValueError(f"a message of {len(whole)} bytes is longer than {MAX_MESSAGE}")
    text = whole[:-1].decode("utf-8")
    # As text inside JSON a character takes at most 4 bytes, or 2 when all of it is ASCII.
    step = (MAX_FRAME - 128) // (2 if text.isascii() else 4)
    for start in range(0, len(text), step):
        yield _line(
            {
                "part": number,
                "last": start + step >= len(text),
                "text": text[start : start + step],
            }
        )


def _line(message: Message) -> bytes:
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # half a character, as in a file's name that is not UTF-8
        return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


class Joiner:
    """Bytes in, whole messages out."""

    def __init__(self) -> None:
        self._rest = b""
        self._parts: dict[int, list[str]] = {}
        self._held = 0

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield each message that `data` completes; raises Garbled."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_FRAME:
            raise Garbled(f"a line longer than {MAX_FRAME} bytes")
        for line in lines:
            message = self._join(_parse(line))
            if message is not None:
                yield message

    def _join(self, frame: Message) -> Message | None:
        if "part" not in frame:
            return frame
        number, text = frame["part"], frame.get("text")
        if not isinstance(number, int) or not isinstance(text, str):
            raise Garbled("a part without its number or text")
        self._held += len(text)
        if self._held > 2 * MAX_MESSAGE or len(self._parts) > MAX_OPEN:
            raise Garbled("too much is held in parts")
        parts = self._parts.setdefault(number, [])
        parts.append(text)
        if not frame.get("last"):
            return None
        whole = "".join(self._parts.pop(number))
        self._held -= len(whole)
        return _parse(whole)


def _parse(line: bytes | str) -> Message:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise Garbled(f"not JSON: {line[:80]!r}") from error
    if not isinstance(message, dict):
        raise Garbled(f"not an object: {line[:80]!r}")
    return message


class Channel:
    """One link: `send` from any task, `receive` from one."""

    def __init__(self, reader: Readable, writer: Writable) -> None:
        self._reader = reader
        self._writer = writer
        self._joiner = Joiner()
        self._waiting: deque[tuple[Iterator[bytes], asyncio.Future[None] | None]] = deque()
        self._more = asyncio.Event()
        self._numbers = 0
        self._writing: asyncio.Task[None] | None = None
        self._gone: str | None = None

    async def send(self, message: Message) -> None:
        """Return once all of `message` is on its way; raises ConnectionError on a dead link."""
        if self._gone is not None:
            raise ConnectionError(self._gone)
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue(message, sent)
        await sent

    def post(self, message: Message) -> None:
        """Have a short message sent that nobody waits for; on a dead link it is dropped."""
        if self._gone is None:
            self._queue(message, None)

    def _queue(self, message: Message, sent: asyncio.Future[None] | None) -> None:
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())
        self._numbers += 1
        self._waiting.append((frames(message, self._numbers), sent))
        self._more.set()

    async def receive(self) -> list[Message] | None:
        """Return the next messages, or None at the link's end; raises Garbled."""
        while True:
            try:
                data = await self._reader.read(_READ)
            except (ConnectionError, OSError):
                return None
            if not data:
                return None
            messages = list(self._joiner.feed(data))
            if messages:
                return messages

    def close(self, why: str = "the link was closed") -> None:
        """Stop sending; whoever waits in `send` is told."""
        if self._gone is not None:
            return
        self._gone = why
        if self._writing is not None:
            self._writing.cancel()
        while self._waiting:
            _, sent = self._waiting.popleft()
            if sent is not None and not sent.done():
                sent.set_exception(ConnectionError(why))
        self._writer.close()

    async def _write(self) -> None:
        """Send a frame of each waiting message in turn; what waits together goes out as one."""
        while True:
            await self._more.wait()
            while self._waiting:
                turn = self._next_turn()
                try:
                    if turn:
                        self._writer.write(turn)
                        await self._writer.drain()
                except (ConnectionError, OSError) as error:
                    self.close(f"the link broke: {error}")
                    return
            self._more.clear()

    def _next_turn(self) -> bytes:
        """Return the next frames, at most one of each message; tell those that are sent whole."""
        turn: list[bytes] = []
        room = MAX_FRAME
        for _ in range(len(self._waiting)):
            if room <= 0:
                break
            lines, sent = self._waiting.popleft()
            try:
                line = next(lines, None)
            except ValueError as error:  # too long, or nothing JSON can say
                if sent is not None and not sent.done():
                    sent.set_exception(error)
                continue
            if line is None:
                if sent is not None and not sent.done():
                    sent.set_result(None)
                continue
            self._waiting.append((lines, sent))
            turn.append(line)
            room -= len(line)
        return b"".join(turn)
