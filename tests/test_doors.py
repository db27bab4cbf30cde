"""The arrows between the rooms, read from the imports: bot -> engine -> stores, never back.

Every import counts, wherever in a file it stands, so that a lazy one cannot slip past.
"""

import ast
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# All that the bot may know of the rooms below it: the engine's door, what comes out of it,
# where things lie, and its own SQLite file.
BOT_MAY_REACH = (
    "engine.api",
    "engine.backups",
    "engine.config",
    "engine.errors",
    "engine.moments",
    "engine.notify",
    "engine.pairing",
    "engine.paths",
    "engine.rules.unseen",  # what nobody sees is told to the owner as to agents
    "engine.views",
    "stores.attached",
    "stores.cards",
    "stores.database",
    "stores.recovery.codes_in",  # how such a code looks, no more
    "stores.sealing",
    "stores.unlogged",
    "stores.unusable",
)

# What would let a clock, chance or the outside into a rule.
# fmt: off
IMPURE = {
    "aiosqlite", "asyncio", "concurrent", "http", "multiprocessing", "os", "pathlib", "random",
    "secrets", "selectors", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid",
}
# fmt: on


def imports_in(source: str, package: tuple[str, ...]) -> set[str]:
    """Return the full dotted names that a module of `package` imports, relative ones too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from engine import views` reaches engine.views, so the name counts as well.
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def within(name: str, *rooms: str) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def standard(name: str) -> bool:
    return name.split(".")[0] in sys.stdlib_module_names


def stores_know_nobody(name: str) -> bool:
    return not within(name, "engine", "bot")


def engine_never_imports_the_bot(name: str) -> bool:
    return not within(name, "bot")


def rules_are_pure(name: str) -> bool:
    if name == "uuid.UUID":  # a way to write a number; the rest of uuid draws one
        return True
    if name.split(".")[0] in IMPURE or within(name, "stores"):
        return False
    return not within(name, "engine") or within(name, "engine.rules", "engine.errors")


def node_stands_alone(name: str) -> bool:
    return standard(name) or within(name, "engine.node")


def bot_uses_the_door(name: str) -> bool:
    return not within(name, "engine", "stores") or within(name, *BOT_MAY_REACH)


@pytest.mark.parametrize(
    ("files", "allowed"),
    [
        ("stores/**/*.py", stores_know_nobody),
        ("engine/**/*.py", engine_never_imports_the_bot),
        ("engine/rules/**/*.py", rules_are_pure),
        ("engine/node/**/*.py", node_stands_alone),
        ("bot/**/*.py", bot_uses_the_door),
        ("bot/alarm.py", standard),
    ],
)
def test_no_room_imports_what_it_must_not_know(files: str, allowed: Callable[[str], bool]) -> None:
    trespasses = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted(ROOT.glob(files))
        for name in sorted(
            imports_in(path.read_text(encoding="utf-8"), path.relative_to(ROOT).parent.parts)
        )
        if not allowed(name)
    ]
    assert trespasses == []


def test_a_lazy_or_relative_import_is_seen_too() -> None:
    source = "def late() -> None:\n    from ..loop import post\n    from . import plan\n    import time\n"
    seen = imports_in(source, ("engine", "rules"))
    assert seen == {"engine.loop.post", "engine.rules.plan", "time"}
    assert [name for name in sorted(seen) if not rules_are_pure(name)] == [
        "engine.loop.post",
        "time",
    ]


def test_no_file_is_named_after_nothing() -> None:
    vague = {"utils", "helpers", "common", "manager"}
    assert [
        str(path.relative_to(ROOT))
        for room in ("bot", "engine", "stores", "tests")
        for path in (ROOT / room).rglob("*.py")
        if path.stem in vague
    ] == []
