"""In which groups owners are heard beside their private chats. Part of owner.py's rule.

    link asked for ──> put in by an owner, and its code heard from them ──> allowed ──> taken away, or thrown out

A group decides nothing: it is asked in, and it hears how things stand (bot/in_group.py). Nobody but owners is
heard there. Pure. Neighbours: owners.py (who they are), requests/groups.py (links), bot/group_panel.py.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.events import GroupAllowed, GroupInvited, GroupLeft, GroupMoved, GroupTaken
from engine.rules.owners import Owners, name_of, no_newcomer
from engine.rules.unseen import in_quotes

MOST: Final = 10
UNKNOWN: Final = "That group is not allowed any more."
FULL: Final = f"There are {MOST} groups allowed already. Take one away first."
PRIVATE: Final = "Cards come to private chats, as always."


class Group(Struct, frozen=True, kw_only=True):
    """A group where owners are heard."""

    id: int
    title: str = ""  # as Telegram had it then; foreign text
    at: float = 0.0
    by: str = ""  # the owner who put us in


class Groups(Struct, frozen=True, kw_only=True):
    """Those allowed."""

    allowed: tuple[Group, ...] = ()


GroupEvent = GroupInvited | GroupAllowed | GroupTaken | GroupLeft | GroupMoved


def decide(now: Groups, who: Owners, event: GroupEvent) -> tuple[Groups, str]:
    """Return which groups are allowed after `event`, and what all owners are told."""
    match event:
        case GroupInvited(by=by):
            no_newcomer(who, by, event.at)
            if len(now.allowed) >= MOST:
                raise Refused(FULL)
            return now, ""
        case GroupAllowed(chat=chat, by=by):
            if _one(now, chat) is None and len(now.allowed) >= MOST:
                raise Refused(FULL)
            new = Group(id=chat, title=event.title, at=event.at, by=by)
            said = (
                f"Owners are heard in the group {called(new)} from now on: {name_of(who, by)} put me "
                "there by a link. /settings, Owners, Groups takes it away."
            )
            return Groups(allowed=(*_without(now, chat), new)), said
        case GroupTaken(chat=chat, by=by):
            if (gone := _one(now, chat)) is None:
                raise Refused(UNKNOWN)
            said = f"The group {called(gone)} is allowed no more: taken away by {name_of(who, by)}."
            return Groups(allowed=_without(now, chat)), said
        case GroupLeft(chat=chat):
            if (gone := _one(now, chat)) is None:
                return now, ""
            said = (
                f"I am in the group {called(gone)} no more: somebody there took me out, or it is gone. "
                f"Nobody is heard there now. {PRIVATE}"
            )
            return Groups(allowed=_without(now, chat)), said
        case GroupMoved(chat=chat, to=to):
            if (moved := _one(now, chat)) is None:
                return now, ""
            return Groups(allowed=(*_without(now, chat, to), replace(moved, id=to))), ""


def called(group: Group) -> str:
    """A group for a sentence of ours; the number is what counts."""
    return f"{in_quotes(group.title)} ({group.id})" if group.title else str(group.id)


def _one(now: Groups, chat: int) -> Group | None:
    return next((one for one in now.allowed if one.id == chat), None)


def _without(now: Groups, *chats: int) -> tuple[Group, ...]:
    return tuple(one for one in now.allowed if one.id not in chats)
