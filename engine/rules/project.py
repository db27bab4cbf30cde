"""A repository the owner gave us, and which of its commands may run.

The owner is asked once for each exact command (check, setup); goals that need the same one wait for
the same answer. Pure. Neighbours: goal.py asks, ask.py tells.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import AnyEffect, Tell
from engine.rules.events import (
    Asked,
    CommandChanged,
    CommandDecided,
    CommandSettled,
    CommandWanted,
    ProjectAdded,
    ProjectEvent,
    ProjectRebased,
    ProjectRemoved,
)
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

    @property
    def known(self) -> bool:
        return bool(self.source) and not self.removed


def begin(name: str) -> Project:
    return Project(name=name)


def decide(now: Project, event: ProjectEvent) -> tuple[Project, tuple[AnyEffect, ...]]:
    """Return what is kept of the project after `event`, and whom to tell."""
    match event:
        case ProjectAdded() if now.known and event.source != now.source:
            raise Refused(
                f"Project {now.name} is {now.source} already. Choose another name, "
                f"or remove it first: quarterdeck project remove {now.name}"
            )
        case ProjectAdded(source=source, push_url=push_url, base=base):
            return replace(now, source=source, push_url=push_url, base=base, removed=False), ()
        case ProjectRemoved() if not now.known:
            raise Refused(f"There is no project {now.name}. /projects lists them.")
        case ProjectRemoved():
            return replace(now, removed=True), ()
        case ProjectRebased() | CommandChanged() if not now.known:
            raise Refused(f"There is no project {now.name}. /projects lists them.")
        case ProjectRebased(base=base):
            return replace(now, base=base), ()
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
    if allowed is None:
        return kept, ()
    told = tuple(_tell(goal, command, allowed=allowed) for goal in event.goals)
    if allowed:
        return replace(kept, allowed=(*kept.allowed, command)), told
    return replace(kept, refused=(*kept.refused, command)), told


def _tell(goal: str, command: Command, *, allowed: bool) -> Tell:
    return Tell(stream=f"goal/{goal}", event=CommandSettled(command=command, allowed=allowed))


def _ask(now: Project, event: CommandWanted) -> tuple[Project, tuple[AnyEffect, ...]]:
    command = event.command
    waiting = replace(now, waiting=(*now.waiting, (command, event.goal)))
    if any(asked == command for asked, _ in now.asking):
        return waiting, ()
    asked = Asked(
        kind=AskKind.SETUP if command.kind == "setup" else AskKind.CHECK,
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
