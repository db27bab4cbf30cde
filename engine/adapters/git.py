"""One git process: what it may see of the environment, how long it may take, what it said.

A thin process of our own and not GitPython's: that one cannot be ended when the task that waits for
it is, and decodes before we can. The time is git's own either way.

Whatever we run, hooks, fsmonitor and automatic upkeep are off. Work among our own files sees no
configuration but ours; `REMOTE` work, which talks to the outside, sees the owner's, since that is
where credential helpers, SSH commands and proxies are named. engine/adapters/hub.py and sources.py
are the callers.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from engine.errors import NoRoom, Refused, Unavailable
from engine.node import room

LIMIT_S = 120.0
LONG_S = 3600.0  # a first clone over a slow line
KEPT_BYTES = 64 * 1024 * 1024
_WORDS_BYTES = 64 * 1024
_READ_BYTES = 256 * 1024
_THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="git")

PROTOCOLS: Final = ("https", "http", "ssh", "git")

_ALWAYS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.attributesFile=/dev/null",
    # Left alone, git syncs packs only: the power fails, and what the ledger calls landed is not there.
    "core.fsync=objects,reference",
    "core.fsyncMethod=batch",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "protocol.version=2",
    "protocol.allow=never",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
    "receive.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "submodule.recurse=false",
)
_PLAIN: Final = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "SSH_ASKPASS_REQUIRE": "never",
}
_ALONE: Final = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "HOME": "/nonexistent",
}
# What reaching a remote may need, and nothing else of the engine's environment.
_FOR_REMOTES: Final = (
    "HOME",
    "USER",
    "LOGNAME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
)
_GRACE_S: Final = 5.0  # for a git that nobody waits for any more
_PASSWORD = re.compile(r"(?<=://)[^/@\s']+@")


@dataclass(frozen=True)
class Answer:
    """What one git process left behind."""

    code: int
    out: bytes
    words: str  # its standard error, printable, addresses without their passwords
    cut: bool = False  # `out` is not all of it

    @property
    def line(self) -> str:
        """Return the output as one line of text."""
        return shown(self.out).strip()

    @property
    def why(self) -> str:
        """Return git's own reason, without its progress."""
        lines = [line for line in self.words.splitlines() if line.strip()]
        told = [line for line in lines if not line.startswith(("hint:", "warning: redirecting"))]
        return "\n".join(told[-12:]) or f"git ended with {self.code} and said nothing"


def shown(raw: bytes) -> str:
    """Return text that every file and card can hold; bytes that are no UTF-8 as escapes."""
    return raw.decode("utf-8", "backslashreplace")


def without_password(text: str) -> str:
    """Return `text` with what stands before an @ in an address taken out."""
    return _PASSWORD.sub("", text)


async def git(
    *args: str | bytes,
    at: Path | None = None,
    remote: bool = False,
    local: bool = False,
    config: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    ok: Sequence[int] | None = (0,),
    limit_s: float = LIMIT_S,
    keep: int = KEPT_BYTES,
) -> Answer:
    """Run git and return what it said.

    at       a git directory of ours, or None where `args` say where
    remote   it talks to the outside: the owner's own configuration and credentials are seen
    local    it may talk to a repository on this machine
    ok       the exit codes that are answers; None: all of them
    keep     bytes of output kept, the rest is read and dropped
    raises   Unavailable with git's words for any other exit, and when `limit_s` is over; NoRoom
             when the disk takes nothing, whatever is `ok`; Refused
             when there is nothing at `at` any more, which no second try would bring back
    """
    allowed = [f"protocol.{name}.allow=always" for name in PROTOCOLS] if remote else []
    allowed += ["protocol.file.allow=always"] if local else []
    settings = [word for one in (*_ALWAYS, *allowed, *config) for word in ("-c", one)]
    where = ["--git-dir", str(at)] if at else []
    run = _Run(
        ["git", *settings, *where, *args], {**_environment(remote), **(env or {})}, stdin, keep + 1
    )
    try:
        async with asyncio.timeout(limit_s):
            code, out, err = await asyncio.get_running_loop().run_in_executor(_THREADS, run.go)
    except TimeoutError:
        raise Unavailable(f"git {_verb(args)} took longer than {limit_s:.0f} s") from None
    finally:
        run.end()
    answer = Answer(code, out[:keep], without_password(shown(err)).strip(), len(out) > keep)
    if code not in (ok or (0,)) and at and not await asyncio.to_thread(at.is_dir):
        raise Refused(
            f"The clone of {at.stem} that this machine kept is gone, and with it what had landed "
            f"there. Bring {at} back from a backup and try again, or give the goal anew."
        )
    if code and (room.is_said(answer.words) or (code not in (ok or (0,)) and _is_full(at, args))):
        raise NoRoom(f"git {_verb(args)} found no room on the box's disk: {answer.why}")
    if ok is not None and code not in ok:
        raise Unavailable(f"git {_verb(args)} failed: {answer.why}")
    return answer


async def upload_pack(at: Path) -> asyncio.subprocess.Process:
    """Start what serves a git directory of ours, to be read from, on its own input and output."""
    return await asyncio.create_subprocess_exec(
        *("git", *(word for one in _ALWAYS for word in ("-c", one))),
        *("upload-pack", "--strict", str(at)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**_environment(remote=False), "GIT_PROTOCOL": "version=2"},
        cwd="/",
        start_new_session=True,
    )


def _is_full(at: Path | None, args: Sequence[str | bytes]) -> bool:
    """Say whether there is no room where git was to write: it does not always say so itself."""
    last = args[-1] if isinstance(args[-1], str) else shown(args[-1])
    where = at or Path(last)
    free, _ = room.free_mb(str(where)) if where.is_absolute() else (-1, -1)
    return 0 <= free < room.NOTHING_MB


def _environment(remote: bool) -> dict[str, str]:
    mine = {"PATH": os.environ.get("PATH", os.defpath), **_PLAIN}
    if not remote:
        return {**mine, **_ALONE}
    return mine | {name: os.environ[name] for name in _FOR_REMOTES if name in os.environ}


def _verb(args: Sequence[str | bytes]) -> str:
    """Return the command's name, for an error."""
    for word in args:
        text = word if isinstance(word, str) else shown(word)
        if text.isascii() and text.replace("-", "").isalpha() and not text.startswith("-"):
            return text
    return ""


def _file() -> IO[bytes]:
    """Return a file without a name, in memory where that can be had."""
    if sys.platform == "linux":
        return open(os.memfd_create("git"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


class _Run:
    """One process, begun and read in a thread: cheaper than asyncio's own, and blocks no loop."""

    def __init__(
        self, argv: Sequence[str | bytes], env: Mapping[str, str], stdin: bytes, keep: int
    ) -> None:
        self._argv, self._env, self._stdin, self._keep = argv, env, stdin, keep
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def go(self) -> tuple[int, bytes, bytes]:
        """Return the exit code, up to `keep` bytes of output, and what went to standard error."""
        with _file() as errors, _file() if self._stdin else nullcontext() as given:
            if given is not None:
                given.write(self._stdin)
                given.seek(0)
            with self._lock:
                if self._ended:
                    return -1, b"", b""
                self._process = process = subprocess.Popen(
                    self._argv,
                    bufsize=0,
                    stdin=subprocess.DEVNULL if given is None else given,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=self._env,
                    cwd="/",
                    start_new_session=True,  # no terminal to ask at, and ended as a whole
                )
            assert process.stdout is not None
            kept = bytearray()
            with process.stdout as stdout:
                while data := stdout.read(_READ_BYTES):
                    kept += data[: self._keep - len(kept)]
            code = process.wait()
            with self._lock:
                self._ended = True
            errors.seek(0)
            return code, bytes(kept), errors.read(_WORDS_BYTES)

    def end(self) -> None:
        """Leave no process behind when nobody waits for it any more; nothing if it is over.

        Asked first, so that git takes its locks away: a killed one leaves them in everybody's way.
        """
        with self._lock:
            if not self._ended and self._process is not None:
                self._signal(self._process.pid, signal.SIGTERM)
                late = threading.Timer(_GRACE_S, self._kill, [self._process])
                late.daemon = True
                late.start()
            self._ended = True

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:  # nobody has reaped it, so the number is still its own
            self._signal(process.pid, signal.SIGKILL)

    @staticmethod
    def _signal(group: int, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(group, number)
