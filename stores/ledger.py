"""What happened, where every stream stands, what is owed to the outside, and who decided what: one file, one commit.

Knows streams, causes and bodies of bytes, not what they mean. An event, the state it makes and the
effects owed for it go in together or not at all; a cause that is in already changes nothing.

One thing is kept beside the file: which event is being decided right now, in `<file>-trying`. Should
deciding it end the process, the next start counts that as a death of that event. A plain write into
the page cache outlives us as a commit would, at a hundredth of its price; that a power failure may
lose it does no harm.

Neighbours: database.py below, engine/loop.py above.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from stores.database import NO_ROOM, Database

GAVE_UP = ".gave_up"  # how the cause ends by which an effect was given up
NOTES_AT_ONCE = 200
DECISIONS_AT_ONCE = 500
SLOT_BYTES = 4096
TAKES_NOTHING = (*NO_ROOM, errno.EROFS)


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decided what, of which goal; stored with what it led to."""

    goal: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Step:
    """One event and all that follows from it. `state` None: the stream stays where it was."""

    stream: str
    cause: str
    at: float
    event: bytes
    state: bytes | None
    effects: tuple[tuple[bytes, float], ...] = ()  # body, due_at
    decision: Decision | None = None


Ids = list[list[int]] | None  # of the effects of each step; None: it was stored before


@dataclass(frozen=True, slots=True)
class Entry:
    """Steps that belong together: all are stored or none is.

    done        an effect that is done by this, and when
    position    a run, and how far it has been read with this
    """

    steps: Sequence[Step]
    done: tuple[int, float] | None = None
    position: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Owed:
    """An effect not done yet. `deaths`: tries begun since the last answer and never ended."""

    id: int
    stream: str
    body: bytes
    due_at: float
    tries: int
    deaths: int


@dataclass(frozen=True, slots=True)
class BrokenStream:
    """A stream whose event ended the engine more than once; `dropped`: its events are let go."""

    stream: str
    cause: str
    why: str
    at: float
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A line for the owner, as it was noted."""

    n: int
    goal: str
    kind: str
    text: str
    who: str
    sounds: bool
    at: float


@dataclass(frozen=True, slots=True)
class Logged:
    """An event as the log has it."""

    n: int
    stream: str
    cause: str
    at: float
    body: bytes


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A decision as it was stored."""

    n: int
    at: float
    cause: str
    stream: str
    goal: str
    body: bytes


class Ledger:
    """The engine's durable memory."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self._slot = -1
        self._deaths: dict[str, int] = {}  # of causes that are not in the log
        self._streams: dict[str, str] = {}  # their streams
        self._died_at: dict[str, float] = {}  # as they stood when we opened; the oldest first
        self._latest: deque[NoteRow] = deque(maxlen=NOTES_AT_ONCE)

    async def open(self) -> Self:
        """Count the death of an event that was being decided when we ended."""
        path = self._file.path.with_name(self._file.path.name + "-trying")
        self._slot = _slot(path)
        cut_off = _read_slot(os.pread(self._slot, 64 * 1024, 0)) if self._slot >= 0 else None
        if cut_off is not None:
            await self._file.write(lambda c: _count_death(c, *cut_off), what="count of a death")
            self.end_try()
        rows = await self._file.fetch("SELECT cause, stream, tries, mark FROM tries ORDER BY mark")
        self._deaths = {cause: tries for cause, _, tries, _ in rows}
        self._streams = {cause: stream for cause, stream, _, _ in rows}
        self._died_at = {cause: mark / 1e9 for cause, _, _, mark in rows}
        self._latest.extend(reversed(await self._noted("ORDER BY n DESC LIMIT ?", NOTES_AT_ONCE)))
        return self

    def close(self) -> None:
        """Let go of the file beside the database; safe to repeat."""
        if self._slot >= 0:
            os.close(self._slot)
            self._slot = -1

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ events

    def begin_try(self, stream: str, cause: str) -> None:
        """Note that this event is being decided; a death from here on is its own."""
        line = json.dumps([time.time_ns(), stream, cause]) + "\n"
        self._note(line.encode())

    def end_try(self) -> None:
        """Note that nothing is being decided."""
        self._note(b"\0")

    def _note(self, what: bytes) -> None:
        """Write into the file beside; where a disk takes nothing, no death is counted and none is made."""
        if self._slot >= 0:
            try:
                os.pwrite(self._slot, what, 0)
            except OSError as fault:
                if fault.errno not in TAKES_NOTHING:
                    raise

    def killers(self, deaths: int) -> dict[str, str]:
        """Return the causes that ended us at least so often, each with its stream."""
        return {cause: self._streams[cause] for cause, n in self._deaths.items() if n >= deaths}

    def deadly(self, deaths: int, within_s: float) -> dict[str, str]:
        """Return the streams that ended us so often in a row of hours, each with its last cause.

        What is told anew in each life, under a cause of that life, never dies twice of one cause.
        """
        last = {self._streams[cause]: cause for cause in self._died_at if cause in self._streams}
        return {
            stream: cause
            for stream, cause in last.items()
            if deaths
            <= sum(
                self._deaths[other]
                for other, of in self._streams.items()
                if of == stream and self._died_at[other] > self._died_at[cause] - within_s
            )
        }

    async def commit(
        self,
        entries: Sequence[Entry],
        *,
        what: str = "commit",
        then: Callable[[list[Ids]], None] | None = None,
    ) -> list[Ids] | None:
        """Store the entries as one; return for each of them the ids of its steps' effects.

        An entry whose first cause is known was stored before, and None stands for its ids: its effect
        is done and its position is moved all the same. Among several entries it has all of them left
        unstored, and None is returned: what stands beside it may rest on what it was taken to change.

        then   called with the ids once all is stored, even if the caller was cancelled
        """
        causes = [step.cause for entry in entries for step in entry.steps]
        died = [cause for cause in causes if cause in self._deaths]

        def work(connection: sqlite3.Connection) -> list[Ids] | None:
            if len(entries) > 1 and (
                len(set(causes)) < len(causes) or any(_is_known(connection, e) for e in entries)
            ):
                return None
            ids = [_store(connection, entry) for entry in entries]
            for cause in died:
                connection.execute("DELETE FROM tries WHERE cause = ?", (cause,))
            return ids

        def stored(ids: list[Ids] | None) -> None:
            if ids is None:
                return
            for cause in died:
                self._deaths.pop(cause, None)
                self._streams.pop(cause, None)
            if then is not None:
                then(ids)

        return await self._file.write(work, what=what, then=stored)

    async def knows(self, cause: str) -> bool:
        return bool(await self._file.fetch("SELECT 1 FROM events WHERE cause = ?", (cause,)))

    async def history(self, stream: str, after: int = 0) -> list[Logged]:
        """Return the events of one stream, oldest first."""
        sql = "SELECT n, stream, cause, at, body FROM events WHERE stream = ? AND n > ? ORDER BY n"
        return [Logged(*row) for row in await self._file.fetch(sql, (stream, after))]

    async def given_up(self, since: float, most: int = 5) -> list[Logged]:
        """Return the events by which effects were given up since then, the newest first."""
        sql = (
            "SELECT n, stream, cause, at, body FROM events "
            "WHERE at >= ? AND cause LIKE 'effect:%' || ? ORDER BY n DESC LIMIT ?"
        )
        return [Logged(*row) for row in await self._file.fetch(sql, (since, GAVE_UP, most))]

    async def states(self) -> dict[str, bytes]:
        """Return where every stream stands."""
        return dict(await self._file.fetch("SELECT stream, body FROM states"))

    # ------------------------------------------------------------ streams set aside

    async def broken(self) -> dict[str, BrokenStream]:
        rows = await self._file.fetch("SELECT stream, cause, why, at, dropped FROM broken")
        return {
            stream: BrokenStream(stream, cause, why, at, bool(dropped))
            for stream, cause, why, at, dropped in rows
        }

    async def set_aside(self, broken: BrokenStream, decision: Decision | None = None) -> None:
        """Remember a stream as broken, or as dropped, and whose decision that was."""
        sql = (
            "INSERT OR REPLACE INTO broken (stream, cause, why, at, dropped) VALUES (?, ?, ?, ?, ?)"
        )
        row = (broken.stream, broken.cause, broken.why, broken.at, broken.dropped)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(sql, row)
            _decided(connection, broken.at, "", broken.stream, decision)

        await self._file.write(work, what="set aside")

    async def mend(self, stream: str, at: float = 0.0, decision: Decision | None = None) -> None:
        """Forget that a stream was broken, and the deaths of its events."""

        def work(connection: sqlite3.Connection) -> None:
            _decided(connection, at, "", stream, decision)
            connection.execute("DELETE FROM broken WHERE stream = ?", (stream,))
            connection.execute("DELETE FROM tries WHERE stream = ?", (stream,))

        await self._file.write(work, what="mend")
        for cause in [c for c, of in self._streams.items() if of == stream]:
            del self._deaths[cause], self._streams[cause]

    # ------------------------------------------------------------ effects

    async def owed(self) -> list[Owed]:
        """Return all effects not done yet, oldest first."""
        sql = (
            "SELECT id, stream, body, due_at, tries, deaths FROM effects "
            "WHERE done_at IS NULL ORDER BY id"
        )
        return [Owed(*row) for row in await self._file.fetch(sql)]

    async def tried(self, effect: int) -> None:
        """Count a try before it is made."""
        await self._change("UPDATE effects SET deaths = deaths + 1 WHERE id = ?", effect)

    async def answered(self, effect: int) -> None:
        """Count no more deaths of a try that was answered, if only that it cannot be made now."""
        await self._change("UPDATE effects SET deaths = 0 WHERE id = ?", effect)

    async def spare(self, effects: Sequence[int]) -> None:
        """Take back the count of tries that we ended ourselves."""
        sql = "UPDATE effects SET deaths = max(deaths - 1, 0) WHERE id = ?"
        rows = [(effect,) for effect in effects]
        await self._file.write(lambda c: c.executemany(sql, rows).rowcount, what="spare")

    async def postpone(self, effect: int, due_at: float) -> None:
        """Count a try that was not answered, and name the time of the next."""
        sql = "UPDATE effects SET tries = tries + 1, deaths = 0, due_at = ? WHERE id = ?"
        await self._change(sql, due_at, effect)

    async def done(self, effect: int, at: float) -> None:
        await self._file.write(lambda c: _finish(c, effect, at), what=f"done {effect}")

    # ------------------------------------------------------------ notes

    async def note(
        self,
        effect: int,
        *,
        goal: str,
        kind: str,
        text: str,
        who: str,
        sounds: bool,
        at: float,
    ) -> None:
        """Keep a line for the owner and have its effect done; a repeat keeps the first."""
        sql = (
            "INSERT INTO notes (effect, goal, kind, text, who, sounds, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (effect) DO NOTHING"
        )

        def work(connection: sqlite3.Connection) -> int:
            added = connection.execute(sql, (effect, goal, kind, text, who, sounds, at))
            _finish(connection, effect, at)
            return (added.lastrowid or 0) if added.rowcount == 1 else 0

        def stored(n: int) -> None:
            if n:
                self._latest.append(NoteRow(n, goal, kind, text, who, sounds, at))

        await self._file.write(work, what=f"note {effect}", then=stored)

    async def notes(self, after: int, limit: int = NOTES_AT_ONCE) -> list[NoteRow]:
        """Return the notes past number `after`, oldest first, at most `limit`.

        Those told last are at hand: what is about to be said need not wait for what is being stored.
        """
        if not self._latest or after >= self._latest[0].n - 1:
            return [row for row in self._latest if row.n > after][:limit]
        return await self._noted("WHERE n > ? ORDER BY n LIMIT ?", after, limit)

    async def _noted(self, which: str, *parameters: int) -> list[NoteRow]:
        sql = f"SELECT n, goal, kind, text, who, sounds, at FROM notes {which}"
        return [
            NoteRow(n, goal, kind, text, who, bool(sounds), at)
            for n, goal, kind, text, who, sounds, at in await self._file.fetch(sql, parameters)
        ]

    # ------------------------------------------------------------ counters, positions, age

    async def take(self, kind: str, count: int = 1) -> list[int]:
        """Return numbers nobody had before, counted from 1 for each kind; they need not be used."""
        sql = (
            "INSERT INTO counters (kind, next) VALUES (?, 1 + ?) "
            "ON CONFLICT (kind) DO UPDATE SET next = next + ? RETURNING next"
        )

        def work(connection: sqlite3.Connection) -> int:
            (after,) = connection.execute(sql, (kind, count, count)).fetchone()
            return int(after)

        # What uses a number is committed after it, and so never without it.
        after = await self._file.write(work, what=f"take {kind}", durable=False)
        return list(range(after - count, after))

    async def positions(self) -> dict[str, int]:
        """Return how far each run has been read."""
        return dict(await self._file.fetch("SELECT run, position FROM positions"))

    async def set_position(self, run: str, position: int) -> None:
        """Move a run's position without an event; lost at power off, it is read again."""
        await self._file.write(
            lambda c: _move(c, run, position), what=f"position of {run}", durable=False
        )

    async def forget_position(self, run: str) -> None:
        await self._change("DELETE FROM positions WHERE run = ?", run)

    # ------------------------------------------------------------ decisions

    async def decisions(
        self, since: float, goal: str = "", after: int = 0, most: int = DECISIONS_AT_ONCE
    ) -> list[DecisionRow]:
        """Return the decisions since then, past number `after`, oldest first; `goal` "": of all."""
        sql = (
            "SELECT n, at, cause, stream, goal, body FROM decisions "
            "WHERE at >= ? AND (? = '' OR goal = ?) AND n > ? ORDER BY n LIMIT ?"
        )
        found = await self._file.fetch(sql, (since, goal, goal, after, most))
        return [DecisionRow(*row) for row in found]

    async def decide(self, at: float, cause: str, decision: Decision) -> None:
        """Keep a decision that is carried out elsewhere than here; a repeat keeps the first."""

        def work(connection: sqlite3.Connection) -> None:
            known = connection.execute("SELECT 1 FROM decisions WHERE cause = ?", (cause,))
            if known.fetchone() is None:
                _decided(connection, at, cause, "", decision)

        await self._file.write(work, what="decision")

    async def decided(self, cause: str) -> bool:
        """Return whether a decision of this cause was written down."""
        return bool(await self._file.fetch("SELECT 1 FROM decisions WHERE cause = ?", (cause,)))

    async def retain(self, before: float, decided_before: float = 0.0) -> None:
        """Let go of events, notes and done effects older than `before`; states stay.

        A cause let go of is no longer known: `before` must lie well past any redelivery.

        decided_before   decisions older than this go too
        """

        def work(connection: sqlite3.Connection) -> None:
            for sql in (
                "DELETE FROM events WHERE at < ?",
                "DELETE FROM notes WHERE at < ?",
                "DELETE FROM effects WHERE done_at < ?",
            ):
                connection.execute(sql, (before,))
            connection.execute("DELETE FROM decisions WHERE at < ?", (decided_before,))

        await self._file.write(work, what="retain")
        while self._latest and self._latest[0].at < before:
            self._latest.popleft()

    async def _change(self, sql: str, *parameters: object) -> None:
        await self._file.write(
            lambda c: c.execute(sql, parameters).rowcount, what=sql.split(" ", 1)[0], durable=False
        )


def _knows(connection: sqlite3.Connection, cause: str) -> bool:
    return (
        connection.execute("SELECT 1 FROM events WHERE cause = ?", (cause,)).fetchone() is not None
    )


def _is_known(connection: sqlite3.Connection, entry: Entry) -> bool:
    return bool(entry.steps) and _knows(connection, entry.steps[0].cause)


def _store(connection: sqlite3.Connection, entry: Entry) -> Ids:
    known = _is_known(connection, entry)
    ids = None if known else [_take_in(connection, step) for step in entry.steps]
    if entry.done is not None:
        _finish(connection, *entry.done)
    if entry.position is not None:
        _move(connection, *entry.position)
    return ids


def _take_in(connection: sqlite3.Connection, step: Step) -> list[int]:
    """Store one step and return the ids of its effects."""
    n = connection.execute(
        "INSERT INTO events (stream, cause, at, body) VALUES (?, ?, ?, ?)",
        (step.stream, step.cause, step.at, step.event),
    ).lastrowid
    if step.state is not None:
        connection.execute(
            "INSERT INTO states (stream, body, n) VALUES (?, ?, ?) "
            "ON CONFLICT (stream) DO UPDATE SET body = excluded.body, n = excluded.n",
            (step.stream, step.state, n),
        )
    _decided(connection, step.at, step.cause, step.stream, step.decision)
    sql = "INSERT INTO effects (stream, n, body, due_at) VALUES (?, ?, ?, ?)"
    return [
        connection.execute(sql, (step.stream, n, body, due_at)).lastrowid or 0
        for body, due_at in step.effects
    ]


def _decided(
    connection: sqlite3.Connection, at: float, cause: str, stream: str, made: Decision | None
) -> None:
    if made is not None:
        connection.execute(
            "INSERT INTO decisions (at, cause, stream, goal, body) VALUES (?, ?, ?, ?, ?)",
            (at, cause, stream, made.goal, made.body),
        )


def _finish(connection: sqlite3.Connection, effect: int, at: float) -> None:
    connection.execute(
        "UPDATE effects SET done_at = ? WHERE id = ? AND done_at IS NULL", (at, effect)
    )


def _move(connection: sqlite3.Connection, run: str, position: int) -> None:
    connection.execute(
        "INSERT INTO positions (run, position) VALUES (?, ?) "
        "ON CONFLICT (run) DO UPDATE SET position = excluded.position",
        (run, position),
    )


def _slot(path: Path) -> int:
    """Open the file beside the ledger, with room in it for any try; -1 where there is no room for it."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not os.fstat(handle).st_size:
                os.pwrite(handle, bytes(SLOT_BYTES), 0)
        except OSError:
            os.close(handle)
            raise
    except OSError as fault:
        if fault.errno not in TAKES_NOTHING:
            raise
        return -1
    return handle


def _read_slot(found: bytes) -> tuple[int, str, str] | None:
    """Return the mark, stream and cause of the try that never ended, if there is one."""
    line, end, _ = found.partition(b"\n")
    if not end or line.startswith(b"\0"):
        return None
    try:
        match json.loads(line):
            case [int(mark), str(stream), str(cause)]:
                return mark, stream, cause
    except ValueError:
        pass
    return None  # torn by a power failure: nobody's death


def _count_death(connection: sqlite3.Connection, mark: int, stream: str, cause: str) -> None:
    if _knows(connection, cause):
        return
    connection.execute(
        "INSERT INTO tries (cause, stream, tries, mark) VALUES (?, ?, 1, ?) "
        "ON CONFLICT (cause) DO UPDATE SET tries = tries + 1, mark = excluded.mark "
        "WHERE mark <> excluded.mark",
        (cause, stream, mark),
    )
