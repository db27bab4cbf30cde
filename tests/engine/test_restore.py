"""Backups by hand: what is printed and refused, and what a damaged home says of the way back."""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from engine import backup, backups, restored
from engine.adapters.own_keys import OwnKeys
from engine.config import load
from engine.errors import Refused
from engine.lock import EngineLock
from engine.paths import Home
from engine.restore import unpacked
from engine.restored import Restored
from stores.cards import CardStore
from stores.database import Database
from stores.ledger import Ledger
from stores.recovery import new_code
from stores.rotation import next_key
from stores.sealed_file import Closing
from stores.sealing import Opener, master_key
from stores.vault import Vault
from tests.engine.test_cli import TOKEN, Run, home, run

__all__ = ["home", "run"]

SETUP = ("setup", "--token-file", "-", "--owner", "42", "--offline", "--yes")
CODE = re.compile(r"^Recovery (\S+)$", re.MULTILINE)


@pytest.fixture
def code(run: Run, home: Home) -> str:
    """The recovery code of a home that was set up and had one project added."""
    done = run(*SETUP, stdin=TOKEN)
    assert (done.code, done.err) == (0, "")
    shown = CODE.search(done.out)
    assert shown
    assert run("account", "add", "main", "--agent", "rehearsal").code == 0
    return shown[1]


@pytest.fixture
def file(run: Run, code: str) -> Path:
    done = run("backup")
    assert (done.code, done.err) == (0, "")
    return Path(done.out.strip())


@pytest.fixture
def token(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    return str(path)


def test_setup_shows_a_recovery_code_once_and_keeps_it_nowhere(
    run: Run, home: Home, code: str
) -> None:
    assert not CODE.search(run(*SETUP, stdin=TOKEN).out)
    for path in home.root.rglob("*"):
        assert not path.is_file() or code.encode() not in path.read_bytes()


def test_what_was_backed_up_is_restored_with_the_code(
    run: Run, home: Home, file: Path, code: str, token: str, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other")
    restore = ("restore", str(file), "--home", str(other.root), "--token-file", token, "--offline")
    done = run(*restore, "--recovery-file", "-", stdin=code.lower())
    assert (done.code, done.err) == (0, "")
    assert "quarterdeck up" in done.out
    assert load(other) == load(home)
    assert other.vault_key.read_bytes() == home.vault_key.read_bytes()
    assert other.bot_token.read_text().strip() == TOKEN
    assert not other.box_id.exists(), "to other machines it is another box"
    again = run(*restore, "--recovery-file", "-", stdin=code)
    assert again.code == 1
    assert "is not empty, and nothing there is replaced" in again.err


def test_a_backup_goes_where_it_is_told_and_nowhere_else(
    run: Run, home: Home, code: str, tmp_path: Path
) -> None:
    stick = tmp_path / "stick"
    refused = run("backup", "--to", str(stick))
    assert refused.code == 1
    assert "There is no folder" in refused.err
    stick.mkdir()
    first, second = (run("backup", "--to", str(stick)).out.strip() for _ in range(2))
    assert {Path(first), Path(second)} == set(stick.iterdir())
    assert backups.found(home) == []


def test_a_wrong_code_leaves_nothing_behind(
    run: Run, file: Path, token: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    for typed, says in ((new_code(), "does not open this backup"), ("hunter2", "no recovery code")):
        done = run(
            *("restore", str(file), "--home", str(other), "--token-file", token, "--offline"),
            *("--recovery-file", "-"),
            stdin=typed,
        )
        assert done.code == 1
        assert says in done.err
        assert not other.exists()


def test_a_new_code_takes_the_place_of_the_old_one_in_later_backups_alone(
    run: Run, home: Home, file: Path, code: str, tmp_path: Path
) -> None:
    shown = CODE.search(run("key", "recovery").out)
    assert shown
    assert shown[1] != code
    later = Path(run("backup").out.strip())
    for backed_up, opens, does_not in ((file, code, shown[1]), (later, shown[1], code)):
        with unpacked(backed_up, Home(tmp_path / "look")) as found:
            assert found.key(opens) == home.vault_key.read_bytes()
            with pytest.raises(Refused, match="does not open this backup"):
                found.key(does_not)


def test_a_rotated_key_has_a_code_of_its_own_and_older_backups_keep_theirs(
    run: Run, home: Home, file: Path, code: str, token: str, tmp_path: Path
) -> None:
    old = home.vault_key.read_bytes()
    with EngineLock(home.engine_lock):
        refused = run("key", "rotate")
        assert refused.code == 1
        assert "Stop it first" in refused.err
    done = run("key", "rotate")
    assert (done.code, done.err) == (0, "")
    shown = CODE.search(done.out)
    newer = re.search(r"made at once: (\S+)", done.out)
    assert shown
    assert newer
    new = home.vault_key.read_bytes()
    assert new != old
    for number, (made, by, key) in enumerate(((file, code, old), (Path(newer[1]), shown[1], new))):
        into = tmp_path / f"again-{number}"
        (tmp_path / "code").write_text(by)
        arguments = ("--home", str(into), "--token-file", token, "--offline", "--recovery-file")
        assert run("restore", str(made), *arguments, str(tmp_path / "code")).code == 0
        assert Home(into).vault_key.read_bytes() == key


def test_no_backup_is_made_while_the_key_is_changed(run: Run, home: Home, code: str) -> None:
    next_key(home).write_bytes(home.vault_key.read_bytes())
    done = run("backup")
    assert done.code == 1
    assert "getting a new key" in done.err
    assert run("account", "add", "other", "--agent", "rehearsal").code == 0  # opens the vault
    assert not next_key(home).exists()
    assert run("backup").code == 0


def test_who_lost_the_code_goes_on_without_keys_and_is_told_which(
    run: Run, home: Home, code: str, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-a-secret")
    added = run("account", "add", "paid", "--agent", "claude", "--secret-env", "MODEL_KEY")
    assert added.code == 0, added.err
    asyncio.run(_kept(home, "forge/shop"))
    file = run("backup").out.strip()
    other = Home(tmp_path / "other")
    done = run(
        *("restore", file, "--home", str(other.root), "--token-file", token, "--offline"),
        "--without-keys",
    )
    assert (done.code, done.err) == (0, "")
    assert "account/paid/MODEL_KEY: give them again" in done.out
    assert "Lost     the keys to forges and machines: /projects add" in done.out
    assert CODE.search(done.out)
    assert other.vault_key.read_bytes() != home.vault_key.read_bytes()
    monkeypatch.setenv("QUARTERDECK_HOME", str(other.root))
    assert "paid" in run("account", "list").out


async def _kept(home: Home, name: str) -> None:
    async with Database(home.vault_db, "vault", secure_delete=True) as database:
        vault = Vault(database, master_key(home))
        await OwnKeys(vault, lambda: 1.0).make(name, "git@host:shop.git", "")


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _flip(file: Path) -> None:
    body = bytearray(file.read_bytes())
    body[len(body) // 2] ^= 0xFF
    file.write_bytes(body)


def _no_archive(file: Path) -> None:
    file.write_bytes(b"a letter, and no backup" * 100)


def _rewritten(file: Path, name: str, body: bytes, *, of: str = "") -> None:
    """Put one more file into the archive, or another in the place of `of`."""
    rough = file.with_name("rough")
    with tarfile.open(file) as old, tarfile.open(rough, "w:gz") as new:
        for member in old:
            if member.name != of:
                new.addfile(member, old.extractfile(member))
        about = tarfile.TarInfo(name)
        about.size = len(body)
        new.addfile(about, io.BytesIO(body))
    rough.replace(file)


def _swapped(file: Path) -> None:
    _rewritten(file, "config.toml", b"owner_ids = [666]\n", of="config.toml")


def _climbing(file: Path) -> None:
    _rewritten(file, "hub/../../climbed", b"x")


def _beside(file: Path) -> None:
    _rewritten(file, "secrets/bot-token", b"x")


def _endless(file: Path) -> None:
    _rewritten(file, "attached/" + "0" * 64, b"x", of=backup.MANIFEST)


def _newer(file: Path) -> None:
    _rewritten(file, backup.MANIFEST, b'{"format": 99}', of=backup.MANIFEST)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_cut, "cut off, damaged or no backup"),
        (_flip, "backup"),  # which of the sentences depends on what lies there
        (_no_archive, "cut off, damaged or no backup"),
        (_swapped, "config.toml is not what was backed up"),
        (_climbing, "is no backup of Quarterdeck"),
        (_beside, "is no backup of Quarterdeck"),
        (_endless, "its end is missing"),
        (_newer, "newer Quarterdeck"),
        (Path.unlink, "There is no"),
    ],
)
def test_what_is_no_whole_backup_is_refused_before_anything_is_asked(
    file: Path, tmp_path: Path, spoil: object, says: str
) -> None:
    assert callable(spoil)
    spoil(file)
    other = tmp_path / "there"
    other.mkdir()
    with pytest.raises(Refused, match=re.escape(says)), unpacked(file, Home(other)):
        pass
    assert list(other.iterdir()) == []
    assert not (tmp_path / "climbed").exists()


def test_another_boxs_key_is_refused(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "vault.key").write_bytes(bytes(range(32)))
    assert Opener(bytes(range(32))).public
    with (
        unpacked(file, Home(tmp_path / "there")) as found,
        pytest.raises(Refused, match="belongs to another box"),
    ):
        found.key_in(folder)


def start(module: str, home: Home) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", module),
        env=os.environ | {"QUARTERDECK_HOME": str(home.root)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(("module", "name"), [("engine", "engine.sqlite3"), ("bot", "bot.sqlite3")])
def test_a_start_on_a_damaged_file_says_how_to_go_on_and_that_works(
    run: Run, home: Home, code: str, module: str, name: str
) -> None:
    asyncio.run(_a_bots_file(home))
    file = run("backup").out.strip()
    (home.root / name).write_bytes(b"\0" * 8192)
    done = start(module, home)
    assert done.returncode == 1
    assert f"{name} is damaged" in done.stderr
    assert "Traceback" not in done.stderr
    move, restore = (line.strip() for line in done.stderr.splitlines()[-2:])
    assert Path(file).name in restore
    subprocess.run(shlex.split(move), check=True)
    assert f"QUARTERDECK_HOME={home.root} quarterdeck restore " in restore
    again = run(*shlex.split(restore)[2:], "--offline")
    assert (again.code, again.err) == (0, "")
    assert "main" in run("account", "list").out


async def _a_bots_file(home: Home) -> None:
    async with Database(home.bot_db, "bot", secure_delete=True):
        pass


def test_an_engine_that_has_lived_does_not_begin_anew_without_its_ledger(
    run: Run, home: Home, code: str
) -> None:
    home.engine_alive.touch()
    home.engine_db.unlink()
    for done in (start("engine", home), run("status")):
        err = done.stderr if isinstance(done, subprocess.CompletedProcess) else done.err
        assert "is gone, and an engine has lived here" in err
        assert "No backup lies in" in err
    assert not home.engine_db.exists()


@pytest.mark.parametrize(
    ("name", "lived"), [("engine_db", True), ("vault_db", True), ("engine_db", False)]
)
def test_no_file_is_begun_anew_in_a_home_that_had_it(
    run: Run, home: Home, code: str, name: str, lived: bool
) -> None:
    if lived:
        home.engine_alive.touch()
    else:
        restored.keep(home, Restored(taken_at=1.0, effects=0))
    path: Path = getattr(home, name)
    path.unlink()
    err = start("engine", home).stderr
    assert f"{path} is gone, and " in err
    assert ("has lived" if lived else "made from a backup") in err
    assert not path.exists()


def test_a_damaged_file_is_not_backed_up_over_good_ones(run: Run, home: Home, file: Path) -> None:
    home.engine_db.write_bytes(b"\0" * 8192)
    done = run("backup")
    assert done.code == 1
    assert "engine.sqlite3 cannot be copied" in done.err
    assert [one.path for one in backups.found(home)] == [file]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for another user")
def test_what_root_does_for_the_user_of_the_service_is_that_users(
    run: Run, home: Home, code: str, tmp_path: Path
) -> None:
    for path in (home.root, *home.root.rglob("*")):
        os.chown(path, 65534, 65534)
    file = Path(run("backup").out.strip())
    other = Home(tmp_path / "other")
    other.root.mkdir()
    os.chown(other.root, 65534, 65534)
    with unpacked(file, other) as found:
        found.finish(TOKEN, found.key(code))
    for root in (home.root, other.root):
        assert {path.stat().st_uid for path in (root, *root.rglob("*"))} == {65534}


async def test_the_parts_agree_however_much_is_written_meanwhile(tmp_path: Path) -> None:
    """The bot never remembers a note that the ledger beside it does not hold."""
    home = Home(tmp_path / "home").make()
    async with (
        Database(home.engine_db, "ledger") as ledger_file,
        Database(home.bot_db, "bot", secure_delete=True) as bot_file,
    ):
        ledger, bot = Ledger(ledger_file), CardStore(bot_file)
        begun, over = asyncio.Event(), asyncio.Event()

        async def write() -> None:
            for n in itertools.count(1):
                await ledger.note(
                    n, goal="", kind="news", text="x" * 500, who="", sounds=False, at=1.0
                )
                await bot.keep_fact("seen", str(n))
                begun.set()
                if over.is_set():
                    return

        writing = asyncio.create_task(write())
        await begun.wait()
        for _ in range(5):
            file = await asyncio.to_thread(backup.take, home)
            seen, noted = _seen_and_noted(file, tmp_path / "look")
            assert seen <= noted
            assert seen > 0
        over.set()
        await writing


def _seen_and_noted(file: Path, space: Path) -> tuple[int, int]:
    space.mkdir(exist_ok=True)
    with tarfile.open(file) as archive:
        for name in ("bot.sqlite3", "engine.sqlite3"):
            body = archive.extractfile(name)
            assert body
            (space / name).write_bytes(body.read())
    with (
        closing(sqlite3.connect(space / "bot.sqlite3")) as bot,
        closing(sqlite3.connect(space / "engine.sqlite3")) as ledger,
    ):
        found = bot.execute("SELECT value FROM facts WHERE name = 'seen'").fetchone() or ("0",)
        return int(found[0]), ledger.execute("SELECT count(*) FROM notes").fetchone()[0]


def test_a_key_that_others_may_read_is_told_of(run: Run, home: Home, code: str) -> None:
    home.vault_key.chmod(0o640)
    said = run("doctor", "--json").out
    assert "others may read its key" in said
    assert "key rotate" in said


def test_a_copy_closed_after_a_rotation_of_a_backup_from_before_asks_for_both_codes(
    run: Run, home: Home, file: Path, code: str, token: str, tmp_path: Path
) -> None:
    shown = CODE.search(run("key", "rotate").out)
    assert shown
    public, recovery = home.vault_pub.read_bytes(), home.recovery.read_bytes()
    closing = Closing(file, public=public, recovery=recovery)
    copy = tmp_path / f"{file.name}.sealed"
    copy.write_bytes(b"".join(closing.piece(at) for at in range(len(closing.starts()))))
    into = tmp_path / "other"
    arguments = ("--home", str(into), "--token-file", token, "--offline", "--recovery-file", "-")
    done = run("restore", str(copy), *arguments, stdin=shown[1])
    assert done.code == 1
    assert "Recovery code before that one is asked for in a terminal" in done.err
    with unpacked(copy, Home(into), home.vault_key.read_bytes()) as found:
        assert found.fits(found.key(code))
