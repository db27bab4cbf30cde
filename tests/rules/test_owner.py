"""What the owner sets for themself, as it is written on a phone."""

from __future__ import annotations

import pytest

from engine.errors import Refused
from engine.rules.effects import Say
from engine.rules.events import (
    BackupCopied,
    BackupNotCopied,
    BackupOld,
    EngineAway,
    HomeRestored,
    OwnerLocked,
    OwnerUnlocked,
    SettingChanged,
)
from engine.rules.owner import UNLOCKED, Owner, begin, decide


def changed(name: str, value: str, now: Owner | None = None) -> Owner:
    after, effects = decide(now or begin(""), SettingChanged(name=name, value=value))
    assert effects == ()
    return after


@pytest.mark.parametrize(
    ("value", "quiet"),
    [
        ("23-7", (23 * 60, 7 * 60)),
        ("22:30 - 06:45", (22 * 60 + 30, 6 * 60 + 45)),
        ("1–5", (60, 300)),
        ("24-7", (0, 7 * 60)),
    ],
)
def test_quiet_hours_are_read_as_they_are_written(value: str, quiet: tuple[int, int]) -> None:
    assert changed("quiet", value).quiet == quiet


@pytest.mark.parametrize("value", ["25-7", "23", "23-7:75", "7-7", "at night", "-"])
def test_quiet_hours_that_are_none_are_refused_with_an_example(value: str) -> None:
    with pytest.raises(Refused, match="quiet"):
        changed("quiet", value)


@pytest.mark.parametrize("name", ["quiet", "zone", "heartbeat"])
def test_off_switches_each_of_them_off(name: str) -> None:
    now = Owner(zone="Europe/Berlin", quiet=(0, 60), heartbeat="https://alive.example/x")
    after = changed(name, "Off", now)
    assert getattr(after, name) == getattr(Owner(), name)
    assert after != now


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Refused, match="quiet, zone, heartbeat"):
        changed("colour", "blue")


@pytest.mark.parametrize(
    ("cut_off", "said"),
    [
        (0, "I was away 02:10–06:40."),
        (1, "I was away 02:10–06:40; 1 turn was cut off and goes on."),
        (3, "I was away 02:10–06:40; 3 turns were cut off and go on."),
    ],
)
def test_an_absence_is_said_silently_with_what_it_cut_off(cut_off: int, said: str) -> None:
    away = EngineAway(since="02:10", until="06:40", cut_off=cut_off)
    assert decide(Owner(), away) == (Owner(), (Say(goal="", kind="news", text=said),))


@pytest.mark.parametrize(
    ("goals", "said"), [(0, ""), (1, " 1 goal goes on"), (2, " 2 goals go on")]
)
def test_a_restored_home_says_from_when_it_is_and_what_goes_on(goals: int, said: str) -> None:
    after, (line,) = decide(Owner(), HomeRestored(taken="29 Nov 03:30", goals=goals))
    assert isinstance(line, Say)
    assert (after, line.kind, line.goal) == (Owner(), "warning", "")
    assert line.text.startswith("Restored from the backup of 29 Nov 03:30. What happened after")
    assert said in line.text
    assert bool(said) == ("from there" in line.text)
    assert line.text.endswith("must not run any more where the backup was taken.")


def test_an_old_backup_is_said_with_why_there_is_no_newer_one() -> None:
    _, (line,) = decide(Owner(), BackupOld(since="27 Nov 03:30", why="the disk is full."))
    assert isinstance(line, Say)
    assert line.text.startswith("No backup since 27 Nov 03:30: the disk is full. It is tried again")


def test_new_goals_begin_as_the_owner_likes() -> None:
    now = changed("model", "opus", changed("go", "auto", changed("mode", "ask")))
    assert (now.mode, now.go, now.model) == ("ask", "auto", "opus")
    assert changed("model", "off", now).model == ""


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [("mode", "yolo", "plan, ask"), ("go", "now", "ask .* or auto"), ("model", "a b", "one word")],
)
def test_what_new_goals_cannot_begin_with_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        changed(name, value)


def test_a_machine_for_backups_counts_from_when_it_was_chosen() -> None:
    now, _ = decide(Owner(), SettingChanged(name="backup", value="nas", at=10.0))
    assert (now.backup_on, now.backup_at) == ("nas", 10.0)
    again, _ = decide(now, SettingChanged(name="backup", value="nas", at=20.0))
    assert again == now
    off, _ = decide(now, SettingChanged(name="backup", value="off", at=30.0))
    assert off.backup_on == ""


def test_what_was_copied_is_kept_and_what_was_not_is_said_of_the_machine_chosen_alone() -> None:
    now = Owner(backup_on="nas")
    copied = BackupCopied(
        at=5.0, machine="nas", name="b", taken_at=4.0, size=9, kept=2, folder="/there"
    )
    after, (line,) = decide(now, copied)
    assert line == Say(
        goal="", kind="news", text="nas has the newest backup now, and gets each night's."
    )
    assert decide(after, copied)[1] == (), "each night's is not told of"
    assert decide(Owner(backup_on="attic"), copied)[1] == ()
    assert after.copied is not None
    assert (after.copied.machine, after.copied.at, after.copied.kept) == ("nas", 5.0, 2)
    missed, (line,) = decide(
        after, BackupNotCopied(machine="nas", since="03:31", why="it is full.")
    )
    assert isinstance(line, Say)
    assert line.text == (
        "The backup was not copied to nas: it is full. It is tried again each hour; /settings, "
        "Backup chooses another machine."
    )
    mended, (line,) = decide(missed, copied)
    assert line == Say(goal="", kind="news", text="nas has the newest backup again.")
    assert mended == after
    away = BackupNotCopied(machine="nas", since="27 Nov 03:31", why="no answer", away=True)
    _, (line,) = decide(after, away)
    assert isinstance(line, Say)
    assert line.text.startswith("nas has had no new backup since 27 Nov 03:31: no answer.")
    assert decide(Owner(backup_on="attic"), away)[1] == ()


def test_a_lock_holds_from_its_first_word_and_its_end_is_said_aloud() -> None:
    locked, said = decide(Owner(zone="UTC"), OwnerLocked(at=5.0))
    assert (locked, said) == (Owner(zone="UTC", locked_at=5.0), ())
    assert decide(locked, OwnerLocked(at=9.0)) == (locked, ())
    told = Say(goal="", kind="warning", text=UNLOCKED, sounds=True)
    assert decide(locked, OwnerUnlocked(at=9.0)) == (Owner(zone="UTC"), (told,))
    with pytest.raises(Refused, match="not locked"):
        decide(Owner(), OwnerUnlocked(at=9.0))
