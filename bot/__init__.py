"""The bot process: it says things and hears things, and decides nothing."""

import sys

# None reads as not installed. httpx loads a command line of its own (click, rich, pygments) where it
# finds one, a fifth of the bot's start, for what is never called. httpcore looks for sniffio anew four
# times a call, all over the path: what runs here is asyncio, which it takes to be so without.
for unused in ("httpx._main", "sniffio"):
    sys.modules.setdefault(unused, None)  # type: ignore[arg-type]
