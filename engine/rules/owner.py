"""What the owner set for themself: their time zone, their quiet hours, where a heartbeat goes; and how
new goals begin: mode, go, model.

The PIN's rule is pin.py, that of owners and groups owners.py and groups.py. /lock is kept here too: while it holds, engine/audit.py refuses whatever an owner asks to be changed.
Nothing else of it decides about work; bot/ says things silently by it, engine/alive.py beats. The stream is
also told when the engine was away, its home restored from a backup, or not backed up (or not copied to
the machine chosen for that) for long; it says so once. Pure: times of day come as the owner reads them.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused, ended
from engine.rules import groups, models, owners
from engine.rules import pin as pin_rule
from engine.rules.after_limit import GO_ON, choice
from engine.rules.effects import AnyEffect, Say
from engine.rules.events import (
    BackupCopied,
    BackupNotCopied,
    BackupOld,
    EngineAway,
    GroupAllowed,
    GroupInvited,
    GroupLeft,
    GroupMoved,
    GroupTaken,
    HomeRestored,
    OwnerEvent,
    OwnerInvited,
    OwnerJoined,
    OwnerLeft,
    OwnerLocked,
    OwnerUnlocked,
    PinOff,
    PinRight,
    PinSet,
    PinTried,
    PinWrong,
    SettingChanged,
)
from engine.rules.goal_settings import checked_go
from engine.rules.groups import Groups
from engine.rules.modes import MODES
from engine.rules.owners import Owners
from engine.rules.pin import Pin, PinEvent

DAY_MIN = 24 * 60
OFF = ("off", "none", "no")
LOCKED = "Locked. Unlock at the box: quarterdeck unlock"
UNLOCKED = "Unlocked at the box: your taps and lines decide again."
_HOURS = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(?:-|–|to)\s*(\d{1,2})(?::(\d{2}))?")


class Copied(Struct, frozen=True, kw_only=True):
    """The newest backup that another machine has."""

    machine: str
    name: str
    at: float
    size: int
    kept: int  # of ours, there
    folder: str


class Owner(Struct, frozen=True, tag=True, kw_only=True):
    """The owner's own settings; `quiet` is from and to, in minutes after midnight there."""

    zone: str = ""  # IANA name; "" = this machine's
    quiet: tuple[int, int] | None = None
    heartbeat: str = ""  # URL
    after_limit: str = GO_ON  # what work does after a usage limit, where its goal says nothing
    mode: str = "edit"  # of new goals, as are the next two
    go: str = "ask"
    model: str = ""  # "" = the agent's own choice
    backup_on: str = ""  # the machine that is to have each backup too
    backup_at: float = 0.0  # when that was chosen
    copied: Copied | None = None
    backup_missed: bool = False  # and that was said
    locked_at: float = 0.0  # 0: not
    pin: Pin = Pin()
    owners: Owners = Owners()  # those let in beside the box's own
    groups: Groups = Groups()  # where an owner is heard beside their private chat


def begin(_name: str) -> Owner:
    return Owner()


def refuse_locked(now: Owner, event: object) -> None:
    """Refuse what anybody asks for while it is locked, but for the lock itself, and for facts."""
    stays = OwnerLocked | OwnerUnlocked | GroupLeft | GroupMoved
    if now.locked_at and not isinstance(event, stays):
        raise Refused(LOCKED)


def decide(now: Owner, event: OwnerEvent) -> tuple[Owner, tuple[AnyEffect, ...]]:
    """Return the settings after `event`, and what is said of it."""
    match event:
        case SettingChanged(name="quiet", value=value):
            return replace(now, quiet=_hours(value)), ()
        case SettingChanged(name="zone", value=value):
            return replace(now, zone=_unless_off(value)), ()
        case SettingChanged(name="heartbeat", value=value):
            return replace(now, heartbeat=_unless_off(value)), ()
        case SettingChanged(name="after_limit" | "limit", value=value):
            return replace(now, after_limit=choice(value)), ()
        case SettingChanged(name="mode", value=value):
            if value not in MODES:
                raise Refused(f"There is no mode {value}. There are: {', '.join(MODES)}.")
            return replace(now, mode=value), ()
        case SettingChanged(name="go", value=value):
            return replace(now, go=checked_go(value)), ()
        case SettingChanged(name="model", value=value):
            return replace(now, model=models.named(value)), ()
        case SettingChanged(name="backup", value=value):
            chosen = _unless_off(value)
            if chosen == now.backup_on:
                return now, ()
            return replace(now, backup_on=chosen, backup_at=event.at, backup_missed=False), ()
        case SettingChanged(name=name):
            known = "quiet, zone, heartbeat, limit, reserve, mode, go, model, backup"
            raise Refused(f"There is no setting {name}. There are: {known}.")
        case OwnerLocked() if not now.locked_at:
            return replace(now, locked_at=event.at), ()
        case OwnerUnlocked() if now.locked_at:
            said = Say(goal="", kind="warning", text=UNLOCKED, sounds=True)
            return replace(now, locked_at=0.0), (said,)
        case OwnerUnlocked():
            raise Refused("It is not locked.")
        case PinSet() | PinOff() | PinTried() | PinRight() | PinWrong():
            return _pin(now, event)
        case OwnerInvited() | OwnerJoined() | OwnerLeft():
            who, news = owners.decide(now.owners, event)
            news_said = (Say(goal="", kind="warning", text=news, sounds=True),) if news else ()
            return replace(now, owners=who), news_said
        case GroupInvited() | GroupAllowed() | GroupTaken() | GroupLeft() | GroupMoved():
            where, news = groups.decide(now.groups, now.owners, event)
            news_said = (Say(goal="", kind="warning", text=news, sounds=True),) if news else ()
            return replace(now, groups=where), news_said
        case EngineAway():
            return now, (Say(goal="", kind="news", text=_away(event)),)
        case BackupOld():
            return now, (Say(goal="", kind="warning", text=_no_backup(event)),)
        case BackupCopied():
            return replace(now, copied=_copied(event), backup_missed=False), _is_there(now, event)
        case BackupNotCopied(machine=machine) if machine == now.backup_on:
            return replace(now, backup_missed=True), (
                Say(goal="", kind="warning", text=_not_copied(event)),
            )
        case HomeRestored():
            return now, (Say(goal="", kind="warning", text=_restored(event)),)
        case _:
            return now, ()


def _pin(now: Owner, event: PinEvent) -> tuple[Owner, tuple[AnyEffect, ...]]:
    pin, told, locks = pin_rule.decide(now.pin, event)
    said = (Say(goal="", kind="warning", text=told, sounds=True),) if told else ()
    locked_at = event.at if locks and not now.locked_at else now.locked_at
    return replace(now, pin=pin, locked_at=locked_at), said


def _unless_off(value: str) -> str:
    return "" if value.lower() in OFF else value


def _hours(value: str) -> tuple[int, int] | None:
    """Read "23-7" or "22:30-06:45"."""
    if not _unless_off(value):
        return None
    found = _HOURS.fullmatch(value.strip())
    if found is None:
        raise Refused("Quiet hours are from when to when: /settings quiet 23-7, or quiet off.")
    from_h, from_min, to_h, to_min = (int(part or 0) for part in found.groups())
    if max(from_h, to_h) > 24 or max(from_min, to_min) > 59:
        raise Refused("A day has 24 hours: /settings quiet 23-7, or 22:30-06:45.")
    quiet = (from_h * 60 + from_min) % DAY_MIN, (to_h * 60 + to_min) % DAY_MIN
    if quiet[0] == quiet[1]:
        raise Refused("These quiet hours would begin as they end. Say quiet off for none.")
    return quiet


def _away(event: EngineAway) -> str:
    said = f"I was away {event.since}–{event.until}."
    if not event.cut_off:
        return said
    turns = "1 turn was" if event.cut_off == 1 else f"{event.cut_off} turns were"
    goes = "goes" if event.cut_off == 1 else "go"
    return f"{said[:-1]}; {turns} cut off and {goes} on."


def _no_backup(event: BackupOld) -> str:
    why = f": {event.why.rstrip('.')}" if event.why else ""
    return (
        f"No backup since {event.since}{why}. It is tried again by itself; on the box, quarterdeck "
        "backup --to DIR makes one elsewhere."
    )


def _copied(event: BackupCopied) -> Copied:
    return Copied(
        machine=event.machine,
        name=event.name,
        at=event.at,
        size=event.size,
        kept=event.kept,
        folder=event.folder,
    )


def _is_there(now: Owner, event: BackupCopied) -> tuple[Say, ...]:
    """Answer the owner's choice of a machine, and take back what was said of a copy that is missing."""
    if event.machine != now.backup_on:
        return ()
    if now.backup_missed:
        return (Say(goal="", kind="news", text=f"{event.machine} has the newest backup again."),)
    if now.copied is not None and now.copied.machine == event.machine:
        return ()
    text = f"{event.machine} has the newest backup now, and gets each night's."
    return (Say(goal="", kind="news", text=text),)


def _not_copied(event: BackupNotCopied) -> str:
    why = f": {ended(event.why)}" if event.why else "."
    if event.away:
        return (
            f"{event.machine} has had no new backup since {event.since}{why} It is copied once "
            "that machine is back; /settings, Backup chooses another."
        )
    return (
        f"The backup was not copied to {event.machine}{why} It is tried again each hour; "
        "/settings, Backup chooses another machine."
    )


def _restored(event: HomeRestored) -> str:
    goals = "1 goal goes" if event.goals == 1 else f"{event.goals} goals go"
    on = f" {goals} on from there; turns that ran then begin anew." if event.goals else ""
    return (
        f"Restored from the backup of {event.taken}. What happened after that is not known here: look "
        f"at what was pushed since, and send again what you asked for since.{on} Quarterdeck must not "
        "run any more where the backup was taken."
    )
