"""One SQLite file: opened, checked and brought up to date; every write to it in one order.

All reads and writes of a file go through one connection on one thread (aiosqlite), so they run in
the order they were asked for. `write` runs a whole transaction in a single hop to that thread and is
what hot paths use; `transaction` hops once a statement and is for the rest. Both take the same lock,
since on one connection a second BEGIN fails.

`boundary` is the seam for crash tests: called before and after whatever must be able to die there.

Neighbours: ledger.py (the engine's file), cards.py (the bot's), vault.py; migrations/ holds the SQL.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import aiosqlite

from stores import soundness
from stores.unusable import Unusable

__all__ = ["Database", "Row", "Transaction", "Unusable", "boundary", "migrations"]

log = logging.getLogger(__name__)

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]

MIGRATION = re.compile(r"(\d{4})_([a-z]+)\.sql")
BUSY_S = 5.0
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
TABLE_PAGES_KIB = 8 * 1024
_ASIDE = (
    "It must be of the user that runs Quarterdeck, on a disk that is not full and not read-only."
)


def _nothing(what: str) -> None:
    """Do nothing: outside of crash tests nobody is called."""


# Looked up at each call, so a test may put in a function that raises at the k-th one.
boundary: Callable[[str], None] = _nothing


class Room(Protocol):
    """What is asked when the disk takes no write."""

    @property
    def short(self) -> bool:
        """Whether a write found no room, and none went through since."""
        ...

    async def none(self, read_only: bool) -> None:
        """There is no room, or nobody may write there; return when it is time to try again."""

    async def again(self) -> None:
        """A write went through again, be it another than those that found no room."""


class _Hopping(aiosqlite.Connection):
    """A connection that can also run several statements in one hop to its thread."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        # Whatever ends the process must end it: nobody waits for this thread.
        self._thread.daemon = True

    async def hop(self, work: Callable[[sqlite3.Connection], T]) -> T:
        done: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        return done


class Transaction:
    """What can be done inside one `async with database.transaction()`."""

    def __init__(self, connection: _Hopping) -> None:
        self._connection = connection

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one statement; return the number of rows it changed."""
        return await self._connection.hop(lambda c: c.execute(sql, parameters).rowcount)

    async def insert(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one INSERT; return the new row's id."""
        return await self._connection.hop(lambda c: c.execute(sql, parameters).lastrowid or 0)

    async def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of the rows."""
        await self._connection.hop(lambda c: c.executemany(sql, rows))

    async def fetch(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""
        return await self._connection.hop(lambda c: c.execute(sql, parameters).fetchall())


class Database:
    """One file in WAL mode, durable at each commit.

    kind            which migrations are its own: `NNNN_<kind>.sql`
    secure_delete   overwrite what is deleted, for files that held something secret
    room            asked when the disk is full or read-only, and the write tried again; without, it
                    raises
    """

    def __init__(
        self, path: Path, kind: str, *, secure_delete: bool = False, room: Room | None = None
    ) -> None:
        self._room = room
        self.path = path
        self._kind = kind
        self._secure_delete = secure_delete
        self._lock = asyncio.Lock()
        self._connection: _Hopping | None = None
        self._seen_whole = False

    async def open(self) -> Self:
        """Open or create the file, check it, migrate it. Raises Unusable."""
        while True:
            try:
                return await self._opened()
            except Unusable as unusable:
                fault = unusable.__cause__
                if self._room is None or fault is None or not is_full(fault):
                    raise
            await self._room.none(read_only=False)

    async def _opened(self) -> Self:
        # Over before the file is opened by other means: closing those would take SQLite's locks away.
        self._seen_whole = soundness.seen_whole(self.path)
        self._there_or_made()
        connection = _Hopping(self._connect)
        try:
            await connection
            self._connection = connection
            await connection.hop(self._ready)
        except sqlite3.DatabaseError as fault:
            await self.close()
            raise self._unusable(fault) from fault
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Close the file; safe to repeat."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def fetch(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query; never sees another's unfinished transaction."""
        async with self._lock:
            return await self._open.hop(lambda c: c.execute(sql, parameters).fetchall())

    async def write(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        what: str = "write",
        durable: bool = True,
        then: Callable[[T], None] | None = None,
    ) -> T:
        """Run `work` as one transaction on the connection's thread; return what it returns.

        what      a name for it, for crash tests
        durable   False: may be lost when the power fails, though not when we are killed. A later
                  durable commit carries it along, as the log is written in order
        then      called with the result once it is committed, even if the caller was cancelled by
                  then: who keeps a picture of the file in memory must not miss it
        """
        while True:
            read_only = False
            try:
                result = await self._written(work, what, durable, then)
            except sqlite3.OperationalError as fault:
                read_only = not is_full(fault)
                if self._room is None or (read_only and not is_read_only(fault, self.path)):
                    raise
            else:
                if self._room is not None and self._room.short:
                    await self._room.again()
                return result
            await self._room.none(read_only)

    async def _written(
        self,
        work: Callable[[sqlite3.Connection], T],
        what: str,
        durable: bool,
        then: Callable[[T], None] | None,
    ) -> T:
        async with self._lock:
            boundary(f"before {what}")
            hop = asyncio.ensure_future(self._open.hop(lambda c: _whole(c, work, durable)))
            cancelled = await _finished(hop)
            if cancelled is not None and self._room is not None and hop.exception() is not None:
                raise cancelled  # nothing is tried again for who does not wait any more
            result = hop.result()
            boundary(f"after {what}")
            if then is not None:
                then(result)
            if cancelled is not None:
                raise cancelled
            return result

    @asynccontextmanager
    async def transaction(self, what: str = "transaction") -> AsyncIterator[Transaction]:
        """Commit at the end of the block, or nothing at all when it raises or is cancelled.

        Cancelled while it commits, it may have committed all the same: repeats must do no harm.
        """
        async with self._lock:
            connection = self._open
            try:
                await connection.hop(lambda c: c.execute("BEGIN IMMEDIATE"))
                yield Transaction(connection)
                boundary(f"before {what}")
                await connection.hop(lambda c: c.execute("COMMIT"))
            except BaseException:
                # The thread works in order: a cancelled statement still ran before this one.
                await _finished(asyncio.ensure_future(connection.hop(_roll_back)))
                raise
            boundary(f"after {what}")

    @property
    def _open(self) -> _Hopping:
        if self._connection is None:
            raise RuntimeError(f"{self.path.name} is not open")
        return self._connection

    def _there_or_made(self) -> None:
        """Refuse what cannot be opened, and what is empty though it never was.

        A new file is put in its place by a rename, with its first page: an empty one was emptied.
        """
        name = self.path.name
        try:
            with self.path.open("r+b") as file:
                if not os.fstat(file.fileno()).st_size:
                    raise Unusable(f"{name} is damaged: it is empty.", lost=True)
        except FileNotFoundError:
            pass
        except IsADirectoryError:
            raise Unusable(
                f"{name} is damaged: a folder lies in its place. Move that away.", lost=True
            ) from None
        except OSError as error:
            raise Unusable(f"{name} cannot be opened ({error.strerror}). {_ASIDE}") from error
        else:
            return
        try:
            self._make()
        except (OSError, sqlite3.OperationalError) as error:
            raise Unusable(f"{name} cannot be made ({error}). {_ASIDE}") from error

    def _make(self) -> None:
        rough = self.path.with_name(f"{self.path.name}.new")
        rough.unlink(missing_ok=True)
        # Made by us first: SQLite would use the umask, and its -wal and -shm copy this mode.
        os.close(os.open(rough, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(rough, timeout=BUSY_S, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA user_version = 0")
        for suffix in ("-wal", "-shm"):  # of a file that is no more
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        rough.replace(self.path)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)

    def _ready(self, connection: sqlite3.Connection) -> None:
        """Set the connection up, check the file and migrate it; runs on the thread."""
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{TABLE_PAGES_KIB}")
        connection.execute(f"PRAGMA secure_delete = {'ON' if self._secure_delete else 'FAST'}")
        if not self._seen_whole and (found := soundness.fault(connection)):
            raise sqlite3.DatabaseError(found)
        self._migrate(connection)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        scripts = migrations(self._kind)
        if version > len(scripts):
            raise Unusable(
                f"{self.path.name} was written by a newer Quarterdeck (its format is {version}, "
                f"this one knows {len(scripts)}): update Quarterdeck, or restore an older backup."
            )
        for number, script in enumerate(scripts[version:], start=version + 1):
            log.info("migrating file=%s to=%d", self.path.name, number)
            try:
                connection.executescript(
                    f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;"
                )
            except BaseException:
                _roll_back(connection)
                raise

    def _unusable(self, fault: sqlite3.DatabaseError) -> Unusable:
        name = self.path.name
        if isinstance(fault, sqlite3.OperationalError):
            return Unusable(f"{name} cannot be opened ({fault}). {_ASIDE}")
        return Unusable(f"{name} is damaged ({fault}). Nothing was changed.", lost=True)


def is_full(fault: BaseException) -> bool:
    """Return whether it is room on the disk that was missing."""
    if isinstance(fault, OSError):
        return fault.errno in NO_ROOM
    code = getattr(fault, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE


def is_read_only(fault: sqlite3.Error, path: Path) -> bool:
    """Return whether a write failed since nobody may write to that disk: it was made so meanwhile.

    SQLite tells only that the write failed, as it does of a disk that breaks: so the disk is asked.
    """
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    if code not in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return False
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def migrations(kind: str) -> list[str]:
    """Return the SQL of one kind of file, in order; numbers run from 1 without a gap."""
    found = {
        int(match[1]): entry.read_text(encoding="utf-8")
        for entry in Path(__file__).with_name("migrations").iterdir()
        if (match := MIGRATION.fullmatch(entry.name)) and match[2] == kind
    }
    if sorted(found) != list(range(1, len(found) + 1)) or not found:
        raise ValueError(f"migrations of {kind!r} are numbered {sorted(found)}")
    return [found[number] for number in sorted(found)]


def _whole(
    connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], durable: bool
) -> T:
    if not durable:
        connection.execute("PRAGMA synchronous = NORMAL")
    try:
        connection.execute("BEGIN IMMEDIATE")
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise
    finally:
        if not durable:
            connection.execute("PRAGMA synchronous = FULL")
    return result


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


async def _finished(hop: asyncio.Future[Any]) -> asyncio.CancelledError | None:
    """Wait until the hop is done, come what may; return the cancellation that came meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    while not hop.done():
        try:
            await asyncio.wait([hop])
        except asyncio.CancelledError as asked:
            cancelled = asked
    return cancelled
