"""Groups as Telegram tells of them: one we were put in, one we are in no more, one with another number.

    put in by an owner while a link is open ──> waits for its code ──> allowed (the engine says so)
    put in by anybody else, or no code came ──> left

The order is Telegram's: we are in the group first, the code comes after it. What is under way here is on
disk, so a bot that dies in between goes on with it. Neighbours: gate.py (who said it), inbox.py (hears it),
in_group.py (what is done there), engine/requests/groups.py (what is allowed).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

import msgspec
import telegram
from msgspec import Struct

from bot import text, text_groups
from bot.delivery import quietly
from bot.gate import Left, Moved
from bot.outbox import Outbox
from bot.pace import BACK_OFF_S
from bot.panels import Engine
from bot.unsaid import Say, Weight
from engine.api import Asker, on_behalf_of
from engine.errors import Refused, Unavailable
from stores.cards import CardStore

log = logging.getLogger(__name__)

FACT = "group "
GRACE_S = 30.0  # after a link's end: its code may be on its way; so may word of another number
SUPERGROUP = -1_000_000_000_000  # their numbers lie below
WAITS, LEFT, MOVED = "waits", "left", "moved"


class Under(Struct, frozen=True, kw_only=True):
    """What is under way with a group: it waits for its code, or the engine is to hear something of it."""

    do: str
    cause: str = ""
    until: float = 0.0
    who: int = 0  # the owner who put us there
    to: int = 0


class Groups:
    """The groups there are for us. `chats`: those allowed, as the engine told it last.

    owners       who commands, as it stands
    open_until   until when a link is open now; 0 for none
    """

    def __init__(
        self,
        bot: telegram.Bot,
        store: CardStore,
        engine: Engine,
        outbox: Outbox,
        owners: Sequence[int],
        *,
        open_until: Callable[[], float] = lambda: 0.0,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.chats: list[int] = []
        self._bot = bot
        self._store = store
        self._engine = engine
        self._outbox = outbox
        self._owners = owners
        self._open_until = open_until
        self._wall = wall
        self._under: dict[int, Under] = {}
        self._to_leave: list[int] = []
        self._wake = asyncio.Event()
        self._tries = 0
        self._answers: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Read what was under way."""
        for chat, body in (await self._store.named_facts(FACT)).items():
            if body:
                self._under[int(chat)] = msgspec.json.decode(body, type=Under)

    def told(self, allowed: Sequence[int]) -> None:
        """Hear from the engine which groups are allowed; what it has not heard yet counts for more."""
        now: list[int] = []
        for chat in allowed:
            under = self._under.get(chat)
            if under is None or under.do == WAITS:
                now.append(chat)
            elif under.do == MOVED:
                now.append(under.to)
        known = {*now, *self._under, *allowed}
        self._to_leave += [chat for chat in self.chats if chat not in known]
        self.chats[:] = now
        self._wake.set()

    # ---- what Telegram says

    async def put_in(self, chat: int, who: int) -> None:
        """We are in a group that is not allowed."""
        if chat in self._under or chat in self._new_numbers():
            return
        until = self._open_until() if who in self._owners else 0.0
        if until:
            log.info("a group waits for its code")
            await self._keep(chat, Under(do=WAITS, until=until + GRACE_S, who=who))
        elif chat < SUPERGROUP and any(one > SUPERGROUP for one in self.chats):
            # It may be an allowed one that was just made a supergroup.
            await self._keep(chat, Under(do=WAITS, until=self._wall() + GRACE_S))
        else:
            self._to_leave.append(chat)
        self._wake.set()

    async def left(self, update: int, found: Left) -> None:
        """We are in an allowed group no more."""
        await self._keep(found.chat, Under(do=LEFT, cause=f"telegram:{update}"))
        self.chats[:] = [chat for chat in self.chats if chat != found.chat]
        self._wake.set()

    async def moved(self, update: int, found: Moved) -> None:
        """An allowed group goes by another number."""
        await self._keep(found.chat, Under(do=MOVED, cause=f"telegram:{update}", to=found.to))
        self.chats[:] = [found.to if chat == found.chat else chat for chat in self.chats]
        self._wake.set()

    def answer(self, tap: str, sentence: str) -> None:
        """Tell whoever pressed a button in a group, in a window of its own; that it fails matters nothing."""
        call = self._bot.answer_callback_query(tap, sentence, show_alert=True)
        task = asyncio.create_task(quietly(call))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def turned_away(self, chat: int) -> None:
        """The code that came was not good."""
        await self._forget(chat)
        if chat not in self.chats:
            self._to_leave.append(chat)
        self._wake.set()

    # ---- what comes of it

    async def run(self) -> None:
        """Leave what is to be left, tell the engine what it is to know; until cancelled."""
        while True:
            self._wake.clear()
            while self._to_leave:
                await quietly(self._bot.leave_chat(self._to_leave.pop()))
            wait_s = await self.settled()
            try:
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def settled(self) -> float | None:
        """Go on with what is under way; return when to look again, None: once something happens."""
        now = self._wall()
        again: list[float] = []
        for chat, under in list(self._under.items()):
            if under.do == WAITS and chat in self.chats:
                await self._forget(chat)
            elif under.do == WAITS and under.until <= now:
                await quietly(self._bot.leave_chat(chat))
                await self._forget(chat)  # only now: a bot that dies in between leaves it again
                if under.who:
                    no_code = Say(words=text.said(text_groups.NO_CODE))
                    await self._outbox.say(under.who, Weight.ANSWER, no_code)
            elif under.do == WAITS:
                again.append(under.until - now)
            elif not await self._engine_hears(chat, under):
                self._tries += 1
                again.append(BACK_OFF_S[min(self._tries, len(BACK_OFF_S)) - 1])
        return min(again, default=None)

    async def _engine_hears(self, chat: int, under: Under) -> bool:
        more = {"to": under.to} if under.do == MOVED else {}
        try:
            with on_behalf_of(Asker(who="Telegram", through=f"group {chat}")):
                await self._engine.call(f"group_{under.do}", under.cause, chat=chat, **more)
        except Unavailable:
            return False
        except Refused as no:
            log.error("the engine would not hear of a group: %s", no.sentence)
        self._tries = 0
        await self._forget(chat)
        return True

    def _new_numbers(self) -> set[int]:
        return {under.to for under in self._under.values() if under.do == MOVED}

    async def _keep(self, chat: int, under: Under) -> None:
        self._under[chat] = under
        await self._store.keep_fact(f"{FACT}{chat}", msgspec.json.encode(under).decode())

    async def _forget(self, chat: int) -> None:
        if self._under.pop(chat, None) is not None:
            await self._store.keep_fact(f"{FACT}{chat}", "")
