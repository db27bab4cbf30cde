"""Who may speak to us: asked of every update before anything else, even before a log line.

Only a numeric sender id counts, never a name or a chat's title. An owner is heard in the private chat with
the bot, and in groups that one of them allowed (in_group.py says how little is done there); their code that
allows one is heard in any. Pure; works on the raw update, so that nothing of a stranger's is even parsed.
"""

import re
from typing import Any, TypeAlias

from msgspec import Struct

# What we ask Telegram for, each time: it remembers the last answer to that.
KINDS = ("message", "edited_message", "callback_query", "my_chat_member")
START = re.compile(r"/start ([A-Za-z0-9_-]{1,64})")
KNOCK = re.compile(r"/start(?:@(\w{1,64}))? ([A-Za-z0-9_-]{1,64})")
OUTSIDE = ("left", "kicked")  # what my_chat_member calls us where we are in a group no more
# Stand-ins Telegram puts in `from` for anonymous administrators, channels and their posts.
STAND_INS = frozenset({1087968824, 136817688, 777000})


class Allowed(Struct, frozen=True):
    """An owner's own. `quoted`: the words are somebody else's (forwarded, made by another bot).

    knock   the code by which a group is allowed, and whom it was sent to, "" for nobody in particular
    """

    owner: int
    chat: int
    kind: str
    quoted: bool = False
    knock: tuple[str, str] | None = None

    @property
    def in_group(self) -> bool:
        return self.chat != self.owner


class Stranger(Struct, frozen=True):
    """Somebody else. `leave`: a group we do not belong in; an owner can be who put us there."""

    who: int
    chat: int
    leave: bool = False


class Ignored(Struct, frozen=True):
    """Nothing for us; `why` is for the log and holds nothing of the update."""

    why: str


class Onlooker(Struct, frozen=True):
    """Another member of an allowed group pressed a button: they are told that it is none of theirs."""

    tap: str


class Left(Struct, frozen=True):
    """An allowed group where we are no more."""

    chat: int


class Moved(Struct, frozen=True):
    """An allowed group that goes by another number now."""

    chat: int
    to: int


Verdict: TypeAlias = Allowed | Stranger | Ignored | Onlooker | Left | Moved
NO_GROUPS: frozenset[int] = frozenset()


def admit(
    update: dict[str, Any], owners: frozenset[int], groups: frozenset[int] = NO_GROUPS
) -> Verdict:
    """Return who an update is from, and whether its words are theirs."""
    kind = next((name for name in KINDS if isinstance(update.get(name), dict)), "")
    if not kind:
        return Ignored("a kind of update we never asked for")
    body: dict[str, Any] = update[kind]
    message = body.get("message") if kind == "callback_query" else body
    chat = message.get("chat") if isinstance(message, dict) else None
    who, where = _id(body.get("from")), _id(chat)
    private = isinstance(chat, dict) and chat.get("type") == "private"
    if kind == "my_chat_member" and not private:
        return _membership(body, who, where, groups)
    if kind == "message" and not private and (moved := _moved(body, where, groups)) is not None:
        return moved
    if kind != "callback_query" and (who in STAND_INS or body.get("sender_chat")):
        return Ignored("an anonymous administrator or a channel")
    knock = _knock(body) if kind == "message" and not private else None
    if who not in owners:
        if where in groups:
            return _onlooker(kind, body)
        outside = bool(where) and not private and kind != "callback_query"
        return Stranger(who, where, leave=outside) if who else Ignored("no sender")
    # Inline messages and ones too old for Telegram to show have no chat: the tapper is enough.
    if not where and kind == "callback_query":
        return Allowed(who, who, kind)
    if (private and where == who) or (not private and (where in groups or knock is not None)):
        return Allowed(who, where, kind, _quoted(body), knock)
    if where and not private and kind != "callback_query":
        return Stranger(who, where, leave=True)
    return Ignored("a chat that was not paired")


def _membership(body: dict[str, Any], who: int, where: int, groups: frozenset[int]) -> Verdict:
    new = body.get("new_chat_member")
    status = new.get("status") if isinstance(new, dict) else ""
    outside = status in OUTSIDE or (
        isinstance(new, dict) and status == "restricted" and not new.get("is_member", True)
    )
    if where in groups:
        return Left(where) if outside else Ignored("an allowed group that we are in")
    if outside:
        return Ignored("a group that we are not in")
    return Stranger(who, where, leave=True)


def _moved(body: dict[str, Any], where: int, groups: frozenset[int]) -> Moved | None:
    """Return how Telegram says that a group became a supergroup: in the old one, or in the new."""
    to, since = body.get("migrate_to_chat_id"), body.get("migrate_from_chat_id")
    if where in groups and isinstance(to, int) and to:
        return Moved(where, to)
    return Moved(since, where) if isinstance(since, int) and since in groups else None


def _knock(body: dict[str, Any]) -> tuple[str, str] | None:
    found = None if _quoted(body) else KNOCK.fullmatch(str(body.get("text") or ""))
    return (found[2], found[1] or "") if found else None


def _onlooker(kind: str, body: dict[str, Any]) -> Verdict:
    if kind == "callback_query" and isinstance(body.get("id"), str):
        return Onlooker(body["id"])
    return Ignored("another member of an allowed group")


def pressed_start(update: dict[str, Any]) -> tuple[int, str] | None:
    """Return who sent a bare `/start CODE` to us alone, and the code: all that anybody may say.

    Asked only while there is no owner.
    """
    body = update.get("message")
    if not isinstance(body, dict) or _quoted(body) or body.get("sender_chat"):
        return None
    sender, chat = body.get("from"), body.get("chat")
    who = _id(sender)
    if not isinstance(sender, dict) or sender.get("is_bot") or who <= 0 or who in STAND_INS:
        return None
    if not isinstance(chat, dict) or chat.get("type") != "private" or _id(chat) != who:
        return None
    found = START.fullmatch(str(body.get("text") or ""))
    return (who, found[1]) if found else None


def _quoted(body: dict[str, Any]) -> bool:
    return any(body.get(mark) for mark in ("forward_origin", "via_bot", "is_automatic_forward"))


def _id(thing: object) -> int:
    found = thing.get("id") if isinstance(thing, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
