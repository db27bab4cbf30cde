"""Key files of earlier releases: taken into the vault once, wherever that is cut off."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine.adapters import key_files, keypair
from engine.adapters.own_keys import ANY, MACHINES, OwnKeys, forge
from engine.paths import Home
from stores.database import Database
from stores.rotation import rotate
from stores.sealing import Opener, create_keys, master_key
from stores.vault import NotOpened, Vault
from tests.crash import Crash, boundaries

SHOP, TILL, BOXES = (keypair.made() for _ in range(3))
WHERE = "git@forge:shop.git"
TILL_WHERE = "ssh://forge:2222/till.git"


def made(folder: Path) -> Home:
    """A home as an earlier release left it, one key cut off in the making included."""
    home = Home(folder / "home").make()
    create_keys(home)
    for project, private, where in (("shop", SHOP, WHERE), ("till", TILL, TILL_WHERE)):
        at = home.deploy_keys / project
        at.mkdir(parents=True)
        (at / "key").write_text(private)
        (at / "for").write_text(where)
    (home.deploy_keys / "torn").mkdir()
    (home.deploy_keys / "torn" / "key").write_text(keypair.made())
    (home.deploy_keys / "shop" / "key.new").write_text(SHOP[:250])
    (home.deploy_keys / ".known_hosts").write_text("project-shop ssh-ed25519 AAAA\n")
    home.machine_key.write_text(BOXES)
    return home


@asynccontextmanager
async def opened(home: Home) -> AsyncIterator[OwnKeys]:
    async with Database(home.vault_db, "vault", secure_delete=True) as database:
        yield OwnKeys(Vault(database, master_key(home)), lambda: 5.0)


async def started(home: Home) -> None:
    async with opened(home) as own:
        await key_files.into_vault(home, own, Opener(master_key(home)).public)


async def all_there(home: Home) -> bool:
    """Whether each key is whole in one place at least, and in the vault alone once there is no file."""
    found = []
    async with opened(home) as own:
        for path, name, where, private in (
            (home.deploy_keys / "shop" / "key", forge("shop"), WHERE, SHOP),
            (home.deploy_keys / "till" / "key", forge("till"), TILL_WHERE, TILL),
            (home.machine_key, MACHINES, ANY, BOXES),
        ):
            kept = await own.private(name, where)
            assert kept in ("", private)
            in_file = path.exists() and path.read_text() == private
            assert kept or in_file, f"{name} is lost"
            found.append(bool(kept) and not path.exists())
    return all(found)


def lying(home: Home) -> list[str]:
    """The files in which a line of a key stands."""
    lines = [line.encode() for key in (SHOP, TILL, BOXES) for line in key.splitlines()[2:4]]
    return [
        str(path)
        for path in home.root.rglob("*")
        if path.is_file() and any(line in path.read_bytes() for line in lines)
    ]


async def test_keys_found_as_files_are_in_the_vault_afterwards_and_nowhere_else(
    tmp_path: Path,
) -> None:
    home = made(tmp_path)
    assert len(lying(home)) == 4
    await started(home)
    assert await all_there(home)
    assert lying(home) == []
    assert [path.name for path in home.deploy_keys.iterdir()] == [".known_hosts"]
    await started(home)
    async with opened(home) as own:
        assert [(kept.name, kept.versions) for kept in await own._vault.listed()] == [  # type: ignore[union-attr]
            ("forge/shop", 1),
            ("forge/till", 1),
            (MACHINES, 1),
        ]


async def test_wherever_it_is_cut_off_no_key_is_lost_and_none_stays_in_both_places(
    tmp_path: Path,
) -> None:
    cuts = 0
    for cut in itertools.count(1):
        home = made(tmp_path / str(cut))
        with boundaries(cut) as passed:
            try:
                await started(home)
            except Crash:
                cuts += 1
            else:
                break
        assert passed.dead
        await all_there(home)
        await started(home)
        assert await all_there(home)
        assert lying(home) == []
        shutil.rmtree(tmp_path / str(cut))
    assert cuts >= 15


async def test_a_file_half_written_over_is_removed_once_the_vault_has_its_key(
    tmp_path: Path,
) -> None:
    home = made(tmp_path)
    key = home.deploy_keys / "shop" / "key"
    async with opened(home) as own:
        await own.keep(forge("shop"), WHERE, SHOP)
    key.write_bytes(bytes(90) + SHOP.encode()[90:])
    await started(home)
    assert not key.exists()
    assert await all_there(home)


async def test_a_damaged_file_that_may_be_the_only_one_stays(tmp_path: Path) -> None:
    home = made(tmp_path)
    key = home.deploy_keys / "shop" / "key"
    key.write_bytes(SHOP.encode()[:200])
    await started(home)
    assert key.read_bytes() == SHOP.encode()[:200]
    async with opened(home) as own:
        assert not await own.has(forge("shop"), WHERE)
        assert await own.has(forge("till"), TILL_WHERE)


async def test_with_another_vault_key_in_place_the_files_stay(tmp_path: Path) -> None:
    home = made(tmp_path)
    right = home.vault_key.read_bytes()
    home.vault_key.write_bytes(bytes(31) + b"\1")
    await started(home)
    assert len(lying(home)) == 4
    home.vault_key.write_bytes(right)
    await started(home)
    assert await all_there(home)


async def test_a_new_key_of_the_vault_closes_our_own_keys_anew(tmp_path: Path) -> None:
    home = made(tmp_path)
    await started(home)
    before = home.vault_key.read_bytes()
    async with Database(home.vault_db, "vault", secure_delete=True) as database:
        await rotate(home, database, 6.0)
    assert home.vault_key.read_bytes() != before
    assert await all_there(home)
    assert lying(home) == []


async def test_a_key_of_ours_is_given_to_no_run_under_no_name_and_no_scope(tmp_path: Path) -> None:
    home = made(tmp_path)
    await started(home)
    async with opened(home) as own:
        vault = own._vault
        assert vault is not None
        with pytest.raises(NotOpened, match="Quarterdeck's own"):
            await vault.use(forge("shop"), 1.0, project="shop")
        for scope in ("", "project/shop", "machine/here"):
            with pytest.raises(NotOpened, match="scope of its own"):
                await vault.move(forge("shop"), scope)
            with pytest.raises(NotOpened, match="scope of its own"):
                await vault.put(forge("new"), "value", 1.0, scope=scope)
        with pytest.raises(NotOpened):
            await vault.rename(forge("shop"), "SHOP_KEY")
        await vault.put("STRIPE_KEY", "value", 1.0)
        with pytest.raises(NotOpened):
            await vault.rename("STRIPE_KEY", forge("new"))
        with pytest.raises(NotOpened):
            await vault.move("STRIPE_KEY", f"forge/{WHERE}")
        assert await own.private(forge("shop"), "git@forge:other.git") == "", "one address alone"
