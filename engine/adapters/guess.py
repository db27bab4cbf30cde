"""How a project is probably checked, where its settings do not say: read off what lies in its top folder.

A guess is only ever put to the owner, word for word; it runs once they allowed it. Read at the base
commit in the hub, so that no worker has a say in it. The first that fits counts: what a project wrote
down itself (a Makefile, a script) before what its language usually does. Neighbours: settings.py (what
the project says), taking_in.py (asks for the guess).
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection
from typing import Final, Protocol

READ_BYTES = 512 * 1024
NO_TESTS = "no test specified"  # what npm writes into a new package
NAMES: Final = ("test", "check")


class Reads(Protocol):
    """What can look into a commit of a project; engine/adapters/hub.py's Hub."""

    async def read_file(self, project: str, commit: str, path: str) -> bytes | None: ...

    async def listed(self, project: str, commit: str) -> tuple[str, ...]: ...


Read = Callable[[str], Awaitable[str]]  # a file's text, "" if it is none


async def check(hub: Reads, project: str, commit: str) -> str:
    """Return the command that probably checks the project, "" where nothing says so."""
    there = frozenset(await hub.listed(project, commit))

    async def read(path: str) -> str:
        body = await hub.read_file(project, commit, path) if path in there else None
        return "" if body is None else body[:READ_BYTES].decode("utf-8", "replace")

    for guess in (_make, _just, _package, _python, _by_language):
        if found := await guess(there, read):
            return found
    return ""


async def _make(there: Collection[str], read: Read) -> str:
    for file in ("GNUmakefile", "makefile", "Makefile"):  # in the order make looks
        if file in there:
            return _target(await read(file), "make")
    return ""


async def _just(there: Collection[str], read: Read) -> str:
    for file in ("justfile", "Justfile", ".justfile"):
        if file in there:
            return _target(await read(file), "just")
    return ""


def _target(text: str, tool: str) -> str:
    for name in NAMES:
        if re.search(rf"^{name}\b[^:=\n]*:(?!=)", text, re.MULTILINE):
            return f"{tool} {name}"
    return ""


async def _package(there: Collection[str], read: Read) -> str:
    try:
        package = json.loads(await read("package.json") or "{}")
    except ValueError:
        return ""
    scripts = package.get("scripts") if isinstance(package, dict) else None
    test = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(test, str) or not test.strip() or NO_TESTS in test:
        return ""
    tools = {
        "pnpm-lock.yaml": "pnpm test",
        "yarn.lock": "yarn test",
        "bun.lock": "bun run test",
        "bun.lockb": "bun run test",
    }
    return next((command for lock, command in tools.items() if lock in there), "npm test")


async def _python(there: Collection[str], read: Read) -> str:
    if "tox.ini" in there and "[testenv" in await read("tox.ini"):
        return "tox"
    named = [await read(file) for file in ("pyproject.toml", "setup.cfg", "tox.ini")]
    python = {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"} & set(there)
    told = "pytest.ini" in there or "conftest.py" in there or any("pytest" in t for t in named)
    if told or (python and "tests" in there):
        runner = "uv run pytest" if "uv.lock" in there else "python3 -m pytest"
        return "poetry run pytest" if "poetry.lock" in there else runner
    return ""


async def _by_language(there: Collection[str], read: Read) -> str:
    usual = {
        "Cargo.toml": "cargo test",
        "go.mod": "go test ./...",
        "mix.exs": "mix test",
        "gradlew": "./gradlew test",
        "mvnw": "./mvnw -q test",
        "pom.xml": "mvn -q test",
        "Package.swift": "swift test",
        "build.zig": "zig build test",
    }
    return next((command for file, command in usual.items() if file in there), "")
