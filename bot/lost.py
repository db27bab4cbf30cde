"""Sends whose answer got lost: whether they are in the chat is looked up, not guessed.

    send ── no answer ──> one of the next few message ids, or nowhere
         ── edited to what it says ──> "is not modified": there it is, and it is ours from now on
                                   ──> "not found": not that one, the next
         ── none left to look at   ──> it never came: sent again

A chat counts its messages upwards, nobody can edit what is not ours, and an edit makes no sound: so to
look does no harm. Where no id of the chat is known yet there is nothing to go by, and it is simply sent
again. Pure; lane_cards.py, lane_lines.py and places.py make the calls, chat.py holds one for each chat.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

REACH = 4  # ids looked at: others may have written meanwhile
KEPT = 400  # ids known

Key: TypeAlias = int | str


@dataclass
class _Where:
    """A lost message's id is above `after`, and below what was sent later if that is known."""

    after: int
    before: int = 0
    missed: set[int] = field(default_factory=set)


class Lost:
    """One chat's."""

    def __init__(self) -> None:
        self._newest = 0
        self._known: set[int] = set()
        self._sends: dict[Key, _Where] = {}

    def saw(self, message_id: int, *, sent: bool = False) -> None:
        """Hear of a message that is in the chat; `sent`: just now, by us."""
        if message_id <= 0:
            return
        self._known.add(message_id)
        self._newest = max(self._newest, message_id)
        if len(self._known) > KEPT:
            self._known = {one for one in self._known if one > self._newest - KEPT // 2}
        for where in self._sends.values() if sent else ():
            where.before = where.before or message_id

    def mark(self, key: Key) -> None:
        """Hear that nobody knows whether this was sent."""
        if self._newest:
            self._sends[key] = _Where(self._newest)

    def candidate(self, key: Key) -> int:
        """Return the id to look at next; 0: there is none, or none any more, so send it."""
        where = self._sends.get(key)
        if where is None:
            return 0
        others = sum(where.after < one <= where.after + KEPT for one in self._known)
        last = where.after + REACH + others
        end = min(last + 1, where.before or last + 1)
        for one in range(where.after + 1, end):
            if one not in self._known and one not in where.missed:
                return one
        del self._sends[key]
        return 0

    def missed(self, key: Key, message_id: int) -> None:
        """Hear that this was not it."""
        if key in self._sends:
            self._sends[key].missed.add(message_id)

    def forget(self, key: Key) -> None:
        self._sends.pop(key, None)
