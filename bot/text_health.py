"""What /health says: whether all is well first, then how things stand, the limits folded.

Pure wording, as text.py's; engine/door.py gathers the facts. Neighbour: text_usage.py.
"""

from __future__ import annotations

from bot import text_usage
from bot.entities import Builder, one_line
from bot.text_sheet import Words, capital, count, in_messages

TROUBLES = (
    "locked",
    "disk_takes_nothing",
    "disk_nearly_full",
    "keys_refused",
    "set_aside",
    "given_up_today",
    "accounts_at_rest",
    "damaged_output",
    "backup_not_copied",
)
FOLDED = ("kept", "patience")
TOLD = ("machines", "disk_free_gb", "running", "waiting", "decisions", "held", "limits")


def health(found: dict[str, object]) -> list[Words]:
    """Return /health; a fact that is not known here is said under its own name."""
    wrong = list(_wrong(found))
    sheet = Builder().line("Not all is well." if wrong else "All is well.", "bold")
    for line in wrong:
        sheet.line(f"⚠ {line}")
    for machine in _listed(found.get("machines")):
        sheet.line(one_line(machine, 160))
    for line in _standing(found):
        sheet.line(line)
    for name, value in found.items():
        if name in (*TROUBLES, *FOLDED, *TOLD) or value in ("none", 0, {}, [], ()):
            continue
        if name == "usage":
            value = text_usage.of_accounts(value)
        elif name == "reserve":
            value = f"{value} %"
        sheet.line(f"{capital(name.replace('_', ' '))}: {one_line(_plainly(value), 300)}")
    limits = [f"{capital(name)}: {_plainly(found[name])}" for name in FOLDED if found.get(name)]
    if limits:
        sheet.add("\n".join(limits), "expandable_blockquote").line()
    return in_messages(sheet)


def _wrong(found: dict[str, object]) -> list[str]:
    lines = [f"{name} is away" for name in _away(found.get("machines"))]
    for name in TROUBLES:
        if value := found.get(name):
            said = one_line(_plainly(value), 300)
            lines.append(f"{capital(name.replace('_', ' '))}: {said}")
    if found.get("held"):
        lines.append("Everything is stopped: /resume all goes on")
    return lines


def _away(machines: object) -> list[str]:
    lines = [line for line in _listed(machines) if " · down: " in line]
    return [one_line(line.partition(" · ")[0], 60) for line in lines]


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _standing(found: dict[str, object]) -> list[str]:
    """Say what works and what waits, and the room there is."""
    parts = []
    if "running" in found:
        parts.append(f"{found['running']} at work")
    if found.get("waiting"):
        parts.append(f"{found['waiting']} waiting for a place")
    if isinstance(waiting := found.get("decisions"), int) and waiting:
        parts.append(f"{count(waiting, 'decision')} waiting for you")
    lines = [" · ".join(parts)] if parts else []
    if "disk_free_gb" in found:
        lines.append(f"{found['disk_free_gb']} GB free on this disk")
    return lines


def _plainly(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{name} {_plainly(one)}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
