"""A new key for the vault: whole or not at all, wherever it is cut off; and where the key may come from."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.paths import Home
from stores import database as files
from stores.database import Database
from stores.recovery import close, new_code, open_with
from stores.rotation import next_key, rotate, settle
from stores.sealing import create_keys, has_key, master_key, read_key, seal, write_key
from stores.vault import NotOpened, Opener, Vault

VALUES = {"A": "value of A", "B": "value of B", "C": "value of C" * 300}


class Died(BaseException):
    """Stands for the process being killed: nobody catches it."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path).make()
    create_keys(home)
    return home


def opened(home: Home) -> Database:
    return Database(home.vault_db, "vault", secure_delete=True)


async def filled(home: Home) -> None:
    async with opened(home) as database:
        vault = Vault(database, read_key(home.vault_key))
        await vault.put("A", "older", 1.0)
        for name, value in VALUES.items():
            await vault.put(name, value, 2.0, scope="project/shop", replace=True)


async def intact(home: Home, *boxes: bytes) -> bytes:
    """Open the vault as the engine does, see that all is there, and return its key."""
    async with opened(home) as database:
        await settle(home, database)
        private = read_key(home.vault_key)
        vault = Vault(database, private)
        assert {name: await vault.get(name) for name in await vault.names()} == VALUES
        assert await vault.get("A", version=1) == "older"
        assert [told.scope for told in await vault.listed()] == ["project/shop"] * 3
        opener = Opener(private, await vault.retired())
        assert [opener.open(box) for box in boxes] == [b"pasted"] * len(boxes)
    assert not next_key(home).exists()
    assert home.vault_pub.read_bytes() == Opener(private).public
    return private


async def test_after_a_rotation_the_old_key_opens_nothing_and_its_rows_are_nowhere(
    home: Home,
) -> None:
    await filled(home)
    old, boxes = read_key(home.vault_key), []
    for _ in range(3):
        boxes.append(seal(home.vault_pub.read_bytes(), b"pasted"))
        async with opened(home) as database:
            bodies = await database.fetch("SELECT body FROM secrets")
            await rotate(home, database, 3.0)
            lying = b"".join(path.read_bytes() for path in home.root.glob("vault.sqlite3*"))
            assert not [body for (body,) in bodies if bytes(body)[:40] in lying]
            assert old not in lying
            with pytest.raises(NotOpened, match="another vault key"):
                await Vault(database, old).get("A")
        assert await intact(home, *boxes) != old


async def test_wherever_it_is_cut_off_one_of_both_keys_opens_all_of_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(home)
    code, ends = new_code(), set()
    for cut in itertools.count():
        before = read_key(home.vault_key)
        box = seal(home.vault_pub.read_bytes(), b"pasted")
        write_key(home.recovery, close(code, before))
        seen = itertools.count()

        def die(_what: str, seen: itertools.count[int] = seen, cut: int = cut) -> None:
            if next(seen) == cut:
                raise Died

        async with opened(home) as database:
            with monkeypatch.context() as patch:
                patch.setattr(files, "boundary", die)
                try:
                    await rotate(home, database, 3.0)
                except Died:
                    pass
                else:
                    break
        now = await intact(home, box)
        ends.add(now == before)
        # A recovery file that is there opens the key that is; after a rotation there is none.
        assert home.recovery.exists() == (now == before)
        if home.recovery.exists():
            assert open_with(code, home.recovery.read_bytes()) == now
    assert cut >= 6
    assert ends == {True, False}


KILLED = """
import asyncio, itertools, os, signal, sys
from pathlib import Path
from engine.paths import Home
from stores import database as files
from stores.rotation import rotate

seen, cut = itertools.count(), int(sys.argv[2])

def die(_what):
    if next(seen) == cut:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    home = Home(Path(sys.argv[1]))
    async with files.Database(home.vault_db, "vault", secure_delete=True) as database:
        files.boundary = die
        await rotate(home, database, 3.0)

asyncio.run(main())
"""


async def test_killed_anywhere_one_of_both_keys_opens_all_of_it(home: Home) -> None:
    await filled(home)
    first = read_key(home.vault_key)
    ends = set()
    for cut in itertools.count():
        before = read_key(home.vault_key)
        killed = subprocess.run((sys.executable, "-c", KILLED, home.root, str(cut)), check=False)
        ends.add(await intact(home) == before)
        if not killed.returncode:
            break
        assert killed.returncode == -signal.SIGKILL
    assert cut >= 6
    assert ends == {True, False}
    assert read_key(home.vault_key) != first


async def test_what_cannot_be_opened_is_named_and_nothing_is_rotated(home: Home) -> None:
    await filled(home)
    old = read_key(home.vault_key)
    async with opened(home) as database:
        await database.write(lambda c: c.execute("UPDATE secrets SET at = 9 WHERE name = 'B'"))
        with pytest.raises(NotOpened, match="The secret B cannot be opened"):
            await rotate(home, database, 3.0)
        assert not next_key(home).exists()
        vault = Vault(database, read_key(home.vault_key))
        assert await vault.get("A") == VALUES["A"]
        await vault.forget("B")
        await rotate(home, database, 3.0)
    assert read_key(home.vault_key) != old


async def test_a_key_that_systemd_gives_is_used_and_is_not_ours_to_change(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(home)
    given = tmp_path / "credentials"
    given.mkdir()
    home.vault_key.rename(given / "vault.key")
    assert not has_key(home)
    with pytest.raises(NotOpened, match="without its"):
        create_keys(home)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(given))
    assert has_key(home)
    create_keys(home)
    assert not home.vault_key.exists()
    async with opened(home) as database:
        assert await Vault(database, master_key(home)).get("A") == VALUES["A"]
        with pytest.raises(NotOpened, match="given by systemd"):
            await rotate(home, database, 3.0)
    write_key(home.vault_key, bytes(32))
    with pytest.raises(NotOpened, match="another key"):
        master_key(home)
