"""What each command of a shell's text puts at stake, wherever in it that command stands.

    sudo -u x git push -f        what another program runs: each word that names one known here is tried
    sh -c '…'   eval   <<E       what a shell is given to run, or to read: a text like the first
    curl … | bash   <(curl …)    what it fetches: nobody has read it
    psql < x.sql   -f x.sql      statements that stand elsewhere
    python -c '…'   - <<E        a program's text: only looked through for words that tell
    $CMD …   bash -c "$X"        a program that is only known when it runs

Pure. Neighbours: shell_reader.py reads the text, stake_programs.py and stake_data.py judge one simple
command, stakes.py is the door.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.rules import shell_reader, stake_code, stake_data
from engine.rules.irreversible import words_of
from engine.rules.shell import named
from engine.rules.shell_reader import HOLE, Command
from engine.rules.stake_programs import PROGRAMS
from engine.rules.stake_told import FETCHED, TANGLED, Told, after, plain, stake, worked_out
from engine.rules.words import Stake

MOST_WORDS: Final = 4_000  # of a text: one of more is too long to be judged
_MOST_TRIED: Final = 60  # of a command's words that name a program known here
_DEEP: Final = 4

_READS: Final = named("sh bash zsh dash ash ksh fish")  # run what they are given to read
_SHELLS: Final = _READS | named("eval ssh su xargs parallel watch script flock trap alias")
_FEEDS: Final = named("ssh at batch su")  # hand to a shell what they are given
_SOURCES: Final = ("source", ".")
_INTERPRETERS: Final = named(
    "python python2 python3 pypy3 node nodejs deno bun ruby perl php lua osascript tsx ts-node irb ipython"
)
# What runs the words behind it; where those begin is not worked out: each word is tried.
_CARRIERS: Final = named(
    "sudo doas env nohup time timeout nice ionice setsid stdbuf command exec builtin npx bunx uvx pipx dlx "
    "xargs parallel watch ssh su flock strace caffeinate winpty chroot unbuffer docker podman nerdctl "
    "kubectl uv poetry pdm pipenv hatch bundle mise asdf direnv dotenv op doppler chronic eval coproc "
    "busybox toybox find runuser setpriv systemd-run unshare nsenter bwrap script pnpm yarn npm "
    "docker-compose entr watchexec hyperfine taskset chrt prlimit sg pkexec start-stop-daemon faketime "
    "xvfb-run at batch git tmux screen"
)
# These run words only behind one of these.
_BEHIND: Final = {
    **dict.fromkeys(
        (
            "uv",
            "poetry",
            "pdm",
            "pipenv",
            "hatch",
            "mise",
            "asdf",
            "direnv",
            "pipx",
            "op",
            "doppler",
        ),
        named("run exec x tool --"),
    ),
    **dict.fromkeys(("bundle", "npm", "pnpm", "yarn"), named("exec x dlx npm --")),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose", "kubectl"), named("run exec --")
    ),
    "find": named("-exec -execdir -ok -okdir"),
    "git": named("run foreach"),  # of bisect, of submodule
}
# Program names that are everyday words: behind another program, they count only where one must stand.
_EVERYDAY: Final = named(
    "mail now render surge task http https exec dd mc scw flux sam hub tea stack find git make just ant "
    "consul vault fly copilot cap np snapcraft expo eas serverless railway stripe paypal supabase redis-cli "
    "test publish flow conda anaconda bun node docker gem uv hatch netlify vercel firebase heroku b2 np rake "
    "tee mv rm nc"
)
_LEADS: Final = named("then do else elif if while until time coproc ! { } done fi esac function")
_SET: Final = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
_DECLARES: Final = named("export local declare readonly typeset")
_COMMANDS: Final = re.compile(r".*(COMMAND|EDITOR|PAGER|ASKPASS|_SSH|SHELL_INIT|ENV)")
_FETCHERS: Final = named("curl wget http https xh aria2c fetch nc ncat gh aws gsutil scp ssh lynx")
_TEXT_ONLY: Final = named(
    "git gh grep rg wc jq yq patch apply_patch cat tee head tail sort sed awk tr cut column fold fmt diff "
    "less md5sum sha256sum base64 echo true :"
)
_PROSE: Final = re.compile(
    r".*\.(md|markdown|txt|rst|adoc|json|jsonl|toml|ya?ml|ini|cfg|conf|xml|html?|css|scss|svg|csv|tsv|lock|"
    r"sql|patch|diff|log|env\.example|gitignore)",
    re.IGNORECASE,
)
_OUT: Final = frozenset(("deploy", "publish", "release", "upload"))
_TRIES: Final = frozenset(("test", "tests", "check", "dry", "spec", "lint", "notes", "build"))
_PATTERN: Final = re.compile(r"[*?]|\[.")


class Feed(Struct, frozen=True):
    """What is piped on; `text`: where it stands in the line itself."""

    text: str | None = None
    fetched: bool = False
    source: str = ""


class _Line:
    """One text as it is gone through: what it has set, and which files it has made."""

    def __init__(self) -> None:
        self.set: dict[str, str | None] = {}
        self.made: dict[str, Feed] = {}

    def filled(self, text: str) -> str:
        """Put in what the line itself has set."""
        return HOLE.sub(lambda hole: self.set.get(hole[1]) or hole[0], text)


def in_text(text: str) -> Iterator[Stake]:
    """Return what a text puts at stake, in its order."""
    yield from _in_line(shell_reader.without_marks(text), 0, True, _Line())


def _in_line(text: str, depth: int, strict: bool, line: _Line) -> Iterator[Stake]:
    """Judge each command; where not strict, it may be no line at all: a message, a program."""
    reading = shell_reader.read(text, MOST_WORDS if strict else 0)
    if strict and not reading.whole:
        yield TANGLED
    yield from _in_commands(reading.commands, depth, strict, line)


def _in_commands(
    commands: Sequence[Command], depth: int, strict: bool, line: _Line
) -> Iterator[Stake]:
    feed: Feed | None = None
    for at, command in enumerate(commands):
        inner = [one.inner for one in command.words]
        inner += [one.target.inner for one in command.redirects]
        if depth < 2 * _DEEP:
            for within in filter(None, inner):
                yield from _in_commands(within, depth + 1, strict, line)
        into_group = command.before == "(" and at > 0 and _opens_group(commands[at - 1])
        given = (feed or Feed()) if command.piped or into_group else None
        words = [line.filled(word.text) for word in command.words]
        yield from _Simple(command, words, given, line).stakes(depth, strict)
        feed = _passed_on(command, words, given)
        for redirect in command.redirects:
            if redirect.writes and not redirect.reads:
                line.made[_place(line.filled(redirect.target.text))] = feed or Feed()
        line.made.update(_saved(words))


def _opens_group(command: Command) -> bool:
    """Return whether nothing stands between a pipe and the group that reads it."""
    return command.piped and not command.words


def _passed_on(command: Command, words: Sequence[str], given: Feed | None) -> Feed | None:
    """Return what a command prints, as far as the line says it."""
    if not words:
        return given if command.piped or command.before == ")" else None
    name = _program(words[0])
    bodies = [one.body for one in command.redirects if one.body is not None]
    told = [word for word in words[1:] if not re.fullmatch(r"-[neE]+", word)]
    if name in ("echo", "printf"):
        if name == "printf" and len(told) > 1 and "%" in told[0]:
            told = told[1:]
        text = " ".join(told).replace("\\n", "\n")
        return Feed(None if worked_out(text) else text)
    if name in ("cat", "tee") and bodies:
        return Feed(bodies[-1])
    if name == "tee" or (name == "cat" and not plain(words[1:])):
        return given
    fetched = name in _FETCHERS or (given is not None and given.fetched)
    source = plain(words[1:])[:1] if name == "cat" else [name]
    return Feed(None, fetched, "".join(source))


def _saved(words: Sequence[str]) -> dict[str, Feed]:
    """Return the files into which a command puts what it fetches."""
    if not words or _program(words[0]) not in ("curl", "wget", "aria2c", "http", "https", "xh"):
        return {}
    named_ = after(words, "-o", "--output", "-O", "--output-document")
    addresses = [word for word in words if "://" in word]
    places = [named_, *(word.partition("?")[0].rpartition("/")[2] for word in addresses)]
    return {_place(place): Feed(None, fetched=True) for place in places if place}


def _place(path: str) -> str:
    return path.removeprefix("./")


def _program(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe")


def _simple_command(name: str, rest: Sequence[str]) -> Told:
    if name.startswith("mkfs"):
        return stake("disk", name)
    judge = PROGRAMS.get(name)
    return judge(name, rest) if judge is not None else None


def _known(name: str) -> bool:
    return name in PROGRAMS or name.startswith("mkfs")


class _Simple:
    """One simple command of a line, with what it is given to read."""

    def __init__(
        self, command: Command, words: Sequence[str], feed: Feed | None, line: _Line
    ) -> None:
        self._command = command
        self._line = line
        self._feed = feed
        self._given = list(words)
        self._words = self._led(words)
        self._name = _program(self._words[0]) if self._words else ""

    def _led(self, words: Sequence[str]) -> list[str]:
        """Leave out what stands before the program, and keep what is set there."""
        rest = list(words)
        while rest and (rest[0] in _LEADS or _SET.fullmatch(rest[0])):
            self._sets(rest[0])
            rest = rest[2 if rest[0] == "function" else 1 :]
        if rest and rest[0] in _DECLARES:
            for word in rest[1:]:
                self._sets(word)
        if rest and rest[0] in ("for", "read", "select", "mapfile"):
            self._line.set.update(dict.fromkeys(rest[1:], None))
        if rest and HOLE.search(self._command_word(words, rest)):
            rest = [*rest[0].split(), *rest[1:]]  # one that was set: it falls apart into words
        return rest

    def _command_word(self, words: Sequence[str], rest: Sequence[str]) -> str:
        return self._command.words[len(words) - len(rest)].text

    def _sets(self, word: str) -> None:
        found = _SET.fullmatch(word)
        if found is None:
            return
        name, adds, value = found.groups()
        again = name in self._line.set and self._line.set[name] != value
        known = not (adds or again or worked_out(value))
        self._line.set[name] = value if known else None

    # ------------------------------------------------------------ what is judged

    def stakes(self, depth: int, strict: bool) -> Iterator[Stake]:
        """Return what this command puts at stake; of files on another machine, that they are there."""
        for one in self._stakes(depth, strict):
            there = self._name == "ssh" and one.what in ("files", "disk", "tree")
            yield replace(one, what="files there") if there else one

    def _stakes(self, depth: int, strict: bool) -> Iterator[Stake]:
        yield from self._redirected()
        yield from self._set_to_run(depth)
        if not self._words:
            return
        if strict and self._unknown():
            yield TANGLED
        rest = self._words[1:]
        found = _simple_command(self._name, rest)
        if found is not None:
            yield found
        yield from self._reads(depth, strict)
        yield from self._files(depth, strict)
        yield from self._texts(depth, strict)
        yield from self._carried()

    def _redirected(self) -> Iterator[Stake]:
        for one in self._command.redirects:
            found = stake_data.written_to(self._line.filled(one.target.text))
            if found is not None:
                yield found

    def _set_to_run(self, depth: int) -> Iterator[Stake]:
        """Judge what is set for others to run: GIT_SSH_COMMAND='…'."""
        for word in self._given:
            found = _SET.fullmatch(word)
            if found is not None and _COMMANDS.fullmatch(found[1]) and " " in found[3]:
                yield from _in_line(found[3], depth + 1, False, _Line())

    def _unknown(self) -> bool:
        """Return whether the program is only known when it runs; what a `case` compares is none."""
        if self._command.before.startswith(";") and len(self._command.before) > 1:
            return False
        word = self._words[0]
        name = word.rpartition("/")[2]
        if word in ("[", "[[") or word.startswith("(("):
            return False
        if self._command.words and self._command.words[0].raw.startswith("(("):
            return False
        return worked_out(name) or (_PATTERN.search(name) is not None and "=" not in name)

    def _tried(self) -> list[str]:
        """Return the words in which a program that this one runs may be named."""
        behind = _BEHIND.get(self._name)
        if self._name not in _CARRIERS:
            return []
        if behind is None:
            return self._words[1:]
        at = next((at for at, word in enumerate(self._words) if word in behind), len(self._words))
        return self._words[at + 1 :]

    def _reader(self) -> tuple[str, list[str]]:
        """Return the program that reads what this command is given, and its own words."""
        tried = self._tried()
        for at, word in enumerate(tried):
            name = _program(word)
            if name in _READS or name in _INTERPRETERS or name in stake_data.READERS:
                return name, tried[at + 1 :]
        return self._name, self._words[1:]

    def _bodies(self) -> list[Feed]:
        """Return what it is given to read: by a pipe, a file, or in the line itself."""
        told = [self._feed] if self._feed is not None else []
        for one in self._command.redirects:
            if one.body is not None:
                told.append(Feed(self._line.filled(one.body)))
            elif one.sign.endswith("<"):
                told.append(self._file(one.target.text, one.target.inner))
        return told

    def _file(self, place: str, inner: Sequence[Command]) -> Feed:
        fetched = any(_fetches(command) for command in inner)
        made = self._line.made.get(_place(self._line.filled(place)))
        return made or Feed(None, fetched, "" if inner else place)

    def _reads(self, depth: int, strict: bool) -> Iterator[Stake]:
        name, words = self._reader()
        for body in self._bodies():
            piped = body is self._feed
            if name in _READS or name in _INTERPRETERS:
                file = "" if self._is_filled_in(words) else _runs(name, words)
                if file is not None and (file == "" or HOLE.fullmatch(file)):
                    runs = self._run if name in _READS else self._interpret
                    yield from runs(body, depth, strict, piped)
            elif name in _FEEDS or (name in _SOURCES and words[:1] and words[0][:5] == "/dev/"):
                yield from self._run(body, depth, strict, piped)
            elif name in stake_data.READERS:
                if not (piped and _asks(words)):
                    yield from filter(None, [stake_data.read_by(name, body.text, body.source)])
            elif body.text is not None and (
                name in ("xargs", "parallel") or not (piped or self._only_text())
            ):
                yield from _in_line(body.text, depth + 1, False, _Line())

    def _is_filled_in(self, words: Sequence[str]) -> bool:
        """Return whether what a shell runs is a line that xargs read."""
        return self._name in ("xargs", "parallel") and "{}" in words

    def _interpret(self, body: Feed, _depth: int, _strict: bool, piped: bool) -> Iterator[Stake]:
        """Judge what an interpreter reads."""
        if body.text is not None:
            yield from _in_program(body.text)
        elif piped or body.fetched or not body.source:
            yield FETCHED if body.fetched else TANGLED

    def _run(self, body: Feed, depth: int, strict: bool, piped: bool) -> Iterator[Stake]:
        """Judge what a shell reads."""
        if body.text is not None:
            yield from _in_line(body.text, depth + 1, strict, self._line)
        elif body.fetched:
            yield FETCHED
        elif strict and (piped or not body.source):
            yield TANGLED
        else:
            yield from _by_name(body.source)

    def _only_text(self) -> bool:
        """Return whether what it reads is a text to it and no more, or kept in a file of texts."""
        made = [one.target.text for one in self._command.redirects if one.writes]
        made += plain(self._words[1:]) if self._name == "tee" else []
        return self._name in _TEXT_ONLY and all(map(_PROSE.fullmatch, made))

    def _files(self, depth: int, strict: bool) -> Iterator[Stake]:
        """Judge a file that is run: as the line made it, or else by its name."""
        name, words = self._reader()
        for word in self._run_files(name, words):
            at = HOLE.fullmatch(word)
            if at is not None and at[1] == "<(":
                yield FETCHED if self._fetches() else TANGLED
            elif (made := self._line.made.get(_place(word))) is not None:
                if made.text is not None and name in _INTERPRETERS:
                    yield from _in_program(made.text)
                elif made.text is not None:
                    yield from _in_line(made.text, depth + 1, strict, _Line())
                elif made.fetched:
                    yield FETCHED
            elif re.match(r"https?://", word):
                yield FETCHED
            else:
                yield from _by_name(word)

    def _run_files(self, name: str, words: Sequence[str]) -> list[str]:
        if name in _SOURCES:
            return list(words[:1])
        if name in _READS or name in _INTERPRETERS:
            return list(filter(None, [_runs(name, words)]))
        tried = self._tried() if self._name in _CARRIERS else self._words
        return [word for word in tried[:1] if "/" in word] if self._name not in PROGRAMS else []

    def _fetches(self) -> bool:
        return any(_fetches(command) for word in self._command.words for command in word.inner)

    def _texts(self, depth: int, strict: bool) -> Iterator[Stake]:
        """Judge the words that are lines or programs of their own."""
        shell = self._name in _SHELLS or any(_program(word) in _SHELLS for word in self._tried())
        rest = self._words[1:] if shell else self._tried()
        inner = shell or bool(rest)
        if self._name == "eval":
            if depth < _DEEP:
                yield from _in_line(" ".join(rest), depth + 1, strict, self._line)
            yield FETCHED if self._fetches() else TANGLED
        elif depth >= _DEEP:
            if strict and inner and any(re.search(r"\s", word) for word in rest):
                yield TANGLED
        elif inner:
            for word in _lines_of(self._name, rest):
                yield from self._line_in(word, depth, strict and shell)
        for word in _hooks_of(self._name, self._words[1:]) if depth < _DEEP else ():
            yield from _in_line(word, depth + 1, False, _Line())

    def _line_in(self, word: str, depth: int, strict: bool) -> Iterator[Stake]:
        worked = HOLE.match(word.lstrip())
        if worked is not None and worked[1] == "(" and strict:
            yield FETCHED if self._fetches() else TANGLED
        elif re.search(r"\s", word) or (worked is not None and strict):
            yield from _in_line(word, depth + 1, strict, self._line)

    def _carried(self) -> Iterator[Stake]:
        name, words = self._reader()
        if name in _INTERPRETERS:
            yield from self._interpreted(name, words)
        elif stake_code.runs_words(self._name, self._words[1:]):
            yield from _in_program(" ".join(self._words[1:]))
        if name not in _INTERPRETERS or name != self._name:
            yield from _anywhere(self._tried())

    def _interpreted(self, name: str, words: Sequence[str]) -> Iterator[Stake]:
        """Judge a program's text that is given as a word, and a module that is run."""
        told = [
            word
            for before, word in zip(["", *words], words, strict=False)
            if re.fullmatch(r"-[a-zA-Z]*[cerp]|--eval|--print", before)
        ]
        for text in told:
            if HOLE.match(text.lstrip()):
                yield FETCHED if self._fetches() else TANGLED
            yield from _in_program(text)
        if not told:
            rest = [word for word in words if not word.startswith("-")]
            yield from _first(rest)


def _fetches(command: Command) -> bool:
    return any(_program(word.text) in _FETCHERS for word in command.words[:1]) or any(
        _fetches(inner) for word in command.words for inner in word.inner
    )


def _runs(name: str, words: Sequence[str]) -> str | None:
    """Return the file that a shell or interpreter runs; "": it reads what it is given; None: a word says it."""
    own, valued = (_SHELL_OWN, _SHELL_VALUED) if name in _READS else (_OWN, _VALUED)
    before = ""
    for word in words:
        if word in ("-", "/dev/stdin") or (name in _READS and re.fullmatch(r"-[a-z]*s", word)):
            return ""
        if before in valued or (word == "run" and name in ("deno", "bun")):
            before = ""
            continue
        if own.fullmatch(word) and not (word == "-r" and name.startswith(("node", "ts"))):
            return None
        if not word.startswith(("-", "+")):
            return word
        before = word
    return ""


_SHELL_OWN: Final = re.compile(r"-[a-zA-Z]*[cn][a-zA-Z]*|--command|--version|--help")
_SHELL_VALUED: Final = named("-o +o -O +O --rcfile --init-file")
_OWN: Final = re.compile(r"-[a-zA-Z]*[cemrp]|--eval|--print|--version|--help|-V|-h|--test")
_VALUED: Final = named("-W -X -r --require --import --loader --env-file")


def _asks(words: Sequence[str]) -> bool:
    """Return whether a database's program is given its statement by a word: it reads nothing else."""
    return bool(after(words, "-c", "-e", "--command", "--execute", "--eval", "-Q", "-q", "-x"))


def _by_name(path: str) -> Iterator[Stake]:
    """Judge a file that is run by its name alone: nothing else of it is known."""
    told = set(words_of(path.rpartition("/")[2]))
    if told & _OUT and not told & _TRIES:
        yield stake("publishes", path)


def _lines_of(name: str, words: Sequence[str]) -> list[str]:
    if name == "alias":
        return [word.partition("=")[2] for word in words]
    return list(words)


def _hooks_of(name: str, words: Sequence[str]) -> Iterator[str]:
    """Return what options have run: `git -c alias.x='…'`, `rebase --exec`, `tar --to-command=…`, `vim -c '!…'`."""
    for before, word in zip(["", *words], words, strict=False):
        if name == "git":
            key, equals, value = word.partition("=")
            if before == "-c" and equals and (value[:1] == "!" or key.startswith("alias.")):
                yield value[1:] if value[:1] == "!" else f"git {value}"
            if before.startswith("alias.") and "config" in words:
                yield word[1:] if word[:1] == "!" else f"git {word}"
            if before in ("--exec", "-x", "foreach", "--upload-pack", "--receive-pack") or (
                before.startswith("--") and before.endswith("-filter")
            ):
                yield word
        if name in ("vim", "vi", "nvim", "ex", "ed", "less", "more") and re.match(r"\+?:?!", word):
            yield word.lstrip("+:!")
        if name == "tar" and before in ("-I", "-F"):
            yield word
        if (found := re.fullmatch(_RUN_OPTION, word)) is not None:
            yield found[1]


_RUN_OPTION: Final = (
    r"(?:--?[\w-]*(?:exec|command|cmd|hook|run|compress-program|action)|[\w.]*(?:[cC]ommand|pager|editor))="
    r"(?:exec=)?(.*\s.*)"
)


def _first(words: Sequence[str]) -> Iterator[Stake]:
    """Judge the one program that these words are of: a module, a file of the tree."""
    found = _simple_command(_program(words[0]), words[1:]) if words else None
    if found is not None:
        yield found


def _in_program(text: str) -> Iterator[Stake]:
    """Judge a program's text: what it may run, and what of its own words tell."""
    words, begins = stake_code.words(text)
    yield from _anywhere(words, begins)
    yield from stake_code.told(text)


def _anywhere(words: Sequence[str], begins: frozenset[int] | None = None) -> Iterator[Stake]:
    """Try each word that names a program known here; `begins`: where one of everyday words may stand."""
    known = [at for at, word in enumerate(words) if _known(_program(word))]
    if len(known) > _MOST_TRIED:
        yield TANGLED
    for at in known[:_MOST_TRIED]:
        name = _program(words[at])
        if name in _EVERYDAY and not (_begins(words[:at]) if begins is None else at in begins):
            continue
        found = _simple_command(name, words[at + 1 :])
        if found is not None:
            yield found


def _begins(before: Sequence[str]) -> bool:
    """Return whether a program may begin behind these: options and what they take, settings, one word more."""
    if before and before[-1] in _NAMING:
        return False
    others = [
        word
        for option, word in zip(["", *before], before, strict=False)
        if not (word.startswith("-") or option.startswith("-") or _NO_PROGRAM.fullmatch(word))
    ]
    return len(others) < 2


_NAMING: Final = named("--name --network --hostname --label --user -u -l -h --service --tag -t")
_NO_PROGRAM: Final = re.compile(r"[\d.]+[smhd]?|[A-Za-z_]\w*=.*|\{\}|.*/.*", re.DOTALL)
