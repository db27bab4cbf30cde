"""No room on the box's disk, or no leave to write there: the bot stays up, says so, and goes on with it.

    a write finds no room ──> told, past the outbox, which needs the disk ──> tried again and again
                                              it goes through ──> told

Meanwhile nothing is confirmed to Telegram that is not kept, and what was just said waits to be noted, so
it is not said twice. Neighbours: stores/database.py asks here, app.py puts it in.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import telegram
from telegram.error import InvalidToken, TelegramError

from bot import text_away
from stores.cards import CardStore

log = logging.getLogger(__name__)

AGAIN_S = 5.0
LOOK_S = 30.0
TRIED = "disk tried"
LARGE = 200_000
NOTHING = 1_000_000  # bytes: with less the next write may find none


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
        self._told = False

    async def none(self, read_only: bool) -> None:
        """There is no room: say so once, and wait a while."""
        if not self.short:
            self.short = True
            log.error("%s: writes wait", "read-only disk" if read_only else "no room on the disk")
        if not self._told:
            said = text_away.DISK_READ_ONLY if read_only else text_away.DISK_FULL
            self._told = True  # before it went through: other writes find no room meanwhile
            self._told = await self._say(said, sounds=True)
        await self._pause(AGAIN_S)

    async def again(self) -> None:
        """A write went through again."""
        if self.short:
            self.short = False
            log.warning("the disk takes writes again")
            told, self._told = self._told, False
            if told:
                await self._say(text_away.ROOM_AGAIN, sounds=False)

    async def watch(self, home: Path, store: CardStore) -> None:
        """Try a write when the disk looks full, until cancelled: else nobody says so in a quiet hour.

        A large one: small ones find room for long in what a file of ours has already.
        """
        while True:
            await asyncio.sleep(LOOK_S)
            if not self.short and _takes_nothing(home):
                await store.keep_fact(TRIED, "-" * LARGE)
                await store.keep_fact(TRIED, "")

    async def _say(self, sentence: str, *, sounds: bool) -> bool:
        """Say it and return whether that went through, which it may not as long as we are not online."""
        if not self.owner:
            return False
        try:
            await self._bot.send_message(self.owner, sentence, disable_notification=not sounds)
        except InvalidToken:
            raise
        except TelegramError as error:
            log.warning("not told why=%s", type(error).__name__)
            return False
        return True


def _takes_nothing(home: Path) -> bool:
    disk = os.statvfs(home)
    return disk.f_bavail * disk.f_frsize < NOTHING or bool(disk.f_flag & os.ST_RDONLY)
