"""Plays each step once for each point at which a process could die in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.nodepoints import story
from tests.nodepoints.machine import KINDS, Fault, Machine, Points, nothing_left, prepare

Step = Callable[[story.World], None]


class Walk:
    """The steps, each from a picture of the disk as the one before it left it."""

    def __init__(self, folder: Path, steps: Sequence[Step] = story.STEPS) -> None:
        self.folder = folder / "world"
        self.pictures = folder / "pictures"
        self.folder.mkdir()
        self.pictures.mkdir()
        self.steps = steps
        self.deaths: Counter[str] = Counter()
        self.until = float("inf")
        self._began = False
        self._greeted: dict[str, int] = {}
        self.faults: list[str] = []
        known = story.lay(self.folder)
        (self.folder / "known").write_text(json.dumps(known))
        self._keep("first")

    def die_in(self, step: Step, every: Mapping[str, int], first: int = 1) -> None:
        """Play one step to its end, and before that once for each death.

        every   how many points from one to the next, for each kind of process; one not named does not die
        first   the point of each kind to begin with
        """
        self._keep("before")
        clean, _ = self._play(step, "", 0)
        if clean is None:
            return
        # How a node is greeted is the same each time: it dies of that in the first step only.
        greeted = self._greeted if self._began else {}
        self._began = True
        self._keep("after")
        for kind in every:
            point, died = first + greeted.get(kind, 0), False
            # A runner may turn once more than it did when nobody died, a node hear of one thing more.
            longer = kind in ("node", "runner")
            while time.monotonic() < self.until:
                if point > clean[kind] and not (died and longer):
                    break
                self._bring("before")
                _, died = self._play(step, kind, point)
                self.deaths[kind] += died
                point += every[kind]
        self._bring("after")

    def begin_anew(self) -> None:
        """Go back to where nothing was asked of the machine yet."""
        self._bring("first")

    def _play(self, step: Step, kind: str, point: int) -> tuple[dict[str, int] | None, bool]:
        """Play one step, dying there; return what was passed (None: it went wrong), and if it died."""
        passing = Points(kind, point)
        machine = Machine(self.folder, passing)
        prepare(machine)
        known = json.loads((self.folder / "known").read_text())
        world = story.World(machine, known)
        (self.folder / "node.err").write_text("")
        fault = ""
        with nothing_left() as left:
            try:
                step(world)
                machine.close()
            except (Fault, OSError, ValueError, KeyError, LookupError) as found:
                fault = f"{type(found).__name__}: {found}"
            finally:
                machine.end()
        if not fault:
            fault = f"still running: {', '.join(left)}" if left else self._judged(world)
        (self.folder / "known").write_text(json.dumps(known))
        self._greeted = machine.greeted
        died = bool(passing.where) or machine.stopped
        if fault:
            where = (
                f"{kind} {point} ({passing.where or 'a git command'})" if died else "nobody died"
            )
            said = (self.folder / "node.err").read_text()
            self.faults.append(f"{step.__name__}, {where}: {fault}\n{said}".strip())
            sys.stderr.write(f"{self.faults[-1]}\n")
            if not died:
                return None, False
        counts = {each: passing.count(each) for each in KINDS}
        counts["git"] = machine.gits
        return counts, died

    @staticmethod
    def _judged(world: story.World) -> str:
        try:
            story.judge(world)
        except Fault as fault:
            return str(fault)
        return ""

    def _keep(self, name: str) -> None:
        shutil.rmtree(self.pictures / name, ignore_errors=True)
        (self.pictures / name).mkdir()
        self._copy(self.folder, self.pictures / name)

    def _bring(self, name: str) -> None:
        subprocess.run(["rm", "-rf", self.folder / "home"], check=True)
        self._copy(self.pictures / name, self.folder)

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        # Not by shutil: it would wait for somebody to write into a pipe that lies there.
        names = [source / name for name in ("home", "starts", "known")]
        subprocess.run(["cp", "-a", *names, target], check=True)


def told(walk: Walk, took_s: float) -> str:
    """Return what was done, in one line."""
    each = ", ".join(f"{kind} {walk.deaths[kind]}" for kind in KINDS)
    return (
        f"node points: died at {walk.deaths.total()} ({each}) in {len(walk.steps)} steps, "
        f"{len(walk.faults)} wrong ({took_s:.0f} s)"
    )


def cpu_s() -> float:
    """Return what this and all it started took of a core."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
