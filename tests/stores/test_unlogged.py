"""Log lines and dying words without what must not be shown."""

import logging
import subprocess
import sys

import pytest

from stores.unlogged import unlogged

SECRET = "vQ7kdZr41mXw9Tt8Lp"

DIES = f"""
import sys, threading
from stores.unlogged import at_the_end
at_the_end(lambda text: text.replace({SECRET!r}, "<out>"))
def fail():
    try:
        raise KeyError("inner {SECRET}")
    except KeyError as error:
        raise ExceptionGroup("outer {SECRET}", [ValueError("{SECRET}")]) from error
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_what_a_process_and_its_threads_say_as_they_die_is_clean() -> None:
    died = subprocess.run([sys.executable, "-c", DIES], capture_output=True, text=True, check=False)
    assert died.returncode == 1
    assert died.stderr.count("outer <out>") == 2
    assert died.stderr.count("inner <out>") >= 2
    assert SECRET not in died.stderr


def test_message_arguments_traceback_and_stack_of_a_record_are_clean(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with unlogged(lambda text: text.replace(SECRET, "<out>")):
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("any").exception("with %s", SECRET, stack_info=True)
        logging.getLogger("any").warning("%d %s", 7, "ordinary")
    logging.getLogger("any").warning("after %s", "it")
    assert "with <out>" in caplog.text
    assert "ValueError: <out>" in caplog.text
    assert caplog.text.count(SECRET) == 0
    assert "7 ordinary" in caplog.text
