"""Before there is an owner: hear one thing from anybody, `/start CODE`, and nothing else.

    unpaired ── the code that was made on the box ──> owner in config.toml ──> the bot as it always is

Whoever presses the link first becomes the owner. That update stays unconfirmed, so that the bot proper
gets it again as its owner's /start, even if it is ended in between. Anything else is silence. Neighbours:
engine/pairing.py judges the code, gate.py reads who sent it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

import telegram
from msgspec.structs import replace
from telegram.error import InvalidToken, TelegramError

from bot import text_start
from bot.gate import KINDS, Stranger, admit, pressed_start
from bot.pace import BACK_OFF_S
from engine import config, pairing
from engine.pairing import Judged
from engine.paths import Home

log = logging.getLogger(__name__)

POLL_S = 50
HUNG_S = POLL_S + 30


class Pairing:
    """Waits for the first owner.

    wall   Unix seconds, as the code's end is written down
    """

    def __init__(
        self, bot: telegram.Bot, home: Home, *, wall: Callable[[], float] = time.time
    ) -> None:
        self._bot = bot
        self._home = home
        self._wall = wall

    async def run(self, stop: asyncio.Event) -> bool:
        """Return True once there is an owner, False when told to stop first."""
        log.warning("nobody owns this bot yet: press the link of `quarterdeck setup --pair`")
        paired = asyncio.create_task(self._wait(), name="pairing")
        told = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({paired, told}, return_when=asyncio.FIRST_COMPLETED)
            if not paired.done():
                return False
            paired.result()
            return True
        finally:
            paired.cancel()
            told.cancel()
            try:
                await asyncio.wait({paired, told})
            finally:
                await self._bot.shutdown()  # the bot proper signs in again

    async def _wait(self) -> None:
        offset: int | None = None
        tries = 0
        while True:
            try:
                async with asyncio.timeout(HUNG_S):
                    await self._bot.initialize()
                    updates = await self._bot.get_updates(
                        offset=offset, timeout=POLL_S, allowed_updates=KINDS
                    )
            except InvalidToken:
                raise
            except (TelegramError, TimeoutError) as error:
                tries += 1
                log.warning("no updates why=%s", type(error).__name__)
                await asyncio.sleep(BACK_OFF_S[min(tries, len(BACK_OFF_S)) - 1])
                continue
            tries = 0
            for update in updates:
                if await self._pairs(update.to_dict()):
                    # What came before it was said by nobody who commands.
                    await self._quietly(self._bot.get_updates(offset=update.update_id, limit=1))
                    return
                offset = update.update_id + 1

    async def _pairs(self, update: dict[str, Any]) -> bool:
        """Return whether this update made its sender the owner."""
        found = pressed_start(update)
        if found is None:
            verdict = admit(update, frozenset())
            if isinstance(verdict, Stranger) and verdict.leave:
                await self._quietly(self._bot.leave_chat(verdict.chat))
            return False
        who, code = found
        match pairing.judge(self._home, code, self._wall(), who):
            case Judged.RIGHT:
                settings = config.load(self._home)
                config.save(self._home, replace(settings, owner_ids=(who,), pairing=False))
                pairing.forget(self._home)
                log.warning("paired: owner=%d commands from now on, and nobody else", who)
                return True
            case Judged.LATE:
                log.warning("a code was pressed too late; quarterdeck setup --pair makes another")
                await self._quietly(self._bot.send_message(who, text_start.TOO_LATE))
            case Judged.TRIED:
                log.warning("the code came from somebody who had guessed; another is needed")
                await self._quietly(self._bot.send_message(who, text_start.TRIED))
            case Judged.WRONG:
                log.warning("somebody tried a code that is none of ours")
        return False

    async def _quietly(self, call: Any) -> None:
        with contextlib.suppress(TelegramError):
            await call
