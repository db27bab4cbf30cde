"""A repository the owner gave us, and which of its commands may run.

The owner is asked once for each exact command (check, setup); goals that need the same one wait for
the same answer. Where the repository's settings name no check, the owner may (`check`). What its agents
ask to use goes through here as well: a rule the owner kept by Always answers at once, and no card comes
up (kept.py). Pure. Neighbours: adding.py (on the way in), goal.py and asking.py ask, ask.py tells.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import adding, kept, ports
from engine.rules.adding import Adding
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    Asked,
    CommandChanged,
    CommandDecided,
    CommandSettled,
    CommandWanted,
    GaveUp,
    KeyForgotten,
    PermissionAsked,
    PermissionDecided,
    PermissionGone,
    ProjectAdded,
    ProjectBarred,
    ProjectBases,
    ProjectCheck,
    ProjectEvent,
    ProjectLeft,
    ProjectNotTaken,
    ProjectPorts,
    ProjectRebased,
    ProjectRemoved,
    ProjectRetried,
    ProjectTaken,
    ProjectWanted,
    RuleRevoked,
)
from engine.rules.kept import Rules
from engine.rules.words import AskKind, Command


class Project(Struct, frozen=True, tag=True, kw_only=True):
    """What we keep of one repository."""

    name: str
    source: str = ""
    push_url: str = ""
    base: str = ""
    removed: bool = False
    allowed: tuple[Command, ...] = ()
    refused: tuple[Command, ...] = ()
    asking: tuple[tuple[Command, str], ...] = ()  # (command, ask)
    waiting: tuple[tuple[Command, str], ...] = ()  # (command, goal)
    adding: Adding | None = None
    check: str = ""  # the owner's own, for where the settings name none
    no_check: bool = False  # the owner wants none: not asked for again
    rules: Rules = Rules()
    ports: tuple[int, ...] = ()  # of its machine's 127.0.0.1, which its runs may reach

    @property
    def known(self) -> bool:
        return bool(self.source) and not self.removed


def begin(name: str) -> Project:
    return Project(name=name)


def decide(now: Project, event: ProjectEvent) -> tuple[Project, tuple[AnyEffect, ...]]:
    """Return what is kept of the project after `event`, and whom to tell."""
    match event:
        case ProjectAdded() | ProjectWanted() if now.known and event.source != now.source:
            raise Refused(
                f"Project {now.name} is {now.source} already. Choose another name, or remove it "
                f"first: /projects remove {now.name}, or on the box: quarterdeck project remove "
                f"{now.name}"
            )
        case ProjectWanted():
            begun = adding.wanted(event)
            return replace(now, adding=begun), (adding.take_in(begun, now.name),)
        case ProjectTaken() | ProjectBarred() | ProjectBases() | ProjectNotTaken():
            return _learned(now, event), ()
        case GaveUp(effect="TakeIn", why=why) if now.adding:
            return _learned(now, ProjectNotTaken(card=now.adding.card, why=why, at=event.at)), ()
        case ProjectRetried() | ProjectLeft() if now.adding is None:
            raise Refused("That is over.")
        case ProjectRetried() if now.adding:
            begun, effects = adding.retried(now.adding, event, now.name)
            return replace(now, adding=begun), effects
        case ProjectLeft() if now.adding:
            if now.adding.stage not in adding.OPEN:
                raise Refused("It was added already. /projects remove takes it away.")
            left = replace(now.adding, stage=adding.Stage.LEFT, since=event.at)
            return replace(now, adding=left), ()
        case ProjectCheck():
            return _check_set(now, event), ()
        case ProjectAdded(source=source, push_url=push_url, base=base):
            return replace(now, source=source, push_url=push_url, base=base, removed=False), ()
        case ProjectRemoved() if not now.known:
            raise Refused(_UNKNOWN.format(now.name))
        case ProjectRemoved():
            forgotten = replace(now, allowed=(), refused=(), check="", no_check=False, ports=())
            return replace(
                forgotten, removed=True, adding=None, rules=kept.forgotten(now.rules)
            ), ()
        case ProjectRebased() | CommandChanged() | ProjectPorts() if not now.known:
            raise Refused(_UNKNOWN.format(now.name))
        case ProjectRebased(base=base):
            return replace(now, base=base), ()
        case ProjectPorts():
            return replace(now, ports=ports.checked(event.ports)), ()
        case CommandChanged():
            return _changed(now, event)
        case CommandWanted(command=command, goal=goal) if command in now.allowed:
            return now, (_tell(goal, command, allowed=True),)
        case CommandWanted(command=command, goal=goal) if command in now.refused:
            return now, (_tell(goal, command, allowed=False),)
        case CommandWanted():
            return _ask(now, event)
        case CommandDecided(command=command, allowed=allowed):
            return _decided(now, command, allowed=allowed)
        case (
            PermissionAsked()
            | PermissionGone()
            | PermissionDecided()
            | RuleRevoked()
            | KeyForgotten()
        ):
            rules, told = kept.decide(now.rules, event)
            return replace(now, rules=rules), told
        case _:
            return now, ()


def _changed(now: Project, event: CommandChanged) -> tuple[Project, tuple[AnyEffect, ...]]:
    """Take another word on a command the owner decided about; goals under way hear it."""
    command, allowed = event.command, event.allowed
    if command not in (*now.allowed, *now.refused):
        raise Refused("That command is not there any more. Look at it again.")
    kept = replace(
        now,
        allowed=tuple(known for known in now.allowed if known != command),
        refused=tuple(known for known in now.refused if known != command),
    )
    if command == Command("check", now.check) and not allowed:
        kept = replace(kept, check="")
    if allowed is None:
        return kept, ()
    told = tuple(_tell(goal, command, allowed=allowed) for goal in event.goals)
    if allowed:
        return replace(kept, allowed=(*kept.allowed, command)), told
    return replace(kept, refused=(*kept.refused, command)), told


_UNKNOWN = (
    "There is no project {0}. These are the projects: /projects, or on the box: quarterdeck project "
    "list"
)


def _learned(now: Project, event: adding.Fact) -> Project:
    if now.adding is None or not adding.answers(now.adding, event):
        return now
    if isinstance(event, ProjectTaken) and now.known and now.source != event.source:
        why = f"Project {now.name} is {now.source} by now. Choose another name."
        event = ProjectNotTaken(card=event.card, why=why, at=event.at)
    checked = bool(now.check) or now.no_check
    after = replace(now, adding=adding.learned(now.adding, event, checked=checked))
    if not isinstance(event, ProjectTaken):
        return after
    return replace(
        after, source=event.source, push_url=event.push_url, base=event.base, removed=False
    )


def _check_set(now: Project, event: ProjectCheck) -> Project:
    """Keep the owner's word on how it is checked; one they set themself need not be allowed again."""
    if not now.known:
        raise Refused(_UNKNOWN.format(now.name))
    text = event.text.strip()
    if "\n" in text or "\0" in text:
        raise Refused("A check is one line, as you would type it in the project's folder.")
    begun = now.adding
    if begun and begun.stage is adding.Stage.CHECK:
        begun = replace(begun, stage=adding.Stage.DONE, since=event.at)
    after = replace(now, adding=begun, check=text, no_check=not text)
    command = Command("check", text)
    if not text or command in now.allowed:
        return after
    refused = tuple(other for other in now.refused if other != command)
    return replace(after, allowed=(*now.allowed, command), refused=refused)


def _tell(goal: str, command: Command, *, allowed: bool) -> Tell:
    return Tell(stream=f"goal/{goal}", event=CommandSettled(command=command, allowed=allowed))


def _ask(now: Project, event: CommandWanted) -> tuple[Project, tuple[AnyEffect, ...]]:
    command = event.command
    waiting = replace(now, waiting=(*now.waiting, (command, event.goal)))
    if any(asked == command for asked, _ in now.asking):
        return waiting, ()
    asked = Asked(
        kind=AskKind(command.kind),
        goal=event.goal,
        teller=f"project/{now.name}",
        title=now.name,
        detail=command.text,
        command=command,
    )
    return (
        replace(waiting, asking=(*now.asking, (command, event.ask))),
        (Tell(stream=f"ask/{event.ask}", event=asked),),
    )


def _decided(
    now: Project, command: Command, *, allowed: bool
) -> tuple[Project, tuple[AnyEffect, ...]]:
    told = tuple(
        _tell(goal, command, allowed=allowed) for waited, goal in now.waiting if waited == command
    )
    settled = replace(
        now,
        allowed=(*now.allowed, command) if allowed else now.allowed,
        refused=now.refused if allowed else (*now.refused, command),
        asking=tuple(pair for pair in now.asking if pair[0] != command),
        waiting=tuple(pair for pair in now.waiting if pair[0] != command),
    )
    return settled, told
