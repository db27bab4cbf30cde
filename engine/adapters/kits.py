"""What a repository brings for its agents: found at a commit, and laid for a session once trusted.

    read        a base commit's files ──> what the owner is asked about, by hash (rules/brought.py)
    Kits        a session's next turn ──> the same files again, from the hub, never from a tree

A session has it only while the project's word on exactly these files is Trust: a turn begun before the
answer, or after it was taken back, has nothing of it. Nothing here is ever waited for. Neighbours: agents/claude_brings.py says what the files mean, engine/node/kits.py keeps the copy.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct

from engine.adapters.agents import claude_brings
from engine.adapters.agents.claude_brings import FOLDER, OWN, SERVERS, SETTINGS, Brings
from engine.adapters.agents.driver import Kit
from engine.adapters.browse import FILES, Entry
from engine.adapters.machines import Machine, NodeRefused
from engine.node.kits import MOST_FILES
from engine.rules import brought
from engine.rules.brought import Off
from engine.rules.effects import StartRun
from engine.rules.goal_state import Goal
from engine.rules.project import Project
from engine.rules.unseen import in_quotes
from engine.rules.words import BROUGHT, Brought, BroughtItem, Command

log = logging.getLogger(__name__)

AGENT: Final = "claude"  # the one agent whose repository files are known here
MOST_BYTES: Final = 512 * 1024
MOST_TEXT: Final = 64 * 1024  # of what the owner is to read
_ROOT: Final = re.compile(r"[\w./+@-]+")  # a path that stands in a command as it is

TOO_MUCH = (
    "What the repository brings for agents (.claude, .mcp.json) is more than can be looked over, and "
    "stays off: {}."
)

TANGLED = (
    "What the repository brings for agents stays off, since what it runs cannot be followed: {}. "
    "A command can be that starts a script of the repository by its plain path."
)


class Reads(Protocol):
    """What can look into a commit; engine/adapters/hub.py's Hub."""

    async def below(self, project: str, commit: str, *paths: str) -> list[Entry]: ...

    async def contents(self, project: str, entries: Sequence[Entry]) -> dict[str, bytes]: ...


class Asked(NamedTuple):
    """What the owner is to decide about, if anything, and what else they should hear."""

    command: Command | None
    note: str = ""


class _Found(Struct, frozen=True):
    brings: Brings
    brought: Brought
    entries: tuple[Entry, ...]

    @property
    def laid(self) -> frozenset[str]:
        return frozenset(entry.path for entry in self.entries)


async def read(hub: Reads, project: str, commit: str) -> Asked:
    """Return what a commit brings that its owner could trust."""
    try:
        found = await _find(hub, project, commit)
    except _TooMuch as much:
        return Asked(None, TOO_MUCH.format(much))
    except _Tangled as names:
        return Asked(None, TANGLED.format(names))
    if found is None or not brought.given(found.brought):
        return Asked(None)
    command = brought.as_command(found.brought)
    if len(command.text) > 2 * MOST_TEXT:
        return Asked(None, TOO_MUCH.format("its files and commands are more than 128 KiB to read"))
    return Asked(command)


class Kits:
    """Gives each turn what is trusted just then."""

    def __init__(self, hub: Reads, state: Callable[[str], Any]) -> None:
        self._hub = hub
        self._state = state

    async def __call__(self, machine: Machine, effect: StartRun, about: Mapping[str, Any]) -> Kit:
        goal = self._state(f"goal/{effect.goal}")
        if effect.account.agent != AGENT or not isinstance(goal, Goal):
            return Kit()
        command = self._trusted(goal)
        if command is None:
            return Kit()
        try:
            found = await _find(self._hub, effect.project, goal.base_commit)
            if found is None or brought.as_command(found.brought) != command:
                log.warning("not what was trusted goal=%s commit=%s", goal.id, goal.base_commit)
                return Kit()
            folder = await self._lay(machine, effect, found)
        except (_TooMuch, _Tangled, NodeRefused) as no:
            log.warning("not given goal=%s: %s", goal.id, no)
            return Kit()
        if not _ROOT.fullmatch(folder):
            log.warning("not given: its path cannot stand in a command: %s", folder)
            return Kit()
        return _kit(found, folder, (*tuple(about["desk"])[:-1], "hook"))

    async def _lay(self, machine: Machine, effect: StartRun, found: _Found) -> str:
        """Have the copy lie beside the session; return where."""
        digest = found.brought.digest
        answer = await machine.call("kit.lay", session=effect.session, digest=digest, files=[])
        if answer["there"]:
            return str(answer["folder"])
        bodies = await self._hub.contents(effect.project, found.entries)
        runs = {entry.path for entry in found.entries if entry.mode == FILES[1]}
        files = [(f"tree/{path}", body, path in runs) for path, body in bodies.items()]
        files += [(f"plugin/{path}", b, False) for path, b in claude_brings.plugin(bodies).items()]
        files.append(("digest", digest.encode(), False))
        sent = [
            {"path": path, "data": base64.b64encode(body).decode("ascii"), "runs": can_run}
            for path, body, can_run in files
        ]
        answer = await machine.call("kit.lay", session=effect.session, digest=digest, files=sent)
        return str(answer["folder"])

    def _trusted(self, goal: Goal) -> Command | None:
        """The owner's word as it is now, which they may have taken back since the goal heard it."""
        project = self._state(f"project/{goal.project}")
        allowed = project.allowed if isinstance(project, Project) else ()
        of_goal = (state.command for state in goal.commands)
        return next((c for c in of_goal if c.kind == BROUGHT and c in allowed), None)


class _TooMuch(Exception):
    """More than can be looked over; the words say of what."""


class _Tangled(Exception):
    """All that could be given is written in ways that cannot be followed; the words name it."""


async def _find(hub: Reads, project: str, commit: str) -> _Found | None:
    """Return what a commit brings, None for nothing."""
    listed = await hub.below(project, commit, FOLDER, SERVERS)
    entries = [entry for entry in listed if _usable(entry) and entry.path != OWN]
    if not entries:
        return None
    heads = [entry for entry in entries if entry.path in (SETTINGS, SERVERS)]
    _bound(heads)
    read = await hub.contents(project, heads)
    settings, servers = read.get(SETTINGS, b""), read.get(SERVERS, b"")
    if outside := claude_brings.named(settings, servers):
        known = await hub.below(project, commit, *outside)
        entries += [entry for entry in known if _usable(entry) and entry.path in outside]
    _bound(entries)
    laid = frozenset(entry.path for entry in entries)
    brings = claude_brings.found(settings, servers, laid)
    if all(item.why for item in brings.items):
        if tangled := [i for i in brings.items if i.why == Off.TANGLED]:
            raise _Tangled(", ".join(f"{i.kind} {i.name.split()[0]}" for i in tangled[:5]))
        return None
    if sum(entry.size for entry in entries) > MOST_TEXT:
        raise _TooMuch("its files are more than 64 KiB to read")
    bodies = await hub.contents(project, entries)
    items = (*brings.items, *(_shown(path, body) for path, body in sorted(bodies.items())))
    return _Found(brings, Brought(_digest(entries), items, tuple(sorted(laid))), tuple(entries))


def _shown(path: str, body: bytes) -> BroughtItem:
    """Return a file whole: one may start another, whatever it is called."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise _TooMuch(f"{in_quotes(path[-200:], 200)} is no text that could be shown")
    return BroughtItem("file", path, text)


def _usable(entry: Entry) -> bool:
    """Whether it is a file of a name that can be shown and written anywhere; no link is followed."""
    return entry.mode in FILES and entry.path.isprintable()


def _bound(entries: list[Entry]) -> None:
    if len(entries) > MOST_FILES:
        raise _TooMuch(f"{len(entries)} files, {MOST_FILES} at most")
    if sum(entry.size for entry in entries) > MOST_BYTES:
        raise _TooMuch("its files are larger than 512 KiB")


def _digest(entries: list[Entry]) -> str:
    """Hash what each file is called, whether it can be run, and what is in it (by git's own hash)."""
    lines = sorted(f"{entry.mode} {entry.blob} {entry.path}\0" for entry in entries)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _kit(found: _Found, folder: str, judge: tuple[str, ...]) -> Kit:
    brings, laid, root = found.brings, found.laid, f"{folder}/tree"
    has_texts = any(item.kind in ("agent", "command", "skill") for item in brings.items)
    return Kit(
        folder=folder,
        settings=json.dumps(claude_brings.settings(brings, laid, root, judge)),
        servers=json.dumps(claude_brings.servers(brings, laid, root)),
        plugin=f"{folder}/plugin" if has_texts else "",
    )
