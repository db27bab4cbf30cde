"""The bot's token stays out of every log line and traceback, whoever writes them.

The token is a part of each address the HTTP library logs; and Telegram's library logs what people
wrote when it cannot read an update. app.py puts this in force before the first call is made.
Neighbours: stores/unlogged.py (how), masks.py (the same for what is sent), __main__.py (as it dies).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from stores.unlogged import unlogged

STAND_IN = "<token>"
# What they say is in our own lines as far as it matters, and without what was written.
CHATTY = ("httpcore", "httpx", "telegram")


@contextmanager
def redacted(token: str) -> Iterator[None]:
    """Within this, no log record holds the token, its text and traceback included."""
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with unlogged(lambda text: without(text, token)):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def without(text: str, token: str) -> str:
    """Return a text without a token, whole or its second half."""
    secret = token.partition(":")[2] or token
    return text.replace(token, STAND_IN).replace(secret, STAND_IN) if token else text
