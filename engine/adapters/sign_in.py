"""How each agent is signed in by its own program: what is run, what is looked for, what it leaves.

    claude   `claude setup-token`: a link; the code its page shows is typed back; it prints a token, which
             goes into the vault (wire of 2.1.332)
    codex    `codex login --device-auth`: a link and a code to type there; it leaves auth.json (0.171.0)
    others   the account's own login_command: a link, perhaps a code; done when it ends with 0

Neighbours: engine/sign_ins.py runs one, engine/node/sign_in.py is its terminal, rules/logins.py where it
stands.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from engine.adapters import links
from engine.errors import Refused
from engine.rules.words import HERE, Account

LIMIT_S = 15 * 60.0  # what a device code is good for


class Way(Struct, frozen=True, kw_only=True):
    """One way to be signed in.

    words    after the program's name
    home     the variable that names its folder of settings
    secret   the variable that what it prints goes into; "": it leaves `file` in its folder
    answer   what is typed back looks like; `wrong` is said of what does not

    What is looked for in its output repeats nothing without end: a program may print what it likes, and the
    node that reads it has other work.
    """

    words: tuple[str, ...] = ()
    home: str = ""
    env: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    code: str = ""
    asks: str = ""
    answer: str = r"\S.*"
    wrong: str = ""
    token: str = ""
    failed: str = ""
    secret: str = ""
    file: str = ""

    @property
    def finds(self) -> dict[str, str]:
        return {
            "code": self.code,
            "asks": self.asks,
            "token": self.token,
            "failed": self.failed,
        }


WAYS: Mapping[str, Way] = {
    "claude": Way(
        words=("setup-token",),
        home="CLAUDE_CONFIG_DIR",
        env=(
            ("CLAUDE_CODE_FULL_SIGN_IN_LINK", "1"),  # else one only its own browser follows
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ),
        hosts=("claude.ai", "claude.com", "platform.claude.com", "console.anthropic.com"),
        asks=r"Paste code here",
        answer=r"[^\s#]{3,}#[^\s#]{3,}",
        wrong="That is not the whole code: copy all of it, with the # in the middle.",
        token=r"(?<![\w-])(sk-ant-oat\d\d-[\w-]{20,500})(?=\s)",
        failed=r"OAuth error: (?:[^\n]{300}|[^\n]{1,299}(?=\n))",
        secret="CLAUDE_CODE_OAUTH_TOKEN",
    ),
    "codex": Way(
        words=("login", "--device-auth"),
        home="CODEX_HOME",
        hosts=("auth.openai.com",),
        code=r"(?m)^[ \t]{0,40}([A-Z0-9]{4}-[A-Z0-9]{4,6})[ \t]{0,40}$",
        file="auth.json",
    ),
}
BY_COMMAND = Way(
    code=r"(?m)(?:^|[:\s])([A-Z0-9]{4}-[A-Z0-9]{4,6})[ \t]{0,40}$",
    asks=r"(?i)\b(?:paste|enter|type)\b[^\n]{0,60}\b(?:code|token|key)\b[^\n]{0,30}(?::|>|\?)\s{0,40}$",
)


def way_of(account: Account) -> Way:
    """Return how an account is signed in; raises Refused where only its owner knows."""
    known = WAYS.get(account.agent)
    if account.login_command:
        home = known.home if known else ""
        return Way(home=home, code=BY_COMMAND.code, asks=BY_COMMAND.asks)
    if known is None:
        raise Refused(
            f"Nobody here knows how {account.agent} is signed in: name its command with quarterdeck "
            f"account add {account.name} … --login-command."
        )
    return known


def machine_for(account: Account, machines: Mapping[str, tuple[bool, Mapping[str, str]]]) -> str:
    """Return where an account's login runs: here, or for a token wherever its agent is.

    machines   whether each is up, and its agents
    """
    way = way_of(account)
    own = bool(account.command or account.login_command)
    if own or account.agent in machines.get(HERE, (False, {}))[1]:
        return HERE
    there = [name for name, (up, agents) in machines.items() if up and account.agent in agents]
    if way.secret and there:
        return there[0]
    raise Refused(
        f"{account.agent} is not installed here, so it cannot sign itself in: install it, or give "
        "the account a token: /accounts"
    )


def order(account: Account, about: Mapping[str, Any], machine: str) -> dict[str, Any]:
    """Return what a machine's node is asked to run."""
    way = way_of(account)
    argv = shlex.split(account.login_command) or [_program(account, about, machine), *way.words]
    program = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=str(about["path"])) or ""
    if machine == HERE and not Path(program or argv[0]).exists():
        raise Refused(f"There is no {argv[0]} on this box: mend the account's command.")
    path = Path(program or argv[0])
    programs = [path, *(Path(word) for word in argv[1:] if _is_program(word))]
    shown = {folder for one in programs for folder in links.folders(one)}
    if machine != HERE:
        shown = {str(path.parent)}
    env = {
        "PATH": str(about["path"]),
        "HOME": "{config}",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/sh",
        **dict(way.env),
        **dict(account.env),
        **({way.home: "{config}"} if way.home else {}),
    }
    folder = account.config_dir if not way.secret and machine == HERE else ""
    return {
        "argv": [program or argv[0], *argv[1:]],
        "account": "" if way.secret else account.name,
        "config": folder,
        "env": env,
        "read": [*about["toolchains"], *(path for path in sorted(shown) if not _is_shown(path))],
        "finds": way.finds,
        "file": way.file,
        "limit_s": LIMIT_S,
    }


def _program(account: Account, about: Mapping[str, Any], machine: str) -> str:
    if account.command and machine == HERE:
        return account.command
    found = dict(about["agents"]).get(account.agent)
    if not found:
        raise Refused(f"{account.agent} is not installed on {machine} any more.")
    return str(found)


def _is_program(word: str) -> bool:
    """Whether a word is a program that another runs: `env NAME=… /path/to/it login`."""
    return word.startswith("/") and Path(word).is_file() and os.access(word, os.X_OK)


def _is_shown(path: str) -> bool:
    """Whether a fence shows a folder anyway, as what it is to the system."""
    return path.startswith(("/usr/", "/opt/", "/nix/")) or path in ("/bin", "/sbin")


def is_strange(link: str, account: Account) -> bool:
    """Whether a link leads to where this agent's pages are not known to be."""
    hosts = WAYS[account.agent].hosts if account.agent in WAYS else ()
    parts = urlsplit(link)
    return bool(link) and (parts.scheme != "https" or parts.netloc.lower() not in hosts)


def openable(link: str) -> str:
    """Return a link that names a host, or nothing."""
    try:
        parts = urlsplit(link)
        return link if parts.hostname and parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def is_answer(account: Account, typed: str) -> bool:
    return re.fullmatch(way_of(account).answer, typed) is not None
