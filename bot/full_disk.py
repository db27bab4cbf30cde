"""No room on the box's disk, or no leave to write there: the bot stays up, says so, and goes on with it.

    a write finds no room ──> told, past the outbox, which needs the disk ──> tried again and again
                                              it goes through ──> told

Meanwhile nothing is confirmed to Telegram that is not kept, and what was just said waits to be noted, so
it is not said twice. Neighbours: stores/database.py asks here, app.py puts it in.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import telegram
from telegram.error import InvalidToken, TelegramError

from bot import text_away

log = logging.getLogger(__name__)

AGAIN_S = 5.0


class FullDisk:
    """What the database asks when it finds no room.

    owner   who is told; 0: nobody yet, then the log alone has it
    pause   how to wait before the next try
    """

    def __init__(
        self,
        bot: telegram.Bot,
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._bot = bot
        self._pause = pause
        self.short = False
        self.owner = 0

    async def none(self, read_only: bool) -> None:
        """There is no room: say so once, and wait a while."""
        if not self.short:
            self.short = True
            log.error("%s: writes wait", "read-only disk" if read_only else "no room on the disk")
            said = text_away.DISK_READ_ONLY if read_only else text_away.DISK_FULL
            await self._say(said, sounds=True)
        await self._pause(AGAIN_S)

    async def again(self) -> None:
        """A write that had to wait went through."""
        if self.short:
            self.short = False
            log.warning("room on the disk again")
            await self._say(text_away.ROOM_AGAIN, sounds=False)

    async def _say(self, sentence: str, *, sounds: bool) -> None:
        if not self.owner:
            return
        try:
            await self._bot.send_message(self.owner, sentence, disable_notification=not sounds)
        except InvalidToken:
            raise
        except TelegramError as error:
            log.warning("not told why=%s", type(error).__name__)
