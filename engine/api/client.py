"""The other end of the engine's socket: asks, and follows what changes over any reconnect.

Neighbours: wire.py (the lines), verbs.py (what an answer is), bot/ and engine/cli.py ask by it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from engine.api.verbs import VERBS, FollowChanges, Nothing, Verb
from engine.api.wire import (
    ANSWER,
    ENCODER,
    PUSH,
    Answer,
    Change,
    Gone,
    Missing,
    Ready,
    Request,
    WentAway,
    lines_of,
    reply,
    write,
)
from engine.asker import asker
from engine.errors import Refused, Unavailable
from engine.rules import retry
from engine.views import Note, OwnerView
from stores import database

log = logging.getLogger(__name__)

CALL_TIMEOUT_S: Final = 10.0
REDIAL_CAP_S: Final = 5.0


class Client:
    """Asks the engine; connects when first asked and again when the engine was away.

    timeout_s   how long one call may take, where the verb itself needs no longer
    pause       how to wait before dialling again
    """

    def __init__(
        self,
        path: Path,
        *,
        timeout_s: float = CALL_TIMEOUT_S,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        luck: Callable[[], float] = random.random,
    ) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._pause = pause
        self._luck = luck
        self._dialling = asyncio.Lock()
        self._writer: asyncio.StreamWriter | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._last = 0
        self._open: dict[int, asyncio.Future[Answer]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up; safe to repeat."""
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.cancel()
            await asyncio.wait([hearing])
        self._hang_up()

    async def call(self, verb: str, /, cause: str = "", **args: Any) -> Any:
        """Have the engine do one thing and return what it gives.

        raises   Refused with the engine's sentence. Unavailable when it is away or silent: whether
                 it was done is then not known, and asking again with the same cause is safe. Missing
                 when it answered that something else is away
        """
        known = VERBS.get(verb, Verb(Nothing))
        limit_s = max(self._timeout_s, known.patience_s)
        asking = f"asking {verb} {cause}".rstrip()
        database.boundary(f"before {asking}")
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._ask(verb, cause, args)
        except TimeoutError:
            raise Unavailable(f"The engine did not answer within {limit_s:.0f} s.") from None
        database.boundary(f"after {asking}")
        if answer.refused:
            raise Refused(answer.refused)
        if answer.unavailable:
            raise Missing(answer.unavailable)
        return msgspec.json.decode(answer.ok, type=known.gives)

    async def changes(self, notes_after: int) -> AsyncIterator[Change]:
        """Yield all live cards, Ready, and then every change, for ever, over any reconnect.

        What the owner set comes before all else, where it is not what was told last (or nothing).
        raises   Refused when the engine will not have us follow
        """
        failures = 0
        owner = OwnerView()
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(self._path)
            except OSError:
                failures += 1
            else:
                try:
                    args = msgspec.Raw(ENCODER.encode(FollowChanges(notes_after=notes_after)))
                    await reply(writer, Request(0, "changes", args))
                    async for line in lines_of(reader, writer):
                        failures = 0
                        change = _change(line)
                        if isinstance(change, Note):
                            notes_after = max(notes_after, change.n)
                        if isinstance(change, OwnerView):
                            owner, before = change, owner
                            if owner == before:
                                continue
                        if change is not None:
                            yield change
                finally:
                    writer.close()
                failures += 1
            wait_s = retry.wait_s(min(failures, retry.MAX_TRIES), self._luck(), REDIAL_CAP_S)
            await self._pause(wait_s or 0.0)

    async def _ask(self, verb: str, cause: str, args: dict[str, Any]) -> Answer:
        try:
            body = msgspec.Raw(ENCODER.encode(args))
        except UnicodeEncodeError as fault:
            odd = str(fault.object).encode("utf-8", "backslashreplace").decode()
            raise Refused(f"{odd} is no UTF-8: nothing was done.") from fault
        writer = await self._connected()
        self._last += 1
        number = self._last
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            await write(writer, Request(number, verb, body, cause, asker()))
            return await answer
        except ConnectionError as lost:
            raise WentAway("The engine went away while it was asked.") from lost
        finally:
            self._open.pop(number, None)

    async def _connected(self) -> asyncio.StreamWriter:
        async with self._dialling:
            if self._writer is None:
                try:
                    reader, writer = await asyncio.open_unix_connection(self._path)
                except OSError as away:
                    raise Unavailable("The engine is not running.") from away
                self._writer = writer
                self._hearing = asyncio.create_task(self._hear(reader, writer))
            return self._writer

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async for line in lines_of(reader, writer):
                answer = ANSWER.decode(line)
                if (asked := self._open.get(answer.id)) is not None and not asked.done():
                    asked.set_result(answer)
        except msgspec.MsgspecError as fault:
            log.warning("cannot read an answer: %s", fault)
        self._hang_up()

    def _hang_up(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        for asked in self._open.values():
            if not asked.done():
                asked.set_exception(WentAway("The engine went away before it answered."))


def _change(line: bytes) -> Change | None:
    """Return what a line tells, None for what only a newer engine's reader would understand."""
    try:
        push = PUSH.decode(line)
    except msgspec.MsgspecError as fault:
        log.warning("cannot read a change: %s", fault)
        return None
    if push.refused:
        raise Refused(push.refused)
    if push.gone:
        return Gone(push.gone)
    return Ready() if push.ready else push.card or push.note or push.owner
