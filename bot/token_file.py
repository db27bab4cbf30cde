"""The bot's token as it lies on the box, and the wait for another one when Telegram refuses it.

    refused ──> said on the box (the log, systemd's status, `quarterdeck status`) ──> wait ──> sign in
                   a token is put there ──────────────────────────────────────────────^
                   nobody does: the same is tried now and then, in case Telegram was wrong ──^

Without a good token no word reaches the owner's phone by any road of ours, so the box is where it is
said. Nothing is lost meanwhile: what there is to say is on disk. Neighbours: app.py, engine/setup.py.
"""

import asyncio
import contextlib
import logging
import os

from engine import notify
from engine.errors import Refused
from engine.paths import Home

log = logging.getLogger(__name__)

LOOK_S = 2.0
SAME_AGAIN_S = 600.0
REFUSED = (
    "Telegram refuses the bot's token: it was revoked or mistyped. Ask @BotFather for it and run "
    "`quarterdeck setup` again; the bot waits for it and then goes on by itself."
)


def read(home: Home) -> str:
    """Return the token. Raises Refused with what to do."""
    try:
        token = home.bot_token.read_text(encoding="utf-8").strip()
    except OSError:
        token = ""
    if not token:
        raise Refused(f"There is no bot token in {home.bot_token}: run `quarterdeck setup`.")
    return token


async def another(home: Home, stop: asyncio.Event) -> bool:
    """Wait until it is time to try the token that is there then. False: told to stop first."""
    log.error(REFUSED)
    notify.tell(STATUS="Telegram refuses the token")
    with contextlib.suppress(OSError):  # a full disk: the log has it
        home.bot_trouble.write_text(REFUSED, encoding="utf-8")
    before, looks = _stamp(home), 0
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await stop.wait()
                return False
        looks, found = looks + 1, _stamp(home)
        if found and (found != before or looks * LOOK_S >= SAME_AGAIN_S):
            return True


def signed_in(home: Home) -> None:
    """Telegram knows us (again)."""
    home.bot_trouble.unlink(missing_ok=True)
    notify.tell(STATUS="Running")


def _stamp(home: Home) -> str:
    """Return what tells one putting of a token from another; nothing while there is none."""
    try:
        found = os.stat(home.bot_token)
        return f"{found.st_mtime_ns} {found.st_ino} {read(home)}"
    except (OSError, Refused):
        return ""
