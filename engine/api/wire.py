"""What goes over the socket, a JSON value a line, and how lines are read and written.

Neighbours: server.py and client.py, its two ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from engine.asker import Asker
from engine.errors import Unavailable
from engine.views import AnyCard, Note, OwnerView

MAX_LINE: Final = 16 * 1024 * 1024
READ_AHEAD: Final = 64 * 1024


class Request(Struct, frozen=True):
    id: int
    do: str
    args: msgspec.Raw = msgspec.Raw(b"{}")
    cause: str = ""
    by: Asker | None = None


class Answer(Struct, frozen=True, omit_defaults=True):
    id: int
    ok: msgspec.Raw = msgspec.Raw(b"null")  # a Raw cannot be optional
    refused: str = ""
    unavailable: str = ""


class WentAway(Unavailable):
    """The engine ended with a request under way: by chance, or because of it."""


class Missing(Unavailable):
    """The engine is there and answered: something else, which it names, did not."""


class Gone(Struct, frozen=True):
    """A card that is no more."""

    id: str


class Ready(Struct, frozen=True):
    """All that was live has come; what follows are changes. Comes anew after each reconnect."""


class Push(Struct, frozen=True, omit_defaults=True):
    card: AnyCard | None = None
    note: Note | None = None
    owner: OwnerView | None = None
    gone: str = ""
    ready: bool = False
    refused: str = ""


Clean: TypeAlias = Callable[[bytes], bytes]
Change: TypeAlias = AnyCard | Note | OwnerView | Gone | Ready
REQUEST = msgspec.json.Decoder(Request)
ANSWER = msgspec.json.Decoder(Answer)
PUSH = msgspec.json.Decoder(Push)
ENCODER = msgspec.json.Encoder()


async def write(
    writer: asyncio.StreamWriter, value: Struct, clean: Clean = lambda line: line
) -> None:
    """Send a line; `clean` takes out of it what must not be shown."""
    writer.write(clean(ENCODER.encode(value)) + b"\n")
    await writer.drain()


async def lines_of(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[bytes]:
    """Yield whole lines until the other end closes or sends one too long.

    Not by readline: its limit is also how much is read ahead of a slow consumer, twice over.
    """
    parts: list[bytes] = []
    held = 0
    while True:
        try:
            chunk = await reader.read(READ_AHEAD)
        except ConnectionError:
            return
        if not chunk:
            return  # what has no end was cut off
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join((*parts, line))
            parts.clear()
            held = 0
        parts.append(rest)
        held += len(rest)
        if held > MAX_LINE:
            await reply(writer, Answer(0, refused="That line is longer than 16 MiB."))
            return


async def reply(
    writer: asyncio.StreamWriter, value: Struct, clean: Clean = lambda line: line
) -> None:
    """Send an answer; nobody being there to hear it any more is no fault of ours."""
    with suppress(ConnectionError):
        await write(writer, value, clean)
