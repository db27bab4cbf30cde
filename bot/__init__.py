"""The bot process: it says things and hears things, and decides nothing."""

import sys

# httpx loads a command line of its own (click, rich, pygments) where it finds one: a fifth of the
# bot's start and of its libraries' memory, for what is never called. None reads as not installed.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
