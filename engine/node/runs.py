"""The runs of one machine: start, feed, end, list, and finish what a dead runner left undone.

Every order is safe to repeat: a run is known by its folder, an input by its key, an end by its
exit. The lock of a new run is taken here and handed to its runner, so a run without a holder is a
run whose runner is gone.

engine/node/serve.py calls this; engine/node/runner.py is what is started.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Callable

from engine.node import copies, fence, folder, follow, leftovers, locks, points, pulse, room, zygote
from engine.node.link import PROTOCOL, Refusal
from engine.node.opening import Odd, opened, written

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_KINDS = ("line", "desk", "end")
_MAX_BLOB_PART = 4 * 1024 * 1024
_MAX_TAIL = 4 * 1024 * 1024
WAITS = "waits: "  # how a note begins that says what a run's end waits for
_ENDS_S = 5.0  # for a runner that was told to end its run now

# Started so that nothing of the user's own Python set-up is loaded.
_BEGIN = (
    "import sys;sys.path.insert(0,sys.argv[1]);"
    "from engine.node.runner import main;main(sys.argv[2],int(sys.argv[3]))"
)

Fields = dict[str, Any]


class Runs:
    """The run folders below one home, and the runners started from here."""

    def __init__(self, home: str, probe: fence.Probe) -> None:
        self._home = home
        self._folder = os.path.join(home, "runs")
        self.probe = probe
        self._code = code_folder()
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()  # forked ones, told by a thread
        self._stuck: set[str] = set()  # runs that were ended together with their runner
        self.told: Callable[[], None] = lambda: None  # called in that thread: `reap` has news
        os.makedirs(self._folder, mode=0o700, exist_ok=True)

    def path(self, run: object) -> str:
        """Return the folder of a run, whether it is there or not."""
        if not isinstance(run, str) or not _RUN.fullmatch(run):
            raise Refusal(f"{run!r} is no name of a run.")
        return os.path.join(self._folder, run)

    def existing(self, run: object) -> str:
        """Return the folder of a run that is there."""
        path = self.path(run)
        if not os.path.isdir(path) or os.path.islink(path):
            raise Refusal(f"There is no run {run} on this machine.")
        return path

    def state(self, run: str) -> Fields:
        """Return whether a run lives, and how it ended if it did."""
        path = self.path(run)
        over = folder.ended(path)
        return {"run": run, "alive": over is None and folder.alive(path), "exit": over}

    def states(self, runs: list[str] | None = None) -> list[Fields]:
        """Return the state of each run, or of those named that are there."""
        names = sorted(os.listdir(self._folder)) if runs is None else runs
        return [
            self.state(name)
            for name in names
            if _RUN.fullmatch(name) and os.path.isdir(os.path.join(self._folder, name))
        ]

    # ---- starting

    def start(self, spec: Fields, secrets: dict[str, str] | None = None) -> Fields:
        """Start a run unless there is one of that id; return its state.

        secrets   variables for the command that must never be written to a disk
        """
        run = spec.get("run")
        path = self.path(run)
        if not os.path.isdir(path):
            self._prepare(path, spec)
        elif folder.ended(path) is not None or self._began(path):
            return {**self.state(str(run)), "started": False}
        lock = folder.lock(path)
        if lock is not None:
            try:
                self._unlock(str(run), str((spec.get("fence") or {}).get("tree") or ""))
                self._spawn(str(run), path, lock, secrets or {})
            finally:
                os.close(lock)
        return {**self.state(str(run)), "started": lock is not None}

    def _prepare(self, path: str, spec: Fields) -> None:
        """Make the whole folder elsewhere and put it in place at once."""
        argv = spec.get("argv")
        if not isinstance(argv, list) or not argv:
            raise Refusal("A run needs `argv`, the program and its arguments.")
        rough = self._rough(path)
        view = {**(spec.get("fence") or {}), "home": self._home}
        for own in ("tmp", "config_dir", "files"):
            if view.get(own):
                os.makedirs(view[own], mode=0o700, exist_ok=True)
                points.passed(f"{own} of a run made")
        if spec.get("desk"):
            view["read"] = [*view.get("read", ()), *desk_needs(self._code)]
        whole = {**spec, "protocol": PROTOCOL, "fence": view, "probe": vars(self.probe)}
        folder.write(os.path.join(rough, "spec.json"), whole)
        os.mkfifo(os.path.join(rough, "poke"), 0o600)
        points.passed("run prepared aside")
        os.rename(rough, path)
        points.passed("run prepared")

    def _unlock(self, run: str, tree: str) -> None:
        """Take away what a git that died with an earlier run left locked in this one's tree."""
        if not tree.startswith(os.path.join(self._home, "trees", "")):
            return
        turn = copies.alone(tree)
        if not turn.acquire(
            blocking=False
        ):  # an order of ours is at work there, with its own locks
            return
        try:
            if locks.left(tree) and not self._lives_in(tree, run):
                locks.remove(tree)
        finally:
            turn.release()

    def _lives_in(self, tree: str, beside: str) -> bool:
        """Whether another run in a tree is not known to be over, with all its processes."""
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if name == beside or not _RUN.fullmatch(name) or folder.ended(path) is not None:
                continue
            view = (folder.read(os.path.join(path, "spec.json")) or {}).get("fence") or {}
            if view.get("tree") == tree and self._began(path):
                return True
        return False

    def _rough(self, path: str) -> str:
        """Return an empty folder beside `path`, to be moved there once it is whole."""
        rough = os.path.join(self._folder, f"{leftovers.ROUGH}{os.path.basename(path)}")
        shutil.rmtree(rough, ignore_errors=True)
        os.mkdir(rough, 0o700)
        points.passed("folder of a run made aside")
        return rough

    def _began(self, path: str) -> bool:
        return folder.alive(path) or os.path.lexists(os.path.join(path, "out.jsonl"))

    def _spawn(self, run: str, path: str, lock: int, secrets: dict[str, str]) -> None:
        """Start the runner: forked where that can be had, else by an interpreter of its own."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        said = written(os.path.join(path, "runner.err"), flags)
        points.passed("runner about to be started")
        given, give = os.pipe()
        try:
            if not self._fork(run, path, (given, said, lock)):
                self._started[run] = self._begin(path, (given, said, lock))
            points.passed("runner started")
        finally:
            os.close(said)
            os.close(given)
            with contextlib.suppress(BrokenPipeError), open(give, "wb") as stdin:
                # Should it be gone already, its lock says so. Something is written always: without
                # it the runner knows that we fell on the way, and starts nothing.
                stdin.write(json.dumps(secrets).encode("ascii"))
        points.passed("runner given its secrets")

    def _fork(self, run: str, path: str, handles: tuple[int, int, int]) -> bool:
        forks = zygote.ready()
        if forks is None:
            return False

        def on_end(code: int) -> None:
            self._ended.put(run)
            self.told()

        given, said, lock = handles
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            return forks.fork(zygote.RUNNER, [path], (given, null, said, lock), on_end)
        finally:
            os.close(null)

    def _begin(self, path: str, handles: tuple[int, int, int]) -> subprocess.Popen[bytes]:
        given, said, lock = handles
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BEGIN, self._code, path, str(lock)],
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=said,
            cwd="/",
            env={k: v for k, v in os.environ.items() if not k.startswith("QUARTERDECK_")},
            start_new_session=True,
            pass_fds=[lock],
        )

    # ---- while it runs

    def input(self, run: str, key: str, kind: str, data: Any) -> Fields:
        """Put an entry into the run's inbox; return whether anybody is there to read it."""
        path = self.existing(run)
        if kind not in _KINDS:
            raise Refusal(f"{kind!r} is no kind of input: {', '.join(_KINDS)}.")
        if kind == "line" and (not isinstance(data, str) or "\n" in data):
            raise Refusal("A line of input is one line of text.")
        if folder.ended(path) is not None or not folder.alive(path):
            return self.state(run)
        entry = {"n": key, "k": kind, "d": data}
        folder.append(path, "in.jsonl", json.dumps(entry).encode("ascii") + b"\n")
        folder.poke(path)
        points.passed("runner woken")
        return self.state(run)

    def end(
        self, run: str, grace_s: float | None = None, line: str = "", unless_past: int = 0
    ) -> Fields:
        """Ask a run to end; one that was never started never will be.

        unless_past   leave one alone that has printed past this offset since it was judged
        """
        path = self.path(run)
        never = _how("not started", "It was ended before it started.")
        if unless_past and self._went_on(path, unless_past):
            return {**self.state(run), "went_on": True}
        if not os.path.isdir(path):
            rough = self._rough(path)
            folder.close(rough, never, 1)
            os.rename(rough, path)
            points.passed("run ended before it began")
            return self.state(run)
        if folder.ended(path) is None and not self._began(path):
            self._close_unbegun(path, never)
            return self.state(run)
        try:
            # One key per grace: the same order again is dropped, a more pressing one is not.
            return self.input(run, f"end {grace_s}", "end", {"grace_s": grace_s, "line": line})
        except OSError as error:
            if not room.is_missing(error):
                raise
        return self._end_without_a_word(run)

    def _end_without_a_word(self, run: str) -> Fields:
        """Ask a run to end whose inbox takes nothing more: its runner knows the agent's way out."""
        child = folder.read(os.path.join(self.path(run), "child.json")) or {}
        pid, started = folder.pid(child.get("runner")), child.get("runner_started")
        if pid and started and fence.start_time(pid) == started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        return self.state(run)

    def _close_unbegun(self, path: str, how: Fields) -> None:
        """End a run that was prepared only: whoever prepared it fell, or is about to start it."""
        lock = folder.lock(path)
        if lock is None:
            return
        try:
            if not os.path.exists(os.path.join(path, "out.jsonl")):
                folder.close(path, how, 1)
        finally:
            os.close(lock)

    def _went_on(self, path: str, offset: int) -> bool:
        """Whether a run lives that has printed more than so much, and was not told to end yet."""
        if folder.ended(path) is not None or not folder.alive(path):
            return False
        if pulse.printed(path)[0] <= offset:
            return False
        return not _was_told_to_end(path)

    def kill(self, run: str) -> Fields:
        """End a run now, and its runner too if that does not do it. Takes up to some seconds."""
        path = self.path(run)
        if not os.path.isdir(path):
            return self.end(run)
        self.end(run, 0)
        until = time.monotonic() + _ENDS_S
        while folder.alive(path) and time.monotonic() < until:
            time.sleep(0.01)
        if folder.alive(path):
            child = folder.read(os.path.join(path, "child.json")) or {}
            pid = folder.pid(child.get("runner"))
            if not fence.kill_tree(pid, str(child.get("runner_started", ""))) and pid:
                self._say_once(path, _does_not_end([pid]))
        self.finish(run)
        until = time.monotonic() + _ENDS_S
        while folder.ended(path) is None and time.monotonic() < until:
            time.sleep(0.01)  # another thread saw its end as well, and is writing it down
            self.finish(run)
        return self.state(run)

    def end_stuck(self, run: str) -> bool:
        """End a run whose runner did not do so when told to; True once that is over.

        A runner that a signal stopped, or that waits for a disk for ever, reads no inbox.
        """
        path = self.path(run)
        if folder.ended(path) is None and folder.alive(path):
            try:
                self.input(run, "end 0", "end", {"grace_s": 0, "line": ""})
            except OSError as error:
                if not room.is_missing(error):
                    raise
                return False  # what it printed waits for room as well (hold.py): it is not stuck
            self._stuck.add(run)
            self.kill(run)
        return self.finish(run) and not folder.alive(path)

    def ordered(self) -> list[str]:
        """Return the runs that live though somebody told them to end: no node before us saw to that."""
        return [
            name
            for name in os.listdir(self._folder)
            if _RUN.fullmatch(name) and self._is_to_end(os.path.join(self._folder, name))
        ]

    def _is_to_end(self, path: str) -> bool:
        return folder.ended(path) is None and folder.alive(path) and _was_told_to_end(path)

    def blob(self, run: str, name: str, offset: int, length: int) -> Fields:
        """Return a part of a long line that was put aside."""
        path = self.existing(run)
        if not re.fullmatch(r"[0-9]{1,9}", str(name)):
            raise Refusal(f"{name!r} is no name of a blob.")
        try:
            with open(opened(os.path.join(path, "blobs", str(name))), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, offset))
                data = file.read(max(0, min(length, _MAX_BLOB_PART)))
        except (FileNotFoundError, Odd):
            raise Refusal(f"Run {run} has no blob {name}.") from None
        return {"data": base64.b64encode(data).decode("ascii"), "size": size}

    def tail(self, run: str, length: int) -> Fields:
        """Return the last lines of a run's spool, where they begin, and what time it is here."""
        path = self.existing(run)
        spool = os.path.join(path, "out.jsonl")
        found = follow.last_lines(spool, max(1, min(length, _MAX_TAIL)))
        if found is None and os.path.exists(f"{spool}.gz"):
            raise Refusal(f"What run {run} printed was packed away: it is over for long.")
        data, start = (found.data, found.end) if found else (b"", 0)
        text = data.decode("utf-8", "replace")
        return {"data": text, "start": start, "now": round(time.time(), 3), **self.state(run)}

    def remove(self, run: str) -> Fields:
        """Delete what is kept of a run that is over."""
        path = self.path(run)
        if folder.alive(path):
            raise Refusal(f"Run {run} is still going on.")
        leftovers.remove(path)
        return {"run": run}

    # ---- one writer of each session

    def writers_beside(self, session: str, run: str) -> list[str]:
        """Return the earlier turns of a session that are not known to be over; of later ones, no."""
        turns = {name: _turn(session, name) for name in os.listdir(self._folder)}
        if any(turn > _turn(session, run) for turn in turns.values()):
            raise Refusal(f"A later turn of {session} has begun, so {run} cannot.")
        return [
            name
            for name, turn in turns.items()
            if 0 < turn < _turn(session, run)
            and folder.ended(path := os.path.join(self._folder, name)) is None
            and self._began(path)
        ]

    # ---- what others left

    def finish(self, run: str) -> bool:
        """Write the end of a run whose runner is gone, once what it started is ended too.

        Returns False if something of it does not end: to be tried again.
        """
        path = self.path(run)
        if folder.ended(path) is not None or not os.path.isdir(path):
            return True
        lock = folder.lock(path)
        if lock is None:
            return True
        try:
            child = folder.read(os.path.join(path, "child.json")) or {}
            left = self._end_all(run, path, child)
            if left:
                self._say_once(path, _does_not_end(left))
                return False
            with contextlib.suppress(FileNotFoundError):  # what it was noting as it fell
                os.unlink(os.path.join(path, "child.json.new"))
            folder.close(path, {**child, **(_stuck() if run in self._stuck else _gone())})
            self._stuck.discard(run)
            return True
        finally:
            os.close(lock)

    def _end_all(self, run: str, path: str, child: Fields) -> list[int]:
        """End what a dead runner left, told by more than a pid; return what could not be ended."""
        left: list[int] = []
        if child:
            pid = folder.pid(child.get("child_pid" if child.get("fenced") else "pid"))
            started = str(child.get("started", ""))
            if pid > 1 and started and not fence.kill_tree(pid, started):
                left.append(pid)
            points.passed("what a dead runner started ended")
        # Also what it had no time to note before it fell.
        place = fence.place(path)
        if fence.kill_marked(run, place):
            left += [pid for pid in fence.marked(run, place) if pid not in left]
        points.passed("all of a dead runner ended")
        return left

    def _say_once(self, path: str, words: str) -> None:
        """Put a note into a spool nobody else writes, unless it stands there as the last."""
        last = folder.last_line(path)
        if last is None or last.get("d") != words:
            number = folder.number_after(last)
            folder.append(path, "out.jsonl", folder.line(number, "note", words))

    def unfinished(self) -> list[str]:
        """Return the runs that began, have no end, and whose runner is gone; wake the others."""
        left: list[str] = []
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if not _RUN.fullmatch(name) or os.path.exists(os.path.join(path, "exit.json")):
                continue
            if folder.alive(path):
                if folder.unheard(path):  # the node before us may have fallen before it poked
                    folder.poke(path)
            elif self._began(path):
                left.append(name)
        return left

    def reap(self) -> list[str]:
        """Return the runs whose runners have ended since we looked."""
        gone = [run for run, runner in self._started.items() if runner.poll() is not None]
        for run in gone:
            del self._started[run]
        while not self._ended.empty():
            gone.append(self._ended.get())
        return gone


def _turn(session: str, run: str) -> int:
    """Return which turn of the session a run is, from 1; 0 if it is none of its."""
    name, _, number = run.rpartition("-t")
    return int(number) if name == session and number.isdigit() else 0


def _was_told_to_end(path: str) -> bool:
    try:
        with open(opened(os.path.join(path, "in.jsonl")), "rb") as file:
            return b'"k": "end"' in file.read()  # within a text its quotes are escaped
    except (FileNotFoundError, Odd):
        return False


def _does_not_end(pids: list[int]) -> str:
    try:
        with open(f"/proc/{pids[0]}/comm", encoding="utf-8", errors="replace") as file:
            name = file.read().strip()
    except OSError:
        name = "?"
    return (
        f"{WAITS}process {pids[0]} ({name}) was killed and does not end; nothing starts beside it"
    )


def _how(why: str, words: str) -> Fields:
    return {"code": None, "signal": None, "why": why, "words": words, "at": round(time.time(), 3)}


def _gone() -> Fields:
    return _how("cut off", "Cut off: the process that kept it is gone.")


def _stuck() -> Fields:
    return _how("stopped", "Ended: the process that kept it did not do so, and was ended with it.")


def code_folder() -> str:
    """Return the folder that holds our package: unpacked beside the zipped node, or the source."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def desk_needs(code: str) -> list[str]:
    """Return what the desk needs to be shown in a fence: our code, and a Python from elsewhere."""
    shown = [code]
    if not sys.base_prefix.startswith("/usr"):
        shown.append(os.path.realpath(sys.base_prefix))
    return shown
