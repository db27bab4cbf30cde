"""The end of a run's spool as a person reads it: what the agent said and did last, a line each.

    spool (on its machine) ── run.tail ──> lines ── a driver ──> meanings ──> Seen

Read afresh from the machine each time and kept nowhere, so that it is the same before and after a
restart of ours. Neighbours: runs.py follows the same spool for the rules; engine/requests/peeks.py asks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from engine.adapters import spool
from engine.adapters.agents import driver as lines
from engine.adapters.agents.driver import Driver, Meaning, Memory
from engine.adapters.at_work import AtWork
from engine.adapters.machines import Machine
from engine.codec import whole
from engine.rules.rests import LONGEST_S

SHOWN = 20  # lines
LONGEST = 300  # characters of one
FAILURE_LINES = 3  # of what a tool said went wrong
LENGTHS = (256 * 1024, 4 * 1024 * 1024)  # bytes read: a tool's long output may fill the first


class Seen(Struct, frozen=True, kw_only=True):
    """What a spool's end tells; times are of the machine's own clock."""

    lines: tuple[str, ...] = ()
    doing: str = ""  # the tool in use
    since: float = 0.0
    last_at: float = 0.0  # of the newest entry
    now: float = 0.0


async def read(machine: Machine, driver: Driver, run: str) -> Seen:
    """Fetch and read the end of a run's spool; raises NodeRefused or Unavailable."""
    found = Seen()
    for length in LENGTHS:
        answer = await machine.call("run.tail", run=run, length=length)
        found = seen(driver, str(answer["data"]), float(answer["now"]))
        if len(found.lines) >= SHOWN or not answer["start"]:
            break
    return found


async def at_work(machine: Machine, driver: Driver, run: str, clock: Callable[[], float]) -> AtWork:
    """Learn from the end of a run's spool what its agent has under way; raises as `read` does."""
    answer = await machine.call("run.tail", run=run, length=LENGTHS[-1])
    found = AtWork()
    now = float(answer["now"])
    found.set_clock(now, clock())
    _take(driver, str(answer["data"]), found, deque(), now)
    return found


def seen(driver: Driver, data: str, now: float = 0.0) -> Seen:
    """Return what the end of a spool tells; what is no line of ours is passed over.

    now   by its machine's clock; 0: not known
    """
    shown, found = deque[str](maxlen=SHOWN), AtWork()
    last_at = _take(driver, data, found, shown, now)
    newest = found.newest
    return Seen(
        lines=tuple(shown),
        doing=whole(newest.brief) if newest else "",
        since=newest.since if newest else 0.0,
        last_at=last_at,
        now=now,
    )


def _take(driver: Driver, data: str, found: AtWork, shown: deque[str], now: float) -> float:
    """Read lines of a spool in their order; return the time of the newest."""
    memory, last_at = Memory(), 0.0
    for raw in data.split("\n"):
        entry = spool.entry(raw)
        if entry is None:
            continue
        at = float(entry.get("t") or 0.0)
        if 0 < at < (now or at) + LONGEST_S:  # else the line is damaged: no clock reads so
            last_at = at
        if entry.get("k") != "out":
            continue
        if "blob" in entry:
            shown.append("… a line too long to show")
            found.unread(driver.results_in(str(entry.get("d"))))
            continue
        for meaning in _read(driver, str(entry.get("d")), memory):
            found.note(meaning, last_at)
            shown.extend(_shown(meaning))
    return last_at


def _read(driver: Driver, text: str, memory: Memory) -> tuple[Meaning, ...]:
    try:
        return driver.read(text, memory)
    except RecursionError:  # brackets within brackets, by the hundred
        return ()


def _shown(meaning: Meaning) -> list[str]:
    match meaning:
        case lines.Said(text=text):
            return [_cut(line) for line in text.split("\n") if line.strip()]
        case lines.Tool(brief=brief):
            return [_cut(f"▸ {brief}")]
        case lines.ToolDone(error=error) if error:
            first = [line for line in error.split("\n") if line.strip()][:FAILURE_LINES]
            return [_cut(f"✗ {line}") for line in first]
        case lines.Asked(title=title):
            return [_cut(f"asks: {title}")]
        case lines.Retrying(reason=reason, attempt=attempt):
            return [_cut(f"… waits for its model ({reason}), try {attempt}")]
        case lines.Ended(error=error) if error:
            return [_cut(f"✗ {error}")]
        case _:
            return []


def _cut(line: str) -> str:
    line = whole(line).rstrip()
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
