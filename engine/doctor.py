"""`quarterdeck doctor`: what this machine has and lacks, each lack with what mends it.

Reads and probes, changes nothing. Knows no engine: it must work when nothing else does.
"""

import fcntl
import json
import platform
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from engine.config import ConfigError, load
from engine.errors import Refused
from engine.paths import Home
from engine.setup import SOCKET_MAX, token

GIT_AT_LEAST = (2, 38)  # merge-tree --write-tree
PYTHON_AT_LEAST = (3, 11)
DISK_GB = 5.0
ANSWER_S = 20.0


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `mend` is empty where nothing need be done."""

    name: str
    good: bool
    says: str
    mend: str = ""
    needed: bool = True  # without it nothing starts


def examine(home: Home) -> Iterator[Finding]:
    """Look at everything, cheapest first."""
    yield _python()
    yield _git()
    yield _fence()
    yield _claude()
    yield _home(home)
    yield _disk(home)
    yield _owners(home)
    yield _token(home)
    yield _keys(home)
    yield _engine(home)


def _python() -> Finding:
    good = sys.version_info >= PYTHON_AT_LEAST
    return Finding("python", good, platform.python_version(), "" if good else "Use 3.11 or newer.")


def _git() -> Finding:
    said = _said("git", "--version")
    words = said.split()
    numbers = words[2].split(".")[:2] if len(words) > 2 else []
    if len(numbers) < 2 or not all(number.isdigit() for number in numbers):
        return Finding("git", False, said or "not found", "Install git 2.38 or newer.")
    good = tuple(int(number) for number in numbers) >= GIT_AT_LEAST
    return Finding("git", good, words[2], "" if good else "Install git 2.38 or newer.")


def _fence() -> Finding:
    from engine.node import fence

    probe = fence.probe()
    mend = "" if probe.fenced else "Agents here would see all that you see; no auto or full mode."
    return Finding("fence", probe.fenced, probe.describe(), mend, needed=False)


def _claude() -> Finding:
    path = shutil.which("claude")
    if path is None:
        return Finding(
            "claude",
            False,
            "not on the PATH",
            "Install Claude Code, or name it: quarterdeck account add … --command /path/to/claude",
            needed=False,
        )
    version = _said(path, "--version").split(" ")[0]
    try:
        signed_in = bool(json.loads(_said(path, "auth", "status")).get("loggedIn"))
    except ValueError:
        signed_in = False
    return Finding(
        "claude",
        signed_in,
        f"{version} at {path}, {'signed in' if signed_in else 'not signed in'}",
        "" if signed_in else "Run `claude auth login`, or give an account a token: --secret-env",
        needed=False,
    )


def _home(home: Home) -> Finding:
    length = len(bytes(home.engine_sock))
    if length > SOCKET_MAX:
        return Finding("home", False, f"{home.root}: too long", "Set QUARTERDECK_HOME shorter.")
    if not home.root.exists():
        return Finding("home", False, f"{home.root} is not there yet", "Run `quarterdeck setup`.")
    mode = stat.S_IMODE(home.root.stat().st_mode)
    if mode & 0o077:
        return Finding("home", False, f"{home.root} is open to others", f"chmod 700 {home.root}")
    return Finding("home", True, str(home.root))


def _disk(home: Home) -> Finding:
    place = home.root
    while not place.exists():
        place = place.parent
    free_gb = shutil.disk_usage(place).free / 1e9
    good = free_gb >= DISK_GB
    mend = "" if good else "Every session has a tree of its own: make room."
    return Finding("disk", good, f"{free_gb:.0f} GB free", mend, needed=False)


def _owners(home: Home) -> Finding:
    try:
        config = load(home)
    except ConfigError as error:
        return Finding("owner", False, error.sentence, "Run `quarterdeck setup`.")
    return Finding("owner", True, ", ".join(str(owner) for owner in config.owner_ids))


def _token(home: Home) -> Finding:
    try:
        text = home.bot_token.read_text(encoding="utf-8")
        mode = stat.S_IMODE(home.bot_token.stat().st_mode)
        token(text)
    except OSError:
        return Finding("token", False, "no bot token", "Run `quarterdeck setup`.")
    except Refused:
        return Finding("token", False, "the file holds no bot token", "Run `quarterdeck setup`.")
    if mode & 0o077:
        return Finding("token", False, "others may read it", f"chmod 600 {home.bot_token}")
    return Finding("token", True, f"of bot {text.split(':')[0]}")


def _keys(home: Home) -> Finding:
    there = [path.exists() for path in (home.vault_key, home.vault_pub)]
    if all(there):
        return Finding("vault", True, "both keys there")
    mend = (
        f"Put {home.secrets} back from your own copy." if any(there) else "Run `quarterdeck setup`."
    )
    return Finding("vault", False, "half of its keys" if any(there) else "no keys", mend)


def _engine(home: Home) -> Finding:
    return Finding("engine", True, "running" if engine_runs(home) else "not running")


def engine_runs(home: Home) -> bool:
    """Say whether a living engine holds the home's lock, by trying to share it for a moment."""
    try:
        with home.engine_lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _said(*argv: str) -> str:
    try:
        found = subprocess.run(
            argv, capture_output=True, text=True, timeout=ANSWER_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()
