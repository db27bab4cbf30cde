"""The vault: the owner's keys, each encrypted by itself in vault.sqlite3.

Only the engine opens it. A row is bound to its name and version, so a row moved, swapped or changed
on disk is refused, and the others stay readable. What is deleted is overwritten.

    create_keys(home)                      once, at setup
    seal(public, bytes) -> bytes           the bot, with the public half alone
    Opener(private).open(sealed) -> bytes  the engine
    Vault(database, private)               put, get, names, forget

The boxes are sealing.py's; the file is database.py's.
"""

import os
import sqlite3
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from stores.database import Database
from stores.sealing import NotOpened, Opener, create_keys, read_key, seal

__all__ = ["NotOpened", "Opener", "Vault", "create_keys", "read_key", "seal"]

NONCE_BYTES = 12
MOST_NAMESAKES = 1000


class Vault:
    """All secrets, by name; values leave it only through `get`.

    database   `Database(home.vault_db, "vault", secure_delete=True)`, open
    private    the bytes of secrets/vault.key
    """

    def __init__(self, database: Database, private: bytes) -> None:
        self._database = database
        self._cipher = ChaCha20Poly1305(Opener(private).derive(b"vault rows"))

    async def put(self, name: str, value: str, at: float, *, replace: bool = False) -> str:
        """Keep a value and return the name it is kept under.

        The same value under the same name is kept once. Another value takes the name's place with
        `replace`, else the next free one (NAME_2, NAME_3, …), so that a paste never destroys a key.
        """
        return await self._database.write(self._putting(name, value, at, replace), what="secret")

    def _putting(
        self, name: str, value: str, at: float, replace: bool
    ) -> Callable[[sqlite3.Connection], str]:
        def work(connection: sqlite3.Connection) -> str:
            for number in range(1, MOST_NAMESAKES):
                free = name if number == 1 else f"{name}_{number}"
                row = _row(connection, free)
                if row is not None and self._holds(free, row, value):
                    return free
                if row is None or replace:
                    version = 1 if row is None else row[0] + 1
                    self._store(connection, free, version, value, at)
                    return free
            raise NotOpened(f"There are too many secrets named {name}: forget some of them first.")

        return work

    def _holds(self, name: str, row: tuple[int, bytes], value: str) -> bool:
        try:
            return self._open(name, *row) == value
        except NotOpened:
            return False  # a damaged row keeps its name, and is never written over by a paste

    def _store(
        self, connection: sqlite3.Connection, name: str, version: int, value: str, at: float
    ) -> None:
        nonce = os.urandom(NONCE_BYTES)
        body = nonce + self._cipher.encrypt(nonce, value.encode(), _bound(name, version))
        connection.execute(
            "INSERT INTO secrets (name, version, body, at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE"
            " SET version = excluded.version, body = excluded.body, at = excluded.at",
            (name, version, body, at),
        )

    async def get(self, name: str) -> str | None:
        """Return the value, or None when there is no such name.

        raises  NotOpened when the row was changed or belongs to another key
        """
        rows = await self._database.fetch(
            "SELECT version, body FROM secrets WHERE name = ?", (name,)
        )
        return self._open(name, *rows[0]) if rows else None

    def _open(self, name: str, version: int, body: bytes) -> str:
        nonce, sealed = body[:NONCE_BYTES], body[NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, sealed, _bound(name, version)).decode()
        except (InvalidTag, ValueError):
            raise NotOpened(
                f"The secret {name} cannot be opened: it was changed on disk, or kept under another "
                "vault key. Forget it and give it again; the others are not touched."
            ) from None

    async def names(self) -> list[str]:
        """Return all names, sorted; never a value."""
        return [
            name for (name,) in await self._database.fetch("SELECT name FROM secrets ORDER BY 1")
        ]

    async def forget(self, name: str) -> bool:
        """Delete a secret, overwriting it; return whether there was one."""
        return await self._database.write(
            lambda c: c.execute("DELETE FROM secrets WHERE name = ?", (name,)).rowcount > 0,
            what="forget",
        )


def _bound(name: str, version: int) -> bytes:
    return f"{name}\0{version}".encode()


def _row(connection: sqlite3.Connection, name: str) -> tuple[int, bytes] | None:
    row: tuple[int, bytes] | None = connection.execute(
        "SELECT version, body FROM secrets WHERE name = ?", (name,)
    ).fetchone()
    return row
