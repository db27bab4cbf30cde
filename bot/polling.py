"""Hears from Telegram, for ever: one poll after the other, through whatever happens to them.

    poll ──> in order ──> inbox (on disk) ──> the next poll confirms

    no answer        again soon, later and later; the connection is made anew
    silence          a poll that does not end is given up and counted as no answer
    429              as long as was asked
    409              again at once: whoever pauses leaves the updates to the other. Told once
    a webhook        removed
    nothing, at once asked again no sooner than after a second: it does not wait for updates as it should
    InvalidToken     raised: app.py knows what then

Polling may be dead while sending works: so every poll has an end of its own, well within a minute. Once
heard again, the owner is told how long we were deaf, and what Telegram itself has lost by then.
Updates are read as they came: one that the library cannot read must not stop those behind it.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import telegram
from telegram.error import BadRequest, Conflict, InvalidToken, TelegramError

from bot import text_away
from bot.answers import Answers
from bot.delivery import Flooded, outcome
from bot.gate import KINDS
from bot.pace import BACK_OFF_S
from stores.cards import CardStore

log = logging.getLogger(__name__)

POLL_S = 25
ANSWER_S = 10.0  # beyond that, for the answer to come
HUNG_S = POLL_S + 20.0
CLOSE_S = 2.0
AT_ONCE_S = 1.0  # an answer that brings nothing new should have waited longer than that
DEAF_S = 60.0  # shorter than this is nobody's business
CONFLICT_S = 30.0
CONFLICT_AGAIN_S = 3.0
ALONE_S = 90.0  # so long without a 409: whoever it was is gone
CONFLICT_TOLD_S = 6 * 3600.0
ANEW_EVERY = 3  # failures
NOTED_EVERY_S = 600.0
OFF_S = 2 * NOTED_EVERY_S
TOO_LONG_S = 365 * 86_400.0  # then it was the clock that was wrong
HEARD = "heard at"

Receive = Callable[[Sequence[dict[str, Any]]], Awaitable[None]]
Tell = Callable[[str, bool], Awaitable[None]]


class Polling:
    """Hears.

    line      the connection for polls alone, so that they never wait for sends
    receive   keeps updates; once it returns they may be confirmed
    tell      says a sentence to the owner; with True, it sounds
    clock     for waits: seconds that never jump, those too in which the box slept
    wall      Unix seconds, to know after a restart how long we were away
    """

    def __init__(
        self,
        bot: telegram.Bot,
        line: Answers,
        store: CardStore,
        receive: Receive,
        tell: Tell,
        *,
        clock: Callable[[], float] | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._bot = bot
        self._line = line
        self._store = store
        self._receive = receive
        self._tell = tell
        self._clock = clock or _with_sleep
        self._wall = wall
        self._offset: int | None = None
        self._tries = 0
        self._last: float | None = None  # the last poll that came through, its updates kept
        self._noted: float | None = None  # when it was last written down that we hear
        self._conflicts: tuple[float, float] | None = None  # the first and the last of a row
        self._conflict_told: float | None = None
        self._given_up: set[asyncio.Task[Any]] = set()

    async def run(self) -> None:
        """Poll until cancelled; raises InvalidToken."""
        while True:  # noqa: ASYNC110 - what it waits for is time
            await asyncio.sleep(await self.step())

    async def step(self) -> float:
        """Poll once; return the seconds until the next."""
        asked_at = self._clock()
        try:
            updates = await self._poll()
        except InvalidToken:
            raise
        except Conflict as error:
            return await self._conflict(error)
        except (TelegramError, TimeoutError) as error:
            return await self._failed(error)
        await self._heard()
        confirmed = self._offset or 0
        in_vain = all(one["update_id"] < confirmed for one in updates)
        at_once = self._clock() - asked_at < AT_ONCE_S
        if updates:
            await self._receive(updates)
            self._last = self._clock()
        # Once nothing is left to confirm no offset is needed, and ids that begin anew are not missed.
        self._offset = max(one["update_id"] for one in updates) + 1 if updates else None
        return AT_ONCE_S if in_vain and at_once else 0.0

    async def _poll(self) -> list[dict[str, Any]]:
        """Return what one poll brings, the oldest first. One that hangs, even as it ends, is left."""
        asked = {"timeout": POLL_S, "allowed_updates": json.dumps(KINDS)}
        if self._offset is not None:
            asked["offset"] = self._offset
        url = f"{self._bot.base_url}/getUpdates?{urlencode(asked)}"
        polling = asyncio.create_task(_asked(self._line, url), name="one poll")
        try:
            ended, _ = await asyncio.wait({polling}, timeout=HUNG_S)
        except asyncio.CancelledError:
            polling.cancel()
            raise
        if not ended:
            self._given_up.add(polling)
            polling.add_done_callback(self._left)
            polling.cancel()
            raise TimeoutError
        return sorted(polling.result(), key=lambda one: int(one["update_id"]))

    def _left(self, polling: "asyncio.Task[Any]") -> None:
        self._given_up.discard(polling)
        if not polling.cancelled():
            polling.exception()  # seen: nobody waits for it

    async def _failed(self, error: Exception) -> float:
        self._tries += 1
        log.warning("no updates why=%s tries=%d", type(error).__name__, self._tries)
        if isinstance(error, TelegramError):
            found = outcome(error) if not isinstance(error, BadRequest) else None
            if isinstance(found, Flooded):
                return found.wait_s
        if isinstance(error, TimeoutError) or self._tries % ANEW_EVERY == 0:
            await self._connect_anew()
        return BACK_OFF_S[min(self._tries, 5) - 1]

    async def _connect_anew(self) -> None:
        """Drop the connections: a dead one can look alive for hours."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._line.shutdown()
        except TimeoutError:
            log.warning("the old connection does not close; it is left")
        await self._line.initialize()

    # ---- somebody else polls

    async def _conflict(self, error: Conflict) -> float:
        if "webhook" in str(error).lower():
            log.error("a webhook was set on this bot, not by us; it is removed")
            try:
                await self._bot.delete_webhook(drop_pending_updates=False)
            except InvalidToken:
                raise
            except TelegramError as failed:
                log.warning("webhook not removed why=%s", type(failed).__name__)
            return CONFLICT_AGAIN_S
        now = self._clock()
        first, last = self._conflicts or (now, now)
        first = now if now - last > ALONE_S else first
        self._conflicts = (first, now)
        told = self._conflict_told
        if now - first > CONFLICT_S and (told is None or now - told > CONFLICT_TOLD_S):
            self._conflict_told = now
            log.error("somebody else takes this bot's updates: a second instance or a stolen token")
            await self._tell(text_away.SECOND_POLLER, True)
        return CONFLICT_AGAIN_S

    # ---- heard again

    async def _heard(self) -> None:
        """A poll came through: say how long none did, if that was long."""
        now, since = self._clock(), self._last
        self._tries = 0
        if since is not None:
            away_s = now - since
            if away_s > DEAF_S + POLL_S:
                log.info("updates again after_s=%.0f", away_s)
                await self._tell(text_away.heard_again(away_s), False)
        else:
            off_s = self._wall() - float(await self._store.fact(HEARD) or "inf")
            if OFF_S < off_s < TOO_LONG_S:
                await self._tell(text_away.back(off_s), False)
        self._last = now
        if self._noted is None or now - self._noted > NOTED_EVERY_S:
            self._noted = now
            await self._store.keep_fact(HEARD, f"{self._wall():.0f}")


def _with_sleep() -> float:
    """Return seconds that never jump, those included in which the box slept."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


async def _asked(line: Answers, url: str) -> list[dict[str, Any]]:
    found: Any = await line.post(url, read_timeout=POLL_S + ANSWER_S)
    if not isinstance(found, list):
        raise TelegramError("Invalid server response")
    return [one for one in found if isinstance(one, dict) and type(one.get("update_id")) is int]
