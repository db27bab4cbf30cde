"""Private keys that earlier releases kept as files, brought into the vault when the engine starts.

    secrets/deploy/<project>/{key, for}  ->  forge/<project>, for that address
    secrets/machine-key                  ->  machines/key

    1. into the vault, on the disk    2. written over    3. removed, and all that belonged to it

Left off anywhere it is done again: until 1 the file is whole, after it what is left of one goes. A file that
holds no key is kept while the vault has none for it, so nothing is thrown away that may be the only one; and
one made by an earlier release that ran in between is newer than what the vault has. A backup of then brings
files back, and they go the same way. Neighbours: own_keys.py names them, engine/restore.py brings them.
"""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

from engine.adapters import keypair
from engine.adapters.own_keys import ANY, MACHINES, OwnKeys, forge
from engine.paths import Home
from stores import database
from stores.vault import NotOpened

log = logging.getLogger(__name__)


async def into_vault(home: Home, own: OwnKeys, public: bytes) -> None:
    """Take in what is found; what cannot be is tried again at the next start.

    public   of the key the vault is closed with just now: with another one in place, nothing is taken
    """
    if home.vault_pub.exists() and home.vault_pub.read_bytes() != public:
        return
    for folder in sorted(path for path in home.deploy_keys.glob("[!.]*") if path.is_dir()):
        await _project(folder, own)
    if await _taken(home.machine_key, MACHINES, ANY, own):
        _remove(home.machine_key)


async def _project(folder: Path, own: OwnKeys) -> None:
    address = folder / "for"
    # Without its address it was cut off in the making: nobody was shown its public half.
    where = address.read_text(encoding="utf-8") if address.exists() else ""
    if where and not await _taken(folder / "key", forge(folder.name), where, own):
        return
    if _remove(folder / "key"):
        shutil.rmtree(folder, ignore_errors=True)


async def _taken(path: Path, name: str, where: str, own: OwnKeys) -> bool:
    """Whether a file is needed no more, now that the vault has what it held."""
    body = _read(path)
    if body is None:
        return True
    try:
        if keypair.is_private(body):
            await own.keep(name, where, body.decode("ascii"))
            database.boundary(f"after {name} was taken in")
        elif not await own.private(name, where):
            raise NotOpened("no private key is in it")
    except NotOpened as no:
        log.error("%s is left as it is: %s", path, no.sentence)
        return False
    return True  # the vault has it, also where the file was written over and not yet removed


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _remove(path: Path) -> bool:
    """Write a key file over and remove it, and one that was cut off in the making."""
    try:
        for one in (path, path.with_name(f"{path.name}.new")):
            if one.exists():
                _write_over(one)
                database.boundary(f"after {one.name} was written over")
                one.unlink()
                database.boundary(f"after {one.name} was removed")
    except OSError as error:
        log.error("%s is in the vault and could not be removed: %s", path, error.strerror)
        return False
    return True


def _write_over(path: Path) -> None:
    with path.open("r+b", buffering=0) as file:
        file.write(bytes(os.fstat(file.fileno()).st_size))
        os.fsync(file.fileno())
