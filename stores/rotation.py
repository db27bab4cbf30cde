"""A new key for the vault, whole or not at all.

    1. the new key, beside the old one          secrets/vault.key.next
    2. one commit: every row closed anew, the old key closed with the new one, and whose the rows are now
    3. the public half; the recovery file gone, as it opens the old key alone; the new key in its place

Killed before 2, the rows are the old key's; after it, the new one's; which, the file itself says, and
`settle` does the rest of 3 or takes 1 back. Nothing else may hold the vault meanwhile: engine/lock.py sees to
that. What was sealed for the old key and not yet opened (updates of the bot's) opens still: the old key is
kept in the vault, where only the new one reaches it. Backups from before hold the old key, as the recovery
code of their time opens it. Neighbours: vault.py, sealing.py, engine/cli_backup.py.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from stores import database as files
from stores.database import Database
from stores.sealing import KeyFiles, NotOpened, Opener, given_key, read_key, write_key, write_public
from stores.vault import Vault
from stores.vault_rows import Cipher


class RotatedFiles(KeyFiles, Protocol):
    """Where all lies that a new key touches; engine/paths.py's Home is one."""

    @property
    def recovery(self) -> Path: ...


def next_key(home: KeyFiles) -> Path:
    """Return where a new key lies until it is the key; there only while a rotation is under way."""
    return home.vault_key.with_name(f"{home.vault_key.name}.next")


async def rotate(home: RotatedFiles, database: Database, at: float) -> None:
    """Give an open vault a new key; there is no recovery code for it afterwards.

    raises  NotOpened when a secret cannot be opened, or the key is not ours to write: nothing changed then
    """
    if given_key() is not None:
        raise NotOpened(
            "The vault's key is given by systemd, and only who gives it can change it: put it back into "
            f"{home.vault_key} without the credential, rotate, and make the credential anew."
        )
    await settle(home, database)
    old = read_key(home.vault_key)
    new = X25519PrivateKey.generate().private_bytes_raw()
    write_key(next_key(home), new)
    _to_disk(home.vault_key.parent)
    files.boundary("after the next key")
    try:
        await database.write(_anew(Vault(database, old), old, new, at), what="key rotation")
    except NotOpened:
        next_key(home).unlink()
        raise
    await _finish(home, database)


async def settle(home: RotatedFiles, database: Database) -> None:
    """End a rotation that was cut off, one way or the other; does nothing where there was none."""
    if not next_key(home).exists():
        return
    rows = await database.fetch("SELECT public FROM sealed_by")
    if rows and rows[0][0] == Opener(read_key(next_key(home))).public:
        await _finish(home, database)
    else:
        next_key(home).unlink()


def _anew(vault: Vault, old: bytes, new: bytes, at: float) -> Callable[[sqlite3.Connection], None]:
    before, after = Cipher(old), Cipher(new)

    def work(connection: sqlite3.Connection) -> None:
        vault.close_anew(connection, after)
        for public, body in connection.execute("SELECT public, body FROM retired").fetchall():
            closed = after.retire(before.retired(public, body))
            connection.execute("UPDATE retired SET body = ? WHERE public = ?", (closed, public))
        connection.execute(
            "INSERT OR REPLACE INTO retired (public, body, at) VALUES (?, ?, ?)",
            (before.public, after.retire(old), at),
        )
        connection.execute("INSERT OR REPLACE INTO sealed_by VALUES (1, ?)", (after.public,))

    return work


async def _finish(home: RotatedFiles, database: Database) -> None:
    """Have the new key be the key; each step may be done again."""
    # Rows closed with the old key are in no journal and no free page either.
    await database.fetch("PRAGMA wal_checkpoint(TRUNCATE)")
    files.boundary("after the journal")
    write_public(home, read_key(next_key(home)))
    files.boundary("after the public half")
    home.recovery.unlink(missing_ok=True)
    files.boundary("after the recovery file")
    next_key(home).replace(home.vault_key)
    _to_disk(home.vault_key.parent)
    files.boundary("after the key")


def _to_disk(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
