"""What there is to know of a run that prints nothing: from its spool's end, and from its machine.

    Watch is due ──> silent for long? ──> run.pulse ──> all it printed is read? ──> RunQuiet

The machine is asked only then, and for a run of which we have heard nothing since we began. Only of such a
run its machine's clock says for how long: that one may be set, or jump over a sleep of the machine. A line that is printed and not read yet ends the silence, whatever it
says: it may be a question to the owner. Neighbours: following.py (how long, and how far it was read),
at_work.py (the tools an agent has open), engine/rules/silence.py (what is made of it).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Protocol

from engine.adapters.following import Following
from engine.adapters.machines import Machine, NodeRefused
from engine.errors import Unavailable
from engine.rules.events import RunQuiet
from engine.rules.silence import SHOWN_S
from engine.rules.words import LeftOff, Pulse

log = logging.getLogger(__name__)

ANSWER_S = 10.0


class Known(Protocol):
    """What is known of runs here (runs.py)."""

    following: Following

    async def left_off(self, run: str) -> LeftOff: ...


async def look(runs: Known, machine: Machine, run: str) -> RunQuiet:
    """Tell how long a run has been silent, and, once that is long, what goes on behind it."""
    silent_s = runs.following.silent_s(run)
    if runs.following.has_heard(run) and silent_s < SHOWN_S:
        return RunQuiet(run=run, silent_s=silent_s)
    try:
        async with asyncio.timeout(ANSWER_S):
            seen = await machine.call("run.pulse", run=run)
            left = await runs.left_off(run)
    except (TimeoutError, Unavailable, NodeRefused) as no:
        log.info("no pulse run=%s: %s", run, no)
        return link_is_silent(runs, run)
    spooled, ours = int(seen["spooled"]), runs.following.has_heard_itself(run)
    if runs.following.read_to(run) < spooled:
        return link_is_silent(runs, run)
    return RunQuiet(
        run=run,
        silent_s=silent_s if ours else max(silent_s, float(seen["silent_s"])),
        tools=left.tools,
        retry=left.retry,
        pulse=_pulse(seen),
        spooled=spooled,
    )


def link_is_silent(runs: Known, run: str) -> RunQuiet:
    """What a run printed may be on its way still: its silence counts from now on."""
    runs.following.count_anew(run)
    return RunQuiet(run=run, silent_s=0.0)


def _pulse(seen: dict[str, Any]) -> Pulse | None:
    if "others" not in seen:
        return None
    return Pulse(
        others=int(seen["others"]),
        youngest_s=float(seen["youngest_s"]),
        busiest=str(seen["busiest"]),
        cpu_s=float(seen["cpu_s"]),
        over_s=float(seen["over_s"]),
        stopped=str(seen["stopped"]),
        halted=int(seen.get("halted", 0)),
    )
