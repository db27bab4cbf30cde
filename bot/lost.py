"""Sends whose answer got lost: whether they are in the chat is looked up, not guessed.

    send ── no answer ──> one of the next few message ids, or nowhere
         ── edited to what it says ──> it says that now or did: there it is, and it is ours from now on
                                   ──> "not found": not that one, the next
         ── none left to look at   ──> it never came: sent again

A chat counts its messages upwards, nobody can edit what is not ours, and an edit makes no sound. As long
as one is looked for, lane.py adds no other message: what of ours is not known is that one, so to look does
no harm. Where no id of the chat is known yet there is nothing to go by, and it is simply sent
again. A prompt cannot be edited, so it is sent again unlooked for; whichever of the two is replied to, it
is the prompt (`perhaps`, `may_be`). Pure; lane_cards.py, lane_lines.py and places.py make the calls, chat.py holds one for each chat.
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
    """One chat's. `after`, where a search begins, is kept on disk by chat.py: we may die of a send."""

    def __init__(self) -> None:
        self.newest = 0
        self._known: set[int] = set()
        self._sends: dict[str, _Where] = {}

    def saw(self, message_id: int, *, sent: bool = False) -> None:
        """Hear of a message that is in the chat; `sent`: just now, by us."""
        if message_id <= 0:
            return
        self._known.add(message_id)
        self.newest = max(self.newest, message_id)
        if len(self._known) > KEPT:
            self._known = {one for one in self._known if one > self.newest - KEPT // 2}
        for where in self._sends.values() if sent else ():
            where.before = where.before or message_id

    def mark(self, key: Key) -> None:
        """Hear that nobody knows whether this was sent."""
        if self.newest:
            self._sends.setdefault(str(key), _Where(self.newest))

    def kept(self, key: Key, after: int) -> None:
        """Hear of a send that an earlier start of us did not see the end of."""
        self._sends[str(key)] = _Where(after)

    def has(self, key: Key) -> bool:
        """Return whether this was sent, for all that anybody knows."""
        return str(key) in self._sends

    def keys(self) -> set[str]:
        """Return all of which that is so."""
        return set(self._sends)

    def cards(self) -> set[str]:
        """Return the cards of which that is so: lines are known by numbers, topics by two words."""
        return {key for key in self._sends if not key.isdigit() and " " not in key}

    def after(self, key: Key) -> int:
        """Return the newest message before a send, as far as anybody knows: where a search begins."""
        where = self._sends.get(str(key))
        return where.after if where else self.newest

    def may_be(self, key: Key, message_id: int) -> bool:
        """Return whether a message may be this send, whose end nobody has seen."""
        where = self._sends.get(str(key))
        if where is None or message_id in self._known or message_id <= where.after:
            return False
        return not where.before or message_id < where.before

    def perhaps(self, key: Key) -> list[int]:
        """Return the messages that may be this send too, now that it was sent again."""
        where = self._sends.get(str(key))
        if where is None or not where.before:
            return []
        first = max(where.after + 1, where.before - KEPT)
        return [one for one in range(first, where.before) if one not in self._known]

    def candidate(self, key: Key) -> int:
        """Return the id to look at next; 0: there is none, or none any more, so send it."""
        where = self._sends.get(str(key))
        if where is None:
            return 0
        others = sum(where.after < one <= where.after + KEPT for one in self._known)
        last = where.after + REACH + others
        end = min(last + 1, where.before or last + 1)
        for one in range(where.after + 1, end):
            if one not in self._known and one not in where.missed:
                return one
        del self._sends[str(key)]
        return 0

    def missed(self, key: Key, message_id: int) -> None:
        """Hear that this was not it."""
        if where := self._sends.get(str(key)):
            where.missed.add(message_id)

    def forget(self, key: Key) -> None:
        self._sends.pop(str(key), None)
