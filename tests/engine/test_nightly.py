"""A backup each night, missed ones made up for, seven kept, and a word when there is none for long."""

from __future__ import annotations

import itertools
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import backups, nightly
from engine.nightly import KEPT, Nightly, last_due
from engine.paths import Home
from engine.setup import recovery_code
from stores.sealing import create_keys
from tests.engine.chat import chatting
from tests.engine.phone import held

HOUR = 3600.0


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("now", "zone", "due"),
    [
        ("2026-11-29T12:00", "UTC", "2026-11-29T03:30"),
        ("2026-11-29T03:30", "UTC", "2026-11-29T03:30"),
        ("2026-11-29T03:29", "UTC", "2026-11-28T03:30"),
        ("2026-11-29T03:29", "Europe/Berlin", "2026-11-29T02:30"),
        ("2026-11-29T03:29", "Asia/Tokyo", "2026-11-28T18:30"),
        ("2026-03-29T12:00", "Europe/Berlin", "2026-03-29T01:30"),  # a night of 23 hours
        ("2026-10-25T12:00", "Europe/Berlin", "2026-10-25T02:30"),  # and one of 25
    ],
)
def test_it_is_due_at_half_past_three_by_the_owners_clock(now: str, zone: str, due: str) -> None:
    assert last_due(at(now), zone) == at(due)


class Night:
    """A home, a clock in the test's hand, and what the owner was told."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home").make()
        create_keys(self.home)
        recovery_code(self.home)
        # The age of a home is that of its key: noon, so that a night lies as far ahead on every run.
        self.now = at("2026-11-29T12:00")
        os.utime(self.home.vault_key, (self.now, self.now))
        self.told: list[tuple[float, str]] = []
        self.nightly = Nightly(
            self.home, lambda: self.now, zone=lambda: "Europe/Berlin", old=self._old
        )

    async def _old(self, since: float, why: str) -> None:
        self.told.append((since, why))

    async def hours(self, count: int) -> None:
        for _ in range(count):
            self.now += HOUR
            await self.nightly.look()


async def test_one_is_made_each_night_and_seven_stay_beside_what_was_made_by_hand(
    tmp_path: Path,
) -> None:
    night = Night(tmp_path)
    assert night.nightly.health().startswith("none yet")
    night.home.backups.mkdir()
    by_hand = night.home.backups / backups.name(night.now)
    by_hand.write_bytes(b"kept")
    await night.hours(24 * (KEPT + 2))
    there = backups.found(night.home)
    assert [one.nightly for one in there] == [False] + [True] * KEPT
    gaps = {
        round((later.taken_at - one.taken_at) / HOUR)
        for one, later in itertools.pairwise(there[1:])
    }
    assert gaps <= {23, 24, 25}
    assert by_hand.read_bytes() == b"kept"
    assert night.told == []
    assert "on this machine only" in night.nightly.health()


async def test_nights_that_were_slept_through_are_made_up_for_once(tmp_path: Path) -> None:
    night = Night(tmp_path)
    await night.nightly.look()
    assert backups.found(night.home) == []
    night.now += 30 * 24 * HOUR
    await night.nightly.look()
    await night.nightly.look()
    assert len(backups.found(night.home)) == 1
    assert night.told == []


async def test_what_goes_wrong_is_kept_for_health_and_told_after_two_days(tmp_path: Path) -> None:
    night = Night(tmp_path)
    await night.hours(25)
    (first,) = backups.found(night.home)
    night.home.engine_db.write_bytes(b"\0" * 8192)
    night.now = first.taken_at
    await night.hours(48)
    assert night.told == []
    assert "engine.sqlite3 cannot be copied" in night.nightly.health()
    await night.hours(25)
    assert {since for since, _ in night.told} == {first.taken_at}
    assert "cannot be copied" in night.told[0][1]
    assert first.path.exists()
    night.home.engine_db.unlink()
    await night.hours(2)
    assert "cannot" not in night.nightly.health()


async def test_a_disk_without_room_is_not_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(tmp_path)
    monkeypatch.setattr(nightly, "SPARE_BYTES", 10**18)
    await night.hours(25)
    assert backups.found(night.home) == []
    assert "no room for a backup" in night.nightly.health()


async def test_the_phone_shows_its_age_and_is_told_once_of_an_old_one(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        shown = await chat.sent("/health", "Backup: none yet")
        assert "key recovery" in shown.text
        chat.home.backups.mkdir(exist_ok=True)
        ahead = chat.home.backups / backups.name(at("2999-11-29T12:00"))
        ahead.write_bytes(b"named by a clock that was wrong")
        await chat.sent("/health", "Backup: none yet", "one is dated ahead: 29 Nov 2999")
        for name in ("first", "second"):
            await chat.engine._backup_old(1.0, f"{name} try")
        await chat.until("No backup since", "first try", "quarterdeck backup --to DIR")
        assert "second try" not in chat.phone.transcript()
    async with held(tmp_path / "later") as phone:
        phone.later(49 * HOUR)
        await phone.engine.nightly.look()
        health = json.dumps(await phone.door.health())
        assert " here, on this machine only; " in health


YEAR = 365 * 24 * HOUR


async def test_a_clock_that_ran_ahead_once_keeps_no_later_night_from_its_backup(
    tmp_path: Path,
) -> None:
    night = Night(tmp_path)
    await night.hours(24)
    right, night.now = night.now, night.now + YEAR
    await night.nightly.look()
    (wrong,) = backups.ahead(night.home, right)
    night.now = right
    await night.hours(24 * (KEPT + 2))
    there = backups.past(night.home, night.now)
    assert len(there) == KEPT
    assert night.now - there[-1].taken_at <= 24 * HOUR
    assert wrong.path.exists()
    assert night.told == []
    shown = night.nightly.health()
    assert shown.startswith("03:30 here") or shown.startswith("04:00 here")
    assert "one is dated ahead: 30 Nov 2027 13:00" in shown


async def test_that_none_is_made_is_told_though_one_is_dated_ahead(tmp_path: Path) -> None:
    night = Night(tmp_path)
    night.home.backups.mkdir()
    (night.home.backups / backups.name(night.now + YEAR)).write_bytes(b"of a wrong clock")
    began = night.now
    night.home.engine_db.write_bytes(b"\0" * 8192)
    await night.hours(47)
    assert night.told == []
    await night.hours(2)
    assert {since for since, _ in night.told} == {began}


async def test_a_try_that_failed_while_the_clock_ran_ahead_is_made_again_within_the_hour(
    tmp_path: Path,
) -> None:
    night = Night(tmp_path)
    right, night.now = night.now, night.now + YEAR
    night.home.engine_db.write_bytes(b"\0" * 8192)
    await night.nightly.look()
    night.home.engine_db.unlink()
    night.now = right
    await night.hours(24)
    assert len(backups.found(night.home)) == 1


async def test_a_key_dated_ahead_keeps_no_first_backup_from_being_made(tmp_path: Path) -> None:
    night = Night(tmp_path)
    os.utime(night.home.vault_key, (night.now + YEAR, night.now + YEAR))
    await night.hours(24)
    assert len(backups.found(night.home)) == 1


def test_the_way_back_is_the_newest_whose_date_can_be_true(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make()
    home.backups.mkdir()
    now = at("2026-11-29T12:00")
    true, wrong = now - HOUR, now + YEAR
    (home.backups / backups.name(wrong)).write_bytes(b"")
    assert backups.name(wrong) in backups.way_back(home, now)
    (home.backups / backups.name(true)).write_bytes(b"")
    said = backups.way_back(home, now)
    assert backups.name(true) in said
    assert backups.name(wrong) not in said
    assert "one is dated ahead: 29 Nov 2027 12:00 UTC, by a clock that was wrong" in said
