"""The vault against who writes its file: what was changed is refused by itself, the others open.

Neighbours: test_vault.py (what it does for its owner), test_rotation.py (a new key).
"""

from __future__ import annotations

import asyncio
import sqlite3
import struct
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.paths import Home
from stores.database import Database, migrations
from stores.sealing import create_keys
from stores.vault import NotOpened, Vault, read_key
from stores.vault_rows import Cipher

names = st.text(min_size=1, max_size=12).filter(lambda name: "\0" not in name)
values = st.text(max_size=60)
scopes = st.sampled_from(["", "project/shop", "machine/box", "project/shop2"])


def setting(sql: str, *values: object) -> Callable[[sqlite3.Connection], object]:
    """Return one statement as a write."""
    return lambda connection: connection.execute(sql, values)


COLUMNS = ("name", "version", "scope", "body", "at")


@asynccontextmanager
async def a_vault(root: Path) -> AsyncIterator[tuple[Vault, Database, Home]]:
    home = Home(root).make()
    create_keys(home)
    async with Database(home.vault_db, "vault", secure_delete=True) as database:
        yield Vault(database, read_key(home.vault_key)), database, home


def flips(value: object) -> list[object]:
    """Return a column's value with each of its bytes changed, as they lie on the disk."""
    if isinstance(value, float):
        raw = struct.pack(">d", value)
        return [struct.unpack(">d", one)[0] for one in flips(raw) if isinstance(one, bytes)]
    if isinstance(value, int):
        return [value ^ (1 << bit) for bit in range(16)]
    raw = value if isinstance(value, bytes) else str(value).encode()
    return [
        raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :]
        for at in range(len(raw))
        for bit in (1, 128)
    ]


async def test_every_byte_of_a_row_counts_and_no_other_secret_is_harmed(tmp_path: Path) -> None:
    async with a_vault(tmp_path) as (vault, database, _):
        await vault.put("A", "value of A", 1.5, scope="project/shop")
        await vault.put("B", "value of B", 1.5)
        tried = 0
        for column in (*COLUMNS, "form"):
            ((there,),) = await database.fetch(f"SELECT {column} FROM secrets WHERE name = 'A'")
            as_text = "CAST(? AS TEXT)" if isinstance(there, str) else "?"
            for changed in flips(there):
                await database.write(
                    setting(
                        f"UPDATE secrets SET {column} = {as_text} WHERE body <> (SELECT body FROM"
                        " secrets WHERE name = 'B')",
                        changed,
                    )
                )
                with pytest.raises(NotOpened):
                    await vault.get("A")
                assert await vault.get("B") == "value of B"
                assert [s.name for s in await vault.listed() if not s.refused] == ["B"]
                await database.write(
                    setting(f"UPDATE secrets SET {column} = ? WHERE name <> 'B'", there)
                )
                assert await vault.get("A") == "value of A"
                tried += 1
        assert tried > 80


async def test_every_byte_of_the_word_on_the_newest_counts(tmp_path: Path) -> None:
    async with a_vault(tmp_path) as (vault, database, _):
        await vault.put("A", "one", 1.0)
        ((there,),) = await database.fetch("SELECT body FROM newest")
        for changed in flips(there):
            await database.write(setting("UPDATE newest SET body = ?", changed))
            with pytest.raises(NotOpened):
                await vault.get("A")


def _rolled_back(c: sqlite3.Connection) -> None:
    c.execute("DELETE FROM secrets WHERE version = 2")


def _renumbered(c: sqlite3.Connection) -> None:
    c.execute("DELETE FROM secrets WHERE version = 2")
    c.execute("UPDATE secrets SET version = 2")


def _swapped(c: sqlite3.Connection) -> None:
    c.execute("UPDATE secrets SET body = (SELECT body FROM secrets WHERE version = 1)")


def _without_word(c: sqlite3.Connection) -> None:
    c.execute("DELETE FROM newest")
    c.execute("DELETE FROM secrets WHERE version = 2")


def _all_gone(c: sqlite3.Connection) -> None:
    c.execute("DELETE FROM secrets")


@pytest.mark.parametrize("change", [_rolled_back, _renumbered, _swapped, _without_word, _all_gone])
async def test_an_older_version_never_passes_for_the_newest(
    tmp_path: Path, change: Callable[[sqlite3.Connection], None]
) -> None:
    async with a_vault(tmp_path) as (vault, database, _):
        await vault.put("A", "old", 1.0)
        await vault.put("A", "new", 2.0, replace=True)
        await database.write(change)
        with pytest.raises(NotOpened, match="The secret A"):
            await vault.get("A")
        (told,) = await vault.listed()
        assert told.refused
        assert await vault.put("A", "newest", 3.0, replace=True) == "A"
        assert await vault.get("A") == "newest"
        assert await vault.forget("A")
        assert await vault.get("A") is None


async def test_a_damaged_older_version_is_named_and_the_newest_still_opens(tmp_path: Path) -> None:
    async with a_vault(tmp_path) as (vault, database, _):
        await vault.put("A", "old", 1.0)
        await vault.put("A", "new", 2.0, replace=True)
        await database.write(lambda c: c.execute("UPDATE secrets SET at = 9 WHERE version = 1"))
        assert await vault.get("A") == "new"
        with pytest.raises(NotOpened):
            await vault.get("A", version=1)
        (told,) = await vault.listed()
        assert (told.refused, told.damaged) == ("", (1,))


async def test_a_name_that_is_no_text_any_more_can_still_be_forgotten(tmp_path: Path) -> None:
    async with a_vault(tmp_path) as (vault, database, _):
        await vault.put("A", "one", 1.0)
        await vault.put("B", "two", 1.0)
        await database.write(
            lambda c: c.execute("UPDATE secrets SET name = CAST(x'80' AS TEXT) WHERE name = 'A'")
        )
        assert [s.name for s in await vault.listed() if s.refused] == ["A", "\ufffd"]
        assert await vault.forget("\ufffd")
        assert await vault.forget("A")
        assert await vault.names() == ["B"]


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, st.tuples(values, scopes), min_size=2, max_size=5), st.data())
def test_whatever_two_rows_exchange_neither_opens_as_the_other(
    kept: dict[str, tuple[str, str]], data: st.DataObject
) -> None:
    cipher = Cipher(bytes(range(32)))
    rows = {
        (name, version): cipher.row(name, version, scope, value, 1.0 + version)
        for name, (value, scope) in kept.items()
        for version in (1, 2)
    }
    one, other = data.draw(
        st.lists(st.sampled_from(list(rows)), min_size=2, max_size=2, unique=True)
    )
    for row in rows.values():
        assert cipher.value(row) == kept[row.name][0]
    there = rows[one]
    moved = type(there)(
        there.name, there.version, there.scope, there.form, rows[other].body, there.at
    )
    with pytest.raises(NotOpened):
        cipher.value(moved)
    with pytest.raises(NotOpened):
        Cipher(bytes(32)).value(there)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(names, values, scopes, st.booleans()), max_size=8))
def test_what_was_put_last_is_what_comes_back(puts: list[tuple[str, str, str, bool]]) -> None:
    async def lives(root: Path) -> None:
        async with a_vault(root) as (vault, _, _):
            expected: dict[str, str] = {}
            for name, value, scope, replace in puts:
                kept = await vault.put(name, value, 1.0, scope=scope, replace=replace)
                expected[kept] = value
            assert {name: await vault.get(name) for name in await vault.names()} == expected
            assert not [told for told in await vault.listed() if told.refused or told.damaged]

    with tempfile.TemporaryDirectory() as root:
        asyncio.run(lives(Path(root)))


async def test_a_vault_from_before_there_were_scopes_opens_unchanged(tmp_path: Path) -> None:
    home = Home(tmp_path).make()
    create_keys(home)
    cipher = Cipher(read_key(home.vault_key))
    with closing(sqlite3.connect(home.vault_db)) as file, file:
        file.executescript(migrations("vault")[0])
        for name, version in (("A", 1), ("B", 3)):
            body = cipher._close(f"value of {name}".encode(), f"{name}\0{version}".encode())
            file.execute("INSERT INTO secrets VALUES (?, ?, ?, 1.0)", (name, version, body))
        file.execute("PRAGMA user_version = 1")
    async with a_vault(tmp_path) as (vault, database, _):
        assert [await vault.get(name) for name in ("A", "B")] == ["value of A", "value of B"]
        assert [told.version for told in await vault.listed()] == [1, 3]
        assert await vault.put("B", "new", 2.0, replace=True) == "B"
        assert (await vault.get("B"), await vault.get("B", version=3)) == ("new", "value of B")
        await database.write(
            lambda c: c.execute("UPDATE secrets SET scope = 'project/shop' WHERE name = 'A'")
        )
        with pytest.raises(NotOpened):
            await vault.get("A")
