"""One SQLite file: what a transaction keeps and what it gives up, and files that are not right."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from stores import database, soundness
from stores.database import Database, Unusable, migrations

NOBODY = 65534
NOTE = "INSERT INTO counters (kind, next) VALUES (?, 1)"


@pytest.fixture
async def ledger_file(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "engine.sqlite3", "ledger") as file:
        yield file


async def kinds(file: Database) -> list[str]:
    return [kind for (kind,) in await file.fetch("SELECT kind FROM counters ORDER BY kind")]


async def test_a_new_file_is_ours_alone_and_durable_at_each_commit(ledger_file: Database) -> None:
    assert await ledger_file.fetch("PRAGMA journal_mode") == [("wal",)]
    assert await ledger_file.fetch("PRAGMA synchronous") == [(2,)]
    assert await ledger_file.fetch("PRAGMA foreign_keys") == [(1,)]
    for name in ("engine.sqlite3", "engine.sqlite3-wal"):
        assert stat.S_IMODE(ledger_file.path.with_name(name).stat().st_mode) == 0o600


async def test_a_block_that_raises_leaves_nothing_behind(ledger_file: Database) -> None:
    async def fails() -> None:
        async with ledger_file.transaction() as tx:
            await tx.execute(NOTE, ("lost",))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fails()
    async with ledger_file.transaction() as tx:
        await tx.execute(NOTE, ("kept",))
    assert await kinds(ledger_file) == ["kept"]


async def test_a_write_that_raises_leaves_nothing_behind(ledger_file: Database) -> None:
    def twice(connection: sqlite3.Connection) -> None:
        connection.execute(NOTE, ("same",))
        connection.execute(NOTE, ("same",))

    with pytest.raises(sqlite3.IntegrityError):
        await ledger_file.write(twice)
    await ledger_file.write(lambda c: c.execute(NOTE, ("next",)).rowcount)
    assert await kinds(ledger_file) == ["next"]


async def test_transactions_of_two_tasks_never_mix(ledger_file: Database) -> None:
    first_is_inside = asyncio.Event()

    async def fails() -> None:
        async with ledger_file.transaction() as tx:
            await tx.execute(NOTE, ("first",))
            first_is_inside.set()
            await asyncio.sleep(0)
            raise ZeroDivisionError

    failing = asyncio.create_task(fails())
    await first_is_inside.wait()
    async with ledger_file.transaction() as tx:
        await tx.execute(NOTE, ("second",))
    with pytest.raises(ZeroDivisionError):
        await failing
    assert await kinds(ledger_file) == ["second"]


async def test_a_read_does_not_see_what_may_still_be_rolled_back(ledger_file: Database) -> None:
    inside = asyncio.Event()

    async def fails() -> None:
        async with ledger_file.transaction() as tx:
            await tx.execute(NOTE, ("unfinished",))
            inside.set()
            await asyncio.sleep(0)
            raise ZeroDivisionError

    failing = asyncio.create_task(fails())
    await inside.wait()
    assert await kinds(ledger_file) == []
    with pytest.raises(ZeroDivisionError):
        await failing


@pytest.mark.parametrize("after_steps", range(12))
async def test_a_cancelled_block_is_whole_or_nothing_and_the_file_goes_on(
    ledger_file: Database, after_steps: int
) -> None:
    async def block() -> None:
        async with ledger_file.transaction() as tx:
            await tx.execute(NOTE, ("one",))
            await tx.execute(NOTE, ("two",))

    task = asyncio.create_task(block())
    for _ in range(after_steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    async with ledger_file.transaction() as tx:
        await tx.execute(NOTE, ("zzz",))
    assert await kinds(ledger_file) in (["zzz"], ["one", "two", "zzz"])


@pytest.mark.parametrize("after_steps", range(6))
async def test_a_cancelled_write_still_tells_what_it_committed(
    ledger_file: Database, after_steps: int
) -> None:
    told: list[int] = []

    task = asyncio.create_task(
        ledger_file.write(lambda c: c.execute(NOTE, ("one",)).rowcount, then=told.append)
    )
    for _ in range(after_steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert len(told) == len(await kinds(ledger_file))


async def test_a_write_that_may_be_lost_at_power_off_leaves_the_next_one_durable(
    ledger_file: Database,
) -> None:
    assert await ledger_file.write(
        lambda c: c.execute("PRAGMA synchronous").fetchone(), durable=False
    )
    assert await ledger_file.fetch("PRAGMA synchronous") == [(2,)]


async def test_a_crash_test_can_die_before_and_after_a_commit(
    ledger_file: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[str] = []
    monkeypatch.setattr(database, "boundary", passed.append)
    await ledger_file.write(lambda c: c.execute(NOTE, ("one",)).rowcount, what="a")
    async with ledger_file.transaction("b") as tx:
        await tx.execute(NOTE, ("two",))
    assert passed == ["before a", "after a", "before b", "after b"]


async def test_what_was_committed_is_there_after_opening_again(tmp_path: Path) -> None:
    for name in ("first", "second"):
        async with Database(tmp_path / "f.sqlite3", "ledger") as file, file.transaction() as tx:
            await tx.execute(NOTE, (name,))
    async with Database(tmp_path / "f.sqlite3", "ledger") as file:
        assert await kinds(file) == ["first", "second"]


async def test_a_file_that_is_no_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    path.write_bytes(b"this is no database, whatever its name says. " * 100)
    before = path.read_bytes()
    with pytest.raises(Unusable, match=r"engine\.sqlite3 is damaged .*Nothing was changed"):
        await Database(path, "ledger").open()
    assert path.read_bytes() == before


async def test_a_file_with_a_torn_page_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    async with Database(path, "ledger") as file, file.transaction() as tx:
        await tx.many(NOTE, [(f"k{n}",) for n in range(2000)])
    with path.open("r+b") as raw:
        raw.seek(path.stat().st_size - 3 * 4096)
        raw.write(b"\xff" * 3 * 4096)
    with pytest.raises(Unusable, match="is damaged"):
        await Database(path, "ledger").open()


@pytest.mark.parametrize("ahead", ["whole", "torn", "no file"])
async def test_what_a_look_ahead_finds_is_what_opening_would_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: str
) -> None:
    looked: list[str] = []
    asked = soundness.fault

    def told(connection: sqlite3.Connection) -> str:
        looked.append(asked(connection))
        return looked[-1]

    monkeypatch.setattr(soundness, "fault", told)
    path = tmp_path / "engine.sqlite3"
    if ahead != "no file":
        async with Database(path, "ledger") as file, file.transaction() as tx:
            await tx.many(NOTE, [(f"k{n}",) for n in range(2000)])
    if ahead == "torn":
        with path.open("r+b") as raw:
            raw.seek(path.stat().st_size - 3 * 4096)
            raw.write(b"\xff" * 3 * 4096)
    looked.clear()
    soundness.look_ahead(path)
    if ahead == "torn":
        with pytest.raises(Unusable, match="is damaged"):
            await Database(path, "ledger").open()
    else:
        async with Database(path, "ledger"):
            # Once by the look ahead; a file that was not there is looked over once it is made.
            assert len(looked) == 1
            looked.clear()
        async with Database(path, "ledger"):
            assert len(looked) == 1, "a look ahead is good for one opening"


async def test_a_file_of_a_newer_release_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite3"
    async with Database(path, "ledger") as file:
        await file.write(lambda c: c.execute("PRAGMA user_version = 99").rowcount)
    with pytest.raises(Unusable, match="newer Quarterdeck"):
        await Database(path, "ledger").open()


@pytest.mark.parametrize("where", ["header", "middle", "emptied", "cut"])
async def test_a_damaged_file_is_told_to_be_lost_and_left_as_it_is(
    tmp_path: Path, where: str
) -> None:
    path = tmp_path / "engine.sqlite3"
    async with Database(path, "ledger") as file, file.transaction() as tx:
        await tx.many(NOTE, [(f"k{n}",) for n in range(5000)])
    size = path.stat().st_size
    with path.open("r+b") as raw:
        match where:
            case "header":
                raw.write(b"\0" * 100)
            case "middle":
                raw.seek(size // 2 // 4096 * 4096)
                raw.write(b"\xa5" * 4096)
            case "emptied":
                raw.truncate(0)
            case "cut":
                raw.truncate(size // 2)
    before = path.read_bytes()
    with pytest.raises(Unusable, match=r"engine\.sqlite3 is damaged") as found:
        await Database(path, "ledger").open()
    assert found.value.lost
    assert path.read_bytes() == before


async def test_a_folder_in_its_place_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "engine.sqlite3"
    folder.mkdir()
    with pytest.raises(Unusable, match="a folder lies in its place"):
        await Database(folder, "ledger").open()


@pytest.fixture
def walled() -> Iterator[Path]:
    """A folder whose modes bind us as they do an ordinary user, which we are for so long."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.geteuid():
            yield folder
            folder.chmod(0o700)
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(0)


@pytest.mark.parametrize("mode", [0o400, 0o000])
async def test_a_file_we_may_not_write_is_not_lost_but_cannot_be_opened(
    walled: Path, mode: int
) -> None:
    path = walled / "engine.sqlite3"
    async with Database(path, "ledger"):
        pass
    path.chmod(mode)
    with pytest.raises(Unusable, match=r"cannot be opened .Permission denied.*the user that") as no:
        await Database(path, "ledger").open()
    assert not no.value.lost


async def test_a_folder_that_takes_no_file_is_said(walled: Path) -> None:
    walled.chmod(0o555)
    with pytest.raises(Unusable, match=r"cannot be made .*Permission denied"):
        await Database(walled / "engine.sqlite3", "ledger").open()


async def test_a_journal_that_is_cut_off_gives_back_what_was_committed_whole(
    tmp_path: Path,
) -> None:
    """As after a power failure: the file and its journal are copied while both are open."""
    path, other = tmp_path / "f.sqlite3", tmp_path / "after.sqlite3"
    async with Database(path, "ledger") as file:
        sizes = []
        for name in ("first", "second"):
            await file.write(lambda c, name=name: c.execute(NOTE, (name,)).rowcount)  # type: ignore[misc]
            sizes.append(path.with_name("f.sqlite3-wal").stat().st_size)
        main = path.read_bytes()
        journal = path.with_name("f.sqlite3-wal").read_bytes()
    for length, left in (
        (sizes[1] - 100, ["first"]),
        (sizes[0], ["first"]),
        (sizes[1], ["first", "second"]),
    ):
        other.write_bytes(main)
        other.with_name("after.sqlite3-wal").write_bytes(journal[:length])
        async with Database(other, "ledger") as file:
            assert await kinds(file) == left


def test_every_kind_of_file_has_its_migrations_without_a_gap() -> None:
    assert migrations("ledger")[0].startswith("-- The engine's ledger")
    with pytest.raises(ValueError, match="numbered"):
        migrations("nothing")
