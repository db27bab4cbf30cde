"""The vault on a real file: what goes in comes out, and what was tampered with does not."""

import sqlite3
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.paths import Home
from stores.database import Database
from stores.vault import NotOpened, Opener, Secret, Vault, create_keys, read_key, seal


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path).make()
    create_keys(home)
    return home


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    async with Database(home.vault_db, "vault", secure_delete=True) as database:
        yield database


def a_vault(database: Database, home: Home) -> Vault:
    return Vault(database, read_key(home.vault_key))


def test_the_private_key_is_for_its_owner_alone_and_is_made_once(home: Home) -> None:
    before = home.vault_key.read_bytes()
    create_keys(home)
    assert home.vault_key.read_bytes() == before
    assert stat.S_IMODE(home.vault_key.stat().st_mode) == 0o600
    assert home.vault_pub.read_bytes() == Opener(before).public


def test_only_the_private_key_opens_what_the_public_one_sealed(home: Home) -> None:
    box = seal(home.vault_pub.read_bytes(), b"sk-secret")
    assert b"sk-secret" not in box
    assert Opener(read_key(home.vault_key)).open(box) == b"sk-secret"
    assert seal(home.vault_pub.read_bytes(), b"sk-secret") != box


@pytest.mark.parametrize("place", [0, 2, 10, 40, -1])
def test_a_changed_box_is_refused(home: Home, place: int) -> None:
    box = bytearray(seal(home.vault_pub.read_bytes(), b"sk-secret"))
    box[place] ^= 1
    with pytest.raises(NotOpened):
        Opener(read_key(home.vault_key)).open(bytes(box))


@pytest.mark.parametrize("box", [b"", b"qd1", b"qd1" + bytes(32), b"nonsense" * 9])
def test_what_is_no_box_is_refused(home: Home, box: bytes) -> None:
    with pytest.raises(NotOpened):
        Opener(read_key(home.vault_key)).open(box)


def test_another_key_does_not_open_it(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other").make()
    create_keys(other)
    with pytest.raises(NotOpened):
        Opener(read_key(other.vault_key)).open(seal(home.vault_pub.read_bytes(), b"x"))


def test_a_missing_or_broken_key_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotOpened, match="quarterdeck setup"):
        read_key(tmp_path / "none")
    (tmp_path / "short").write_bytes(b"abc")
    with pytest.raises(NotOpened, match="backup"):
        read_key(tmp_path / "short")


async def test_a_secret_comes_back_and_its_clear_text_is_in_no_file(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    assert await vault.put("OPENAI_API_KEY", "sk-very-secret-value", 1.0) == "OPENAI_API_KEY"
    assert await vault.get("OPENAI_API_KEY") == "sk-very-secret-value"
    assert await vault.names() == ["OPENAI_API_KEY"]
    assert b"sk-very-secret-value" not in b"".join(
        path.read_bytes() for path in home.root.rglob("*") if path.is_file()
    )


async def test_another_value_never_takes_a_names_place_unless_told(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    assert await vault.put("TOKEN", "one", 1.0) == "TOKEN"
    assert await vault.put("TOKEN", "one", 2.0) == "TOKEN"
    assert await vault.put("TOKEN", "two", 3.0) == "TOKEN_2"
    assert await vault.put("TOKEN", "two", 4.0) == "TOKEN_2"
    assert await vault.put("TOKEN", "three", 5.0, replace=True) == "TOKEN"
    assert [await vault.get(name) for name in await vault.names()] == ["three", "two"]


async def test_forgetting_overwrites_and_says_whether_there_was_one(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    await vault.put("TOKEN", "one", 1.0)
    assert await vault.forget("TOKEN")
    assert not await vault.forget("TOKEN")
    assert await vault.get("TOKEN") is None


async def test_a_row_tampered_with_is_refused_and_the_others_are_not_harmed(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    for name in ("A", "B", "C"):
        await vault.put(name, f"value of {name}", 1.0)

    def swap(connection: sqlite3.Connection) -> None:
        (body,) = connection.execute("SELECT body FROM secrets WHERE name = 'B'").fetchone()
        connection.execute("UPDATE secrets SET body = ? WHERE name = 'A'", (body,))

    await database.write(swap)
    with pytest.raises(NotOpened, match="The secret A cannot be opened"):
        await vault.get("A")
    assert await vault.get("B") == "value of B"
    assert await vault.put("A", "new", 2.0) == "A_2"  # the damaged row is not written over


async def test_an_older_version_put_back_under_a_newer_number_is_refused(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    await vault.put("A", "old", 1.0)
    (old,) = await database.fetch("SELECT body FROM secrets")
    await vault.put("A", "new", 2.0, replace=True)
    await database.write(lambda c: c.execute("UPDATE secrets SET body = ?", old))
    with pytest.raises(NotOpened):
        await vault.get("A")


async def test_another_vault_key_opens_nothing_and_says_so(
    database: Database, home: Home, tmp_path: Path
) -> None:
    await a_vault(database, home).put("A", "old", 1.0)
    other = Home(tmp_path / "other").make()
    create_keys(other)
    with pytest.raises(NotOpened, match="another vault key"):
        await a_vault(database, other).get("A")


async def test_a_new_value_keeps_the_older_ones_until_the_name_is_forgotten(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    for number, value in enumerate(("one", "two", "two", "three"), start=1):
        await vault.put("TOKEN", value, float(number), replace=True)
    assert await vault.get("TOKEN") == "three"
    assert [await vault.get("TOKEN", version=n) for n in (1, 2, 3, 4)] == [
        "one",
        "two",
        "three",
        None,
    ]
    (told,) = await vault.listed()
    assert told == Secret(name="TOKEN", scope="", version=3, versions=3, at=4.0)
    assert await vault.forget("TOKEN")
    assert await vault.listed() == []


async def test_a_forgotten_secret_lies_nowhere_any_more_not_even_closed(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    for value in ("one" * 400, "two" * 400):
        await vault.put("TOKEN", value, 1.0, replace=True)
    await vault.put("OTHER", "stays", 1.0)
    bodies = [bytes(body)[20:60] for (body,) in await database.fetch("SELECT body FROM secrets")]

    def lying() -> int:
        there = b"".join(path.read_bytes() for path in home.root.glob("vault.sqlite3*"))
        return sum(body in there for body in bodies)

    assert lying() == 3
    await vault.forget("TOKEN")
    assert lying() == 1
    assert await vault.get("OTHER") == "stays"


async def test_a_scope_is_kept_to_and_when_it_was_last_used_is_known(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    await vault.put("TOKEN", "one", 1.0, scope="project/shop")
    assert await vault.use("TOKEN", 5.0, project="shop") == "one"
    with pytest.raises(NotOpened, match="for project shop only"):
        await vault.use("TOKEN", 6.0, project="other", machine="shop")
    assert [told.used for told in await vault.listed()] == [5.0]
    await vault.put("TOKEN", "two", 7.0, replace=True)
    assert await vault.move("TOKEN", "machine/box")
    assert await vault.use("TOKEN", 8.0, machine="box") == "two"
    assert await vault.get("TOKEN", version=1) == "one"
    assert await vault.move("TOKEN", "")
    assert await vault.use("TOKEN", 9.0, project="other") == "two"
    assert not await vault.move("NONE", "")
    for wrong in ("project/", "shop", "account/x"):
        with pytest.raises(NotOpened, match="no scope"):
            await vault.move("TOKEN", wrong)


async def test_a_secret_is_called_otherwise_with_all_its_versions_and_no_other_is_touched(
    database: Database, home: Home
) -> None:
    vault = a_vault(database, home)
    for value in ("first", "second"):
        await vault.put("OLD", value, 1.0, scope="project/shop", replace=True)
    await vault.put("OTHER", "another", 1.0)
    await vault.use("OLD", 7.0, project="shop")
    with pytest.raises(NotOpened, match="OTHER already"):
        await vault.rename("OLD", "OTHER")
    assert await vault.rename("OLD", "NEW")
    assert not await vault.rename("OLD", "NEWER")
    assert [await vault.get("NEW", version) for version in (0, 1, 2)] == [
        "second",
        "first",
        "second",
    ]
    assert await vault.get("OLD") is None
    listed = {secret.name: secret for secret in await vault.listed()}
    assert set(listed) == {"NEW", "OTHER"}
    assert (listed["NEW"].scope, listed["NEW"].version, listed["NEW"].used) == (
        "project/shop",
        2,
        7.0,
    )
    assert listed["NEW"].refused == ""
    assert await vault.get("OTHER") == "another"
