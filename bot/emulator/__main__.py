"""The emulator as a process: prints one line of JSON saying where it is, then serves."""

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from bot.emulator.server import Emulator


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bot.emulator", description="A Bot API on 127.0.0.1, with a phone."
    )
    parser.add_argument("--token", required=True, help="the bot's token, such as 1:test")
    parser.add_argument("--owner", type=int, required=True, help="the owner's numeric id")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--threaded", action="store_true", help="private chats have topics")
    parser.add_argument("--no-flood", action="store_true", help="without Telegram's limits")
    parser.add_argument("--state", type=Path, help="keep the chats in this file")
    return parser.parse_args()


async def _serve(arguments: argparse.Namespace) -> None:
    emulator = Emulator(
        token=arguments.token,
        owner_id=arguments.owner,
        threaded=arguments.threaded,
        flood=not arguments.no_flood,
        state=arguments.state,
    )
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    await emulator.start(arguments.port)
    where = {"url": emulator.url, "control": emulator.control_url, "page": emulator.page_url}
    sys.stdout.write(json.dumps(where) + "\n")
    sys.stdout.flush()
    await ended.wait()
    await emulator.stop()


if __name__ == "__main__":
    asyncio.run(_serve(_arguments()))
