"""How fast we may speak in one chat: sends, edits and topics share one budget there.

Telegram publishes about one message a second in a chat with short bursts, 20 a minute in a group;
we stay a little under both. lane.py asks before each call and tells after it. Pure: `now` is given.
"""

from collections import deque

BURST = 3.0
EVERY_S = 1.05
# Left over by what only shows progress, so that what the owner just tapped hardly waits.
SPARE = 0.5
# Less than this is no wait: a clock may be too coarse to show it as past.
TICK_S = 0.001
GROUP_A_MINUTE = 19
EDIT_EVERY_S = 2.5
EDIT_EVERY_S_GROUP = 5.5
# How long a call that failed waits for its next try.
BACK_OFF_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
# After a lost answer: long enough for a late message to show up and be tapped.
UNKNOWN_S = (8.0, 30.0, 120.0, 600.0)
BLOCKED_S = 300.0


class Pace:
    """One chat's budget. Group chats have negative ids."""

    def __init__(self, chat: int) -> None:
        self.group = chat < 0
        self.held_until = 0.0
        self._level, self._at = BURST, 0.0
        self._said: deque[float] = deque()

    @property
    def edit_every_s(self) -> float:
        """Return how long one message rests between two edits that only show progress."""
        return EDIT_EVERY_S_GROUP if self.group else EDIT_EVERY_S

    def wait(self, now: float, *, urgent: bool = True) -> float:
        """Return the seconds until the next call may be made; 0 means now."""
        need = 1.0 if urgent else 1.0 + SPARE
        waits = [self.held_until - now, (need - self._now(now)) * EVERY_S]
        if self.group and len(self._said) >= GROUP_A_MINUTE:
            waits.append(self._said[-GROUP_A_MINUTE] + 60.0 - now)
        longest = max(waits)
        return longest if longest > TICK_S else 0.0

    def spent(self, now: float) -> None:
        """Count a call that was made."""
        self._level, self._at = self._now(now) - 1.0, now
        self._said.append(now)
        while len(self._said) > GROUP_A_MINUTE:
            self._said.popleft()

    def hold(self, until: float) -> None:
        """Say nothing in this chat before `until`; a longer hold stays."""
        self.held_until = max(self.held_until, until)

    def _now(self, now: float) -> float:
        return min(BURST, self._level + max(0.0, now - self._at) / EVERY_S)
