"""`quarterdeck backup`: one file from which another box can go on; engine and bot may run meanwhile.

    config.toml  bot.sqlite3  engine.sqlite3  vault.sqlite3  hub/…  attached/…
    recovery      the vault's key, as only the owner's recovery code opens it
    vault.pub     its public half
    keys.sealed   the host keys that were accepted, and private keys not yet in the vault: opened by its key
    manifest.json what each of them hashes to, and which release wrote it; last, so a torn file has none

The order is what makes it one picture: the bot's file points to the ledger, the ledger to secrets,
branches and files, and each is copied before what it points to. So what is missing in one is never
relied on by another; a branch that is ahead of the ledger is what a crash leaves as well.

Never in it: the bot's token, the vault's key in clear, sessions' trees, what runs wrote. Calls block for as
long as disks do. Neighbours: restore.py reads it, backups.py names it, nightly.py has one made each night.
"""

from __future__ import annotations

import hashlib
import io
import os
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from engine import backups
from engine.errors import Refused
from engine.paths import Home
from stores.rotation import next_key
from stores.sealing import seal

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
RECOVERY: Final = "recovery"
PUBLIC: Final = "vault.pub"
KEYS: Final = "keys.sealed"
_GZIP_LEVEL: Final = 1  # what is large here is compressed already
_BUSY_S: Final = 30.0
_IN_THE_MAKING: Final = ("tmp_", ".tmp")  # git's and ours


class Part(Struct, frozen=True):
    """One file of a backup."""

    sha256: str
    size: int


class Manifest(Struct, frozen=True, kw_only=True):
    """What a backup says of itself."""

    format: int
    taken_at: float
    release: str
    formats: dict[str, int]  # of each SQLite file
    parts: dict[str, Part]


def databases(home: Home) -> dict[str, Path]:
    """Return the SQLite files by their kind, in the order they are copied."""
    return {"bot": home.bot_db, "ledger": home.engine_db, "vault": home.vault_db}


def take(
    home: Home,
    to: Path | None = None,
    *,
    nightly: bool = False,
    clock: Callable[[], float] = time.time,
) -> Path:
    """Write a backup into a folder, the home's own if none is named, and return its path.

    raises  Refused when something is damaged, or the folder takes no file
    """
    folder = to or home.backups
    if to is not None and not folder.is_dir():
        raise Refused(f"There is no folder {folder}: make it, or plug in what it is on.")
    taken_at = clock()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        path = _free(folder, taken_at, nightly)
        rough = path.with_name(f".{path.name}.making")
        try:
            _write(home, rough, taken_at)
            if to is None:
                owned_as(home.root, folder, rough)
            rough.replace(path)
            _settle(folder)
        finally:
            rough.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"{folder} takes no backup: {error.strerror or error}.") from error
    return path


def owned_as(like: Path, *paths: Path) -> None:
    """Give files to whom a folder belongs: root may act for the user that runs Quarterdeck."""
    if os.geteuid() == 0:
        owner = like.stat()
        for path in paths:
            os.chown(path, owner.st_uid, owner.st_gid)


def _free(folder: Path, taken_at: float, nightly: bool) -> Path:
    again = 0
    while (path := folder / backups.name(taken_at, nightly=nightly, again=again)).exists():
        again += 1
    return path


def _settle(folder: Path) -> None:
    """Have the folder itself on the disk: a rename is lost with the power otherwise."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(home: Home, path: Path, taken_at: float) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_GZIP_LEVEL) as archive:
            _Filling(archive, taken_at).fill(home, path.parent)
        file.flush()
        os.fsync(file.fileno())


class _Filling:
    """An archive, and what went into it so far."""

    def __init__(self, archive: tarfile.TarFile, taken_at: float) -> None:
        self._archive = archive
        self._taken_at = taken_at
        self._parts: dict[str, Part] = {}

    def fill(self, home: Home, beside: Path) -> None:
        """Put all of a home in, each thing before what it points to; copies are made in `beside`."""
        self._file("config.toml", home.config)
        formats: dict[str, int] = {}
        key = _whose(home)
        with tempfile.TemporaryDirectory(dir=beside, prefix=".backup-") as space:
            for kind, source in databases(home).items():
                if source.exists():
                    copy = Path(space, source.name)
                    formats[kind] = _copied(source, copy)
                    self._file(source.name, copy)
                    copy.unlink()
        for hub in sorted(home.hubs.glob("*.git")):
            for file in _of_hub(hub):
                self._file(f"hub/{file.relative_to(home.hubs)}", file)
        for file in sorted(home.attached.glob("[0-9a-f]*")):
            self._file(f"attached/{file.name}", file)
        if home.recovery.exists():
            self._file(RECOVERY, home.recovery)
        if home.vault_pub.exists():
            self._file(PUBLIC, home.vault_pub)
            self._bytes(KEYS, seal(home.vault_pub.read_bytes(), _keys(home)))
        if key != _whose(home):
            raise Refused(
                "The vault got a new key meanwhile, so no backup was made: make it again."
            )
        self._manifest(formats)

    def _manifest(self, formats: dict[str, int]) -> None:
        manifest = Manifest(
            format=FORMAT,
            taken_at=self._taken_at,
            release=metadata.version("quarterdeck"),
            formats=formats,
            parts=self._parts,
        )
        self._bytes(MANIFEST, msgspec.json.encode(manifest))

    def _file(self, name: str, path: Path) -> None:
        """Put a file in; one that is gone by now was let go of, and nothing points to it."""
        try:
            source = path.open("rb")
        except FileNotFoundError:
            return
        with source:
            self._put(name, _Hashed(source), os.fstat(source.fileno()).st_size)

    def _bytes(self, name: str, body: bytes) -> None:
        self._put(name, _Hashed(io.BytesIO(body)), len(body))

    def _put(self, name: str, source: _Hashed, size: int) -> None:
        about = tarfile.TarInfo(name)
        about.size, about.mode, about.mtime = size, 0o600, int(self._taken_at)
        self._archive.addfile(about, source)
        self._parts[name] = Part(source.digest.hexdigest(), size)


class _Hashed(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, source: io.BufferedIOBase) -> None:
        self._source = source
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        found = self._source.read(size)
        self.digest.update(found)
        return found


def _copied(source: Path, copy: Path) -> int:
    """Copy a SQLite file as it stands at one moment, whoever writes it; return its format."""
    how = "mode=rw"
    if not os.access(source.parent, os.W_OK):  # a disk that failed: save what can be read
        how = "mode=ro" if source.with_name(f"{source.name}-wal").exists() else "immutable=1"
    where = f"{source.absolute().as_uri()}?{how}"
    try:
        with (
            closing(sqlite3.connect(where, uri=True, timeout=_BUSY_S)) as reading,
            closing(sqlite3.connect(copy)) as writing,
        ):
            reading.backup(writing)
            writing.execute("PRAGMA journal_mode = DELETE")  # all in one file
            (fault,) = writing.execute("PRAGMA quick_check(1)").fetchone()
            if fault != "ok":
                raise sqlite3.DatabaseError(str(fault))
            (version,) = writing.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise Refused(
            f"{source.name} cannot be copied ({error}), so no backup was made; older ones stay."
        ) from error
    return int(version)


def _whose(home: Home) -> bytes:
    """Return the public half of the vault's key; raises Refused while it is being changed."""
    if next_key(home).exists():
        raise Refused(
            "The vault is getting a new key, or that was cut off: make the backup once the engine runs."
        )
    return home.vault_pub.read_bytes() if home.vault_pub.exists() else b""


def _of_hub(hub: Path) -> Iterator[Path]:
    """Return a bare repository's files: its branches before the objects they point to."""
    objects = hub / "objects"
    names = [path for path in hub.rglob("*") if objects not in path.parents]
    for path in (*sorted(names), *sorted(objects.rglob("*"))):
        passing = path.name.startswith(_IN_THE_MAKING) or path.suffix == ".lock"
        if not passing and path.is_file() and not path.is_symlink():
            yield path


def _keys(home: Home) -> bytes:
    """Return what belongs to signing in elsewhere, as one archive; the keys themselves are in the vault.

    Those of an earlier release are still files until an engine has started (adapters/key_files.py).
    """
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path in (home.machine_key, home.known_hosts, *sorted(home.deploy_keys.rglob("*"))):
            if path.is_file() and not path.is_symlink():
                body = path.read_bytes()
                about = tarfile.TarInfo(str(path.relative_to(home.secrets)))
                about.size, about.mode = len(body), 0o600
                archive.addfile(about, io.BytesIO(body))
    return out.getvalue()
