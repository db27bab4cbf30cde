"""A bot API that answers at once and notes when it was asked: the far end for bots and floors alike.

Not the strict emulator of bot/emulator/, whose checks cost more than what is timed here. Serves any
number of bots, told apart by their tokens, on 127.0.0.1.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self

from aiohttp import web

OWNER = 42
CHAT = {"id": OWNER, "type": "private", "first_name": "Owner"}
SENDER = {"id": OWNER, "is_bot": False, "first_name": "Owner"}


@dataclass(frozen=True)
class Call:
    """What a bot asked for, and when it got here: Unix seconds."""

    method: str
    params: dict[str, Any]
    at: float

    @property
    def text(self) -> str:
        return str(self.params.get("text", ""))

    @property
    def markup(self) -> str:
        return str(self.params.get("reply_markup", ""))


@dataclass
class _Bot:
    """One bot's queue, and who waits for its calls."""

    updates: list[dict[str, Any]] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    polled: asyncio.Event = field(default_factory=asyncio.Event)
    cards: dict[str, int] = field(default_factory=dict)  # a card's message
    waiting: list[tuple[Callable[[Call], bool], asyncio.Future[Call]]] = field(default_factory=list)
    hear: Callable[[Call], None] = lambda call: None


class Cloud:
    """The server."""

    def __init__(self) -> None:
        self.url = ""
        self._bots: dict[str, _Bot] = {}
        self._count = count(1)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/bot{token}/{method}", self._call)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    # ---- the owner's side

    def send(self, token: str, text: str) -> float:
        """Have the owner write a line; return when."""
        number = next(self._count)
        message = {"message_id": number, "from": SENDER, "chat": CHAT, "text": text}
        if text.startswith("/"):
            length = len(text.split(" ", 1)[0])
            message["entities"] = [{"type": "bot_command", "offset": 0, "length": length}]
        return self._put(token, {"message": {**message, "date": int(time.time())}})

    def tap(self, token: str, data: str) -> float:
        """Have the owner press a button that carries `data`; return when."""
        number = self._bot(token).cards.get(_card(data), 1)
        under = {"message_id": number, "date": int(time.time()), "chat": CHAT}
        query = {"id": str(next(self._count)), "from": SENDER, "chat_instance": "1", "data": data}
        return self._put(token, {"callback_query": {**query, "message": {**under, "text": "-"}}})

    def expect(self, token: str, fits: Callable[[Call], bool]) -> asyncio.Future[Call]:
        """Return what will be the next call of that bot that fits."""
        found: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        self._bot(token).waiting.append((fits, found))
        return found

    def listen(self, token: str, hear: Callable[[Call], None]) -> None:
        """Have `hear` called with each call of that bot from now on, and nobody before it."""
        self._bot(token).hear = hear

    def forget(self, token: str) -> None:
        """Take it that the bot waits for updates no longer: it was ended."""
        self._bot(token).polled.clear()

    async def polled(self, token: str) -> None:
        """Return once a bot waits for updates."""
        await self._bot(token).polled.wait()

    def _put(self, token: str, update: dict[str, Any]) -> float:
        bot = self._bot(token)
        bot.updates.append({"update_id": next(self._count), **update})
        bot.more.set()
        return time.time()

    def _bot(self, token: str) -> _Bot:
        return self._bots.setdefault(token, _Bot())

    # ---- the bots' side

    async def _call(self, request: web.Request) -> web.Response:
        body = dict(await request.post()) if request.can_read_body else {}
        params = {**request.query, **body}
        call = Call(request.match_info["method"], params, time.time())
        bot = self._bot(request.match_info["token"])
        bot.hear(call)
        for waiting in [one for one in bot.waiting if one[0](call)]:
            bot.waiting.remove(waiting)
            if not waiting[1].done():
                waiting[1].set_result(call)
        return web.json_response({"ok": True, "result": await self._answer(bot, call)})

    async def _answer(self, bot: _Bot, call: Call) -> Any:
        match call.method:
            case "getMe":
                return {"id": 1, "is_bot": True, "first_name": "Bench", "username": "bench_bot"}
            case "getUpdates":
                return await self._updates(bot, call)
            case "sendMessage" | "editMessageText" | "editMessageReplyMarkup":
                number = int(call.params.get("message_id") or next(self._count))
                for data in re.findall(r'"callback_data": ?"([^"]+)"', call.markup):
                    bot.cards[_card(data)] = number
                return {"message_id": number, "date": int(time.time()), "chat": CHAT, "text": "-"}
            case _:
                return True

    async def _updates(self, bot: _Bot, call: Call) -> list[dict[str, Any]]:
        offset = int(call.params.get("offset") or 0)
        bot.updates = [update for update in bot.updates if update["update_id"] >= offset]
        if not bot.updates:
            bot.more.clear()
            bot.polled.set()
            try:
                async with asyncio.timeout(float(call.params.get("timeout") or 0)):
                    await bot.more.wait()
            except TimeoutError:
                return []
        return bot.updates


def _card(data: str) -> str:
    """Return which card a button is of."""
    return data.split(":")[1] if data.count(":") >= 2 else ""
