"""One request of the command line, put to the engine.

To the running one by its socket (api/); with none running, to the same engine opened here for a moment.
On behalf of the box: whoever types here has this user's rights. Neighbours: cli.py and cli_audit.py ask.
"""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from typing import Any

from engine.errors import NoRoom, Unavailable
from engine.paths import Home
from engine.room import FULL, READ_ONLY

TAKES_NOTHING = (FULL, READ_ONLY)
PATIENCE_S = 300.0  # a project's first clone takes as long as its network does


def with_engine(verb: str, **arguments: Any) -> Any:
    """Put one request to the engine, running or opened for it, and return plain data."""
    from engine.asker import BOX, Asker, on_behalf_of

    typed = Asker(who=BOX, through=f"command line, uid {os.getuid()}", verb=verb)
    with on_behalf_of(typed):
        return asyncio.run(_ask(Home.found(), verb, arguments))


async def _ask(home: Home, verb: str, arguments: dict[str, Any]) -> Any:
    import msgspec

    from engine.api import VERBS, Client
    from engine.config import load
    from engine.doctor import engine_runs

    load(home)  # a home that was never set up is a mistyped one: it must not be made by asking
    cause = f"cli:{uuid.uuid4().hex}"
    if home.engine_sock.exists():
        async with Client(home.engine_sock, timeout_s=PATIENCE_S) as client:
            try:
                return msgspec.to_builtins(await client.call(verb, cause, **arguments))
            except Unavailable as away:
                if str(away) in TAKES_NOTHING:
                    raise NoRoom(f"{away} Nothing was done.") from away
                if engine_runs(home):
                    raise Unavailable(
                        f"The engine on {home.root} runs and gives no answer ({away}) Try again; "
                        "if it stays so, end it and start it again: nothing is lost by that."
                    ) from away
        # Nobody holds the lock: the socket was left by an engine that was killed.
    from engine.engine import opened

    logging.getLogger("engine.room").addHandler(logging.NullHandler())  # its sentence comes anyway
    if VERBS[verb].changes:
        arguments["cause"] = cause
    async with opened(home) as door:
        if VERBS[verb].changes:
            await door.permits(verb, cause)
        return msgspec.to_builtins(await getattr(door, verb)(**arguments))
