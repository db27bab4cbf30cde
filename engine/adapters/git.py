"""One git process: what it may see of the environment, how long it may take, what it said.

A thin process of our own and not GitPython's: that one blocks a thread a call, cannot be ended
when the task that waits for it is, and decodes before we can. The time is git's own either way.

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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import Unavailable

LIMIT_S = 120.0
LONG_S = 3600.0  # a first clone over a slow line
KEPT_BYTES = 64 * 1024 * 1024
_WORDS_BYTES = 64 * 1024

PROTOCOLS: Final = ("https", "http", "ssh", "git")

_ALWAYS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.attributesFile=/dev/null",
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
    raises   Unavailable with git's words for any other exit, and when `limit_s` is over
    """
    allowed = [f"protocol.{name}.allow=always" for name in PROTOCOLS] if remote else []
    allowed += ["protocol.file.allow=always"] if local else []
    settings = [word for one in (*_ALWAYS, *allowed, *config) for word in ("-c", one)]
    where = ["--git-dir", str(at)] if at else []
    process = await asyncio.create_subprocess_exec(
        "git",
        *settings,
        *where,
        *args,
        stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**_environment(remote), **(env or {})},
        cwd="/",
        start_new_session=True,  # no terminal to ask at, and ended as a whole
    )
    try:
        async with asyncio.timeout(limit_s):
            out, err = await _talk(process, stdin, keep)
    except TimeoutError:
        raise Unavailable(f"git {_verb(args)} took longer than {limit_s:.0f} s") from None
    finally:
        await _end(process)
    code = process.returncode if process.returncode is not None else -1
    answer = Answer(code, out[:keep], without_password(shown(err)).strip(), len(out) > keep)
    if ok is not None and code not in ok:
        raise Unavailable(f"git {_verb(args)} failed: {answer.why}")
    return answer


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


async def _talk(
    process: asyncio.subprocess.Process, stdin: bytes, keep: int
) -> tuple[bytes, bytes]:
    """Return both outputs, one byte over what may be kept if there was more."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, err, _ = await asyncio.gather(
        _read(process.stdout, keep + 1), _read(process.stderr, _WORDS_BYTES), _feed(process, stdin)
    )
    await process.wait()
    return out, err


async def _read(stream: asyncio.StreamReader, keep: int) -> bytes:
    kept = bytearray()
    while data := await stream.read(256 * 1024):
        kept += data[: max(0, keep - len(kept))]
    return bytes(kept)


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    if process.stdin is None:
        return
    process.stdin.write(stdin)
    with suppress(BrokenPipeError, ConnectionResetError):
        await process.stdin.drain()
    process.stdin.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave no process behind, also when the task that waited is cancelled."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
