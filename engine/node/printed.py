"""What a command that holds a key has printed: kept in memory, scrubbed as a whole, then spooled.

Nothing of it is stored before it is over and every value is out of it, so it matters not in which pieces
it came. The beginning and the end are kept, as much as a person would read; what was left out between
them is counted, and said. If its runner dies, what was printed dies with it.

Neighbours: scrub.py finds the values, runner.py reads the pipe and writes the spool.
"""

from __future__ import annotations

import os

from engine.node.scrub import Scrubber

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = 128 * 1024  # bytes of the beginning, and as many of the end
_READ = 256 * 1024
_LINE = 64 * 1024  # characters: a longer one is spooled in several


class Printed:
    """One output of such a command; in the place of a runner's `Source`.

    say    appends a line to the spool: its kind, and what it says
    """

    def __init__(self, file: int, scrubber: Scrubber, say: Callable[[str, str], None]) -> None:
        self.file = file
        self._scrubber = scrubber
        self._say = say
        self._first = bytearray()
        self._last = bytearray()
        self._between = 0
        # Where something was left out a value may have been cut in two: that much is left out too.
        self._kept = KEPT + 4 * scrubber.longest
        self.last = b""  # for an error that only the output tells

    def read(self) -> bool:
        """Keep what is there; False at the end."""
        try:
            data = os.read(self.file, _READ)
        except BlockingIOError:
            return True
        if not data:
            self.finish()
            return False
        room = max(0, self._kept - len(self._first))
        self._first += data[:room]
        self._last += data[room:]
        over = len(self._last) - self._kept
        if over > 0:
            del self._last[:over]
            self._between += over
        return True

    def finish(self) -> None:
        """Spool it, a line each, without the values."""
        edge = 4 * self._scrubber.longest
        if not self._between:
            self._spool(self._scrubber.clean(bytes(self._first + self._last)))
        else:
            first = self._scrubber.clean(bytes(self._first))
            last = self._scrubber.clean(bytes(self._last))
            self._spool(first[: max(0, len(first) - edge)])
            self._say("out", f"[{self._between + 2 * edge} bytes left out here]")
            self._spool(last[edge:])
        self._first, self._last, self._between = bytearray(), bytearray(), 0

    def _spool(self, data: bytes) -> None:
        lines = data.decode("utf-8", "replace").split("\n")
        for line in lines if lines[-1] else lines[:-1]:
            for at in range(0, max(len(line), 1), _LINE):
                self._say("out", line[at : at + _LINE])
            self.last = line.encode("utf-8")[:2048]
