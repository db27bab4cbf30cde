"""The commands that Always may keep: programs we know, with words that we understand. All else is unknown.

    pytest -q tests/rules        a program, its options spelt in full, what else may stand there
    uv run mypy .                one that runs a known command of the project's own environment
    cd web && ls src             a folder of the tree, before what only reads

An option that is not in the table is not understood, however harmless: many programs run what one of
theirs names. So is a path out of the tree, or to what is hidden or holds a key. What a known command
finds in the tree (a Makefile, a test) is the tree's, as it is for the project's check. Pure.
Neighbours: shell.py takes a line apart, always.py asks, keyed_commands.py has the table for
commands with keys, irreversible.py says more of what is never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from engine.rules.irreversible import pieces
from engine.rules.shell import Part, named

# A target or script is known by the word that it begins with, and does nothing beside it.
_TARGETS: Final = named(
    "test tests unit integration e2e spec specs smoke lint lints check checks verify validate build "
    "compile format fmt style typecheck types type typing mypy ruff eslint tsc clippy vet coverage cov "
    "docs doc ci py py3 pytest jest vitest"
)
_BESIDE: Final = named(
    "and then out ship send sync apply seed launch install start stop up down serve update upgrade clean "
    "rm del kill exec shell disk disks device devices drive drives"
)
_KEY_FILES: Final = (
    *(".key", ".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc", ".gpg", ".der", ".ppk"),
    *(".ovpn", ".tfstate", ".sqlite", ".sqlite3", ".db"),
)
_KINDS: Final = {
    "number": re.compile(r"[0-9]{1,6}"),
    "name": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:-]*"),
    "path": re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_@%+=:,./-]*"),
    "package": re.compile(r"\.|\./[A-Za-z0-9_./-]*"),
    "revision": re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@./~^-]*"),
    "target": re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*"),
    "task": re.compile(r":?(test|check|build|assemble|lint|compile|verify|package)"),
    "text": re.compile(r"[^-].*"),
    "looking": re.compile(r"(list|describe)(-[a-z0-9]+)+|ls|list|get-caller-identity"),
    "asking": re.compile(r"ping|dbsize|lastsave|status|version"),
    "bucket": re.compile(r"s3://[A-Za-z0-9._/-]+"),
}
_PATHS: Final = ("path", "file", "package", "revision")


class Known(Struct, frozen=True):
    """What may stand behind a program's name."""

    flags: frozenset[str]
    valued: dict[str, str]  # an option -> the kind of its value
    first: str = ""  # the kind of the first word that is no option, where it is one of its own
    words: str = ""  # the kind of the others; none: there are none
    least: int = 0  # as many of them at least
    after: frozenset[str] = frozenset()  # what may stand behind a "--"


def known(
    options: str = "", words: str = "", first: str = "", least: int = 0, after: str = ""
) -> Known:
    """Read a row: options as prose, those that take a value with its kind behind a colon."""
    told = [option.partition(":") for option in options.split()]
    flags = frozenset(option for option, _, kind in told if not kind)
    valued = {option: kind for option, _, kind in told if kind}
    return Known(flags, valued, first, words, least, named(after))


_CARGO: Final = (
    "-q --quiet -v --verbose --release --all --workspace --all-features --all-targets --lib --bins "
    "--tests --no-default-features --locked --offline --frozen --features:name -p:name --package:name"
)
_GO: Final = "-v -race -short -cover -failfast -count:number -run:name -timeout:name"
_MAKE: Final = known("-s -k -j -j:number --silent --keep-going", "target", least=1)
_SCRIPT: Final = known("-s --silent --if-present", first="target", least=1)
_GRADLE: Final = "-q --quiet --info --offline --no-daemon --stacktrace --parallel"
_LOG: Final = (
    "-# -n:number --oneline --stat --shortstat --graph --decorate --all --name-only --name-status "
    "--no-merges --reverse"
)
_DIFF: Final = "--stat --shortstat --numstat --name-only --name-status --check -w"
_GREP: Final = known(
    "-# -r -R -n -i -l -L -c -w -x -v -E -F -o -h -H -q -s -A:number -B:number -C:number -m:number "
    "--color=never",
    "file",
    first="text",
    least=2,
)

_READERS: Final[dict[str, Known]] = {
    "ls": known("-l -a -A -h -R -1 -t -r -S -d -F -p", "path"),
    "cat": known("-n -b -s", "file"),
    "head": known("-# -q -n:number -c:number", "file"),
    "tail": known("-# -q -n:number -c:number", "file"),
    "wc": known("-l -w -c -m", "file"),
    "nl": known("", "file"),
    "grep, egrep, fgrep": _GREP,
    "pwd": known(),
    "true": known(),
}
# These write to what they are handed: they may only read a pipe.
_FILTERS: Final[dict[str, Known]] = {
    "sort": known("-u -n -r -h -V -f -k:number"),
    "uniq": known("-c -d -u -i"),
    "cut": known("-d:text -f:name -c:name -s"),
    "tr": known("-d -s", "text"),
}
_TOOLS: Final[dict[str, Known]] = {
    "pytest": known(
        "-q -v -x -s -l -ra -rA -rf -rs --quiet --verbose --exitfirst --lf --last-failed --ff "
        "--failed-first --no-header --no-summary --co --collect-only --cov --cov:path --no-cov "
        "--tb:name --maxfail:number --durations:number -k:text -m:text -n:name",
        "path",
    ),
    "ruff check": known(
        "-q --quiet --fix --diff --statistics --no-cache --output-format:name", "path"
    ),
    "ruff format": known("-q --quiet --check --diff --no-cache", "path"),
    "mypy": known("--strict --pretty --no-error-summary --show-error-codes", "path"),
    "pyright, flake8, pylint": known("", "path"),
    "black, isort": known("-q --quiet --check --diff", "path"),
    "eslint": known("--fix --quiet --cache --max-warnings:number", "path"),
    "prettier": known("--check --write -c -w --list-different -l", "path"),
    "tsc": known("--noEmit --pretty --build -b --incremental"),
    "jest": known("--ci --coverage --silent --verbose --runInBand -i -t:text", "path"),
    "vitest run": known("--coverage --silent -t:text", "path"),
    "npm test, npm t, pnpm test": known("-s --silent --if-present"),
    "npm run, npm run-script, pnpm run, yarn run": _SCRIPT,
    "yarn test, yarn lint, yarn build, yarn typecheck, yarn format": known("-s --silent"),
    "pnpm lint, pnpm build, pnpm typecheck, pnpm format": known("-s --silent"),
    "npm ls, pnpm ls": known(),
    "bun test": known("", "path"),
    "make, gmake": _MAKE,
    "just, rake, task": known("", "target", least=1),
    "tox": known("-q -e:target", least=0),
    "cargo test": known(
        _CARGO, first="name", after="--nocapture --ignored --exact --test-threads=1"
    ),
    "cargo nextest run": known(_CARGO, first="name"),
    "cargo build, cargo check": known(_CARGO),
    "cargo clippy": known(_CARGO, after="-D -W warnings clippy::all clippy::pedantic"),
    "cargo fmt": known("--all --check -q --quiet", after="--check"),
    "go test": known(_GO, "package"),
    "go build, go vet, go list": known("-v -race", "package"),
    "go fmt": known("", "package"),
    "gofmt": known("-l -d", "path"),
    "gradle, ./gradlew": known(_GRADLE, "task", least=1),
    "mvn, ./mvnw": known("-q -o -B", "task", least=1),
    "dotnet test, dotnet build": known("--no-restore --no-build", "path"),
    "mix test, mix compile, mix format": known("--warnings-as-errors --check-formatted", "path"),
    "swift test, swift build": known("-q"),
    "flutter test, flutter analyze, dart test, dart analyze": known("", "path"),
    "rspec, rubocop": known("", "path"),
    "phpunit": known("", "path"),
    "rg": known(
        "-n -i -l -c -w -F -v -o -A:number -B:number -C:number -t:name",
        "path",
        first="text",
        least=2,
    ),
    "find": known("-name:text -iname:text -path:text -type:name -maxdepth:number", "path", least=1),
    "diff": known("-u -q -r -w", "file", least=2),
    "echo": known("", "text"),
    "git status": known("-s -b --short --branch --porcelain", "path"),
    "git log": known(_LOG, "revision"),
    "git diff": known(f"{_DIFF} --staged --cached", "revision"),
    "git show": known(f"{_DIFF} --oneline", "revision"),
    "git branch": known("-a -r -v -vv --all --list --show-current"),
    "git rev-parse": known("--short --abbrev-ref --show-toplevel --verify", "revision"),
    "git ls-files": known("-m -o -d", "path"),
    "git describe": known("--tags --always --dirty"),
}
# What runs a command of the project's own environment: that one is judged.
CARRIERS: Final = ("uv run", "poetry run", "pdm run", "pipenv run", "bundle exec")


def rows(*tables: dict[str, Known]) -> dict[str, Known]:
    return {
        name: row for table in tables for names, row in table.items() for name in names.split(", ")
    }


_READS: Final = rows(_READERS)
_PIPED: Final = rows(_READERS, _FILTERS)
ALL: Final = rows(_READERS, _TOOLS)


def understood(parts: Sequence[Part]) -> bool:
    """Whether each part of a line is a command we know, and each word of it one we understand."""
    first, *others = parts
    if first.program != "cd":
        return all(_known(part.words, _PIPED if part.piped else ALL, part.piped) for part in parts)
    rows = [(part, _PIPED if part.piped else _READS) for part in others]
    return (
        len(first.words) == 2
        and bool(others)
        and not others[0].piped
        and _is("path", first.words[1])
        and all(_known(part.words, table, part.piped) for part, table in rows)
    )


def fits(table: dict[str, Known], words: tuple[str, ...]) -> bool:
    """Whether a simple command is in a table, and each of its words."""
    return _known(words, table, piped=False)


def _known(words: tuple[str, ...], table: dict[str, Known], piped: bool) -> bool:
    pair = " ".join(words[:2])
    if pair in CARRIERS and table is ALL:
        return len(words) > 2 and _known(words[2:], table, piped)
    for length in (4, 3, 2, 1):
        if (row := table.get(" ".join(words[:length]))) is not None:
            return _fits(row, words[length:], piped)
    return False


def _fits(row: Known, arguments: tuple[str, ...], piped: bool) -> bool:
    """Whether a program's arguments are all in its row."""
    if "--" in arguments:
        at = arguments.index("--")
        if not row.after or not row.after.issuperset(arguments[at + 1 :]):
            return False
        arguments = arguments[:at]
    told = list(_operands(row, iter(arguments)))
    kinds = [row.first or row.words, *[row.words] * len(told)]
    return len(told) >= row.least - piped and all(
        word is not None and _is(kind, word) for kind, word in zip(kinds, told, strict=False)
    )


def _operands(row: Known, words: Iterator[str]) -> Iterator[str | None]:
    """Yield the words that are no options; None for an option that is not understood."""
    waiting: tuple[str, bool] | None = (
        None  # the kind of value an option takes; whether it may go without
    )
    for word in words:
        if waiting is not None:
            kind, free = waiting
            waiting = None
            if _is(kind, word):
                continue
            if not free:
                yield None
        if not word.startswith("-"):
            yield word
        elif word in row.valued:
            waiting = (row.valued[word], word in row.flags)
        elif not _option(row, word):
            yield None
    if waiting is not None and not waiting[1]:
        yield None


def _option(row: Known, word: str) -> bool:
    """Whether an option is in the row: as it is, with its value, as a number, as letters together."""
    if word in row.flags or ("-#" in row.flags and re.fullmatch(r"-[0-9]{1,5}", word)):
        return True
    name, equals, value = word.partition("=")
    if equals:
        return len(name) > 2 and name in row.valued and _is(row.valued[name], value)
    if (kind := row.valued.get(word[:2])) is not None and _is(kind, word[2:]):
        return True
    return not word.startswith("--") and all(f"-{letter}" in row.flags for letter in word[1:])


def _is(kind: str, word: str) -> bool:
    """Whether a word is of a kind."""
    pattern = _KINDS.get("path" if kind == "file" else kind)
    if pattern is None or not pattern.fullmatch(word):
        return False
    if kind == "target":
        return _target(word)
    return kind not in _PATHS or _in_the_tree(word, whole=kind != "file")


def _target(word: str) -> bool:
    first = re.split(r"[^A-Za-z0-9]", word)[0]
    first = next(iter(re.findall(r"[a-z0-9]+", first)), "")
    return re.sub(r"(?<=py)\d+$", "", first) in _TARGETS and not pieces(word) & _BESIDE


def _in_the_tree(path: str, *, whole: bool) -> bool:
    """Whether a path stays in the tree, and names nothing hidden there, no key, nor (a file) all of it."""
    names = [name for name in path.split("/") if name not in {"", "."}]
    if path.startswith("/") or (not names and not whole):
        return False
    shown = all(name == "..." or not name.startswith(".") or name == ".github" for name in names)
    return shown and not path.lower().endswith(_KEY_FILES)
