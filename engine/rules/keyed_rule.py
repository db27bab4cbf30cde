"""A command that is to be given stored keys: what was asked for, and the rule that Always would keep of it.

A rule is the whole argv, word for word, with the names of the keys. It is kept of what keyed_commands.py
has in its table alone, every word of it: never of what runs other things, prints its variables or is handed
something of the tree. Why none is kept is said as far as a name tells; that decides nothing. Pure.

Neighbours: asking.py puts it to the owner, keyed_run.py has it run, always.py has the rules of all else.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from engine.rules import irreversible, keyed_commands
from engine.rules.shell import named
from engine.rules.words import AlwaysKind, AlwaysRule

LONGEST: Final = 500  # characters: what is allowed for good must be read at a glance
TOOL: Final = "run_with_secret"


class Never(StrEnum):
    """Why no rule is offered."""

    LONG = "long"
    FILE = "file"
    STAYS = "stays"
    RUNS = "anything"  # it can run whatever it is handed, or what it finds in the tree
    OPTION = "option"  # what runs things in many a program; whether in this one is not known
    HANDED = "handed"  # it is given a file of the tree
    PRINTS = "prints"  # the key itself is what it is for
    SIGNS = "signs"  # two such commands may look alike
    UNKNOWN = "unknown"  # not all of it is in the table of what we know


# What runs what it is given, or what lies in the folder it is started in: the best known, to say so.
_RUNNERS: Final = named(
    "sh bash dash zsh fish ksh busybox pwsh env exec eval xargs parallel watch find awk sed vi vim less sudo doas "
    "su chroot nohup nice timeout time strace flock prlimit ssh rsync docker podman kubectl helm systemd-run "
    "python pypy ipython pip pipx uv uvx poetry tox pytest node deno bun npm npx pnpm yarn perl ruby bundle rake "
    "rails php composer lua java gradle gradlew mvn go cargo dotnet swift mix make cmake ninja bazel just task "
    "ansible terraform tofu pulumi git gh glab hg op doppler direnv nix gcc g++ cc clang tar sort split zip "
    "psql mysql mariadb sqlite sqlite3 mongosh mongo duckdb"
)
# What tells the variables it was given: the key, to whoever reads what it prints.
_PRINTERS: Final = named("printenv set export declare typeset compgen dotenv-cli envsubst")
# Options by which many a program runs something, and what stands for such in a word.
_RUNS: Final = re.compile(
    r"-c|-e|-x|-K|-E|-exec(dir)?|-ok(dir)?|--?(eval|exec|execute|command|cmd|run|script|shell|rsh|editor|pager"
    r"|plugin|require|import|load|hook|config|init-file|rcfile|to-command|use-compress-program)(=.*)?"
)
_IN_TREE: Final = re.compile(r"\.\.?(/.*)?|.*[=@:,]\.\.?/.*")
_EXEC: Final = re.compile(r".*exec=.*")
_ITSELF: Final = re.compile(r".*/proc(/.*)?")  # where its variables can be read
_PLAIN: Final = re.compile(r"[ -~]+")


class Wanted(Struct, frozen=True):
    """What an agent asked to be run, and which keys it is to be given."""

    names: tuple[str, ...]
    argv: tuple[str, ...]

    @property
    def command(self) -> str:
        """The argv as a shell would have it: no two are written alike."""
        return shlex.join(self.argv)

    @property
    def packed(self) -> str:
        return json.dumps({"names": sorted(self.names), "argv": self.argv})


def wanted(packed: str) -> Wanted:
    """Read what `packed` wrote."""
    found = json.loads(packed)
    return Wanted(tuple(found["names"]), tuple(found["argv"]))


def rule(asked: Wanted) -> AlwaysRule | Never:
    """Return the rule that Always would keep of a command, or why it would keep none."""
    if (why := _never(asked.argv)) is not None:
        return why
    if len(asked.command) > LONGEST:
        return Never.LONG
    # The names are variables' names, so neither holds the other's mark (words.py reads it).
    text = f"{' '.join(sorted(asked.names))}: {asked.command}"
    return AlwaysRule(AlwaysKind.KEYED, text)


def holds(kept: AlwaysRule) -> bool:
    """Whether a rule that was kept once would still be offered, and so still answers."""
    try:
        argv = shlex.split(kept.command)
    except ValueError:
        return False
    return bool(argv) and rule(Wanted(kept.keys, tuple(argv))) == kept


def _never(argv: Sequence[str]) -> Never | None:
    program, *arguments = argv
    if not program or not all(_PLAIN.fullmatch(word) for word in argv if word):
        return Never.SIGNS
    return None if keyed_commands.understood(argv) else _why(program, arguments)


def _why(program: str, arguments: Sequence[str]) -> Never:
    """Return the best reason that a name gives for what is not in the table."""
    if "/" in program or program.startswith("."):
        return Never.FILE
    if _printing(program) or any(_ITSELF.fullmatch(word) for word in arguments):
        return Never.PRINTS
    if _runs_others(program) or any(part in _RUNNERS for part in _parts(program)):
        return Never.RUNS
    if any(_runs_others(word.rpartition("/")[2]) for word in arguments):
        return Never.RUNS  # behind a program that is not known to run others
    if any(_RUNS.fullmatch(word) or _EXEC.fullmatch(word) for word in arguments):
        return Never.OPTION
    if any(_IN_TREE.fullmatch(word) for word in arguments):
        return Never.HANDED
    if irreversible.undone_by_nobody((program, *arguments)):
        return Never.STAYS
    return Never.UNKNOWN


def _printing(program: str) -> bool:
    return program.lower().removesuffix(".exe") in _PRINTERS


def _parts(program: str) -> list[str]:
    """Return what a program's name is made of: `python` of `python3-dbg`, `gcc` of `arm-linux-gcc-13`."""
    return [part.rstrip(".0123456789") for part in re.split(r"[-_]", program.lower())]


def _runs_others(name: str) -> bool:
    """Whether a program of that name runs others: `python3.11` as `python` does."""
    known = name.lower().removesuffix(".exe")
    return known in _RUNNERS or re.sub(r"[-_.]?\d[\d.]*$", "", known) in _RUNNERS
