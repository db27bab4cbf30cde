"""The bot's token stays out of every log line and traceback, whoever writes them.

The token is a part of each address the HTTP library logs; and Telegram's library logs what people
wrote when it cannot read an update. app.py puts this in force before the first call is made.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STAND_IN = "<token>"
# What they say is in our own lines as far as it matters, and without what was written.
CHATTY = ("httpcore", "httpx", "telegram")


@contextmanager
def redacted(token: str) -> Iterator[None]:
    """Within this, no log record holds the token, its text and traceback included."""
    make = logging.getLogRecordFactory()
    secret = token.partition(":")[2] or token

    def made(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        message = record.getMessage()
        if secret in message:
            record.msg, record.args = _without(message, token, secret), ()
        if record.exc_info and record.exc_info[0] is not None:
            trace = logging.Formatter().formatException(record.exc_info)
            record.exc_text = _without(trace, token, secret)
        return record

    levels = {name: logging.getLogger(name).level for name in CHATTY}
    logging.setLogRecordFactory(made)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logging.setLogRecordFactory(make)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _without(text: str, token: str, secret: str) -> str:
    return text.replace(token, STAND_IN).replace(secret, STAND_IN)
