"""`quarterdeck doctor`: what this machine has and lacks, each lack with what mends it.

Reads and probes, changes nothing. Needs no engine: it must work when nothing else does, so accounts
are read from the ledger's file. Telegram is asked once (getMe), unless told not to.
"""

import ctypes
import fcntl
import platform
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import backups, service
from engine.adapters.agents.claude import Claude
from engine.codec import Codec
from engine.config import ConfigError, load
from engine.errors import Broken, Refused, Unavailable
from engine.node import serve, tidy
from engine.paths import Home
from engine.rules import disks
from engine.rules.fleet import Fleet
from engine.rules.words import Account
from engine.setup import SOCKET_MAX, ask_telegram, token

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


def examine(home: Home, *, offline: bool = False) -> Iterator[Finding]:
    """Look at everything, a subject at a time."""
    yield _python()
    yield _git()
    yield _fence(home)
    yield from _agents(home)
    yield _home(home)
    yield _disk(home)
    yield _clock()
    yield _owners(home)
    yield _token(home)
    if not offline:
        yield from _telegram(home)
    yield _keys(home)
    yield _backup(home)
    yield _engine(home)
    yield from _service(home)


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


def _fence(home: Home) -> Finding:
    from engine.node import fence, own_network

    probe = own_network.tried(fence.probe(), str(home.root))
    mend = "" if probe.fenced else "Agents here would see all that you see; no auto or full mode."
    if probe.shares:
        mend = "Agents here reach this machine's own network services."
        if probe.shares == own_network.INSTALL:
            mend += " Recommended: sudo apt-get install passt."
    return Finding("fence", probe.fenced, probe.describe(), mend, needed=False)


# ---------------------------------------------------------------- agents and accounts


def _agents(home: Home) -> Iterator[Finding]:
    """Look at each account's own agent; with no account yet, at the one most begin with."""
    try:
        accounts = _accounts(home)
    except (Broken, sqlite3.Error) as error:
        mend = "Run `quarterdeck engine` in a terminal: it says what is wrong."
        yield Finding("accounts", False, f"the ledger cannot be read: {error}", mend, needed=False)
        return
    if not accounts:
        yield _claude()
    for account in accounts:
        yield _account(home, account)


def _accounts(home: Home) -> tuple[Account, ...]:
    rows = _rows(home.engine_db, "SELECT body FROM states WHERE stream = 'fleet'")
    codec: Codec[Fleet] = Codec(Fleet)
    return codec.load(rows[0][0]).accounts if rows else ()


def _rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Ask a file of ours without opening it for anything else; none: it is not there yet."""
    if not path.exists():
        return []
    # Nobody has it open: read it without the files beside it, which would be left behind as ours.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as file:
        return file.execute(sql).fetchall()


def _account(home: Home, account: Account) -> Finding:
    name = f"account {account.name}:"
    if account.agent == "rehearsal":
        return Finding(name, True, "the rehearsal agent, which is ours")
    again = f"quarterdeck account add {account.name} --agent {account.agent}"
    path = account.command or serve.agents().get(account.agent, "")
    if not path:
        mend = f"Install {account.agent}, or say where it is: {again} --command /path/to/it"
        return Finding(name, False, f"{account.agent} is not found", mend, needed=False)
    version = _said(path, "--version").partition("\n")[0]
    if not version:
        says = f"{path} does not run"
        return Finding(name, False, says, f"{again} --command /path/to/it", needed=False)
    lack = _login_lack(home, account)
    says = f"{version} at {path}, {lack or 'signed in'}"
    return Finding(name, not lack, says, f"{again} --secret-env KEY" if lack else "", needed=False)


def _login_lack(home: Home, account: Account) -> str:
    """Return what an account lacks to sign in, as far as this machine can tell without asking out."""
    kept = {name for (name,) in _rows(home.vault_db, "SELECT DISTINCT name FROM secrets")}
    missing = [key for key in account.secret_env if f"account/{account.name}/{key}" not in kept]
    if missing:
        return f"without its {', '.join(missing)}"
    login = Claude.login_file if account.agent == Claude.name else ""
    if account.secret_env or not login:
        return ""
    if not account.config_dir:
        return "not signed in"
    return "" if Path(account.config_dir, login).exists() else f"no login in {account.config_dir}"


def _claude() -> Finding:
    path = serve.agents().get("claude")
    if path is None:
        return Finding(
            "claude",
            False,
            "not on the PATH",
            "Install Claude Code, or name it: quarterdeck account add … --command /path/to/claude",
            needed=False,
        )
    version = _said(path, "--version").split(" ")[0]
    return Finding(
        "claude",
        False,
        f"{version} at {path}, and no account yet",
        "quarterdeck account add main --agent claude --secret-env CLAUDE_CODE_OAUTH_TOKEN",
        needed=False,
    )


# ---------------------------------------------------------------- this machine


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
    ours = "" if good else disks.sizes(tuple(tidy.ours(str(home.root))))
    may = f" May be deleted there: {ours}." if ours else ""
    mend = "" if good else f"Every session has a tree of its own: make room.{may}"
    return Finding("disk", good, f"{free_gb:.0f} GB free", mend, needed=False)


TIME_ERROR = 5  # what adjtimex(2) answers while nothing keeps the clock


def _clock() -> Finding:
    """Ask the kernel whether something keeps its clock right; asking changes nothing."""
    if sys.platform != "linux":
        return Finding("clock", True, "not looked at")
    kept = ctypes.CDLL(None).adjtimex((ctypes.c_char * 512)()) != TIME_ERROR
    if kept:
        return Finding("clock", True, "kept by the network's time")
    mend = "sudo timedatectl set-ntp true. Schedules and limits go by the clock."
    return Finding("clock", False, "nothing keeps it right", mend, needed=False)


# ---------------------------------------------------------------- the bot


def _owners(home: Home) -> Finding:
    try:
        config = load(home)
    except ConfigError as error:
        return Finding("owner", False, error.sentence, "Run `quarterdeck setup`.")
    if not config.owner_ids:
        mend = "Press the link that `quarterdeck setup` printed; `quarterdeck setup --pair` prints anew."
        return Finding("owner", False, "nobody yet: the bot waits for its pairing link", mend)
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


def _telegram(home: Home) -> Iterator[Finding]:
    """Ask whether the token is good and topics are on; nothing where there is none to ask with."""
    try:
        api_url, bot_token = load(home).api_url, token(home.bot_token.read_text(encoding="utf-8"))
    except (OSError, Refused):
        return
    try:
        bot = ask_telegram(api_url, bot_token)
    except Refused as error:
        yield Finding("bot", False, error.sentence, "Then run `quarterdeck setup` again.")
        return
    except Unavailable as error:
        yield Finding("bot", False, error.sentence, "Is this machine online?", needed=False)
        return
    yield Finding("bot", True, bot.name)
    mend = "" if bot.topics else "@BotFather, your bot's settings: Threaded Mode. A goal, a thread."
    yield Finding("topics", bot.topics, "on" if bot.topics else "off", mend, needed=False)


# ---------------------------------------------------------------- what is ours, and running


def _keys(home: Home) -> Finding:
    there = [path.exists() for path in (home.vault_key, home.vault_pub)]
    if all(there):
        if home.vault_key.stat().st_mode & 0o077:
            mend = f"chmod 600 {home.vault_key}, then `quarterdeck key rotate`."
            return Finding("vault", False, "others may read its key", mend)
        return Finding("vault", True, "both keys there")
    if home.vault_pub.exists() and engine_runs(home):
        return Finding("vault", True, "its key is given by systemd")
    mend = (
        f"Put {home.secrets} back from your own copy." if any(there) else "Run `quarterdeck setup`."
    )
    return Finding("vault", False, "half of its keys" if any(there) else "no keys", mend)


def _backup(home: Home) -> Finding:
    now = time.time()
    there, wrong = backups.past(home, now), backups.ahead(home, now)
    says = f"{len(there)} here, the newest {there[-1].path.name}" if there else "none yet"
    if wrong:
        says += f"; {len(wrong)} dated ahead of the clock: {wrong[0].path.name}"
    if home.recovery.exists() or not home.vault_pub.exists():
        return Finding("backup", True, says)
    mend = "quarterdeck key recovery: without a code nobody opens the keys in a backup."
    return Finding("backup", False, f"{says}; no recovery code", mend, needed=False)


def _engine(home: Home) -> Finding:
    return Finding("engine", True, "running" if engine_runs(home) else "not running")


def _service(home: Home) -> Iterator[Finding]:
    found = service.installed(home)
    if found is None:
        mend = "quarterdeck service install: it starts with the machine, and again when it fails."
        yield Finding("service", False, "not installed", mend, needed=False)
        return
    installed, same = found
    silent = [unit for unit in service.MAIN if not service.is_active(installed, unit)]
    again = f"quarterdeck service install{' --system' if installed.system else ''}"
    if silent:
        unit = silent[0].removesuffix(".service")
        look = " ".join(("journalctl", *installed.scope, "-u", unit, "-n 50"))
        yield Finding("service", False, f"{unit} does not run", look, needed=False)
    elif not same:
        yield Finding("service", False, "of another release", f"{again} renews it.", needed=False)
    else:
        yield Finding("service", True, "runs")
    if not installed.system:
        on = service.lingers()
        mend = "" if on else "All ends when you log out: loginctl enable-linger"
        yield Finding("linger", on, "on" if on else "off", mend, needed=False)


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
