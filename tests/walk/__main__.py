"""Walk the whole story: `python -m tests.walk [engine|bot]...`; one line of figures for each walk."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time

from tests.walk.engine_alone import walk_engine
from tests.walk.walked import ground
from tests.walk.with_bot import walk_bot

WALKS = {"engine": walk_engine, "bot": walk_bot}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.walk", description=__doc__)
    parser.add_argument(
        "of", nargs="*", choices=[*WALKS, []], help="whose boundaries; both if none"
    )
    asked = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # what a dead task raised
    for of in asked.of or WALKS:
        began = time.monotonic()
        with ground() as folder:
            walked = asyncio.run(WALKS[of](folder))
        sys.stdout.write(f"{walked} ({time.monotonic() - began:.0f} s)\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
