"""What lives of a run, as the kernel has it: how many processes, how busy they are, whether one is stopped.

    run.pulse ──> child.json (where the run begins) ──> /proc (all below that) ──> what it adds up to

Asked only about a run that has been silent for long: what it printed says what it waits for, this says
whether that is so. Nothing an agent writes is believed here, and nothing is looked at unasked. A process
that was waited for has its time counted with its parent's, so that short ones are not missed.

engine/node/serve.py answers by it; engine/rules/silence.py decides what it means.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from engine.node import fence, folder
from engine.node.opening import Odd, opened

_TORN = 64 * 1024  # looked through for the end of the last whole line
_ASKED_FOR = 24  # runs whose last answer is remembered, to tell what was used since
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """One line of /proc/<pid>/stat, what of it is of use."""

    pid: int
    name: str
    state: str  # R, S, D, T (stopped), Z (over, and not waited for), …
    parent: int
    cpu_s: float  # its own, and of those of its children that are over
    started_s: float  # after the start of the machine


class Sample(NamedTuple):
    """What a run had used when it was asked about."""

    at_s: float
    cpu_s: float
    each: Mapping[tuple[int, float], float]


class Pulse:
    """Answers about the runs of one node."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._before: dict[str, Sample] = {}

    def of(self, path: str) -> folder.Fields:
        """Return how long the run in the folder `path` has been silent, and what of it lives.

        spooled    how much it has printed, as an offset for who follows it; silent_s: since the last
        others     processes of its own: neither the agent, nor its desk, nor the fence
        youngest_s since the last of those began
        busiest    the name of the process that used the most time, "" if none did
        cpu_s      what all of them used within the last `over_s` seconds; 0 when asked the first time
        halted     how many of the others a signal keeps from going on
        stopped    the name of the agent, or of what is above it, if a signal keeps it from going on
        What lives is left out where it cannot be known.
        """
        spooled, since = printed(path)
        silent_s = max(0.0, time.time() - since) if since else 0.0
        return {"spooled": spooled, "silent_s": round(silent_s, 2), **self._living(path)}

    def _living(self, path: str) -> folder.Fields:
        child = folder.read(os.path.join(path, "child.json")) or {}
        found = {process.pid: process for process in self._processes()}
        top, agent = self._ends(child, found)
        if not top:
            return {}
        below = list(_below(top, found))
        now_s = _since_boot()
        used = self._used(path, [found[top], *below])
        own = [one for one in below if self._is_own(one, top, agent, child)]
        keepers = (top, agent, folder.pid(child.get("pid")), self._runner(child))
        stopped = [found[pid].name for pid in keepers if pid in found and found[pid].state == "T"]
        return {
            "others": len(own),
            "youngest_s": round(
                min((max(0.0, now_s - one.started_s) for one in own), default=0.0), 2
            ),
            "halted": sum(one.state == "T" for one in own),
            "stopped": stopped[0] if stopped else "",
            **used,
        }

    def _ends(self, child: folder.Fields, found: Mapping[int, Process]) -> tuple[int, int]:
        """Return below which process all of the run is, and which one is the agent; 0: nobody."""
        is_fenced = bool(child.get("fenced"))
        top = folder.pid(child.get("child_pid" if is_fenced else "runner"))
        started = str(child.get("started" if is_fenced else "runner_started") or "")
        if top not in found or found[top].state == "Z":
            return 0, 0
        if not started or fence.start_time(top) != started:
            return 0, 0  # another process by the same number
        if not is_fenced:
            return top, folder.pid(child.get("pid"))
        inside = [one for one in found.values() if one.parent == top]
        return top, min(inside, key=lambda one: (one.started_s, one.pid)).pid if inside else 0

    def _runner(self, child: folder.Fields) -> int:
        """Return what keeps the run, which stands outside its fence; 0 if it is gone."""
        pid, started = folder.pid(child.get("runner")), str(child.get("runner_started") or "")
        return pid if pid and started and fence.start_time(pid) == started else 0

    def _is_own(self, one: Process, top: int, agent: int, child: folder.Fields) -> bool:
        ours = one.pid in (top, agent, folder.pid(child.get("pid"))) or one.state == "Z"
        return not ours and not self._is_desk(one.pid)

    def _used(self, path: str, those: list[Process]) -> folder.Fields:
        each = {(one.pid, one.started_s): one.cpu_s for one in those}
        now = Sample(time.monotonic(), sum(each.values()), each)  # a suspended machine is not idle
        before = self._before.pop(path, None)
        self._before[path] = now
        if len(self._before) > _ASKED_FOR:
            del self._before[next(iter(self._before))]
        if before is None:
            return {"cpu_s": 0.0, "over_s": 0.0, "busiest": ""}
        by_name = [
            (one.cpu_s - before.each.get((one.pid, one.started_s), 0.0), one.name) for one in those
        ]
        most_s, name = max(by_name, default=(0.0, ""))
        return {
            "cpu_s": round(max(0.0, now.cpu_s - before.cpu_s), 2),
            "over_s": now.at_s - before.at_s,
            "busiest": name if most_s > 0 else "",
        }

    def _processes(self) -> Iterator[Process]:
        try:
            names = os.listdir(self._proc)
        except FileNotFoundError:  # no Linux
            return
        for name in names:
            if name.isdigit() and (one := self._process(name)) is not None:
                yield one

    def _process(self, pid: str) -> Process | None:
        try:
            with open(os.path.join(self._proc, pid, "stat"), "rb") as file:
                head, _, rest = file.read().rpartition(b")")
        except (FileNotFoundError, ProcessLookupError):
            return None  # over since we listed it
        fields = rest.split()
        return Process(
            pid=int(pid),
            name=head.partition(b"(")[2].decode("utf-8", "replace"),
            state=fields[0].decode("ascii"),
            parent=int(fields[1]),
            cpu_s=sum(int(ticks) for ticks in fields[11:15]) * _TICK_S,
            started_s=int(fields[19]) * _TICK_S,
        )

    def _is_desk(self, pid: int) -> bool:
        """Whether a process is the agent's desk: ours, and there for as long as the agent is."""
        try:
            with open(os.path.join(self._proc, str(pid), "cmdline"), "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            return False
        return words[1:3] == [b"-I", b"-S"] and words[4:] == [b"desk", b""]


def printed(path: str) -> tuple[int, float]:
    """Return how far the whole lines of a run's spool go, and when it last grew; 0: there is none."""
    try:
        with open(opened(os.path.join(path, "out.jsonl")), "rb") as file:
            about = os.fstat(file.fileno())
            file.seek(max(0, about.st_size - _TORN))
            tail = file.read(_TORN)
    except (FileNotFoundError, Odd):  # its runner is only just beginning, or it was tampered with
        return 0, 0.0
    return about.st_size - (len(tail) - tail.rfind(b"\n") - 1), about.st_mtime


def _below(top: int, found: Mapping[int, Process]) -> Iterator[Process]:
    """Yield all that descends from `top`; whoever lost a parent inside is a child of it by now."""
    children: dict[int, list[Process]] = {}
    for one in found.values():
        children.setdefault(one.parent, []).append(one)
    left = list(children.get(top, ()))
    while left:
        one = left.pop()
        yield one
        left += children.get(one.pid, ())


def _since_boot() -> float:
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(clock) if clock is not None else time.monotonic()
