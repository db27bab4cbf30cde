"""One run: a process of its own that starts the agent or the check, and outlives everyone else.

    node ── spec.json, lock, secrets on stdin ──> runner ──> [ fence: the command ]
      in.jsonl, poke ──────────────────────────────> stdin ──>        |  desk.sock
      out.jsonl, blobs/ <── spooled as it comes ─── stdout, stderr <──┘

Nothing here waits for the node or the engine: what the run says is on disk the moment it is read,
what it is told is read from the inbox, and a desk call nobody answers in time is answered "Kept".
The lock was taken by the node and handed down, so that there is no moment without a holder.

    stop: an `end` entry, or SIGTERM  -> the agent's own way out, grace, then the fence is ended
    time limit, too much output       -> the fence is ended
    the command ends                  -> what it left running is ended, pipes drained, exit written

The files are described in engine/node/folder.py; engine/node/serve.py starts us.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time

from engine.node import fence, folder, load, points, title
from engine.node.hold import HOLD_S, NO_ROOM, Hold
from engine.node.opening import Odd, opened

TYPE_CHECKING = False  # as typing's own, which every run would pay for
if TYPE_CHECKING:
    from engine.node.printed import Printed

DESK_INSIDE = "/run/desk.sock"
KEPT = "Kept: it runs once Quarterdeck is back, and you will hear how it went."

_READ = 256 * 1024
_MAX_BLOB = 512 * 1024 * 1024
_MAX_OUTPUT = 1024 * 1024 * 1024
_MAX_PENDING = 4 * 1024 * 1024  # input the agent has not taken yet; more stays in the inbox
_MAX_CALLERS = 32
_MAX_CALLS = 64  # desk calls that wait at a time
_CALL_S = 20.0  # what a desk call may take before it is answered "Kept"
_GRACE_S = 10.0
_LOOK_S = 10.0  # how often it looks whether its folder is still there
_DRAIN_S = 2.0  # for the pipes, once the command has ended


class Spool:
    """out.jsonl and blobs/, written as things happen."""

    def __init__(self, path: str, hold: Hold) -> None:
        self._path = path
        self.hold = hold
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._file = hold.done(lambda: os.open(os.path.join(path, "out.jsonl"), flags, 0o600))
        points.passed("spool opened")
        self.number = 0
        self.size = 0
        self._blobs = 0

    def say(self, kind: str, said: object, **more: object) -> None:
        """Append one line."""
        self.put([self.entry(kind, said, **more)])

    def entry(self, kind: str, said: object, **more: object) -> bytes:
        """Return the next line, to be `put` in order."""
        self.number += 1
        return folder.line(self.number, kind, said, **more)

    def put(self, entries: list[bytes]) -> None:
        """Append whole lines; a full disk is waited out, which holds up the run and loses nothing."""
        data = memoryview(b"".join(entries))
        self.size += len(data)
        points.passed("lines about to be spooled")
        self.hold.write(self._file, data)
        points.passed("lines spooled")

    def blob(self) -> tuple[str, int]:
        """Return the name of a new blob, and a descriptor to write it to."""
        self._blobs += 1
        folder_of_all, name = os.path.join(self._path, "blobs"), str(self._blobs)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC

        def make() -> int:
            os.makedirs(folder_of_all, mode=0o700, exist_ok=True)
            return os.open(os.path.join(folder_of_all, name), flags, 0o600)

        return name, self.hold.done(make)


class Source:
    """One of the command's outputs, cut into lines; memory stays bounded however long a line is."""

    def __init__(self, file: int, kind: str, spool: Spool) -> None:
        self.file = file
        self._kind = kind
        self._spool = spool
        self._rest = bytearray()
        self._blob = -1
        self._name = ""
        self._start = ""
        self._size = 0
        self.last = b""  # for an error that only the output tells

    def read(self) -> bool:
        """Spool what is there; False at the end."""
        try:
            data = os.read(self.file, _READ)
        except BlockingIOError:
            return True
        if not data:
            self.finish()
            return False
        if self._blob >= 0:
            head, newline, data = data.partition(b"\n")
            self._grow(head)
            if not newline:
                return True
            self._end_blob()
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        if lines:
            self._spool.put([self._entry(line) for line in lines])
            self.last = bytes(lines[-1][: folder.BLOB_START])
        if len(self._rest) > folder.MAX_LINE:
            start, self._rest = self._rest, bytearray()
            self._begin_blob(start)
        return True

    def finish(self) -> None:
        """Spool a last line that has no end."""
        if self._blob >= 0:
            self._end_blob()
        elif self._rest:
            self._spool.put([self._entry(self._rest)])
            self._rest = bytearray()

    def _entry(self, line: bytearray) -> bytes:
        if len(line) > folder.MAX_LINE:
            self._begin_blob(line)
            return self._blob_entry()
        try:
            return self._spool.entry(self._kind, line.decode("utf-8"))
        except UnicodeDecodeError:
            return self._spool.entry(self._kind, line.decode("utf-8", "replace"), bad=1)

    def _begin_blob(self, start: bytearray) -> None:
        self._name, self._blob = self._spool.blob()
        points.passed("blob made")
        self._size = 0
        self._start = start[: folder.BLOB_START].decode("utf-8", "replace")
        self._grow(start)

    def _grow(self, data: bytes | bytearray) -> None:
        room = max(0, _MAX_BLOB - self._size)
        self._size += len(data)
        left = memoryview(data)[:room]
        self._spool.size += len(left)
        self._spool.hold.write(self._blob, left)
        points.passed("blob grown")

    def _end_blob(self) -> None:
        self._spool.put([self._blob_entry()])

    def _blob_entry(self) -> bytes:
        os.close(self._blob)
        self._blob = -1
        more = {"cut": 1} if self._size > _MAX_BLOB else {}
        return self._spool.entry(self._kind, self._start, blob=self._name, size=self._size, **more)


class Inbox:
    """in.jsonl from its start: each key counts once, however often it was written."""

    def __init__(self, path: str) -> None:
        self._path = os.path.join(path, "in.jsonl")
        self._offset = 0
        self._seen: set[str] = set()

    def read(self) -> list[folder.Fields]:
        """Return the entries that are new, at most a few hundred kilobytes of them."""
        try:
            with open(opened(self._path), "rb") as file:
                file.seek(self._offset)
                data = file.read(_READ)
                while data and b"\n" not in data and (more := file.read(_READ)):
                    data += more
        except (FileNotFoundError, Odd):
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [entry for line in whole.splitlines() if (entry := self._new(line))]

    def _new(self, line: bytes) -> folder.Fields | None:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return None  # cut off while it was written; the next try has a line of its own
        if not isinstance(entry, dict) or str(entry.get("n")) in self._seen:
            return None
        self._seen.add(str(entry.get("n")))
        return entry


class Outlet:
    """Something to write to that may be slow or gone."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.pending = bytearray()
        self.last = False  # close once `pending` is written
        os.set_blocking(file, False)

    def flush(self) -> bool:
        """Write what goes; False once there is nothing more to write to."""
        try:
            while self.pending:
                del self.pending[: os.write(self.file, self.pending[:_READ])]
        except BlockingIOError:
            return True
        except OSError:  # the reader is gone
            return False
        return not self.last


class Caller(Outlet):
    """One connection to the desk's socket."""

    def __init__(self, file: int) -> None:
        super().__init__(file)
        self.heard = bytearray()


class Call:
    """A desk call that waits for its reply."""

    def __init__(self, caller: Caller, their_id: object, until: float) -> None:
        self.caller = caller
        self.their_id = their_id
        self.until = until


class Desk:
    """The socket the run's tools talk to: calls into the spool, replies out of the inbox."""

    def __init__(self, path: str, spool: Spool, call_s: float) -> None:
        import socket  # not needed by a check, and not cheap

        self._spool = spool
        self._call_s = call_s
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.setblocking(False)
        os.chdir(path)  # a socket's path must be short, and the folder's need not be
        if os.path.lexists("desk.sock"):
            os.unlink("desk.sock")
        self._listener.bind("desk.sock")
        points.passed("desk bound")
        os.chmod("desk.sock", 0o600)
        os.chdir("/")
        self._listener.listen(8)
        points.passed("desk opened")
        self.file = self._listener.fileno()
        self.callers: dict[int, Caller] = {}
        self._calls: dict[str, Call] = {}
        self._count = 0

    def accept(self) -> None:
        """Take one connection."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if len(self.callers) >= _MAX_CALLERS:
            connection.close()
            return
        caller = Caller(connection.detach())
        os.set_inheritable(caller.file, False)
        self.callers[caller.file] = caller

    def drop(self, caller: Caller) -> None:
        """Forget a connection; what it asked goes on, and its reply will be late."""
        if self.callers.pop(caller.file, None):
            os.close(caller.file)

    def hear(self, caller: Caller) -> None:
        """Read from a connection and spool the calls that are whole."""
        try:
            data = os.read(caller.file, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        caller.heard += data
        *lines, caller.heard = caller.heard.split(b"\n")
        for line in lines:
            self._ask(caller, bytes(line))
        if not data or len(caller.heard) > folder.MAX_LINE:
            self.drop(caller)

    def _ask(self, caller: Caller, line: bytes) -> None:
        try:
            asked = json.loads(line)
            text = json.dumps(asked, ensure_ascii=False)
            text.encode("utf-8")  # as the spool will have it
        except (ValueError, RecursionError):  # no JSON, no Unicode, or brackets by the thousand
            asked, text = None, ""
        if not isinstance(asked, dict):
            self._tell(caller, None, "This was no call: one JSON object a line.", True)
            return
        tool, arguments = asked.get("tool"), asked.get("args", {})
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            self._tell(caller, asked.get("id"), "A call needs `tool` and `args`.", True)
            return
        waiting = sum(1 for call in self._calls.values() if call.until)
        if folder.is_deep(text):
            self._tell(
                caller, asked.get("id"), "Brackets within brackets, too deep to be read.", True
            )
            return
        if len(line) > folder.MAX_LINE or waiting >= _MAX_CALLS:
            self._tell(caller, asked.get("id"), "Too much at once: say less, or wait.", True)
            return
        self._count += 1
        name = f"c{self._count}"
        self._calls[name] = Call(caller, asked.get("id"), time.monotonic() + self._call_s)
        self._spool.say("desk", {"call": name, "tool": tool, "args": arguments})

    def reply(self, said: object) -> None:
        """Hand a reply to whoever asked; if that was too late, the spool says so."""
        if not isinstance(said, dict):
            return
        name = str(said.get("call"))
        call = self._calls.pop(name, None)
        if call is None:
            return
        # Who asked may have left and another have come by the same descriptor.
        if not call.until or self.callers.get(call.caller.file) is not call.caller:
            self._spool.say("desk", {"call": name, "late": True})
            return
        self._tell(call.caller, call.their_id, str(said.get("text", "")), bool(said.get("error")))

    def next_s(self, now: float) -> float:
        """Return the seconds until a call has waited long enough."""
        return min((c.until - now for c in self._calls.values() if c.until), default=3600.0)

    def keep(self, now: float) -> None:
        """Answer "Kept" to the calls that have waited long enough."""
        for name, call in self._calls.items():
            if call.until and call.until <= now:
                call.until = 0.0
                self._spool.say("desk", {"call": name, "kept": True})
                self._tell(call.caller, call.their_id, KEPT, False)

    def _tell(self, caller: Caller, their_id: object, text: str, error: bool) -> None:
        if self.callers.get(caller.file) is not caller:
            return
        answer = {"id": their_id, "text": text, "error": error}
        caller.pending += json.dumps(answer).encode("ascii") + b"\n"
        points.passed("desk about to answer")
        if not caller.flush():
            self.drop(caller)
        points.passed("desk answered")


class Run:
    """The loop around one command."""

    def __init__(self, path: str, secrets: folder.Fields) -> None:
        self._path = path
        self._spec = folder.read(os.path.join(path, "spec.json")) or {}
        self._secrets = secrets
        self._run = str(self._spec.get("run", ""))
        self._place = fence.place(path)
        self.hold = Hold()
        self.spool = Spool(path, self.hold)
        self._inbox = Inbox(path)
        self._desk: Desk | None = None
        self._child: fence.Child | None = None
        self._stdin: Outlet | None = None
        self._sources: list[Source | Printed] = []
        self._why = ""  # why it was ended, if by us
        self._kill_at = 0.0  # monotonic; 0: not asked to end
        self._limit_at = 0.0
        self._termed = False
        self._dropped = False
        self._last = ""
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_term)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._poke = os.open(os.path.join(path, "poke"), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._hold_s = float(self._spec.get("hold_s") or HOLD_S)
        self.hold.asked = self._without_room

    def _on_term(self, number: int, frame: object) -> None:
        self._termed = True

    def serve(self) -> folder.Fields:
        """Run the command to its end and return how it ended."""
        failure = self._start()
        if failure:
            self.spool.say("note", failure)
            return self._how(None, None, "not started", failure)
        child = self._child
        assert child is not None
        while (end := child.poll()) is None:
            self._turn()
        self._drain()
        if child.stranded and not self._why:
            failure = "Its network ended from outside, and its fence was ended with it."
            self.spool.say("note", failure)
            return self._how(None, int(signal.SIGKILL), "killed", failure)
        if end.code is not None:
            code, number = (None, end.code - 128) if end.signalled else (end.code, None)
            return self._how(code, number, self._why, self._words())
        if self._why:
            return self._how(None, int(signal.SIGKILL), self._why, self._words())
        if end.signalled:
            failure = "Its fence was ended from outside, by the system for want of memory perhaps."
            self.spool.say("note", failure)
            return self._how(None, int(signal.SIGKILL), "killed", failure)
        failure = f"It could not be started: {self._last or 'its fence said nothing'}"
        self.spool.say("note", failure)
        return self._how(None, None, "not started", failure)

    def _words(self) -> str:
        if self._why != NO_ROOM:
            return ""
        return f"Ended: the disk of its machine took nothing more for {_span(self._hold_s)}."

    def give_up(self) -> folder.Fields:
        """Start nothing, and return why: an agent without its token would seem to be signed out."""
        words = "Cut off: the node that started it fell before it had handed all over."
        self.spool.say("note", words)
        return self._how(None, None, "cut off", words)

    def _how(self, code: int | None, number: int | None, why: str, words: str) -> folder.Fields:
        return {"code": code, "signal": number, "why": why, "words": words}

    # ---- starting

    def _start(self) -> str:
        """Start the command; return why not, or nothing."""
        spec = self._spec
        argv = [str(word) for word in spec.get("argv") or ()]
        if not argv:
            return "Nothing to run: its order names no program."
        env = {str(name): str(value) for name, value in (spec.get("env") or {}).items()}
        given = {str(name): str(value) for name, value in self._secrets.items()}
        hidden = given if spec.get("scrub") else {}
        env.update({} if hidden else given)
        env[fence.MARK], env[fence.PLACE] = self._run, self._place
        probe = fence.Probe(**_known(fence.Probe, spec.get("probe") or {}))
        if spec.get("scrub") and not (probe.fenced and hidden):
            return "A command with a key runs within a fence only, and with the key."
        shown = _known(fence.View, spec.get("fence") or {})
        if hidden:
            from engine.node.programs import safe_path  # by the few runs that hold a key

            away = (str(shown.get("tree") or ""), os.path.dirname(os.path.dirname(self._path)))
            env["PATH"] = safe_path(env.get("PATH", ""), argv[0], away)
            if not env["PATH"]:
                return "It could not be started: no folder of its PATH lies outside its tree."
        if spec.get("desk"):
            call_s = float(spec.get("call_s") or _CALL_S)
            self._desk = self.hold.done(lambda: Desk(self._path, self.spool, call_s))
            if self._why:
                return "It was to end before there was room on the disk to start it."
            real = os.path.join(self._path, "desk.sock")
            env["QUARTERDECK_DESK"] = DESK_INSIDE if probe.fenced else real
            shown["sockets"] = [*shown.get("sockets", ()), (real, DESK_INSIDE)]
        fence.harden()
        if not probe.fenced:
            fence.adopt()
        is_agent = spec.get("kind") != "command"
        points.passed("command about to be started")
        try:
            self._child = fence.launch(
                argv,
                env,
                fence.View(**shown),
                probe,
                stdin=subprocess.PIPE if is_agent else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if is_agent else subprocess.STDOUT,
                hidden=hidden,
            )
        except FileNotFoundError as error:
            return f"It could not be started: there is no {error.filename or argv[0]} here."
        except (OSError, ValueError, TypeError) as error:
            return f"It could not be started: {error}"
        points.passed("command started")
        self._attach(self._child, hidden)
        if spec.get("limit_s"):
            self._limit_at = time.monotonic() + float(spec["limit_s"])
        open_to = f"fenced: {probe.stays_open()}"
        unfenced = f"unfenced: {probe.why or 'no fence was asked for'}"
        self.spool.say("note", open_to if probe.fenced else unfenced)
        return ""

    def _attach(self, child: fence.Child, hidden: dict[str, str]) -> None:
        about = {
            "runner": os.getpid(),
            "runner_started": fence.start_time(os.getpid()),
            "pid": child.pid,
            "child_pid": child.child_pid,
            "started": child.start_time,
            "fenced": child.fenced,
        }
        self.hold.done(lambda: folder.write(os.path.join(self._path, "child.json"), about))
        for pipe, kind in ((child.stdout, "out"), (child.stderr, "err")):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._sources.append(self._source(pipe.fileno(), kind, hidden))
        if child.stdin is not None:
            self._stdin = Outlet(child.stdin.fileno())
            for line in self._spec.get("first_lines") or ():
                self._stdin.pending += str(line).encode("utf-8") + b"\n"

    def _source(self, file: int, kind: str, hidden: dict[str, str]) -> Source | Printed:
        if not hidden:
            return Source(file, kind, self.spool)
        from engine.node.printed import Printed  # by the few runs that hold a key
        from engine.node.scrub import Scrubber

        return Printed(file, Scrubber(hidden), self.spool.say)

    # ---- one turn of the loop

    def _turn(self) -> None:
        """Wait for something to happen and deal with it."""
        self._read_inbox()
        if self._termed:
            self._termed = False
            self._end(str(self._spec.get("end_line") or ""), self._spec.get("grace_s"), "stopped")
        self._flush_stdin()
        self._judge_time()
        for file, event in self._wait():
            self._handle(file, event)

    def _wait(self) -> list[tuple[int, int]]:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        poll.register(self._poke, select.POLLIN)
        for source in self._sources:
            poll.register(source.file, select.POLLIN)
        if self._stdin is not None and self._stdin.pending:
            poll.register(self._stdin.file, select.POLLOUT)
        if self._desk is not None:
            poll.register(self._desk.file, select.POLLIN)
            for caller in self._desk.callers.values():
                poll.register(
                    caller.file, select.POLLIN | (select.POLLOUT if caller.pending else 0)
                )
        now = time.monotonic()
        waits = [_LOOK_S, *(at - now for at in (self._kill_at, self._limit_at) if at)]
        waits.append(self._desk.next_s(now) if self._desk is not None else 3600.0)
        if self._termed:  # it came after we looked
            waits.append(0)
        return poll.poll(max(0.0, min(waits)) * 1000 + 1)

    def _handle(self, file: int, event: int) -> None:
        if file in (self._wake, self._poke):
            _empty(file)
            return
        for source in self._sources:
            if source.file == file:
                if not source.read():
                    self._forget(source)
                self._judge_output()
                return
        if self._desk is None:
            return
        if file == self._desk.file:
            self._desk.accept()
        elif caller := self._desk.callers.get(file):
            if event & select.POLLOUT and not caller.flush():
                self._desk.drop(caller)
            elif event & ~select.POLLOUT:
                self._desk.hear(caller)

    def _read_inbox(self) -> None:
        while self._stdin is None or len(self._stdin.pending) < _MAX_PENDING:
            entries = self._inbox.read()
            if not entries:
                return
            points.passed("inbox read")
            for entry in entries:
                self._obey(entry)
                points.passed("inbox obeyed")

    def _obey(self, entry: folder.Fields) -> None:
        kind, said = entry.get("k"), entry.get("d")
        if kind == "line" and self._stdin is not None and not self._stdin.last:
            self._stdin.pending += str(said).encode("utf-8") + b"\n"
        elif kind == "line":
            self.spool.say("note", "A line came for it after its input was closed.")
        elif kind == "desk" and self._desk is not None:
            self._desk.reply(said)
        elif kind == "end":
            said = said if isinstance(said, dict) else {}
            line = str(said.get("line") or self._spec.get("end_line") or "")
            self._end(line, said.get("grace_s"), "stopped")

    def _flush_stdin(self) -> None:
        if self._stdin is None:
            return
        told = bool(self._stdin.pending)
        if not self._stdin.flush():
            self._close_stdin()
        if told:
            points.passed("command told")

    def _close_stdin(self) -> None:
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()
        self._stdin = None

    # ---- ending

    def _end(self, line: str, grace: object, why: str) -> None:
        """Ask the command to end; what is left of it after the grace is ended."""
        grace_s = float(grace) if isinstance(grace, (int, float)) else _GRACE_S
        until = time.monotonic() + max(grace_s, 0.0)
        first = not self._kill_at
        self._kill_at = until if first else min(until, self._kill_at)
        if grace_s <= 0:
            self._kill(why)
        elif first and self._stdin is not None:
            if line and not self._stdin.last:
                self._stdin.pending += line.encode("utf-8") + b"\n"
            self._stdin.last = True
        elif first and self._child is not None:
            self._why = self._why or why
            self._child.signal(signal.SIGTERM)

    def _kill(self, why: str) -> None:
        self._why = self._why or why
        self._kill_at = self._limit_at = 0.0
        points.passed("command about to be ended")
        if self._child is not None:
            self._child.kill()
        points.passed("command ended")

    def _without_room(self, waited_s: float) -> None:
        """End the command, all the same, where it would be ended with room on the disk."""
        now = time.monotonic()
        if not self.is_there():  # and nobody will ever read what waits
            self._kill("its folder was taken away")
            os._exit(0)
        if self._why:
            return
        if self._termed or (self._kill_at and now >= self._kill_at):
            self._kill("stopped")
        elif self._limit_at and now >= self._limit_at:
            self._kill("limit")
        elif waited_s >= self._hold_s:
            self._kill(NO_ROOM)

    def is_there(self) -> bool:
        """Say whether the run's folder is still the one it began in."""
        try:
            return fence.place(self._path) == self._place
        except FileNotFoundError:
            return False

    def _judge_time(self) -> None:
        now = time.monotonic()
        if not self._why and not self.is_there():  # nobody can reach us any more, nor hear
            self._kill("its folder was taken away")
        if self._desk is not None:
            self._desk.keep(now)
        if self._limit_at and now >= self._limit_at:
            self.spool.say("note", f"Ended: it ran longer than {_span(self._spec['limit_s'])}.")
            self._kill("limit")
        if self._kill_at and now >= self._kill_at:
            self.spool.say("note", "Ended: it did not end by itself when asked to.")
            self._kill("stopped")

    def _judge_output(self) -> None:
        if self._dropped or self.spool.size < int(self._spec.get("max_output") or _MAX_OUTPUT):
            return
        self._dropped = True
        self.spool.say("note", f"Ended: it printed more than {self.spool.size >> 20} MiB.")
        self._kill("too much output")

    def _drain(self) -> None:
        """End what the command left running, and take the last of what was printed."""
        if self._child is not None and not self._child.fenced:
            fence.end_children()
            fence.kill_marked(self._run, self._place)
        points.passed("what the command left ended")
        until = time.monotonic() + _DRAIN_S
        while self._sources and (left := until - time.monotonic()) > 0:
            poll = select.poll()
            for source in self._sources:
                poll.register(source.file, select.POLLIN)
            ready = {file for file, _ in poll.poll(left * 1000)}
            for source in [source for source in self._sources if source.file in ready]:
                if not source.read():
                    self._forget(source)
        for source in self._sources:
            source.finish()

    def _forget(self, source: Source | Printed) -> None:
        self._sources.remove(source)
        self._last = source.last.decode("utf-8", "replace") or self._last


def _known(kind: type, given: folder.Fields) -> folder.Fields:
    """Return of `given` what `kind` has a field for: an order of another version may name more."""
    names = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return {
        name: tuple(tuple(v) if isinstance(v, list) else v for v in value)
        if isinstance(value, list)
        else value
        for name, value in given.items()
        if name in names
    }


def _empty(file: int) -> None:
    try:
        while os.read(file, 4096):
            pass
    except BlockingIOError:
        return


def _span(seconds: float) -> str:
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"


def main(path: str, lock: int) -> None:
    """Serve the run in the folder `path`; its secrets come on standard input.

    lock   the descriptor that holds the run's lock, ours until we end
    """
    title.show(f"quarterdeck-runner {os.path.basename(path)}")
    load.give_up_first()
    os.set_inheritable(lock, False)
    points.passed("runner begun")
    given = sys.stdin.buffer.read()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    secrets = _secrets(given)
    points.passed("secrets read")
    run = Run(path, secrets or {})
    how = run.serve() if secrets is not None else run.give_up()
    how["at"] = round(time.time(), 3)
    how.update(folder.read(os.path.join(path, "child.json")) or {})
    points.passed("end about to be written")

    run.hold.asked = lambda waited_s: None  # there is nothing left to end

    def close() -> None:
        if run.is_there():
            folder.close(path, how, run.spool.number + 1)

    run.hold.done(close)


def _secrets(given: bytes) -> folder.Fields | None:
    """Return what the node handed over; None if it fell before it had."""
    try:
        secrets = json.loads(given)
    except ValueError:
        return None
    return secrets if isinstance(secrets, dict) else None
