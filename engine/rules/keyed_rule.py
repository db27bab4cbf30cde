"""A command that is to be given stored keys: what was asked for, and the rule that Always would keep of it.

A rule is the whole argv, word for word, with the names of the keys. It is kept of a plain program only:
none that runs what it is handed or what it finds in the tree (a shell, an interpreter, a build tool, git),
or that prints its variables, no file of the tree, no letters but plain ones, nothing that irreversible.py
knows. A name that lies about itself is not seen through:
the card shows the command, and that it can read the key. Pure.

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

from engine.rules import irreversible
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


# What runs what it is given, or what lies in the folder it is started in.
_RUNNERS: Final = named(
    "sh bash dash zsh fish ksh csh tcsh ash busybox toybox pwsh powershell cmd "
    "env exec eval command builtin source nohup nice ionice time timeout stdbuf setsid script unbuffer "
    "xargs parallel watch entr find fd awk gawk mawk sed ed ex vi vim nvim nano emacs less more man "
    "sudo doas su runuser setpriv capsh chroot unshare nsenter bwrap firejail flatpak-spawn strace ltrace "
    "gdb lldb perf valgrind ssh scp sftp rsync mosh autossh socat nc ncat netcat telnet tmux screen expect "
    "docker podman nerdctl docker-compose compose kubectl helm vagrant packer nomad systemd-run at batch "
    "python pypy ipython jupyter pip pipx uv uvx poetry pdm pipenv conda mamba tox nox hatch pytest "
    "node nodejs deno bun tsx ts-node npm npx pnpm pnpx yarn corepack jest vitest playwright cypress "
    "perl ruby irb gem bundle bundler rake rails rspec php composer lua luajit tclsh wish guile racket "
    "java javac jshell kotlin kotlinc scala sbt gradle gradlew mvn mvnw ant groovy clojure clj lein "
    "go cargo rustc dotnet swift swiftc zig nim crystal julia rscript r octave matlab erl elixir mix iex "
    "make gmake cmake ninja meson bazel just task scons waf ansible terraform tofu pulumi "
    "git gh hub glab hg svn jj pre-commit direnv dotenv op doppler chamber aws-vault vault sops "
    "taskset flock chrt setarch linux32 linux64 i386 x86_64 prlimit run-parts fakeroot fakechroot sg newgrp "
    "dbus-run-session dbus-launch pkexec start-stop-daemon ld.so ld-linux wine mono qemu proot "
    "systemd-nspawn machinectl toolbox toolbx distrobox flatpak snap logrotate cron crontab anacron "
    "watchexec hyperfine nodemon pm2 forever concurrently cross-env dotenvx infisical mise asdf rbenv pyenv "
    "nvm volta fnm nu xonsh elvish hy sbcl ecl gforth runghc runhaskell ghc ghci stack cabal ocaml dune opam "
    "nix nix-shell nix-build guix gcc g++ cc c++ cpp clang clang++ ld webpack vite rollup esbuild tsc "
    "gulp grunt turbo nx lerna rush next nuxt eslint prettier hugo jekyll mkdocs sphinx-build alembic flask "
    "celery gunicorn uvicorn hypercorn uwsgi dbt snakemake nextflow ctest qmake cmake m4 bc dc gnuplot gs "
    "latex pdflatex xelatex lualatex tex act earthly dagger mill buck buck2 pants please gpg gpg2 "
    "tar bsdtar cpio sort split zip install mail mailx mutt "
    "psql mysql mariadb sqlite sqlite3 mongosh mongo redis-cli duckdb osascript open xdg-open"
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
    if "/" in program or program.startswith("."):
        return Never.FILE
    if _printing(program) or any(_ITSELF.fullmatch(word) for word in arguments):
        return Never.PRINTS
    if runs_others(program) or any(part in _RUNNERS for part in _parts(program)):
        return Never.RUNS
    if any(runs_others(word.rpartition("/")[2]) for word in arguments):
        return Never.RUNS  # behind a program that is not known to run others
    if any(_RUNS.fullmatch(word) or _EXEC.fullmatch(word) for word in arguments):
        return Never.OPTION
    if any(_IN_TREE.fullmatch(word) for word in arguments):
        return Never.HANDED
    return Never.STAYS if irreversible.undone_by_nobody(argv) else None


def _printing(program: str) -> bool:
    return program.lower().removesuffix(".exe") in _PRINTERS


def _parts(program: str) -> list[str]:
    """Return what a program's name is made of: `python` of `python3-dbg`, `gcc` of `arm-linux-gcc-13`."""
    return [part.rstrip(".0123456789") for part in re.split(r"[-_]", program.lower())]


def runs_others(name: str) -> bool:
    """Whether a program of that name runs others: `python3.11` as `python` does."""
    known = name.lower().removesuffix(".exe")
    return known in _RUNNERS or re.sub(r"[-_.]?\d[\d.]*$", "", known) in _RUNNERS
