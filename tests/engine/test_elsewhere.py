"""The newest backup on a second machine: brought there, made up for, and what is said when it is not.

The machine answers as its node would, in a folder of the test's; over a real SSH server it is
tests/machines/test_backup_there.py that goes the whole way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from engine import backups
from engine.adapters.machines import Machine, NodeRefused
from engine.elsewhere import Elsewhere
from engine.errors import Unreachable
from engine.nightly import KEPT, Nightly, moment
from engine.node import keep
from engine.node.link import Refusal
from engine.paths import Home
from engine.restore import closed, unpacked
from engine.rules import owner as rule
from engine.rules.effects import Say
from engine.rules.events import AnyEvent, BackupCopied, BackupNotCopied, SettingChanged
from engine.setup import recovery_code
from stores.sealing import create_keys
from tests.engine.test_backup import set_up
from tests.engine.test_nightly import HOUR, at

ZONE = "Europe/Berlin"


class Nas:
    """A machine with a folder; it may be away, or go while something is sent."""

    def __init__(self, home: Path) -> None:
        self.name = "nas"
        self.home = home
        self.away = False
        self.goes_after = -1  # so many parts
        self.parts = 0
        self.no = ""

    async def call(self, op: str, **given: Any) -> dict[str, Any]:
        if self.goes_after == 0:
            self.goes_after, self.away = -1, True
        if self.away:
            raise Unreachable("nas: it does not answer")
        if self.no:
            raise NodeRefused(self.no)
        if op == "backup.put":
            self.parts += 1
            self.goes_after -= 1
        try:
            return keep.OPS[op](str(self.home), given)
        except Refusal as no:
            raise NodeRefused(str(no)) from no

    def there(self) -> list[Path]:
        folder = self.home / "backups"
        return sorted(folder.glob("quarterdeck-*")) if folder.is_dir() else []


class Nights:
    """A home, its nights, a machine beside it, and the owner's stream."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home").make()
        create_keys(self.home)
        self.code = set_up(self.home)
        self.now = at("2026-11-29T12:00")
        self.nas = Nas(folder / "nas")
        self.machines = {"nas": cast(Machine, self.nas)}
        self.owner = rule.Owner(zone=ZONE)
        self.told: list[str] = []
        self.news: list[str] = []
        self.causes: set[str] = set()
        self.nightly = Nightly(
            self.home,
            lambda: self.now,
            zone=lambda: ZONE,
            old=self._nothing,
            elsewhere=lambda: self.elsewhere.health(),
        )
        self.start()

    def start(self) -> None:
        """As a new engine would, which remembers nothing but what was stored."""
        self.elsewhere = Elsewhere(
            self.home,
            self.machines,
            lambda: self.now,
            owner=lambda: self.owner,
            post=self.post,
            first=self.nightly.first,
            said=lambda when: moment(when, self.now, ZONE),
        )

    async def _nothing(self, since: float, why: str) -> None:
        raise AssertionError(f"the one here is never old: {since} {why}")

    async def post(self, event: AnyEvent, cause: str) -> bool:
        if cause in self.causes:
            return False
        self.causes.add(cause)
        assert isinstance(event, BackupCopied | BackupNotCopied)
        self.owner, effects = rule.decide(self.owner, event)
        said = [effect for effect in effects if isinstance(effect, Say)]
        self.told += [line.text for line in said if line.kind == "warning"]
        self.news += [line.text for line in said if line.kind == "news"]
        return True

    def choose(self, name: str) -> None:
        chosen = SettingChanged(name="backup", value=name, at=self.now)
        self.owner, _ = rule.decide(self.owner, chosen)

    async def hours(self, count: int) -> None:
        for _ in range(count):
            self.now += HOUR
            await self.nightly.look()
            await self.elsewhere.look()


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


def readable(file: Path, code: str, folder: Path) -> None:
    shut = closed(file)
    assert shut
    with unpacked(file, Home(folder), shut.key(code)) as found:
        assert found.key(code)


async def test_the_newest_goes_there_at_once_then_each_nights_and_seven_stay(
    nights: Nights, tmp_path: Path
) -> None:
    nights.choose("nas")
    await nights.elsewhere.look()
    (first,) = nights.nas.there()
    assert backups.found(nights.home)[0].path.name + ".sealed" == first.name
    assert "none" not in nights.nightly.health()
    await nights.hours(24 * (KEPT + 2))
    here = [one.path.name for one in backups.found(nights.home)]
    assert [path.name for path in nights.nas.there()] == [f"{name}.sealed" for name in here]
    assert len(here) == KEPT
    assert nights.told == []
    copied = nights.owner.copied
    assert copied
    assert (copied.kept, copied.folder) == (KEPT, str(tmp_path / "nas/backups"))
    assert nights.nightly.health().startswith("04:00 here, 04:00 nas; ")
    for path in nights.nas.there():
        readable(path, nights.code, tmp_path / "look")


async def test_health_says_when_it_was_made_here_and_there(nights: Nights) -> None:
    nights.choose("nas")
    nights.now = at("2026-11-29T02:30")  # 03:30 in Berlin
    assert nights.nightly.health().endswith("none on nas yet")
    await nights.nightly.first()
    nights.now += 60
    await nights.elsewhere.look()
    assert nights.nightly.health().startswith("03:30 here, 03:31 nas; ")
    nights.now += 24 * HOUR
    assert nights.nightly.health().startswith("29 Nov 03:30 here, 29 Nov 03:31 nas; ")
    nights.machines.clear()
    assert "nas is no machine of yours any more: /settings, Backup" in nights.nightly.health()
    nights.choose("off")
    assert "29 Nov 03:30 here, on this machine only" in nights.nightly.health()


async def test_one_dated_ahead_keeps_no_newer_one_from_going_there(nights: Nights) -> None:
    nights.choose("nas")
    right, nights.now = nights.now, nights.now + 365 * 24 * HOUR
    await nights.elsewhere.look()
    (wrong,) = nights.nas.there()
    nights.now = right
    await nights.hours(24 * (KEPT + 2))
    *true, last = nights.nas.there()
    assert last == wrong
    here = backups.past(nights.home, nights.now)
    assert [path.name for path in true] == [f"{one.path.name}.sealed" for one in here]
    assert len(true) == KEPT
    assert nights.told == []


async def test_that_nothing_goes_there_is_told_though_the_last_is_dated_ahead(
    nights: Nights,
) -> None:
    nights.choose("nas")
    right, nights.now = nights.now, nights.now + 365 * 24 * HOUR
    await nights.elsewhere.look()
    nights.now, nights.nas.away = right, True
    await nights.hours(46)
    assert nights.told == []
    await nights.hours(4)
    (told,) = nights.told
    assert told.startswith("nas has had no new backup since 29 Nov")


async def test_a_machine_that_is_away_is_made_up_for_and_told_of_once_after_two_days(
    nights: Nights,
) -> None:
    nights.choose("nas")
    await nights.elsewhere.look()
    nights.nas.away = True
    await nights.hours(47)
    assert nights.told == []
    assert nights.elsewhere.trouble() == "nas is away; the newest goes there once it is back"
    await nights.hours(49)
    (told,) = nights.told
    assert told.startswith("nas has had no new backup since 29 Nov 13:00: it does not answer.")
    nights.start()
    await nights.hours(1)
    assert len(nights.told) == 1, "a new start does not say it again"
    nights.nas.away = False
    await nights.elsewhere.look()
    assert nights.news[1:] == ["nas has the newest backup again."]
    assert nights.elsewhere.trouble() == ""
    assert nights.nas.there()[-1].name.startswith(backups.found(nights.home)[-1].path.name)


async def test_a_link_that_breaks_goes_on_where_it_broke(nights: Nights, tmp_path: Path) -> None:
    (nights.home.attached / ("a" * 64)).write_bytes(b"")
    for n in range(4):  # it does not get smaller
        (nights.home.attached / f"{n:064x}").write_bytes(_noise(1_000_000, n))
    nights.choose("nas")
    nights.nas.goes_after = 3
    await nights.elsewhere.look()
    assert nights.nas.there() == [], "a part of it never looks whole"
    nights.nas.away = False
    await nights.elsewhere.look()
    (file,) = nights.nas.there()
    readable(file, nights.code, tmp_path / "look")
    assert nights.nas.parts == len(_pieces(file)), "no part was sent twice"
    assert list((nights.nas.home / "backups").iterdir()) == [file]


def _noise(size: int, seed: int) -> bytes:
    from random import Random

    return Random(seed).randbytes(size)


def _pieces(file: Path) -> list[int]:
    from stores.sealed_file import PART, PROOF

    body = file.stat().st_size
    head = body % (PART + PROOF)
    return [head, *range(body // (PART + PROOF) + 1)]


async def test_an_engine_that_died_half_way_begins_anew_and_leaves_nothing(
    nights: Nights, tmp_path: Path
) -> None:
    (nights.home.attached / ("b" * 64)).write_bytes(_noise(3_000_000, 1))
    nights.choose("nas")
    nights.nas.goes_after = 2
    await nights.elsewhere.look()
    nights.start()
    nights.nas.away = False
    await nights.elsewhere.look()
    (file,) = nights.nas.there()
    readable(file, nights.code, tmp_path / "look")
    assert list((nights.nas.home / "backups").iterdir()) == [file]


async def test_a_full_disk_there_is_told_once_with_the_way_out(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep, "SPARE_BYTES", 10**18)
    nights.choose("nas")
    await nights.hours(72)
    (told,) = nights.told
    assert told.startswith("The backup was not copied to nas: there is no room for it on its disk")
    assert told.endswith("/settings, Backup chooses another machine.")
    assert "no room" in nights.elsewhere.trouble()
    monkeypatch.setattr(keep, "SPARE_BYTES", 0)
    await nights.hours(2)
    assert (len(nights.nas.there()), nights.elsewhere.trouble()) == (1, "")


async def test_without_a_recovery_code_nothing_leaves(nights: Nights) -> None:
    nights.home.recovery.unlink()
    nights.choose("nas")
    await nights.hours(2)
    assert nights.nas.there() == []
    (told,) = nights.told
    assert "there is no recovery code yet" in told
    recovery_code(nights.home)
    await nights.hours(2)
    assert len(nights.nas.there()) == 1


async def test_another_machine_gets_the_newest_at_once_and_the_first_keeps_its_own(
    nights: Nights, tmp_path: Path
) -> None:
    nights.choose("nas")
    await nights.elsewhere.look()
    attic = Nas(tmp_path / "attic")
    attic.name = "attic"
    nights.machines["attic"] = cast(Machine, attic)
    nights.choose("attic")
    await nights.elsewhere.look()
    assert (len(attic.there()), len(nights.nas.there())) == (1, 1)
    nights.choose("off")
    await nights.hours(30)
    assert (len(attic.there()), len(nights.nas.there())) == (1, 1)


async def test_what_was_read_back_as_something_else_counts_for_nothing(nights: Nights) -> None:
    nights.choose("nas")
    real = nights.nas.call

    async def lies(op: str, **given: Any) -> dict[str, Any]:
        answer = await real(op, **given)
        return {**answer, "sha256": "0" * 64} if op == "backup.finish" else answer

    nights.nas.call = lies  # type: ignore[method-assign]
    await nights.elsewhere.look()
    assert nights.owner.copied is None
    assert "was read back there as something else" in nights.told[0]


async def test_a_backup_that_cannot_be_read_any_more_ends_nothing(nights: Nights) -> None:
    (nights.home.attached / ("c" * 64)).write_bytes(_noise(3_000_000, 2))
    nights.choose("nas")
    nights.nas.goes_after = 1
    await nights.elsewhere.look()
    (one,) = backups.found(nights.home)
    one.path.rename(one.path.with_suffix(".moved"))
    one.path.mkdir()
    nights.nas.away = False
    await nights.elsewhere.look()
    assert "cannot be read here" in nights.elsewhere.trouble()
    one.path.rmdir()
    one.path.with_suffix(".moved").rename(one.path)
    await nights.hours(2)
    assert (len(nights.nas.there()), nights.elsewhere.trouble()) == (1, "")


async def test_a_machine_that_keeps_nothing_it_is_sent_is_not_sent_to_for_ever(
    nights: Nights,
) -> None:
    real = nights.nas.call

    async def forgets(op: str, **given: Any) -> dict[str, Any]:
        return {"at": 0} if op == "backup.put" else await real(op, **given)

    nights.nas.call = forgets  # type: ignore[method-assign]
    nights.choose("nas")
    await nights.elsewhere.look()
    assert "does not stay there" in nights.elsewhere.trouble()
