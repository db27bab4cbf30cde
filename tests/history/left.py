"""What must not lie or live about in a home once all is over."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

from engine.errors import EngineError
from engine.lock import EngineLock
from engine.node import folder as run_folder
from engine.paths import Home
from engine.perform import AGAIN, judge_run
from engine.rules.effects import Judge
from tests import processes
from tests.history.scene import Expected, Scene

ROUGH = (".new", ".tmp", ".part")
OTHERS = ("trees", "copies", "hub", "runs")  # where agents and git have files of their own


def of_home(scene: Scene, home: Home, expected: Expected) -> Iterator[str]:
    yield from _locks(home)
    for tree in sorted(home.trees.glob("*/*")):
        if not tree.name.startswith("pool-"):
            yield f"a tree was left: {tree.parent.name}/{tree.name}"
    yield from _runs(scene, home)
    for pid in live_runs(home.root):
        yield f"process {pid} of a run lives on"
    for path in sorted(home.root.rglob("*")):
        if path.suffix in ROUGH and path.relative_to(home.root).parts[0] not in OTHERS:
            yield f"a rough file was left: {path.relative_to(home.root)}"
    if scene.ledger is not None and expected.sent:
        yield from _files(scene, home, expected)


def _locks(home: Home) -> Iterator[str]:
    try:
        with EngineLock(home.engine_lock):
            pass
    except EngineError as held:
        yield f"the engine's lock is held: {held}"
    with home.bot_lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield "the bot's lock is held"


def _runs(scene: Scene, home: Home) -> Iterator[str]:
    """Each run is over, and one that was ordered."""
    ordered = set(_ordered(scene)) if scene.ledger is not None else None
    for run in sorted(home.runs.iterdir()):
        if run_folder.read(str(run / "exit.json")) is None:
            yield f"run {run.name} has no end"
        name = run.name.partition("-setup-")[0].removesuffix(AGAIN)
        if ordered is not None and name not in ordered:
            yield f"run {run.name} was never ordered"


def _ordered(scene: Scene) -> Iterator[str]:
    """Return the runs that the ledger tells of, their setups aside."""
    for effect in (effect for item in scene.told.happened for effect in item.effects):
        if run := getattr(effect, "run", ""):
            yield run
        if isinstance(effect, Judge):
            yield judge_run(effect.review, effect.head)


def live_runs(home: Path) -> set[int]:
    """Return the processes of runs of this home that still live."""
    return set(processes.of_runs((home / "runs").iterdir()))


def _files(scene: Scene, home: Home, expected: Expected) -> Iterator[str]:
    """The lead has what came with the goal, whole, and nothing half of it lies about."""
    for goal in scene.goals:
        there = home.root / "sessions" / goal.session / "files"
        found = {path.name: path.read_bytes() for path in there.iterdir()} if there.exists() else {}
        for file in goal.files:
            if found.get(file.place) != expected.sent.get(file.name):
                yield f"{goal.session} does not have {file.name} as it was sent"
        for name in found.keys() - {file.place for file in goal.files}:
            yield f"{goal.session} has {name}, which nobody sent"
        if {file.name for file in goal.files} != set(expected.sent):
            yield f"{goal.id} came with {[file.name for file in goal.files]}"
    kept = {file.sha256 for goal in scene.goals for file in goal.files}
    for path in sorted(home.attached.iterdir()):
        if path.name not in kept:
            yield f"{path.name} was kept for nobody"
