"""What files of its repository a hook or a server starts, as far as its words say it for certain.

    bash "$CLAUDE_PROJECT_DIR/scripts/x.sh" --fast   ->   the file scripts/x.sh, run from the copy

Whatever a shell would work out when it runs (other variables, substitutions, patterns, words of several
quotes), what changes where it looks (`cd`, `A=1` before it), code given as an argument, and an
interpreter whose script is no file of the commit cannot be followed: None. A plain program that is found
on the PATH can. Errs that way: a command left off is asked to be written plainly, one that is run as the
work in the tree has it was never seen. Pure. Neighbour: claude_brings.py.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from engine.rules.shell import named

_HERE: Final = re.compile(
    r"(?:\$CLAUDE_PROJECT_DIR(?![\w])|\$\{CLAUDE_PROJECT_DIR(?::-[\w./]*)?\}|\$PWD(?![\w])|\$\{PWD\}"
    r"|\$\(git[ ]rev-parse[ ]--show-toplevel\)|`git[ ]rev-parse[ ]--show-toplevel`)"
)
_QUIET: Final = r"(?:[12&]?>[ ]?/dev/null|[12]?>&[12])(?=[\s;|&]|$)"
_TOKEN: Final = re.compile(
    rf"""(?P<space>[ \t]+) | (?P<quiet>{_QUIET}) | (?P<end>&&|\|\||;|\||\n)
    | (?P<word>(?:{_HERE.pattern}|[\w@%+=:,./!^{{}}~[\]-]|'[^']*'|"(?:{_HERE.pattern}|[^"$`\\])*")+)""",
    re.VERBOSE,
)
_WHOLE: Final = re.compile(
    r"""(?P<before>(?:-{1,2}[\w-]+=)?)(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<bare>[^'"]*))"""
)
_HALF: Final = re.compile(
    rf"""(?P<before>(?:-{{1,2}}[\w-]+=)?)"(?:{_HERE.pattern})"(?P<rest>/[^'"]*)"""
)
_PATH: Final = re.compile(r"[\w@+.-]+(?:/[\w@+.-]+)*")
_GIVEN: Final = re.compile(r"-{1,2}[\w-]+=")
_SET: Final = re.compile(r"\w+\+?=")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+.-]*|\[{1,2}|:")
_SYSTEM: Final = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[\w+.-]+")

_LEADS: Final = named("if then elif else while until ! time")
_ALONE: Final = named("fi done do")
_INTERPRETERS: Final = re.compile(
    r"(?:r?ba|da|z|k|mk|a|fi|tc|c|xon)?sh|source|\.|busybox|toybox|hy|nu"
    r"|(?:python|pypy|ruby|perl|php|lua|node|nodejs|tclsh|wish)[\d.]*(?:-dbg|w)?|luajit|deno|bun|tsx|ts-node"
    r"|Rscript|pwsh|powershell|osascript|java|scala|groovy|elixir|escript|guile|racket|sbcl|expect|julia"
)
_FLAGS: Final = re.compile(r"-[euxoBIsSEPOq]+")
# These run what they are told in a way that is not followed here.
_TANGLED: Final = named(
    "cd pushd popd eval alias trap export declare typeset local unset read for case select function"
    " coproc hash enable builtin shopt mapfile readarray let complete compgen bind fc awk gawk mawk nawk ed ex vi vim gdb parallel"
    " find fd watch script su sudo doas runuser chroot unshare nsenter bwrap ssh tmux screen"
    " entr watchexec nodemon run-parts systemd-run at batch crontab nix nix-shell direnv flock"
)
_LAUNCHERS: Final = named("env nice nohup timeout command exec setsid stdbuf ionice xargs")
_PLAIN_OPTION: Final = re.compile(
    r"-(?:[0rvVi]|I\{\}|[nLPk]\d*|\d+|[oe][L0]|c\d)|--|\d+[smh]?|\{\}"
)
_WORKS_OUT: Final = named("[ [[ test printf")  # even what is quoted, as an index: a[$(sh x)]
_SAYS: Final = named("echo printf true :")
# Their first words are names of their own, though a file may be called so too.
_NAMES_TASKS: Final = named(
    "npm pnpm yarn npx bunx make just task cargo go git gh docker rake gradle mvn"
)
_STEERS: Final = re.compile(
    r"PATH|PYTHON\w*|NODE_\w+|LD_\w+|DYLD_\w+|BASH_ENV|ENV|PERL5\w*|PERLLIB|RUBY\w*|GIT_\w+|JAVA_\w+"
    r"|_JAVA_OPTIONS|JDK_\w+|NPM_CONFIG_\w+|CLASSPATH|LUA_\w+|GEM_\w+|BUNDLE_\w+|HOME|XDG_\w+|PWD|IFS",
    re.IGNORECASE,
)


class Word(Struct, frozen=True):
    """One word as it stands in a line, and what of a repository it may name."""

    start: int
    end: int
    text: str  # unquoted, the project's own folder as ./
    before: str = ""  # --option=, which stays in front of what it names
    certain: bool = True  # whether it is taken as it stands

    @property
    def path(self) -> str:
        """The file it would name, from the top of the repository; "" for what is none there."""
        path = posixpath.normpath(self.text) if self.text else ""
        out = path in ("", ".", "..") or path.startswith(("/", "../", "-"))
        return "" if out or not path.isprintable() else path


def line(text: str) -> tuple[tuple[Word, ...], ...] | None:
    """Return the simple commands of a shell's line, None for what is not taken apart."""
    found: list[tuple[Word, ...]] = []
    words: list[Word] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        if token.lastgroup == "word":
            words.append(_word(token[0], token.start()))
        elif token.lastgroup == "end":
            found.append(tuple(words))
            words = []
    return tuple(filter(None, (*found, tuple(words))))


def argv(words: Sequence[str]) -> tuple[tuple[Word, ...], ...]:
    """Return a command that no shell reads, as one of a line; each word at its own number."""
    put = []
    for number, text in enumerate(words):
        given = _GIVEN.match(text)
        before = given[0] if given else ""
        put.append(Word(number, number, text.removeprefix(before), before))
    return (tuple(put),)


def candidates(commands: Sequence[Sequence[Word]]) -> tuple[str, ...]:
    """Return what may be a file of the repository; whether it is one, git knows."""
    paths = [path for words in commands for word in words for path in (word.path, *_within(word))]
    return tuple(dict.fromkeys(filter(None, paths)))


def followed(commands: Sequence[Sequence[Word]], laid: Collection[str]) -> bool:
    """Whether all of the repository that these start by name is run from the copy."""
    return all(_judged(words, laid) for words in commands)


def relaid(text: str, commands: Sequence[Sequence[Word]], laid: Collection[str], root: str) -> str:
    """Return a line with the repository's files named where the copy of them lies."""
    for word in sorted(_moved(commands, laid), key=lambda word: -word.start):
        there = shlex.quote(f"{root}/{word.path}")
        text = f"{text[: word.start]}{word.before}{there}{text[word.end :]}"
    return text


def relaid_words(words: Sequence[str], laid: Collection[str], root: str) -> list[str]:
    """Return the same of a command that no shell reads."""
    put = list(words)
    for word in _moved(argv(words), laid):
        put[word.start] = f"{word.before}{root}/{word.path}"
    return put


def steers(variable: str) -> bool:
    """Whether a variable of this name changes what a program runs."""
    return _STEERS.fullmatch(variable) is not None


# ------------------------------------------------------------------------------- parts of it


def _word(raw: str, start: int) -> Word:
    """Return a word without its quotes; uncertain where they are within it."""
    end = start + len(raw)
    if half := _HALF.fullmatch(raw):
        return Word(start, end, f".{half['rest']}", half["before"], _literal(half["rest"]))
    whole = _WHOLE.fullmatch(raw)
    if whole is None:
        return Word(start, end, raw, certain=False)
    before = whole["before"]
    if whole["single"] is not None:
        return Word(start, end, whole["single"], before)
    quoted = whole["double"] is not None
    text = whole["double"] if quoted else whole["bare"]
    here = _HERE.match(text)
    if here:
        text = f".{text[here.end() :]}"
        if not re.match(r"\.(?:/|$)", text):
            return Word(start, end, text, before, certain=False)
    certain = "$" not in text and "`" not in text and (quoted or _literal(before + text))
    return Word(start, end, text, before, certain)


def _literal(text: str) -> bool:
    """Whether a shell leaves an unquoted word as it is: no pattern, no choice, no home."""
    if text in ("[", "]", "[[", "]]", "!"):
        return True
    return not re.search(r"[\[\]{}$`]|^~|[:=]~", text.replace("{}", ""))


def _within(word: Word) -> Iterator[str]:
    """What looks like a path inside a word, which nothing can move."""
    if glued := re.fullmatch(r"-[A-Za-z](.+)", word.text):
        yield posixpath.normpath(glued[1])
    for found in _PATH.findall(word.text):
        path = posixpath.normpath(found)
        looks = "/" in found or "." in path.strip(".")
        if looks and path != word.path and not path.startswith(("-", "..")):
            yield path


def _moved(commands: Sequence[Sequence[Word]], laid: Collection[str]) -> Iterator[Word]:
    for words in commands:
        rest = _bare(words)
        name = _name(rest)
        for number, word in enumerate(words):
            is_program = bool(rest) and word is rest[0]
            names_task = name in _NAMES_TASKS and not _looks(word) and not word.before
            after_option = number > 0 and words[number - 1].text in ("-f", "--file", "--makefile")
            if word.path not in laid or (is_program and "/" not in word.text):
                continue
            if name in _SAYS or (names_task and not after_option):
                continue
            yield word


def _looks(word: Word) -> bool:
    return "/" in word.text or "." in word.text


def _bare(words: Sequence[Word]) -> Sequence[Word]:
    """Return what is left without the words that only say when it runs."""
    at = 0
    while at < len(words) and (words[at].text in _LEADS or words[at].text == "do"):
        at += 1
    return words[at:]


def _name(words: Sequence[Word]) -> str:
    return posixpath.basename(words[0].text) if words else ""


def _judged(words: Sequence[Word], laid: Collection[str]) -> bool:
    """Whether what one simple command starts is known from its words."""
    rest = _bare(words)
    if not all(word.certain for word in words):
        return False
    if not rest or (len(rest) == 1 and rest[0].text in _ALONE):
        return True
    says = _name(rest) in _SAYS
    if _name(rest) in _WORKS_OUT and any(re.search(r"[$`]", word.text) for word in rest):
        return False
    for word in rest:
        if word.path in laid:
            continue
        if ".claude" in word.text.lower() or (not says and any(p in laid for p in _within(word))):
            return False
    return says or _started(rest, laid)


def _started(words: Sequence[Word], laid: Collection[str]) -> bool:
    program, *given = words
    if program.path in laid and "/" in program.text:
        return True
    if not _PROGRAM.fullmatch(program.text) and not _SYSTEM.fullmatch(program.text):
        return program.text == "." and _script(given, laid)
    name = _name(words)
    if name in _TANGLED or program.before or _SET.match(program.text):
        return False
    if name == "set":
        return all(re.fullmatch(r"-[eux]+o?|pipefail", word.text) for word in given)
    if _INTERPRETERS.fullmatch(name):
        return _script(given, laid) or [word.text for word in given] == ["--version"]
    if name in _LAUNCHERS:
        at = next((n for n, w in enumerate(given) if not _PLAIN_OPTION.fullmatch(w.text)), None)
        return at is not None and _started(given[at:], laid)
    for number, word in enumerate(given):
        if word.path in laid:
            continue
        if re.match(r"(?:\w+=)?\.\.?/", word.text) and name not in _READS:
            return False
        # One among its arguments is most likely started by it.
        inner = posixpath.basename(word.text)
        if _is_interpreter(inner) and not _script(given[number + 1 :], laid):
            return False
        if " " in word.text and any(map(_is_interpreter, re.split(r"[^\w.+-]+", word.text))):
            return False
        if name == "git" and (word.text in ("-c", "-C") or word.before):
            return False
    return True


def _is_interpreter(name: str) -> bool:
    return name not in ("", ".") and _INTERPRETERS.fullmatch(name) is not None


_READS: Final = named(
    "cat ls test [ [[ grep rg head tail wc sort uniq cut tr jq diff cmp stat file mkdir touch cp mv rm"
    " prettier eslint ruff black mypy gofmt rustfmt shellcheck git tee"
)


def _script(given: Sequence[Word], laid: Collection[str]) -> bool:
    """Whether an interpreter's first word, flags apart, is a file of the copy."""
    before = ""
    for word in given:
        joined = word.text == "pipefail" and before.endswith("o")
        if not joined and (word.before or not _FLAGS.fullmatch(word.text)):
            return not word.before and word.path in laid
        before = word.text
    return False
