"""Always: the narrowest rule that would answer a request like this one from now on, or why there is none.

    Bash         exactly this command          WebFetch   one host, over https
    mcp__x__y    this one tool                 all else   none (edits are what the mode is for)

A rule holds for one project, and one kept of a card that said "fenced" holds within a fence alone. What
is asked is judged by the same function each time, so nothing that would not be offered is ever answered
by a rule kept earlier. No rule for what may be something else the next time: interpreters, what runs
other commands, a file that agents can change, a shell's own expansions. None for what cannot be taken
back, costs money, or names keys. In doubt: none. Pure.

Neighbours: asking.py puts the rule beside the request, project.py keeps rules and answers by them,
shell.py and irreversible.py judge commands.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any, Final

from engine.rules import irreversible, shell
from engine.rules.shell import named
from engine.rules.words import AlwaysKind, AlwaysRule

LONGEST: Final = 500  # characters: what is allowed for good must be read at a glance
OURS: Final = "mcp__quarterdeck__"


class Never(StrEnum):
    """Why no rule is offered."""

    EDIT = "edit"
    TOOL = "tool"
    LONG = "long"
    SHELL = "shell"  # a shell works out what it does only when it runs
    ANYTHING = "anything"  # it runs whatever it is handed
    FILE = "file"  # it runs a file of the tree
    STAYS = "stays"  # it cannot be taken back, or costs money
    KEYS = "keys"
    SITE = "site"  # no plain host over https


_EDITS: Final = ("Edit", "MultiEdit", "NotebookEdit", "Write")
_HARMLESS: Final = {"command", "description", "timeout"}  # what a request to run a command holds

_ANYTHING: Final = named(
    # shells, and their own words
    "sh bash dash zsh fish ksh csh tcsh ash rbash busybox toybox pwsh powershell cmd nu xonsh "
    "if then else elif fi for while until do done case esac select function in time coproc eval exec "
    "source command builtin export unset set declare typeset readonly local alias unalias trap let "
    "read enable hash bind shopt printf wait "
    # languages
    "python pythonw pypy ipython jupyter node nodejs deno bun tsx ts-node perl ruby irb php lua luajit "
    "r rscript julia java javaw jshell groovy scala kotlin dotnet mono erl elixir iex ghci runghc "
    "runhaskell swift ocaml racket guile clj clojure bb tclsh wish expect awk gawk mawk nawk sed ed ex "
    "vi vim nvim emacs nano osascript wscript cscript gdb lldb m m4 bc dc sqlite sqlite3 psql mysql "
    "mariadb mongo mongosh redis-cli duckdb clickhouse-client less more man "
    # what runs another command
    "env xargs nohup setsid timeout nice ionice chrt taskset stdbuf script watch watchexec entr parallel "
    "flock chroot unshare nsenter bwrap firejail strace ltrace valgrind perf catchsegv sudo doas su "
    "pkexec runuser gosu ssh scp sftp rsync rsh mosh telnet nc ncat netcat socat vagrant lxc tmux screen "
    "systemd-run direnv nix nix-shell nix-env npx pnpx bunx uvx pipx corepack volta fnm nvm asdf mise "
    # what fetches others' code to run it
    "pip pip2 pip3 easy_install conda mamba micromamba gem cpan cpanm luarocks opam cabal"
)
_CARRIERS: Final = {  # what runs another command of the project's own environment: that one is judged
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
}
_VERBS: Final[dict[str, frozenset[str]]] = {
    name: named(verbs)
    for name, verbs in {
        "npm": "test t run run-script ls list audit outdated",
        "pnpm": "test t run ls list audit outdated lint build typecheck format check",
        "yarn": "test run lint build typecheck format check list",
        "cargo": "build check test clippy fmt doc bench tree nextest clean",
        "go": "build test vet fmt list version",
        "uv": "sync lock tree",
        "poetry": "install lock check show",
        "pdm": "install lock list",
        "bundle": "install check list",
        "composer": "validate show",
        "mix": "test format compile credo dialyzer",
    }.items()
}
_MAKERS: Final = named("make gmake just task rake tox nox invoke ninja bazel")
_MAKE_WORD: Final = re.compile(r"-j\d*|-[skBn]|-e|[A-Za-z0-9_][A-Za-z0-9_.:,-]*")
_FILTERS: Final = named("head tail grep egrep fgrep wc sort uniq cut tr cat nl")
_WRAPPERS: Final = frozenset(("./gradlew", "./mvnw"))
_RUNS: Final = re.compile(
    r"--?(exec|execdir|ok|okdir|delete|fprint\w*|fls|eval|toolexec|vettool|command|config|init-file|"
    r"rcfile|compress-program|use-compress-program|to-command|checkpoint-action|rsh|init-script)(=.*)?"
)
_SITE: Final = re.compile(r"https://((?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*)(?::443)?(?:[/?#].*)?", re.I)
_NO_SITE: Final = (".local", ".localhost", ".internal", ".lan", ".home", ".onion")
_MCP: Final = re.compile(r"mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+")
_MCP_RUNS: Final = named(
    "run exec execute eval evaluate shell bash command commands terminal script code query sql "
    "invoke call write create update insert set"
)


def rule(tool: str, input_json: str, *, unfenced: bool = False) -> AlwaysRule | Never:
    """Return the rule that Always would keep of a request, or why it would keep none."""
    if tool in _EDITS:
        return Never.EDIT
    given = _given(input_json)
    if tool == "Bash" and given is not None:
        return _command(given, unfenced=unfenced)
    if tool == "WebFetch" and given is not None:
        return _site(given, unfenced=unfenced)
    if _MCP.fullmatch(tool) and not tool.startswith(OURS):
        return _tool(tool, unfenced=unfenced)
    return Never.TOOL


def _given(input_json: str) -> dict[str, Any] | None:
    try:
        given = json.loads(input_json)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _command(given: dict[str, Any], *, unfenced: bool) -> AlwaysRule | Never:
    """A command word for word; what else the request asks for is either harmless or in doubt."""
    command = given.get("command")
    if not isinstance(command, str) or any(
        value for name, value in given.items() if name not in _HARMLESS
    ):
        return Never.SHELL
    if len(command) > LONGEST:
        return Never.LONG
    parts = shell.parts(command)
    if parts is None:
        return Never.SHELL
    for part in parts:
        if (why := _never(part.words, piped=part.piped)) is not None:
            return why
    return AlwaysRule(AlwaysKind.COMMAND, command, unfenced)


def _never(words: tuple[str, ...], *, piped: bool = False) -> Never | None:
    """Return why a simple command is never allowed for good, None where it may be."""
    program, *arguments = words
    if program in _WRAPPERS:
        program = program.removeprefix("./")
    if "/" in program or "." in program:
        return Never.ANYTHING if _bare(program) in _ANYTHING else Never.FILE
    if not _names(program).isdisjoint(_ANYTHING) or (piped and program not in _FILTERS):
        return Never.ANYTHING
    if irreversible.about_keys(words):
        return Never.KEYS
    if tuple(words[:2]) in _CARRIERS:
        inner = words[2:]
        return _never(inner) if inner and not inner[0].startswith("-") else Never.ANYTHING
    if irreversible.undone_by_nobody(words):
        return Never.STAYS
    if not _stays_itself(program.lower(), arguments):
        return Never.ANYTHING
    return None


def _names(program: str) -> set[str]:
    """What a program may be known as: in capitals, with a version behind it, as GNU's own."""
    name = program.lower()
    bare = name.rstrip("0123456789-_+")
    return {name, bare, name.removeprefix("g"), bare.removeprefix("g")}


def _bare(program: str) -> str:
    """A program's name without its folder and version."""
    return program.rpartition("/")[2].lower().rstrip("0123456789.-")


def _stays_itself(program: str, arguments: list[str]) -> bool:
    """Whether a command is the same one the next time, and runs nothing that it is handed."""
    if any(_RUNS.fullmatch(word) for word in arguments):
        return False
    if {"-c", "-e"} & set(arguments) and any(" " in word for word in arguments):
        return False
    if program in _MAKERS:
        return all(_MAKE_WORD.fullmatch(word) for word in arguments)
    verbs = _VERBS.get(program)
    return verbs is None or (bool(arguments) and arguments[0] in verbs)


def _site(given: dict[str, Any], *, unfenced: bool) -> AlwaysRule | Never:
    url = given.get("url")
    found = _SITE.fullmatch(url) if isinstance(url, str) and url.isascii() else None
    if found is None or found[1].lower().endswith(_NO_SITE):
        return Never.SITE
    return AlwaysRule(AlwaysKind.SITE, found[1].lower(), unfenced)


def _tool(tool: str, *, unfenced: bool) -> AlwaysRule | Never:
    if irreversible.tool_undone_by_nobody(tool):
        return Never.STAYS
    if irreversible.pieces(tool) & _MCP_RUNS:
        return Never.ANYTHING
    return AlwaysRule(AlwaysKind.TOOL, tool, unfenced)
