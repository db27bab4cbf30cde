"""What must not be shown is in no log line either, nor in what a process says as it dies.

    with unlogged(net.clean): ...      every record made within, its text and its traceback
    at_the_end(net.clean)              what an exception nobody caught prints, until the process is gone

For all who log: the engine with what its vault holds, the bot with its token. Neighbour: scrub.py.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

Clean = Callable[[str], str]


@contextmanager
def unlogged(clean: Clean) -> Iterator[None]:
    """Within this, no log record holds what `clean` takes out."""
    make = logging.getLogRecordFactory()

    def made(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        message = record.getMessage()
        if (said := clean(message)) != message:
            record.msg, record.args = said, ()
        if record.exc_info and record.exc_info[0] is not None:
            trace = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_text = clean(trace)
        if record.stack_info:
            record.stack_info = clean(record.stack_info)
        return record

    logging.setLogRecordFactory(made)
    try:
        yield
    finally:
        logging.setLogRecordFactory(make)


def at_the_end(clean: Clean) -> None:
    """From now on have tracebacks that end a process or a thread of it printed without it."""

    def said(
        kind: type[BaseException], error: BaseException | None, at: TracebackType | None
    ) -> None:
        sys.stderr.write(clean("".join(traceback.format_exception(kind, error, at))))

    sys.excepthook = said
    threading.excepthook = lambda end: said(end.exc_type, end.exc_value, end.exc_traceback)
