"""Who commands beside the owners of the box: let in by a link, taken out again. Part of owner.py's rule.

    config.toml        the box's own: only the box adds or removes them
    joined (here)      let in by a one-time link that an owner asked for on the phone

Whoever was let in less than a day ago removes nobody and lets nobody in, so that a link in the wrong
hand, or a phone, is not at once the whole box. Pure. Neighbours: requests/owners.py (links), bot/owners.py.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from engine.errors import Refused
from engine.rules.events import OwnerInvited, OwnerJoined, OwnerLeft
from engine.rules.unseen import in_quotes

NEW_S: Final = 24 * 3600.0
MOST: Final = 10
NEWCOMER: Final = "You were let in less than a day ago: until then another owner does that."
NO_OWNER: Final = "You are no owner of this box any more."
OF_THE_BOX: Final = "That owner is one of the box's own: take them out of owner_ids in its config.toml, and start it again."
UNKNOWN: Final = "There is no such owner any more."
FULL: Final = f"There are {MOST} owners let in already. Remove one first."


class Joined(Struct, frozen=True, kw_only=True):
    """An owner who was let in."""

    id: int
    name: str = ""  # as Telegram had it then; foreign text
    at: float = 0.0
    by: str = ""  # who asked for the link


class Owners(Struct, frozen=True, kw_only=True):
    """Those let in, and who asked for the link that is still good."""

    joined: tuple[Joined, ...] = ()
    invited_by: str = ""


OwnersEvent = OwnerInvited | OwnerJoined | OwnerLeft


def decide(now: Owners, event: OwnersEvent) -> tuple[Owners, str]:
    """Return who commands after `event`, and what all of them are told."""
    match event:
        case OwnerInvited(by=by):
            _still_one(now, by, guest=event.by_guest)
            no_newcomer(now, by, event.at)
            if len(now.joined) >= MOST:
                raise Refused(FULL)
            return Owners(joined=now.joined, invited_by=by), ""
        case OwnerJoined(owner=owner):
            others = tuple(one for one in now.joined if one.id != owner)
            new = Joined(id=owner, name=event.name, at=event.at, by=now.invited_by)
            said = (
                f"{called(new)} commands here too from now on, by a link of "
                f"{name_of(now, now.invited_by)}. /settings, Owners removes them."
            )
            return Owners(joined=(*others, new)), said
        case OwnerLeft(owner=owner, by=by):
            _still_one(now, by, guest=event.by_guest)
            gone = next((one for one in now.joined if one.id == owner), None)
            if gone is None:
                raise Refused(OF_THE_BOX if event.of_the_box else UNKNOWN)
            if by != str(owner):
                no_newcomer(now, by, event.at)
            left = tuple(one for one in now.joined if one.id != owner)
            said = f"{called(gone)} commands here no more: removed by {name_of(now, by)}."
            return Owners(joined=left, invited_by=now.invited_by), said


def _still_one(now: Owners, by: str, *, guest: bool) -> None:
    """Refuse who was taken out while they asked: of two who remove each other, the first is heard."""
    if guest and not any(str(one.id) == by for one in now.joined):
        raise Refused(NO_OWNER)


def no_newcomer(now: Owners, by: str, at: float) -> None:
    """Refuse one who was let in less than a day ago."""
    if any(str(one.id) == by and 0 <= at - one.at < NEW_S for one in now.joined):
        raise Refused(NEWCOMER)


def called(one: Joined) -> str:
    """An owner for a sentence of ours; the number is what counts."""
    return f"{in_quotes(one.name)} (Telegram id {one.id})" if one.name else f"Telegram id {one.id}"


def name_of(now: Owners, who: str) -> str:
    known = next((one for one in now.joined if str(one.id) == who), None)
    return called(known) if known else f"Telegram id {who}" if who.isdigit() else who or "the box"
