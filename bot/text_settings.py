"""What the settings panels say: the owner's own settings, those of one lead, those of a project.

Pure wording, as text.py's; settings.py and its neighbours read, and do what a button says.
"""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.entities import Builder, one_line, visible
from bot.panels import Question, mark
from bot.text_buttons import LONG_LABEL, side_by_side
from bot.text_sheet import Button, Words
from engine.views import Brought, CommandView, LeadSettings, OwnerView, ProjectView, Ticked

BACK = Button("← Back", "back")
OFF = Button("Off", "off")
TYPE = Button("Type it…", "type")

QUIET = Question("Quiet from when to when? Reply to this message.", "23-7, or 22:30-06:45")
ZONE = Question("Which time zone? Reply to this message.", "Europe/Berlin")
HEARTBEAT = Question("Which URL takes a heartbeat? Reply to this message.", "https://…")
MODEL = Question("Which model? Reply to this message.", "As the agent calls it: sonnet")
CHECK = Question(
    "Which command checks work, where its settings name none? Reply to this message; none for none.",
    "make test",
)
PORTS = Question(
    "Which ports of their machine's 127.0.0.1 may its runs reach? Numbers, or none. Reply to this message.",
    "5432",
)
PROJECT = Question(
    "What is it called, and where is it? Reply to this message.", "shop git@host:me/shop.git"
)
BASE = Question("Which branch do new goals start from? Reply to this message.", "main")

RESERVE = Question("How many per cent are yours? 0 to 90. Reply to this message.", "20")
SHARES = (10, 20, 30)
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

MODES = {
    "plan": "workers show an approach before they change anything",
    "ask": "workers ask before every change and command",
    "edit": "workers change files unasked, and ask for commands",
    "auto": "the agent judges by itself what is safe to run unasked",
    "full": "workers ask for nothing but what cannot be undone, where a command begins so",
}
AFTER = {"go on": "goes on by itself", "ask": "asks you first", "morning": "waits till morning"}
GOES = {"ask": "you start each", "auto": "the lead may start them"}
COMMAND_ROOM = 300
MOST_RUNS = 5  # of what one repository brings
MOST_COMMANDS = 8
MOST_PROJECTS = 40  # a keyboard takes a hundred buttons


# ---------------------------------------------------------------- the owner's own


def owner(owner: OwnerView, projects: Sequence[str] = ()) -> Words:
    """Return the owner's settings, and what of them can be changed."""
    sheet = Builder().line("Settings", "bold")
    sheet.line(_hours(owner.quiet))
    sheet.line(f"Time zone: {one_line(owner.zone, 60) or 'that of the box'}")
    sheet.line(f"Heartbeat: {one_line(owner.heartbeat, 120) or 'none'}")
    sheet.line(f"After a usage limit work {AFTER.get(owner.after_limit, owner.after_limit)}")
    sheet.line(_reserve(owner.reserve))
    sheet.line(f"Backup: {one_line(owner.backup, 200) or 'not known'}")
    sheet.line(
        f"PIN: {'set, asked for before a push, a key and the like' if owner.pin else 'none'}"
    )
    sheet.line().line("New goals begin with", "bold")
    _lead(sheet, owner.mode, owner.go, owner.model)
    choices = [
        Button("Quiet hours", "quiet"),
        Button("Time zone", "zone"),
        Button("Heartbeat", "heartbeat"),
        Button("After a limit", "limit"),
        Button("Reserve", "reserve"),
        Button("Backup", "backup"),
        Button("PIN", "pin"),
        Button("Owners", "owners"),
        Button("Rules kept by Always", "rules"),
    ]
    begin = (Button("Mode", "mode"), Button("Plans", "go"), Button("Model", "model"))
    shown = projects[:MOST_PROJECTS]
    shops = [Button(f"{one_line(name, 40)} →", f"project-{mark(name)}") for name in shown]
    if len(projects) > MOST_PROJECTS:
        sheet.line().line("More projects than buttons: /settings NAME opens any.")
    return Words(sheet.done(), (*side_by_side(choices, 2), begin, *side_by_side(shops, 2)))


def _lead(sheet: Builder, mode: str, go: str, model: str) -> None:
    sheet.add("Mode ").add(mode, "bold").line(f": {MODES.get(mode, '')}")
    sheet.line(f"Plans: {GOES.get(go, go)}")
    sheet.line(f"Model: {one_line(model, 80) or 'the agent’s own choice'}")


def _hours(quiet: tuple[int, int] | None) -> str:
    if quiet is None:
        return "No quiet hours: what needs you sounds at any hour"
    start, end = (f"{at // 60:02d}:{at % 60:02d}" for at in quiet)
    return (
        f"Quiet hours {start}–{end}: everything comes silently, one message after says what waits"
    )


def quiet(owner: OwnerView) -> Words:
    sheet = Builder().line("Quiet hours", "bold").line(_hours(owner.quiet))
    hours = [Button(hours.replace("-", "–"), f"at-{hours}") for hours in HOURS]
    return Words(sheet.done(), (tuple(hours), (TYPE, OFF), (BACK,)))


def heartbeat(owner: OwnerView) -> Words:
    sheet = Builder().line("Heartbeat", "bold")
    sheet.line(f"Now: {one_line(owner.heartbeat, 120) or 'none'}")
    sheet.line("While all is well the box calls this address; a watcher there tells you if not.")
    return Words(sheet.done(), ((TYPE, OFF), (BACK,)))


def zone(owner: OwnerView, here: str, now: float, *, first: bool = False) -> Words:
    """Ask for the time zone, by what clocks show: the box's own first."""
    sheet = Builder().line("What time is it for you?", "bold")
    if not first:
        sheet.line(f"Time zone now: {one_line(owner.zone, 60) or 'that of the box'}")
    sheet.line("Every time I tell you is in it, and so are quiet hours.")
    choices = [Button(_local(name, now), f"zone-{mark(name)}") for name in ZONES if name != here]
    box = Button(f"{_local(here, now)} (the box)", f"zone-{mark(here)}")
    last = (TYPE,) if first else (TYPE, BACK)
    return Words(sheet.done(), ((box,), *side_by_side(choices, 2), last))


def kept_zone(zone: str, now: float) -> str:
    clock, _, _ = _local(zone, now).partition(" ")
    return f"It is {clock} for you ({zone}). /settings changes it."


def _local(name: str, now: float) -> str:
    there = datetime.fromtimestamp(now, ZoneInfo(name)).strftime("%H:%M")
    return f"{there} {name.rpartition('/')[2].replace('_', ' ')}"


# ---------------------------------------------------------------- how a lead works, or is to


def mode(now: str, modes: Sequence[str], unfenced: Sequence[str] = ()) -> Words:
    """Ask how far agents may go; a machine without a fence takes no more than edit."""
    sheet = Builder().line("How far may workers go unasked?", "bold")
    for name, what in MODES.items():
        if name in modes:
            sheet.add(name, "bold").line(f": {what}")
    if "auto" not in modes:
        sheet.line("No machine fences, so no further: /status says why.")
    elif unfenced:
        names = ", ".join(one_line(name, 40) for name in unfenced[:5])
        sheet.line(f"Without a fence nothing goes past edit: {names}.")
    chosen = [Button(_chosen(name, name == now), f"mode-{name}") for name in modes]
    return Words(sheet.done(), (*side_by_side(chosen, 3), (BACK,)))


def go(now: str) -> Words:
    sheet = Builder().line("Who starts a plan?", "bold")
    sheet.line("Before that nothing is written, and nothing is pushed without your Push.")
    asks = Button(_chosen("I start each", now == "ask"), "go-ask")
    auto = Button(_chosen("The lead may", now == "auto"), "go-auto")
    return Words(sheet.done(), ((asks, auto), (BACK,)))


def model(now: str, known: Sequence[str], holds: str) -> Words:
    """Ask for a model; `holds` says for whom it counts."""
    sheet = Builder().line("Which model?", "bold").line(holds)
    names = [now, *known] if now and now not in known else list(known)
    chosen = [Button(_chosen(name, name == now), f"model-{mark(name)}") for name in names]
    own = Button(_chosen("The agent’s own", not now), "model-off")
    return Words(sheet.done(), (*side_by_side(chosen, 3), (own, TYPE), (BACK,)))


def limit(now: str, default: str = "") -> Words:
    """Ask what work does once a usage limit is over; `default` is the owner's, for one lead."""
    sheet = Builder().line("A usage limit is over: what then?", "bold")
    sheet.line("Work it stopped goes on by itself, asks you first, or waits till your morning.")
    verbs = {"go on": "limit-on", "ask": "limit-ask", "morning": "limit-morning"}
    labels = {"go on": "Go on", "ask": "Ask me", "morning": "Morning"}
    row = [Button(_chosen(labels[how], how == now), verb) for how, verb in verbs.items()]
    rows: tuple[tuple[Button, ...], ...] = (tuple(row),)
    if default:
        own = f"As for all: {labels.get(default, default).lower()}"
        rows = (*rows, (Button(_chosen(own, not now), "limit-off"),))
    return Words(sheet.done(), (*rows, (BACK,)))


def _reserve(percent: int) -> str:
    if not percent:
        return "No reserve: new workers may use all of an account"
    return f"Reserve: {percent} % of every account’s usage windows is yours"


def reserve(owner: OwnerView) -> Words:
    """Ask what share of the accounts no new worker may use."""
    sheet = Builder().line("Reserve", "bold").line(_reserve(owner.reserve))
    sheet.line("Where less is left no new worker starts until the reset. What is at work goes on.")
    shares = [Button(_chosen(f"{n} %", n == owner.reserve), f"reserve-{n}") for n in SHARES]
    off = Button(_chosen("Off", not owner.reserve), "off")
    return Words(sheet.done(), (tuple(shares), (TYPE, off), (BACK,)))


def backup(owner: OwnerView) -> Words:
    """Ask which other machine is to have each backup too."""
    sheet = Builder().line("Where else shall backups lie?", "bold")
    sheet.line(f"Now: {one_line(owner.backup, 200) or 'not known'}")
    if owner.backup_why:
        sheet.line(f"⚠ Not copied: {one_line(owner.backup_why, 300)}")
    if not owner.backup_places:
        sheet.line("There is no other machine yet: /machines, Add… takes one in.")
        return Words(sheet.done(), ((BACK,),))
    sheet.line(
        "Each is made here at 03:30, then copied there; seven stay. Only your recovery code opens one."
    )
    if owner.backup_unfenced:
        names = ", ".join(one_line(name, 40) for name in owner.backup_unfenced[:5])
        sheet.line(f"⚠ Without a fence agents could delete them: {names}.")
    places = [
        Button(_chosen(name, name == owner.backup_on), f"on-{mark(name)}")
        for name in owner.backup_places[:MOST_PROJECTS]
    ]
    off = Button(_chosen("Only here", not owner.backup_on), "off")
    return Words(sheet.done(), (*side_by_side(places, 2), (off, BACK)))


def _chosen(label: str, chosen: bool) -> str:
    return f"✓ {one_line(label, LONG_LABEL)}" if chosen else one_line(label, LONG_LABEL)


FOR_NEW_GOALS = "It is the one of new goals, unless a plan names another for a piece."
FOR_THIS_LEAD = "The lead’s from its next turn, and of pieces it plans from now on."


def lead(lead: LeadSettings) -> Words:
    """Return what is set for one lead."""
    sheet = Builder().line("This session", "bold")
    _lead(sheet, lead.mode, lead.go, lead.model)
    how = lead.after_limit or lead.default_limit
    sheet.line(f"After a usage limit it {AFTER.get(how, how)}")
    choices = [
        Button("Mode", "mode"),
        Button("Plans", "go"),
        Button("Model", "model"),
        Button("After a limit", "limit"),
    ]
    if len(lead.machines) > 1:
        ticked = [machine.name for machine in lead.machines if machine.ticked]
        everywhere = len(ticked) == len(lead.machines)
        sheet.line(f"Next workers: {'any machine' if everywhere else 'only ' + ', '.join(ticked)}")
        choices.append(Button("Machines", "machines"))
    return Words(sheet.done(), side_by_side(choices, 2))


def machines(lead: LeadSettings) -> Words:
    """Return the machines as ticks."""
    sheet = Builder().line("Where may its next workers run?", "bold")
    for machine in lead.machines:
        sheet.line(f"{'✓' if machine.ticked else '–'} {_machine(machine)}")
    sheet.line("Workers that have begun stay where they are.")
    ticks = [
        Button(_chosen(m.name, m.ticked), f"{'untick' if m.ticked else 'tick'}-{mark(m.name)}")
        for m in lead.machines
    ]
    return Words(sheet.done(), (*side_by_side(ticks, 2), (BACK,)))


def _machine(machine: Ticked) -> str:
    fence = "fenced" if machine.fenced else "unfenced: no mode past edit"
    return f"{one_line(machine.name, 40)} · {fence if machine.up else 'away'}"


# ---------------------------------------------------------------- a project's


def project(view: ProjectView, home: str = "← Settings") -> Words:
    """Return a project: where from, and its commands as decided, each to be taken back."""
    sheet = Builder().line(one_line(view.name, 60), "bold")
    sheet.add(f"New goals start from {one_line(view.base, 80)} of ")
    sheet.add(one_line(view.source, 200), "code").line()
    sheet.add("Pushes to ").add(one_line(view.push, 200), "code").line()
    rows: list[tuple[Button, ...]] = []
    newest = view.decided[::-1]  # what was refused, then what was allowed
    for number, command in enumerate(newest[:MOST_COMMANDS], 1):
        said = "allowed" if command.allowed else "not this"
        if (command.kind, command.text) == ("check", view.check):
            said = "set by you"
        at = f"{number}. " if len(newest) > 1 else ""
        if command.brought is not None:
            said = "trusted" if command.allowed else "left off"
            sheet.line(f"{at}Brought for agents, {said}: {command.what}")
            sheet.add(_runs(command.brought), "pre").line()
            rows.append(_about(at, command))
            continue
        sheet.line(f"{at}{one_line(command.kind, 20)}, {said}:")
        sheet.add(visible(one_line(command.text, COMMAND_ROOM)), "pre").line()
        rows.append(_about(at, command))
    if len(newest) > MOST_COMMANDS:
        sheet.line(f"And {len(newest) - MOST_COMMANDS} older ones.")
    if not view.decided:
        sheet.line("No command was decided about yet.")
    if view.ports:
        sheet.line(f"Runs reach 127.0.0.1 at: {', '.join(map(str, view.ports))}")
    rows.append((Button("Base branch…", "base"), Button("Check…", "check")))
    rows.append((Button("Rules", "rules"), Button("Ports…", "ports"), Button("Remove…", "remove")))
    return Words(sheet.done(), (*rows, (Button(home, "back"),)))


def _about(number: str, command: CommandView) -> tuple[Button, ...]:
    which = mark(command_name(command))
    if command.brought is not None and command.allowed:
        return (Button(f"{number}Take back", f"refuse-{which}"),)
    again = Button(f"{number}Ask me again", f"forget-{which}")
    if command.allowed:
        return (Button(f"{number}Not this", f"refuse-{which}"), again)
    if (
        command.brought is not None or len(command.text) > COMMAND_ROOM
    ):  # nobody allows what they see but a part of
        return (again,)
    return (Button(f"{number}Allow", f"allow-{which}"), again)


def _runs(brought: Brought) -> str:
    """What runs of it, a line each, and the hash it is known by."""
    runs = [
        f"{i.kind} {i.name}: {i.text}"
        for i in brought.items
        if i.kind in ("hook", "server") and not i.why
    ]
    lines = [visible(one_line(line, 200)) for line in runs[:MOST_RUNS]]
    more = [f"and {len(runs) - MOST_RUNS} more"] if len(runs) > MOST_RUNS else []
    return "\n".join([*lines, *more, f"hash {brought.digest[:12]}"])


def command_name(command: CommandView) -> str:
    return f"{command.kind}\0{command.text}"


def removing(view: ProjectView) -> Words:
    sheet = Builder().line(f"Remove {one_line(view.name, 60)}?", "bold")
    sheet.line("I forget it and its commands. Its repository is not touched.")
    return Words(sheet.done(), ((Button("Remove", "remove-it", "danger"), BACK),))


def removed(name: str, said: str) -> str:
    return f"{one_line(name, 60)} is gone from here. {said}"
