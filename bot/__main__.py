"""The bot as a process of its own: `python -m bot`, or `quarterdeck bot`."""

import asyncio
import contextlib
import faulthandler
import logging
import signal
import sys

from bot import token_file
from bot.app import DRAIN_S, main
from bot.redact import without
from engine import backups, notify
from engine.errors import EngineError
from engine.paths import Home
from stores.unlogged import at_the_end
from stores.unusable import Unusable

ENDS_S = 5.0


async def run(home: Home) -> None:
    """Run until SIGTERM or SIGINT; then drain and return."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with notify.alive():
        bot = asyncio.create_task(main(home, stop), name="bot")
        told = asyncio.create_task(stop.wait())
        await asyncio.wait({bot, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if not bot.done():
            notify.ending(ENDS_S)
            await asyncio.wait({bot}, timeout=DRAIN_S)
        bot.cancel()  # still at it: what it waits for does not come; the rest is on disk
        with contextlib.suppress(asyncio.CancelledError):
            await bot


def _without_token(text: str) -> str:
    try:
        return without(text, token_file.read(Home.found()))
    except EngineError:  # there is none to be said
        return text


def start() -> int:
    """Return the exit code: 1 with a sentence when it could not start or go on."""
    faulthandler.enable()  # the watchdog's SIGABRT then shows where we were stuck
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    at_the_end(_without_token)
    try:
        asyncio.run(run(Home.found().make()))
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Unusable as error:
        sys.stderr.write(f"quarterdeck bot: {error.sentence}\n")
        if error.lost:
            sys.stderr.write(f"{backups.way_back(Home.found())}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(start())
