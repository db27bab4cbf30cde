"""How much a bot may say: the budget that sends, edits and topics share, per chat.

Telegram publishes about one message a second in a chat, with short bursts, 20 a minute
in a group and 30 a second over all. Whoever goes on calling during the wait it was told
is noted: that is what gets real bots banned. server.py asks before every counted call.
"""

import math
from collections import deque

BURST = 3
GROUP_PER_MINUTE = 20
OVERALL_PER_SECOND = 30
COUNTED = frozenset(
    {
        "closeForumTopic",
        "createForumTopic",
        "deleteForumTopic",
        "editForumTopic",
        "editMessageReplyMarkup",
        "editMessageText",
        "pinChatMessage",
        "reopenForumTopic",
        "sendDocument",
        "sendMessage",
        "sendPhoto",
    }
)


class Flood:
    """Counts one bot's calls; `ignored` is how many came during a wait it had been told."""

    def __init__(self) -> None:
        self.ignored = 0
        self._tokens: dict[int, tuple[float, float]] = {}
        self._recent: dict[int, deque[float]] = {}
        self._overall: deque[float] = deque()
        self._until: dict[int, float] = {}

    def wait(self, chat_id: int, now: float) -> int:
        """Count a call and return 0, or the seconds to wait before it may be made."""
        until = self._until.get(chat_id, 0.0)
        if now < until:
            self.ignored += 1
            return math.ceil(until - now)
        wait_s = self._needed(chat_id, now)
        if wait_s > 0:
            whole = math.ceil(wait_s)
            self._until[chat_id] = now + whole
            return whole
        self._count(chat_id, now)
        return 0

    def _needed(self, chat_id: int, now: float) -> float:
        waits = [
            1 - self._level(chat_id, now),
            _until_room(self._overall, now, 1, OVERALL_PER_SECOND),
        ]
        if chat_id < 0:
            recent = self._recent.setdefault(chat_id, deque())
            waits.append(_until_room(recent, now, 60, GROUP_PER_MINUTE))
        return max(waits)

    def _level(self, chat_id: int, now: float) -> float:
        """Return the chat's tokens now: one a second, never more than a burst."""
        level, at = self._tokens.get(chat_id, (float(BURST), now))
        return min(float(BURST), level + max(0.0, now - at))

    def _count(self, chat_id: int, now: float) -> None:
        self._tokens[chat_id] = (self._level(chat_id, now) - 1, now)
        self._overall.append(now)
        self._recent.setdefault(chat_id, deque()).append(now)


def _until_room(times: deque[float], now: float, window_s: float, most: int) -> float:
    while times and times[0] <= now - window_s:
        times.popleft()
    return times[0] + window_s - now if len(times) >= most else 0.0
