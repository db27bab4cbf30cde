"""What an agent has under way, learnt from its lines: the tools it has begun to use and not yet a result of.

    meanings of a run's lines, in order ──> AtWork ──> LeftOff

Kept in memory by whoever reads the lines (reading.py follows them, tail.py reads a spool's end): it goes
into the ledger only with a fact that is stored anyway: that a run is silent, or over. One that began in
the middle of a run makes good what it missed from the spool's end. Times of lines are the machine's;
`set_clock` tells by how much its clock is behind ours.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from engine.adapters.agents import driver as lines
from engine.adapters.agents.driver import Meaning
from engine.codec import whole
from engine.rules.rests import LONGEST_S
from engine.rules.words import LeftOff, OpenTool, Retry

MAX_TOOLS = 8  # told of, the newest; of what an agent has open besides only how many
MAX_KNOWN = 64
BACK_S = 2.0  # as lines read twice may lie back; more is a clock that was set within the turn
SAID = 200  # characters kept of what it said last


class AtWork:
    """One run's agent."""

    def __init__(self) -> None:
        self._open: dict[str, OpenTool] = {}
        self._done = ""
        self._said = ""
        self._forgotten = 0  # the oldest, of more than MAX_KNOWN
        self._unread = 0
        self._took_up = -1.0
        self._was_set_back = False
        self._last = 0.0
        self._behind: float | None = None
        self._retry: Retry | None = None
        self.has_acted = False  # it has used a tool or said something since we listen

    def set_clock(self, machine: float, ours: float) -> bool:
        """Note that it was this time of ours when the machine's clock had reached that one.

        False: no machine's clock reads so, the line is damaged. One may be as far behind as the first
        second of all, where it keeps no time while it is off.
        """
        if not 0 < machine < ours + LONGEST_S:
            return False
        behind = ours - machine
        self._behind = behind if self._behind is None else min(self._behind, behind)
        return True

    def ended(self, t: float) -> None:
        """Note when its process ended, where somebody saw that."""
        self._passed(t)

    def unread(self, done: Collection[str]) -> None:
        """Take in a line too long to be read whole; `done` are the uses whose results it begins with."""
        known = [use for use in done if use in self._open]
        for use in known:
            self._close(use)
        self._unread += not known

    def _passed(self, t: float) -> None:
        self._was_set_back = self._was_set_back or 0 < t < self._last - BACK_S
        self._last = max(self._last, t)

    def _close(self, use: str) -> None:
        tool = self._open.pop(use, None)
        self._done = tool.brief if tool is not None else self._done
        if tool is None and self._forgotten:
            self._forgotten -= 1

    def note(self, meaning: Meaning, t: float) -> None:
        """Take in what a line of that time meant."""
        if isinstance(meaning, lines.Began):
            self._last, self._was_set_back = t, False  # what was before is none of this turn
        self._passed(t)
        self._retry = None
        match meaning:
            case lines.Retrying(reason=reason, wait_s=wait_s):
                self._retry = Retry(whole(reason), t + (wait_s if 0 < wait_s < LONGEST_S else 0.0))
            case lines.Began():
                self._clear()
                self._took_up = t
            case lines.Tool(use=use) if use:
                self.has_acted = True
                known = self._open.get(use)
                since = known.since if known is not None else t
                self._open[use] = OpenTool(
                    use, meaning.name, meaning.brief, meaning.given, since, meaning.timeout_s
                )
                if len(self._open) > MAX_KNOWN:
                    del self._open[next(iter(self._open))]
                    self._forgotten += 1
            case lines.Tool() | lines.Asked():
                self.has_acted = True
            case lines.ToolDone(use=use):
                self._close(use)
            case lines.Said(text=text):
                self.has_acted = True
                self._said = text[: 8 * SAID]
            case lines.Ended():
                self._clear()

    def _clear(self) -> None:
        self._open.clear()
        self._forgotten = self._unread = 0

    @property
    def newest(self) -> OpenTool | None:
        """The tool begun last of those that are open; its time is the machine's."""
        return next(reversed(self._open.values()), None)

    def left_off(self) -> LeftOff:
        """How far it has got; times are by our clock."""
        behind = self._behind or 0.0
        tools = tuple(
            replace(tool, since=tool.since + behind)
            for tool in list(self._open.values())[-MAX_TOOLS:]
        )
        is_known = self._took_up >= 0 and not self._was_set_back
        went_s = max(0.0, self._last - self._took_up) if is_known else None
        retry = self._retry
        if retry is not None:
            retry = replace(retry, until=retry.until + behind)
        said = " ".join(self._said.split())[:SAID]
        return LeftOff(
            tools=tools,
            more=len(self._open) + self._forgotten - len(tools),
            unread=self._unread,
            done=self._done,
            said=said,
            went_s=went_s,
            retry=retry,
        )
