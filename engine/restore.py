"""`quarterdeck restore`: a home made from a backup, so that starting it is recovering as ever.

    with unpacked(file, home) as found:     hashes checked; nothing is in its place yet
        key = found.key(code)               or found.key_in(secrets of the old home), or None: none
        found.finish(bot_token, key)        all in its place, config.toml last

A copy that lay on another machine is closed as a whole: `closed` tells, and its key is needed first.

The box the backup was taken from may live on, and did things since that are not known here. Hence what was
heard and not done yet counts as done, every number goes on far above those it may have given, and
restored.py has the engine push nothing of what was owed. Left before `finish`, the home is empty again.

Neighbours: backup.py writes what is read here, stores/recovery.py opens the vault's key.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import sqlite3
import tarfile
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from engine import restored
from engine.backup import FORMAT, KEYS, MANIFEST, PUBLIC, RECOVERY, Manifest, Part, owned_as
from engine.config import ConfigError, check, write_private
from engine.errors import Refused
from engine.paths import Home
from stores import sealed_file
from stores.database import migrations
from stores.recovery import open_with
from stores.sealing import NotOpened, Opener, create_keys, read_key, write_key

AHEAD: Final = 1000  # more than a box counts on between two backups
KINDS: Final = (
    "a",
    "g",
    "p",
    "pl",
    "pr",
    "r",
    "s",
    "sh",
)  # what is counted, even if there was none of it yet
_CHUNK: Final = 1024 * 1024
_PLAIN: Final = (
    "config.toml",
    "bot.sqlite3",
    "engine.sqlite3",
    "vault.sqlite3",
    RECOVERY,
    PUBLIC,
    KEYS,
    MANIFEST,
)
_ATTACHED: Final = re.compile(r"attached/[0-9a-f]{64}")
_HUB: Final = re.compile(r"hub/[^/\0]+\.git(/[^/\0]+)+")
_OUR_KEY: Final = re.compile(r"machine-key|known_hosts|deploy/(\.known_hosts|[^/\0]+/(key|for))")


class Closed:
    """A backup that is closed as a whole."""

    def __init__(self, head: sealed_file.Head) -> None:
        self._head = head

    def key(self, code: str) -> bytes:
        """Return the vault's key, opened by a recovery code."""
        try:
            return self._head.private(code)
        except NotOpened as error:
            raise Refused(error.sentence) from error

    def key_in(self, secrets: Path) -> bytes:
        """Return the vault's key as it lies in the secrets of the home the backup was taken from."""
        try:
            return self._head.fitting(read_key(secrets / "vault.key"))
        except NotOpened as error:
            raise Refused(error.sentence) from error


def closed(file: Path) -> Closed | None:
    """Return how a backup is closed, None for one that lies open."""
    try:
        head = sealed_file.head(file)
    except NotOpened as error:
        raise Refused(f"{file}: {error.sentence}") from error
    return Closed(head) if head else None


@contextmanager
def unpacked(file: Path, home: Home, private: bytes | None = None) -> Iterator[Unpacked]:
    """Open a backup for a home that is empty, or not there; `private` opens one that is closed.

    raises  Refused: it is no whole backup, is of a newer release, or something lies in the home
    """
    space = home.root / ".restoring"
    shutil.rmtree(space, ignore_errors=True)  # of a restore that was killed
    if home.root.is_dir() and any(home.root.iterdir()):
        raise Refused(
            f"{home.root} is not empty, and nothing there is replaced. Move it aside first, or name "
            "another folder: --home DIR"
        )
    there = home.root.is_dir()
    try:
        space.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise Refused(f"Nothing can be written to {home.root}: {error.strerror}.") from error
    finished = False
    try:
        found = Unpacked(home, space, _unpack(file, space, private))
        yield found
        finished = found.finished
    finally:
        if not finished:
            for path in home.root.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if not there:
                home.root.rmdir()


class Unpacked:
    """A backup beside its place, known to be whole."""

    def __init__(self, home: Home, space: Path, manifest: Manifest) -> None:
        self._home = home
        self._space = space
        self.manifest = manifest
        self.finished = False
        try:
            text = (space / "config.toml").read_text(encoding="utf-8")
            self.config = check(_toml(text), Path("config.toml"))
        except (OSError, ConfigError) as error:
            raise Refused(f"The backup's config.toml is not to be used: {error}") from error

    @property
    def has_recovery(self) -> bool:
        """Whether a recovery code was made before this backup."""
        return (self._space / RECOVERY).exists()

    @property
    def has_keys(self) -> bool:
        return (self._space / PUBLIC).exists()

    def key(self, code: str) -> bytes:
        """Return the vault's key, opened by a recovery code."""
        try:
            return self.fitting(open_with(code, (self._space / RECOVERY).read_bytes()))
        except FileNotFoundError:
            raise Refused(
                "This backup was made before there was a recovery code: no code opens its vault. Name "
                "the old home's folder of secrets, or do without its keys: see --help."
            ) from None
        except NotOpened as error:
            raise Refused(error.sentence) from error

    def key_in(self, secrets: Path) -> bytes:
        """Return the vault's key as it lies in the secrets of the home the backup was taken from."""
        try:
            return self.fitting(read_key(secrets / self._home.vault_key.name))
        except NotOpened as error:
            raise Refused(error.sentence) from error

    def fits(self, private: bytes) -> bool:
        """Return whether a vault's key is this backup's."""
        return Opener(private).public == (self._space / PUBLIC).read_bytes()

    def fitting(self, private: bytes) -> bytes:
        """Return a vault's key if it is this backup's; raises Refused."""
        if not self.fits(private):
            raise Refused("That key is not of this backup's vault: it belongs to another box.")
        return private

    def finish(self, bot_token: str, private: bytes | None) -> tuple[str, ...]:
        """Put all in its place; return the names of secrets that had to be left behind."""
        lost: tuple[str, ...] = ()
        home = self._home.make()
        if private is None:
            lost = _names(self._space / home.vault_db.name)
            (self._space / home.vault_db.name).unlink(missing_ok=True)
        else:
            write_key(home.vault_key, private)
            self._own_keys(private)
            if self.has_recovery:
                write_key(home.recovery, (self._space / RECOVERY).read_bytes())
        create_keys(home)
        write_private(home.bot_token, bot_token + "\n")
        effects = _go_on_above(self._space / home.engine_db.name)
        _let_go_of_what_was_heard(self._space / home.bot_db.name)
        known = restored.Restored(taken_at=self.manifest.taken_at, effects=effects)
        restored.keep(home, known)
        self._move_in()
        owned_as(home.root, *home.root.rglob("*"))
        self.finished = True
        return lost

    def _own_keys(self, private: bytes) -> None:
        """Put back what belongs to signing in elsewhere; older backups have the keys themselves in it."""
        sealed = (self._space / KEYS).read_bytes()
        with tarfile.open(fileobj=io.BytesIO(Opener(private).open(sealed)), mode="r:") as archive:
            for member in archive:
                body = archive.extractfile(member)
                if _OUR_KEY.fullmatch(member.name) and ".." not in member.name and body:
                    path = self._home.secrets / member.name
                    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    write_key(path, body.read())

    def _move_in(self) -> None:
        space, root = self._space, self._home.root
        for folder in ("hub", "attached"):
            for path in (space / folder).iterdir() if (space / folder).is_dir() else ():
                path.rename(root / folder / path.name)
        for path in (self._home.engine_db, self._home.bot_db, self._home.vault_db):
            if (space / path.name).exists():
                (space / path.name).rename(path)
        (space / "config.toml").rename(self._home.config)  # last: with it there, all else is
        shutil.rmtree(space)


# ---------------------------------------------------------------- the archive


def _unpack(file: Path, space: Path, private: bytes | None) -> Manifest:
    """Write a backup's files below `space`, checked against its own manifest."""
    found: dict[str, Part] = {}
    try:
        with _source(file, private) as source, tarfile.open(fileobj=source, mode="r|gz") as archive:
            for member in archive:
                if not (member.isreg() and _is_ours(member.name)):
                    raise Refused(f"{file} is no backup of Quarterdeck: it holds {member.name!r}.")
                found[member.name] = _extract(archive, member, space / member.name)
    except FileNotFoundError:
        raise Refused(f"There is no {file}.") from None
    except NotOpened as error:
        raise Refused(f"{file}: {error.sentence} Take another backup.") from error
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError) as error:
        raise Refused(
            f"{file} cannot be unpacked ({error}): it is cut off, damaged or no backup."
        ) from error
    manifest = _manifest(file, space)
    found.pop(MANIFEST)
    if found != manifest.parts:
        names = sorted(
            name
            for name in found.keys() | manifest.parts.keys()
            if found.get(name) != manifest.parts.get(name)
        )
        raise Refused(
            f"{file} is damaged: {', '.join(names[:3])} is not what was backed up. Take another backup."
        )
    return manifest


def _source(file: Path, private: bytes | None) -> BinaryIO:
    if private is None or sealed_file.head(file) is None:
        return file.open("rb")
    return sealed_file.opened(file, private)


def _is_ours(name: str) -> bool:
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return False
    return name in _PLAIN or bool(_ATTACHED.fullmatch(name) or _HUB.fullmatch(name))


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> Part:
    source = archive.extractfile(member)
    if source is None:
        raise tarfile.TarError(f"{member.name} has no content")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return Part(digest.hexdigest(), size)


def _manifest(file: Path, space: Path) -> Manifest:
    try:
        body = (space / MANIFEST).read_bytes()
        wrote: dict[str, object] = msgspec.json.decode(body, type=dict[str, object])
        if isinstance(number := wrote.get("format"), int) and number > FORMAT:
            raise Refused(f"{file} was made by a newer Quarterdeck: update this one first.")
        manifest = msgspec.json.decode(body, type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise Refused(f"{file} is no backup of Quarterdeck, or its end is missing.") from error
    newer = [kind for kind, number in manifest.formats.items() if number > len(migrations(kind))]
    if newer:
        raise Refused(
            f"{file} was made by Quarterdeck {manifest.release}, whose {newer[0]} file is of a newer "
            "format than this one knows: update Quarterdeck here first."
        )
    return manifest


def _toml(text: str) -> dict[str, object]:
    """Return what a config says, before it is checked."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not TOML: {error}") from error


# ---------------------------------------------------------------- what another box may have done since


def _go_on_above(ledger: Path) -> int:
    """Have no number given out again that may be in use since; return the last effect's of then."""
    if not ledger.exists():
        return 0
    with closing(sqlite3.connect(ledger)) as file, file:
        (effects,) = file.execute("SELECT coalesce(max(id), 0) FROM effects").fetchone()
        file.execute("UPDATE sqlite_sequence SET seq = seq + ?", (AHEAD,))
        file.execute("UPDATE counters SET next = next + ?", (AHEAD,))
        file.executemany(
            "INSERT OR IGNORE INTO counters (kind, next) VALUES (?, 1 + ?)",
            [(kind, AHEAD) for kind in KINDS],
        )
        file.execute("DELETE FROM positions")  # in the output of runs that stayed behind
    return int(effects)


def _let_go_of_what_was_heard(bot: Path) -> None:
    """Count as done what was heard: the other box did it since, and it must not be done twice."""
    if not bot.exists():
        return
    with closing(sqlite3.connect(bot)) as file, file:
        file.execute(
            "INSERT OR IGNORE INTO handled (update_id, at) SELECT update_id, at FROM inbox"
        )
        file.execute("DELETE FROM inbox")


def _names(vault: Path) -> tuple[str, ...]:
    if not vault.exists():
        return ()
    with closing(sqlite3.connect(vault)) as file:
        return tuple(
            name for (name,) in file.execute("SELECT DISTINCT name FROM secrets ORDER BY 1")
        )
