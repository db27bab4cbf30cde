"""What a setting of the owner's does from now on, in one sentence: the answer to changing it.

Pure. Neighbours: settings.py posts the change, rules/owner.py keeps it.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from engine.rules.owner import Owner

AFTER = {
    "go on": "goes on by itself",
    "ask": "asks you first",
    "morning": "waits till your morning",
}
GOES = {
    "ask": "You start each plan of new goals.",
    "auto": "The lead may start plans of new goals by itself.",
}


def now_set(name: str, owner: Owner, heartbeat: str, now: float) -> str:
    """Return what holds now; `now` in Unix seconds, for what the owner's clock shows."""
    match name:
        case "quiet" if owner.quiet is not None:
            start, end = (f"{at // 60:02d}:{at % 60:02d}" for at in owner.quiet)
            return f"Quiet hours {start}–{end}: everything comes silently."
        case "quiet":
            return "No quiet hours: what needs you sounds at any hour."
        case "zone" if owner.zone:
            clock = datetime.fromtimestamp(now, ZoneInfo(owner.zone)).strftime("%H:%M")
            return f"It is {clock} for you ({owner.zone})."
        case "zone":
            return "Times are those of the box."
        case "heartbeat":
            calls = "The box calls that address while all is well."
            return calls if heartbeat else "No heartbeat: nobody is called."
        case "mode":
            return f"New goals begin with mode {owner.mode}."
        case "go":
            return GOES.get(owner.go, "")
        case "model":
            return f"New goals begin with {owner.model or 'the agent’s own model'}."
        case "backup" if owner.backup_on:
            return f"Each backup goes to {owner.backup_on} too, the newest at once."
        case "backup":
            return "Backups stay on this box alone. Copies elsewhere stay as they are."
        case _:
            return f"After a usage limit work {AFTER.get(owner.after_limit, owner.after_limit)}."
