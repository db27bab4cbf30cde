"""What waits in the outbox gets into the chat: all of it, and nothing a second time but what was cut off.

Telegram's answer and our note of it cannot be one step: what it has taken and we had not yet noted may
come once more. Never more than that one message, and never is anything missing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import telegram
from telegram.request import HTTPXRequest

from bot import text
from bot.emulator import Emulator, Message
from bot.entities import Rich
from bot.outbox import Outbox
from bot.text import Words
from bot.unsaid import Say, Wanted, Weight
from stores.cards import CardStore
from stores.database import Database
from tests.history import Chat, Expected, Scene, judge_history
from tests.history.scene import rows_of
from tests.strace.walk import Story

TOKEN = "4242:test-token"
OWNER = 42
LINES = ("first", "second", "third")
CARD = "allow?"
OWNERS = 10  # the message that made the bot speak: what is sent stands behind it


def lay(folder: Path) -> None:
    asyncio.run(_queue(folder))


async def _queue(folder: Path) -> None:
    async with Database(folder / "bot.sqlite3", "bot", secure_delete=True) as database:
        bot = telegram.Bot(TOKEN)
        outbox = Outbox(bot, CardStore(database), [OWNER])
        await outbox.open()
        await outbox.say(OWNER, Weight.ANSWER, *(Say(words=text.said(line)) for line in LINES))


async def play(folder: Path) -> None:
    url = (folder / "url").read_text(encoding="ascii")
    bot = telegram.Bot(TOKEN, base_url=f"{url}/bot", request=HTTPXRequest(read_timeout=5.0))
    now = [time.time()]
    async with Database(folder / "bot.sqlite3", "bot", secure_delete=True) as database, bot:
        outbox = Outbox(
            bot, CardStore(database), [OWNER], clock=lambda: now[0], wall=lambda: now[0]
        )
        await outbox.open()
        outbox.alive(OWNER, OWNERS)
        words = Words(Rich(CARD), ((text.Button("Stop", "stop"),),))
        outbox.show(
            Wanted(
                card="a-1",
                goal="",
                chat=OWNER,
                revision="r",
                words=words,
                weight=Weight.DECISION,
                asks=True,
                sounds=True,
            )
        )
        while (wait_s := await outbox.lanes[OWNER].step()) is not None:
            now[0] += wait_s


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """Have a Bot API for as long as the block lasts; then what is in the chat lies in a file."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(_serve(folder, tell))
            code = 0
        finally:
            os._exit(code)
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)
    try:
        yield
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


async def _serve(folder: Path, tell: int) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    emulator = Emulator(token=TOKEN, owner_id=OWNER, flood=False)
    await emulator.start()
    (folder / "url").write_text(emulator.url, encoding="ascii")
    os.write(tell, b"1")
    await stop.wait()
    (folder / "chat.json").write_bytes(msgspec.json.encode(emulator.phone.messages()))
    os._exit(0)


def judge(folder: Path) -> None:
    said = msgspec.json.decode((folder / "chat.json").read_bytes(), type=list[Message])
    bot_db = folder / "bot.sqlite3"
    judge_history(
        Scene(bot_db=bot_db, chat=Chat(messages=said, unknown=1)), Expected(said=(*LINES, CARD))
    )
    assert rows_of(bot_db, "SELECT card FROM cards") == [("a-1",)]


STORY = Story("send", lay, play, judge, beside=beside, network=True)
