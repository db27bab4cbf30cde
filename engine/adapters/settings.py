"""What a project's own settings file says, at one commit: how to set a tree up, how to check it.

    [worktree]                      .quarterdeck/settings.toml, or .magnum/settings.toml
    setup = "npm ci"                the first of the two that is there counts
    check = "make test"
    copy = ["node_modules", ".venv"]   folders a new tree gets a copy of

    [preview]
    command = "npm run dev"
    url = "http://127.0.0.1:$PORT"
    ready = "ready in"

Read at the base commit a goal starts from, so that no worker can change what it is checked by.
Nothing here is run before the owner allowed it word for word. Neighbour: engine/adapters/hub.py.
"""

from __future__ import annotations

import posixpath
import tomllib
from typing import Final, Protocol

from msgspec import Struct

from engine.rules.unseen import in_quotes
from engine.rules.words import Command

PATHS: Final = (".quarterdeck/settings.toml", ".magnum/settings.toml")
MAX_BYTES = 256 * 1024
MAX_COPIED = 20


class Reads(Protocol):
    """What can read a file of a project at a commit; engine/adapters/hub.py's Hub."""

    async def read_file(self, project: str, commit: str, path: str) -> bytes | None: ...


class Preview(Struct, frozen=True):
    """How the project shows itself."""

    command: str
    url: str = ""
    ready: str = ""


class Settings(Struct, frozen=True):
    """What was found; empty where nothing was."""

    path: str = ""
    commands: tuple[Command, ...] = ()  # setup before check
    preview: Preview | None = None
    note: str = ""  # to be said to the owner


async def read(hub: Reads, project: str, commit: str) -> Settings:
    """Return the settings of `project` at `commit`; a file that cannot be used is a note."""
    found = [
        (path, body)
        for path in PATHS
        if (body := await hub.read_file(project, commit, path)) is not None
    ]
    if not found:
        return Settings()
    path, body = found[0]
    notes = [f"{path} counts; {found[1][0]} is there too and is not read."] if found[1:] else []
    try:
        table = tomllib.loads(_text(body))
        commands, preview = (*_commands(table), *_copy(table)), _preview(table)
    except ValueError as error:
        return Settings(
            path, note=" ".join([*notes, f"{path} is not used: {in_quotes(str(error), 200)}"])
        )
    return Settings(path, commands, preview, " ".join(notes))


def _text(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1024} KiB")
    return body.decode("utf-8-sig").replace("\r\n", "\n")


def _commands(table: dict[str, object]) -> tuple[Command, ...]:
    worktree = _section(table, "worktree")
    named = ((kind, _string(worktree, "worktree", kind)) for kind in ("setup", "check"))
    return tuple(Command(kind, text) for kind, text in named if text)


def _copy(table: dict[str, object]) -> tuple[Command, ...]:
    """The paths to copy, one a line: they may be of the owner's own checkout, so they are asked for."""
    listed = _section(table, "worktree").get("copy", [])
    if not isinstance(listed, list) or not all(isinstance(path, str) for path in listed):
        raise ValueError(
            'copy in [worktree] is no list of paths in quotes: copy = ["node_modules"]'
        )
    if len(listed) > MAX_COPIED:
        raise ValueError(f"copy in [worktree] has more than {MAX_COPIED} paths")
    paths = "\n".join(dict.fromkeys(_below(path) for path in listed))
    return (Command("copy", paths),) if paths else ()


def _below(path: str) -> str:
    """Return a path below the tree; whatever else it might be is refused."""
    plain = posixpath.normpath(path.strip())
    within = path.strip() and plain not in (".", "..") and not plain.startswith(("/", "../"))
    if not within or plain.partition("/")[0] == ".git" or not plain.isprintable():
        raise ValueError(f"copy in [worktree] names {path!r}, which is no path inside the project")
    return plain


def _preview(table: dict[str, object]) -> Preview | None:
    section = _section(table, "preview")
    command, url, ready = (_string(section, "preview", key) for key in ("command", "url", "ready"))
    return Preview(command, url, ready) if command else None


def _section(table: dict[str, object], name: str) -> dict[str, object]:
    section = table.get(name, {})
    if not isinstance(section, dict):
        raise ValueError(f"[{name}] is no table")
    return section


def _string(section: dict[str, object], name: str, key: str) -> str:
    text = section.get(key, "")
    if not isinstance(text, str):
        raise ValueError(f"{key} in [{name}] is no text in quotes")
    if "\0" in text:
        raise ValueError(f"{key} in [{name}] holds a NUL")
    return text.strip()
