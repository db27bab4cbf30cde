"""The vault: the owner's keys, each encrypted by itself in vault.sqlite3.

Only the engine opens it. A row is bound to its name, version, scope and time, so one moved, swapped or
changed on disk is refused, and the others stay readable. A new value of a name keeps the older ones until
the name is forgotten; what is forgotten is overwritten, in the file and in its journal. A whole file put
back as it once was is not told from a restored one: that is what backups are.

    create_keys(home)                      once, at setup
    seal(public, bytes) -> bytes           the bot, with the public half alone
    Opener(private).open(sealed) -> bytes  the engine
    Vault(database, private)               put, get, use, names, listed, values, move, rename, forget

The boxes are sealing.py's, the rows vault_rows.py's, a new key rotation.py's; the file is database.py's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from stores.database import Database, Row
from stores.sealing import NotOpened, Opener, create_keys, read_key, seal
from stores.vault_rows import COLUMNS, FIRST_FORM, Cipher, Kept

__all__ = ["NotOpened", "Opener", "Secret", "Vault", "create_keys", "read_key", "seal"]

MOST_NAMESAKES: Final = 1000
KINDS: Final = ("project/", "machine/")
OWN: Final = ("forge/", "machines/")  # how names of this box's own keys begin, and their scopes
# Words are read as bytes: one that was changed into no UTF-8 is to be refused by itself, not all with it.
_OF: Final = (
    "SELECT newest.body, CAST(secrets.name AS BLOB), version, CAST(scope AS BLOB), form, secrets.body,"
    " at, used FROM (SELECT ? AS name) AS one LEFT JOIN newest ON newest.name = one.name"
    " LEFT JOIN secrets ON secrets.name = one.name ORDER BY version DESC"
)
_NAMES: Final = (
    "SELECT CAST(name AS BLOB) FROM secrets UNION SELECT CAST(name AS BLOB) FROM newest ORDER BY 1"
)


class Secret(Struct, frozen=True, kw_only=True):
    """What may be told of a name: all but its value.

    scope      "" everywhere, or project/NAME, or machine/NAME; of our own keys, where we sign in
    version    the newest, `versions` counts all
    used       when it was last handed to a run; 0 = never
    refused    why the newest cannot be used; "" = it can
    damaged    older versions that cannot be opened
    """

    name: str
    scope: str
    version: int
    versions: int
    at: float
    used: float = 0.0
    refused: str = ""
    damaged: tuple[int, ...] = ()


class Vault:
    """All secrets, by name; values leave it only through `get` and `use`, and all of them by `values`.

    on_change  told when there is another value, or one less; what must not be shown is known then (scrub.py)
    database   `Database(home.vault_db, "vault", secure_delete=True)`, open
    private    the vault's key
    """

    def __init__(self, database: Database, private: bytes) -> None:
        self._database = database
        self._cipher = Cipher(private)
        self.on_change: Callable[[], Awaitable[None]] | None = None

    async def put(
        self, name: str, value: str, at: float, *, scope: str = "", replace: bool = False
    ) -> str:
        """Keep a value and return the name it is kept under.

        The same value under the same name is kept once. Another value becomes the name's next version
        with `replace`, and has its scope; else it takes the next free name (NAME_2, NAME_3, …), so that a
        paste never changes what a key's name stands for.

        raises  NotOpened when a key of that name can have no such scope
        """
        _check(name, scope)
        kept = await self._database.write(
            self._putting(name, value, at, scope, replace), what="secret"
        )
        await self._changed()
        return kept

    async def _changed(self) -> None:
        if self.on_change is not None:
            await self.on_change()

    def _putting(
        self, name: str, value: str, at: float, scope: str, replace: bool
    ) -> Callable[[sqlite3.Connection], str]:
        def work(connection: sqlite3.Connection) -> str:
            free, held = self._free(connection, name, value, replace)
            if not held:
                rows, newest = _of(connection, free)
                last = max([row.version for row in rows] + [self._said(free, newest)])
                where = rows[0].scope if rows and not scope else scope
                self._store(connection, self._cipher.row(free, last + 1, where, value, at))
            return free

        return work

    async def name_for(self, name: str, value: str, *, replace: bool = False) -> str:
        """Return the name that `put` would keep a value under now."""
        return await self._database.write(
            lambda connection: self._free(connection, name, value, replace)[0],
            what="secret's name",
            durable=False,
        )

    def _free(
        self, connection: sqlite3.Connection, name: str, value: str, replace: bool
    ) -> tuple[str, bool]:
        """Return the name to keep a value under, and whether it stands there already."""
        for number in range(1, MOST_NAMESAKES):
            free = name if number == 1 else f"{name}_{number}"
            rows, newest = _of(connection, free)
            if rows and self._holds(free, rows, newest, value):
                return free, True
            if replace or not (rows or newest):
                return free, False
        raise NotOpened(f"There are too many secrets named {name}: forget some of them first.")

    def _holds(self, name: str, rows: list[Kept], newest: bytes | None, value: str) -> bool:
        try:
            return self._cipher.value(self._newest(name, rows, newest)) == value
        except NotOpened:
            return False  # a damaged row keeps its name, and is never written over by a paste

    def _said(self, name: str, newest: bytes | None) -> int:
        return self._cipher.is_newest(name, newest) if newest else 0

    def _store(self, connection: sqlite3.Connection, row: Kept) -> None:
        connection.execute(f"INSERT INTO secrets ({COLUMNS}) VALUES (?,?,?,?,?,?,?)", astuple(row))
        connection.execute(
            "INSERT OR REPLACE INTO newest (name, body) VALUES (?, ?)",
            (row.name, self._cipher.newest(row.name, row.version)),
        )

    def _newest(self, name: str, rows: list[Kept], newest: bytes | None) -> Kept:
        """Return the row that is a name's newest; raises NotOpened where it was taken away."""
        if newest is None and len(rows) == 1 and rows[0].form == FIRST_FORM:
            return rows[0]  # from before a newest was written down
        if rows and rows[0].version == self._said(name, newest):
            return rows[0]
        if rows:
            self._cipher.value(rows[0])  # says so, where it is this row that does not open
        raise NotOpened(
            f"The secret {name} cannot be used: its newest version was taken away or changed on disk. "
            "Forget it and give it again; the others are not touched."
        )

    async def get(self, name: str, version: int = 0) -> str | None:
        """Return the newest value, or that of a version; None when there is none.

        raises  NotOpened when the row was changed or taken away, or belongs to another key
        """
        rows, newest = await self._rows(name)
        if version:
            return next((self._cipher.value(row) for row in rows if row.version == version), None)
        if not rows and newest is None:
            return None
        return self._cipher.value(self._newest(name, rows, newest))

    async def use(
        self, name: str, at: float, *, project: str = "", machine: str = ""
    ) -> str | None:
        """Return the newest value for a run there, and note that it was used.

        raises  NotOpened also when its scope does not reach there, as that of our own keys never does
        """
        if is_own(name):
            raise NotOpened(f"{name} is a key of Quarterdeck's own: no run is given it.")
        value = await self.get(name)
        if value is None:
            return None
        rows, _ = await self._rows(name)
        scope = rows[0].scope
        if scope and scope not in (f"project/{project}", f"machine/{machine}"):
            raise NotOpened(f"The secret {name} is for {in_words(scope)} only: /keys changes that.")
        await self._database.write(
            lambda c: c.execute(
                "UPDATE secrets SET used = ? WHERE name = ? AND version = ?",
                (at, name, rows[0].version),
            ),
            what="secret used",
            durable=False,
        )
        return value

    async def values(self) -> list[tuple[str, str]]:
        """Return every value that can be opened, the older ones too, each with its name."""
        found = []
        for name in await self.names():
            rows, _ = await self._rows(name)
            found += [(name, self._cipher.value(row)) for row in rows if self._opens(row)]
        return found

    async def names(self) -> list[str]:
        """Return all names, sorted; never a value."""
        return [_text(name) for (name,) in await self._database.fetch(_NAMES)]

    async def listed(self) -> list[Secret]:
        """Return what may be told of every name, sorted; each is opened to see whether it can be."""
        return [self._told(name, *await self._rows(name)) for name in await self.names()]

    def _told(self, name: str, rows: list[Kept], newest: bytes | None) -> Secret:
        refused = ""
        try:
            self._cipher.value(self._newest(name, rows, newest))
        except NotOpened as no:
            refused = no.sentence
        return Secret(
            name=name,
            scope=rows[0].scope if rows else "",
            version=rows[0].version if rows else 0,
            versions=len(rows),
            at=rows[0].at if rows else 0.0,
            used=max((row.used for row in rows), default=0.0),
            refused=refused,
            damaged=tuple(row.version for row in rows[1:] if not self._opens(row)),
        )

    def _opens(self, row: Kept) -> bool:
        try:
            self._cipher.value(row)
        except NotOpened:
            return False
        return True

    async def move(self, name: str, scope: str) -> bool:
        """Give a name, with all its versions, another scope; return whether there is such a name.

        raises  NotOpened when one of them cannot be opened, or it can have no such scope
        """
        _check(name, scope)

        def work(connection: sqlite3.Connection) -> bool:
            rows, newest = _of(connection, name)
            if not rows:
                return False
            self._newest(name, rows, newest)
            for row in rows:
                moved = self._cipher.row(name, row.version, scope, self._cipher.value(row), row.at)
                write_over(connection, moved)
            last = self._cipher.newest(name, rows[0].version)
            connection.execute("INSERT OR REPLACE INTO newest VALUES (?, ?)", (name, last))
            return True

        return await self._database.write(work, what="secret moved")

    async def scope(self, name: str) -> str:
        """Return where a name may be used; "" also where there is none of it."""
        rows, _ = await self._rows(name)
        return rows[0].scope if rows else ""

    async def rename(self, name: str, new: str) -> bool:
        """Call a secret otherwise, with all its versions; return whether there is such a name.

        raises  NotOpened when one of them cannot be opened, or the new name is another's
        """

        def work(connection: sqlite3.Connection) -> bool:
            rows, newest = _of(connection, name)
            if not rows:
                return False
            _check(new, rows[0].scope)
            if any(_of(connection, new)):
                raise NotOpened(f"There is a secret named {new} already: take another name.")
            self._newest(name, rows, newest)
            for row in rows:
                moved = self._cipher.row(
                    new, row.version, row.scope, self._cipher.value(row), row.at
                )
                self._store(connection, replace(moved, used=row.used))
            last = self._cipher.newest(new, rows[0].version)
            connection.execute("INSERT OR REPLACE INTO newest VALUES (?, ?)", (new, last))
            for table in ("secrets", "newest"):
                connection.execute(f"DELETE FROM {table} WHERE name = ?", (name,))
            return True

        found = await self._database.write(work, what="secret renamed")
        await self._changed()
        return found

    async def forget(self, name: str) -> bool:
        """Delete a name with all its versions, overwriting them; return whether there was one."""

        def work(connection: sqlite3.Connection) -> bool:
            raws = [raw for (raw,) in connection.execute(_NAMES).fetchall() if _text(raw) == name]
            for raw in raws:
                for table in ("secrets", "newest"):
                    connection.execute(f"DELETE FROM {table} WHERE CAST(name AS BLOB) = ?", (raw,))
            return bool(raws)

        was_there = await self._database.write(work, what="forget")
        # The journal still holds the pages as they were: nothing of it stays either.
        await self._database.fetch("PRAGMA wal_checkpoint(TRUNCATE)")
        await self._changed()
        return was_there

    def close_anew(self, connection: sqlite3.Connection, after: Cipher) -> None:
        """Close every row with another key, within rotation.py's commit; raises NotOpened."""
        for raw in [raw for (raw,) in connection.execute(_NAMES).fetchall()]:
            rows, newest = _of(connection, _text(raw))
            last = self._newest(_text(raw), rows, newest)
            for row in rows:
                value = self._cipher.value(row)
                write_over(connection, after.row(row.name, row.version, row.scope, value, row.at))
            connection.execute(
                "INSERT OR REPLACE INTO newest VALUES (?, ?)",
                (last.name, after.newest(last.name, last.version)),
            )

    async def retired(self) -> list[bytes]:
        """Return the vault's earlier keys: some box may have been sealed for one of them."""
        rows = await self._database.fetch("SELECT public, body FROM retired ORDER BY at DESC")
        found = []
        for public, body in rows:
            try:
                found.append(self._cipher.retired(public, body))
            except NotOpened:
                continue  # what was sealed for it is refused with a sentence of its own
        return found

    async def _rows(self, name: str) -> tuple[list[Kept], bytes | None]:
        """Return a name's rows, the newest first, and the sealed word on which that is."""
        return _sorted(await self._database.fetch(_OF, (name,)))


def in_words(scope: str) -> str:
    """Return a scope as it is said."""
    return scope.replace("/", " ", 1) if scope else "everywhere"


def write_over(connection: sqlite3.Connection, row: Kept) -> None:
    """Put a row in the place of the one of its name and version."""
    connection.execute(
        "UPDATE secrets SET scope = ?, form = ?, body = ? WHERE name = ? AND version = ?",
        (row.scope, row.form, row.body, row.name, row.version),
    )


def is_own(name: str) -> bool:
    """Return whether a name is that of a key of this box's own."""
    return name.startswith(OWN)


def _check(name: str, scope: str) -> None:
    kind = name.partition("/")[0] + "/"
    if is_own(name):
        if not scope.startswith(kind):
            raise NotOpened(f"{name} is a key of Quarterdeck's own: it has a scope of its own.")
    elif scope and not any(scope.startswith(kind) and scope != kind for kind in KINDS):
        raise NotOpened(f"{scope!r} is no scope: project/NAME, machine/NAME, or none at all.")


def _of(connection: sqlite3.Connection, name: str) -> tuple[list[Kept], bytes | None]:
    return _sorted(connection.execute(_OF, (name,)).fetchall())


def _sorted(found: Sequence[Row]) -> tuple[list[Kept], bytes | None]:
    """Return what _OF found; it is one line at least."""
    rows = [
        Kept(_text(name), version, _text(scope), form, body, at, used)
        for _, name, version, scope, form, body, at, used in found
        if name is not None
    ]
    return rows, found[0][0]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
