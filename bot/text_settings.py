"""What the settings panels say: the owner's own settings, those of one lead, those of a project.

Pure wording, as text.py's; settings.py reads, and does what a button says.
"""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.entities import Builder, one_line
from bot.panels import Question, mark
from bot.text import Button, Words, side_by_side
from engine.views import OwnerView

BACK = Button("← Back", "back")
OFF = Button("Off", "off")
TYPE = Button("Type it…", "type")

QUIET = Question("Quiet from when to when? Reply to this message.", "23-7, or 22:30-06:45")
ZONE = Question("Which time zone? Reply to this message.", "Europe/Berlin")
HEARTBEAT = Question("Which URL takes a heartbeat? Reply to this message.", "https://…")

HOURS = ("22-7", "23-7", "0-8")
# One city for each common hour; whoever lives elsewhere types theirs.
ZONES = (
    "Pacific/Auckland",
    "Australia/Sydney",
    "Asia/Tokyo",
    "Asia/Shanghai",
    "Asia/Kolkata",
    "Asia/Dubai",
    "Europe/Istanbul",
    "Europe/Helsinki",
    "Europe/Berlin",
    "Europe/London",
    "America/Sao_Paulo",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
)


def owner(owner: OwnerView) -> Words:
    """Return the owner's settings, and what of them can be changed."""
    sheet = Builder().line("Settings", "bold")
    sheet.line(f"Quiet hours: {_hours(owner.quiet)}")
    sheet.line(f"Time zone: {one_line(owner.zone, 60) or 'that of the box'}")
    sheet.line(f"Heartbeat: {one_line(owner.heartbeat, 120) or 'none'}")
    choices = [
        Button("Quiet hours", "quiet"),
        Button("Time zone", "zone"),
        Button("Heartbeat", "heartbeat"),
    ]
    return Words(sheet.done(), side_by_side(choices, 2))


def _hours(quiet: tuple[int, int] | None) -> str:
    if quiet is None:
        return "none: what needs you sounds at any hour"
    start, end = (f"{at // 60:02d}:{at % 60:02d}" for at in quiet)
    return f"{start}–{end}: everything comes silently, one message after says what waits"


def quiet(owner: OwnerView) -> Words:
    sheet = Builder().line("Quiet hours", "bold").line(f"Now {_hours(owner.quiet)}.")
    hours = [Button(hours.replace("-", "–"), f"at-{hours}") for hours in HOURS]
    return Words(sheet.done(), (tuple(hours), (TYPE, OFF), (BACK,)))


def heartbeat(owner: OwnerView) -> Words:
    sheet = Builder().line("Heartbeat", "bold")
    sheet.line(f"Now: {one_line(owner.heartbeat, 120) or 'none'}")
    sheet.line("While all is well the box calls this address; a watcher there tells you if not.")
    return Words(sheet.done(), ((TYPE, OFF), (BACK,)))


def zone(owner: OwnerView, here: str, now: float, *, known: Sequence[str] = ZONES) -> Words:
    """Ask for the time zone, by what clocks show: the box's own first."""
    sheet = Builder().line("What time is it for you?", "bold")
    sheet.line(f"Time zone now: {one_line(owner.zone, 60) or 'that of the box'}")
    sheet.line("Every time I tell you is in it, and so are quiet hours and schedules.")
    choices = [Button(_local(name, now), f"zone-{mark(name)}") for name in known if name != here]
    first = Button(f"{_local(here, now)} (the box)", f"zone-{mark(here)}")
    return Words(sheet.done(), ((first,), *side_by_side(choices, 2), (TYPE, BACK)))


def _local(name: str, now: float) -> str:
    there = datetime.fromtimestamp(now, ZoneInfo(name)).strftime("%H:%M")
    return f"{there} {name.rpartition('/')[2].replace('_', ' ')}"
