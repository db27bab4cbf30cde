"""The engine's process: `python -m engine`, or `quarterdeck engine`.

Ends on SIGTERM or SIGINT within seconds, and no run with it. An error nobody foresaw ends it too, and
whoever started it (systemd, a person) starts it again: starting is recovering.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading

from engine import backups, notify
from engine.adapters.machines import Local
from engine.config import load
from engine.errors import EngineError
from engine.paths import Home
from engine.rules.words import HERE
from stores.soundness import look_ahead
from stores.unlogged import at_the_end
from stores.unusable import Unusable

DRAIN_S = 5.0
# Objects more than there were before Python looks for cycles among them. Its own 700 come and go with
# a few lines of a run; ours are trees, and hold hardly any cycle.
LOOKS_AFTER = 10_000


async def main() -> None:
    """Run until told to stop."""
    home = Home.found()
    load(home)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    here = Local(home.make().root)
    try:
        await here.warm()
        await _run(home, here, stop)
    finally:
        await here.close()


async def _run(home: Home, here: Local, stop: asyncio.Event) -> None:
    # Only now: the node and all that the engine is made of take long to load, and do so side by side,
    # as does the look over the ledger.
    look_ahead(home.engine_db)
    gc.disable()  # nothing of it is garbage, then or later
    from engine.engine import Engine

    gc.freeze()
    gc.set_threshold(LOOKS_AFTER)
    gc.enable()
    scenario = os.environ.get("QUARTERDECK_SCENARIO", "")
    engine = Engine(home, machines={HERE: here}, scenario=scenario)
    at_the_end(engine.net.clean)
    async with engine.running(), notify.alive(engine.breathe):
        logging.getLogger(__name__).info("engine ready at %s", home.engine_sock)
        await stop.wait()
        notify.ending(DRAIN_S)
        _end_in(DRAIN_S)


def _end_in(seconds: float) -> None:
    """End by then, whatever is still at it: it is owed, and the next start takes it up."""
    at_last = threading.Timer(seconds, os._exit, (0,))
    at_last.daemon = True
    at_last.start()


if __name__ == "__main__":
    faulthandler.enable()  # the watchdog's SIGABRT then shows where we were stuck
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s engine %(levelname)s %(name)s %(message)s"
    )
    try:
        asyncio.run(main())
    except (EngineError, Unusable) as error:
        sys.stderr.write(f"quarterdeck engine: {error}\n")
        if isinstance(error, Unusable) and error.lost:
            sys.stderr.write(f"{backups.way_back(Home.found())}\n")
        sys.exit(1)
