"""Reading run folders as they grow: whole lines from an offset, pushed as the engine takes them.

    out.jsonl grows -> inotify -> next lines -> push {"follow", "run", "offset", "end", "data"}
    the engine acknowledges what it took; beyond WINDOW bytes not acknowledged a run waits,
    so that one noisy run holds up neither the link nor the other runs

What is no line of ours (NULs after a power cut, a line torn by a kill) becomes a note that says
so and how many bytes were lost, and a file shorter than the offset likewise: the reader goes on with
what there is. A run that is over always says so: where its spool has no end any more, that of
exit.json is told in its place.

engine/node/serve.py starts and stops these; the files are described in engine/node/folder.py.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import struct
from collections.abc import Awaitable
from typing import Any, Callable, NamedTuple

from engine.node import folder, points
from engine.node.opening import Odd, opened

WINDOW = 4 * 1024 * 1024
_CHUNK = 256 * 1024
_LONGEST = 16 * 1024 * 1024  # no line of ours is longer, escapes and all
_POLL_S = 0.2  # where the kernel tells us nothing
_SWEEP_S = 5.0  # where it does: for the one event that may have been lost

_MODIFY, _CLOSE_WRITE, _MOVED_TO, _CREATE, _DELETE_SELF = 0x2, 0x8, 0x80, 0x100, 0x400
_MASK = _MODIFY | _CLOSE_WRITE | _MOVED_TO | _CREATE | _DELETE_SELF
_IGNORED = 0x8000

Push = Callable[[dict[str, Any]], Awaitable[None]]


class Watch:
    """One who waits for changes in a folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.changed = asyncio.Event()


class Watcher:
    """Tells when something changes in a folder; one kernel queue for all of them.

    Where there is none (macOS, or the user's watches are used up) the waiting is cut short
    instead, and the reader looks for itself.
    """

    def __init__(self) -> None:
        self._file = -1
        self._numbers: dict[int, set[Watch]] = {}
        self._by_path: dict[str, int] = {}
        self._libc = ctypes.CDLL(None, use_errno=True)
        init = getattr(self._libc, "inotify_init1", None)
        if init is not None:
            self._file = init(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file >= 0:
            asyncio.get_running_loop().add_reader(self._file, self._read)

    def watch(self, path: str) -> Watch:
        """Return a watch on `path`, to be given back to `unwatch`."""
        watch = Watch(path)
        number = self._by_path.get(path, -1)
        if number < 0 and self._file >= 0:
            number = self._libc.inotify_add_watch(self._file, os.fsencode(path), _MASK)
        if number >= 0:
            self._by_path[path] = number
            self._numbers.setdefault(number, set()).add(watch)
        return watch

    def unwatch(self, watch: Watch) -> None:
        """Forget a watch."""
        number = self._by_path.get(watch.path, -1)
        those = self._numbers.get(number, set())
        those.discard(watch)
        if number >= 0 and not those:
            self._libc.inotify_rm_watch(self._file, number)
            del self._by_path[watch.path]
            self._numbers.pop(number, None)

    async def wait(self, watch: Watch) -> None:
        """Return when the folder changed, or when it is time to look anyway."""
        told = watch.path in self._by_path
        # Not wait_for: before Python 3.12 it may swallow the cancellation that ends the waiter.
        alarm = asyncio.get_running_loop().call_later(
            _SWEEP_S if told else _POLL_S, watch.changed.set
        )
        try:
            await watch.changed.wait()
        finally:
            alarm.cancel()

    def close(self) -> None:
        """Give the kernel's queue back."""
        if self._file >= 0:
            asyncio.get_running_loop().remove_reader(self._file)
            os.close(self._file)
            self._file = -1

    def _read(self) -> None:
        try:
            data = os.read(self._file, 64 * 1024)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            number, mask, _, length = struct.unpack_from("iIII", data, at)
            at += 16 + length
            if number < 0:  # the queue overflowed: anything may have changed
                for those in self._numbers.values():
                    _tell(those)
            _tell(self._numbers.get(number, set()))
            if mask & _IGNORED:
                for watch in self._numbers.pop(number, set()):
                    self._by_path.pop(watch.path, None)


def _tell(those: set[Watch]) -> None:
    for watch in those:
        watch.changed.set()


class Read(NamedTuple):
    """What stands in a spool from an offset on."""

    data: bytes  # whole lines
    end: int
    more: bool = True  # there may be another to read behind it


def next_lines(path: str, offset: int) -> Read | None:
    """Return the next whole lines of the spool, or None if there are none yet; raises Odd."""
    try:
        handle = opened(path)
    except FileNotFoundError:
        return None
    try:
        size = os.fstat(handle).st_size
        if size < offset:
            note = "Cut off: of what was read before, the machine has lost the last part."
            return Read(folder.line(0, "note", note, lost=offset - size), size)
        wanted = _CHUNK
        while True:
            data = os.pread(handle, wanted, offset)
            whole = data.rfind(b"\n") + 1
            if whole:
                return Read(_sound(data[:whole]), offset + whole, len(data) == wanted)
            if len(data) < wanted:
                return None
            if wanted >= _LONGEST:
                note = "Cut off: what follows is no text of ours."
                return Read(folder.line(0, "note", note, lost=len(data)), offset + len(data))
            wanted *= 4
    finally:
        os.close(handle)


def last_lines(path: str, most: int) -> Read | None:
    """Return the whole lines among the spool's last `most` bytes; None where there is no spool.

    `end` is where they begin: at 0 there is nothing before them.
    """
    try:
        handle = opened(path)
    except (FileNotFoundError, Odd):
        return None
    try:
        start = max(0, os.fstat(handle).st_size - most)
        data = os.pread(handle, most, start)
    finally:
        os.close(handle)
    if start:
        torn = data.find(b"\n") + 1
        data, start = data[torn:], start + torn
    return Read(_sound(data[: data.rfind(b"\n") + 1]), start)


def _sound(data: bytes) -> bytes:
    """Return `data` with a note in place of each line that is none of ours."""
    if (
        b"\0" not in data
        and data.startswith(b'{"n":')
        and data.count(b'\n{"n":') == (data.count(b"\n") - 1)
        and _is_text(data)
    ):
        return data
    return b"".join(_sound_line(line) for line in data[:-1].split(b"\n")) if data else b""


def _sound_line(line: bytes) -> bytes:
    if line.startswith(b'{"n":') and b"\0" not in line and _is_text(line):
        return line + b"\n"
    return folder.line(0, "note", "Cut off: a line was lost here.", lost=len(line) + 1)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _has_end(data: bytes) -> bool:
    """Say whether the run's end is among these lines."""
    for line in data.split(b"\n") if b'"k":"exit"' in data else ():
        if b'"k":"exit"' in line:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict) and entry.get("k") == "exit":
                return True
    return False


class Follower:
    """One reader of one run, for as long as the link wants it."""

    def __init__(
        self, path: str, run: str, number: int, offset: int, others: asyncio.Event | None = None
    ) -> None:
        """Take the run, the number the link knows this by, and from where to read.

        others   set once all that are followed together have been begun: what each has printed comes before
                 it is looked whether it lives
        """
        self._path = path
        self._others = others
        self._run = run
        self._number = number
        self._offset = offset
        self._taken = offset
        self._room = asyncio.Event()
        self._from = offset
        self._told_end = False

    def take(self, offset: int) -> None:
        """Note that the engine has taken all before `offset`."""
        self._taken = offset
        self._room.set()

    async def follow(
        self, watcher: Watcher, push: Push, look: Callable[[str], Awaitable[None]]
    ) -> None:
        """Push what comes until the run is over.

        look   is called when nobody seems to hold the run's lock, and writes its end if so
        """
        watch = watcher.watch(self._path)
        waited = False
        try:
            while True:
                watch.changed.clear()
                found = self._next()
                if found is not None:
                    await self._push(push, found)
                    if found.more or watch.changed.is_set():
                        continue
                if self._others is not None:
                    await self._others.wait()
                    self._others = None
                if folder.ended(self._path) is not None or self._is_gone():
                    if self._next() is None:
                        await push(self._message(self._offset, self._end(), over=True))
                        return
                elif (found is not None and waited) or folder.alive(self._path):
                    # What just wrote lives, most likely, and its death would be told as a close. Of
                    # what was there before we came, only the lock says so.
                    await watcher.wait(watch)
                    waited = True
                else:
                    await look(self._run)
                    if folder.ended(self._path) is None:
                        await watcher.wait(watch)
        finally:
            watcher.unwatch(watch)

    def _next(self) -> Read | None:
        try:
            return next_lines(os.path.join(self._path, "out.jsonl"), self._offset)
        except Odd:
            return None

    def _end(self) -> str:
        """Return the end of a run whose spool does not tell it: lost, or laid over by something."""
        how = folder.ended(self._path)
        if how is None or self._told_end:
            return ""
        if self._offset == self._from:  # it was read to its end before
            last = folder.last_line(self._path)
            if last is not None and last.get("k") == "exit":
                return ""
        note = (
            "Cut off: the end of what it printed was lost, and how it ended is told from elsewhere."
        )
        lines = folder.line(0, "note", note, lost=1) + folder.line(0, "exit", how)
        return lines.decode("utf-8")

    def _is_gone(self) -> bool:
        return not os.path.isdir(self._path)

    async def _push(self, push: Push, found: Read) -> None:
        while self._offset - self._taken >= WINDOW:
            self._room.clear()
            await self._room.wait()
        await push(self._message(found.end, found.data.decode("utf-8", "replace")))
        points.passed("lines pushed")
        self._told_end = self._told_end or _has_end(found.data)
        if found.end < self._offset:
            self._taken = found.end
        self._offset = found.end

    def _message(self, end: int, data: str, over: bool = False) -> dict[str, Any]:
        return {
            "push": "run",
            "follow": self._number,
            "run": self._run,
            "offset": self._offset,
            "end": end,
            "data": data,
            "over": over,
        }
