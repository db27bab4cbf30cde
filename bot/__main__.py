"""The bot as a process of its own: `python -m bot`, or `quarterdeck bot`."""

import asyncio
import logging
import signal
import sys

from bot.app import main
from engine.errors import EngineError
from engine.paths import Home
from stores.database import Unusable


async def run(home: Home) -> None:
    """Run until SIGTERM or SIGINT; then drain and return."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await main(home, stop)


def start() -> int:
    """Return the exit code: 1 with a sentence when it could not start or go on."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    try:
        asyncio.run(run(Home.found().make()))
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Unusable as error:
        sys.stderr.write(f"{error.sentence}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(start())
