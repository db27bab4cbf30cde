"""The run folder: all that is known of one run, as files that outlive whoever wrote them.

    runs/<run id>/   0700
      spec.json      what to run; secrets are named in it, never held
      out.jsonl      append only, whole lines: {"n": 1, "t": 1760000000.123, "k": ..., "d": ...}
                       k   out, err   a line of the run (d its text; "bad": 1 if not all UTF-8)
                           desk       a call of the run's tools (d an object)
                           note       something we did or saw (d a sentence; "lost": bytes of
                                      the spool that the reader found to be no line of ours)
                           exit       the last line (d as in exit.json)
      blobs/<name>   a line of more than 1 MiB; its line in out.jsonl holds "blob", "size", a start
      in.jsonl       {"n": key, "k": "line|desk|end", "d": ...}; a key seen before is dropped
      lock           locked while the runner lives
      child.json     the processes, as soon as there are any
      exit.json      how it ended; there is one for every run that is over

engine/node/runner.py writes it, engine/node/serve.py writes the inbox and what a dead runner left
undone, engine/node/follow.py reads it. Imports little, since every run pays for it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import stat
import time

from engine.node import points
from engine.node.opening import Odd, aside, opened, written

MAX_LINE = 1024 * 1024  # of a run's output; longer ones become blobs
_MOST = 2**52  # lines, or seconds: what tells of more is damaged
MAX_NESTED = 200  # brackets within brackets of what an agent says
_MOST_PID = 4194304  # what Linux gives out at most
BLOB_START = 2048  # bytes of a blob that stand in its line

TYPE_CHECKING = False  # as typing's own, which every run would pay for
if TYPE_CHECKING:
    from typing import Any

Fields = dict[str, "Any"]  # a JSON object


def write(path: str, fields: Fields) -> None:
    """Put `fields` into `path` whole or not at all; only one at a time may, who holds the lock."""
    rough = f"{path}.new"
    handle = written(rough, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(fields, file)
    points.passed(f"{os.path.basename(path)} written aside")
    aside(path)
    os.replace(rough, path)
    points.passed(f"{os.path.basename(path)} written")


def read(path: str) -> Fields | None:
    """Return the object in `path`, or None if there is none, or no whole one."""
    try:
        with open(opened(path), "rb") as file:
            fields = json.loads(file.read())
    except (FileNotFoundError, Odd, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def line(number: int, kind: str, said: object, **more: object) -> bytes:
    """Return one line of out.jsonl."""
    fields = {"n": number, "t": round(time.time(), 3), "k": kind, **more, "d": said}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def lock(folder: str) -> int | None:
    """Return a descriptor that holds the run's lock, or None if its runner has it."""
    handle = written(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return None
    points.passed("lock of a run taken")
    return handle


def alive(folder: str) -> bool:
    """Say whether a runner holds this run's lock."""
    try:
        handle = opened(os.path.join(folder, "lock"))
    except (FileNotFoundError, Odd):
        return False
    try:
        # Shared: two that look at once do not take each other for a runner.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return True
    finally:
        os.close(handle)
    return False


def pid(told: object) -> int:
    """Return a process's number as a file tells it, 0 if that is none: agents may write there too."""
    is_one = isinstance(told, int) and not isinstance(told, bool) and 1 < told <= _MOST_PID
    return told if is_one else 0  # type: ignore[return-value]


def ended(folder: str) -> Fields | None:
    """Return how the run ended, or None if nobody has written that yet."""
    return read(os.path.join(folder, "exit.json"))


def append(folder: str, name: str, entry: bytes) -> None:
    """Append one whole line to a file of the folder, ending first a line that was cut off.

    What finds no room leaves nothing of itself there. The NUL makes sure that the torn line, whatever it ends in, is taken for none of ours.
    """
    handle = written(os.path.join(folder, name), os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            entry = b"\0\n" + entry
        try:
            while entry:
                entry = entry[os.write(handle, entry) :]
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    points.passed(f"{name} appended to")


def poke(folder: str) -> None:
    """Wake the runner so that it reads its inbox; nothing if it is gone."""
    try:
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(os.path.join(folder, "poke"), flags)
    except OSError as error:
        if error.errno not in (errno.ENXIO, errno.ENOENT, errno.ELOOP, errno.EISDIR):
            raise
        return  # nobody listens
    if not stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        return
    try:
        os.write(handle, b".")
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EPIPE):  # full: it has enough to wake up
            raise
    finally:
        os.close(handle)


def unheard(folder: str) -> bool:
    """Say whether the inbox may hold what the runner has not read: it looks there after each line."""
    try:
        asked = os.stat(os.path.join(folder, "in.jsonl")).st_mtime_ns
        return asked >= os.stat(os.path.join(folder, "out.jsonl")).st_mtime_ns
    except FileNotFoundError:
        return os.path.exists(os.path.join(folder, "in.jsonl"))


def last_line(folder: str) -> Fields | None:
    """Return the last line of out.jsonl if it is a whole one of ours."""
    try:
        with open(opened(os.path.join(folder, "out.jsonl")), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 64 * 1024))
            tail = file.read()
    except (FileNotFoundError, Odd):
        return None
    if not tail.endswith(b"\n"):
        return None
    try:
        fields = json.loads(tail[:-1].rpartition(b"\n")[2])
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def number_after(last: Fields | None) -> int:
    """Return the number of the line to come; 0 where the last one tells none that could be."""
    number = last.get("n") if last else None
    return number + 1 if type(number) is int and 0 <= number < _MOST else 0


def _is_exit(last: Fields) -> bool:
    """Say whether a run's last line is its end, such as we write it: who follows it takes no other."""
    told = last.get("k") == "exit" and isinstance(last.get("d"), dict)
    at = last.get("t")
    is_time = isinstance(at, (int, float)) and abs(at) < _MOST
    return told and is_time and number_after(last) > 0 and set(last) == {"n", "t", "k", "d"}


def close(folder: str, how: Fields, number: int = 0) -> Fields:
    """Write the run's exit, in the spool and beside it, unless that was done; return the exit.

    The line comes first: after a crash between the two the exit is taken from it.
    """
    done = ended(folder)
    if done is not None:
        return done
    last = last_line(folder)
    if last is not None and _is_exit(last):
        how = last["d"]
    else:
        if not number:
            number = number_after(last) or int(not _size(os.path.join(folder, "out.jsonl")))
        append(folder, "out.jsonl", line(number, "exit", how))
    write(os.path.join(folder, "exit.json"), how)
    return how


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def is_deep(text: str) -> bool:
    """Say whether some JSON is nested past all use: what reads it later may have less room than we."""
    if text.count("[") + text.count("{") <= MAX_NESTED:
        return False
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_NESTED
