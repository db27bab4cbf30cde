"""Who may speak to us: asked of every update before anything else, even before a log line.

Only a numeric sender id counts, never a name or a chat's title. Commands come from an owner in the
private chat with the bot, or in the one group it was paired with. Pure; works on the raw update, so
that nothing of a stranger's is even parsed.
"""

import re
from typing import Any, TypeAlias

from msgspec import Struct

# What we ask Telegram for, each time: it remembers the last answer to that.
KINDS = ("message", "edited_message", "callback_query", "my_chat_member")
# Stand-ins Telegram puts in `from` for anonymous administrators, channels and their posts.
START = re.compile(r"/start ([A-Za-z0-9_-]{1,64})")
STAND_INS = frozenset({1087968824, 136817688, 777000})


class Allowed(Struct, frozen=True):
    """An owner's own. `quoted`: the words are somebody else's (forwarded, made by another bot)."""

    owner: int
    chat: int
    kind: str
    quoted: bool = False


class Stranger(Struct, frozen=True):
    """Somebody else. `leave`: a group we do not belong in."""

    who: int
    chat: int
    leave: bool = False


class Ignored(Struct, frozen=True):
    """Nothing for us; `why` is for the log and holds nothing of the update."""

    why: str


Verdict: TypeAlias = Allowed | Stranger | Ignored


def admit(update: dict[str, Any], owners: frozenset[int], group: int | None = None) -> Verdict:
    """Return who an update is from, and whether its words are theirs."""
    kind = next((name for name in KINDS if isinstance(update.get(name), dict)), "")
    if not kind:
        return Ignored("a kind of update we never asked for")
    body: dict[str, Any] = update[kind]
    message = body.get("message") if kind == "callback_query" else body
    chat = message.get("chat") if isinstance(message, dict) else None
    who, where = _id(body.get("from")), _id(chat)
    private = isinstance(chat, dict) and chat.get("type") == "private"
    if kind == "my_chat_member" and not private and where != group:
        return Stranger(who, where, leave=True)
    if kind != "callback_query" and (who in STAND_INS or body.get("sender_chat")):
        return Ignored("an anonymous administrator or a channel")
    if who not in owners:
        return Stranger(who, where) if who else Ignored("no sender")
    # Inline messages and ones too old for Telegram to show have no chat: the tapper is enough.
    if not where and kind == "callback_query":
        return Allowed(who, who, kind)
    if (private and where == who) or (group is not None and where == group):
        return Allowed(who, where, kind, _quoted(body))
    return Ignored("a chat that was not paired")


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
