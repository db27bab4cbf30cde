"""A shell's text read as a shell would read it, without running any of it: the one reader of such lines.

    cd web && npm test 2>&1 | tail -5    (cd web) (&& npm test 2>&1) (| tail -5)
    echo "it is $(date)"                 (echo "it is \x01(\x02"), and what runs within it: (date)
    sudo bash <<E …                      (sudo bash), which reads the body

Quotes are taken off, braces expanded, bodies of here-documents given to who reads them, comments left out.
What is worked out when it runs stands as a hole: MARK, the variable's name or "(" or "<(", END.
It is read loosely, one command after the other whatever groups they are in; what has no end (a quote, a
substitution) or goes too deep is read roughly and says so. Pure. Neighbours: shell.py takes of it only
what says all that it does (for Always), stakes.py all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

_T = TypeVar("_T")

MARK: Final = "\x01"
END: Final = "\x02"
HOLE: Final = re.compile(rf"{MARK}([^{END}]*){END}")
_PRINTED: Final = f"{MARK}({END}"  # what a command prints, in its place
_DEEP: Final = 12
_BRACES: Final = 64  # words that braces may become
_SUM: Final = 2_000  # characters of a sum that are looked through for its end

_BLANK: Final = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_OPERATOR: Final = re.compile(r"&&|\|\||;;&|;;|;&|;|\|&|\||&(?!>)|[()]")
_REDIRECT: Final = re.compile(r"(?:\d*|\{\w+\})(?:<<<|<<-?|<>|[<>]&|>>|>\||[<>](?!\())|&>>?")
_RUN: Final = re.compile(rf"[^\s\\'\"`$<>|&;(){{{MARK}]+")
_IN_QUOTES: Final = re.compile(r"[^\"\\$`]+")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_ANSI: Final = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b"}
_BRACED: Final = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
_ROUGH: Final = re.compile(r"[();<>|&\n]+|[^\s();<>|&'\"]+")


class Word(Struct, frozen=True):
    """One word: without its quotes, and as it was written; what is run for it."""

    text: str
    raw: str
    inner: tuple[Command, ...] = ()


class Redirect(Struct, frozen=True):
    """Where a command reads or writes; `body`: the text itself, where it stands in the line."""

    sign: str
    target: Word
    at: int = 0  # words before it
    body: str | None = None

    @property
    def reads(self) -> bool:
        return "<" in self.sign

    @property
    def writes(self) -> bool:
        return ">" in self.sign


class Command(Struct, frozen=True):
    """One simple command; `before`: the sign between it and the one before."""

    words: tuple[Word, ...] = ()
    before: str = ""
    redirects: tuple[Redirect, ...] = ()

    @property
    def piped(self) -> bool:
        return self.before in ("|", "|&")


class Reading(Struct, frozen=True):
    """What a text was read as.

    whole   all of it was understood as a shell does
    bare    nothing was left out: no comment, no line that goes on
    """

    commands: tuple[Command, ...]
    whole: bool = True
    bare: bool = True


class _LostError(Exception):
    """It has no end, or too many words: no shell line, or one that hides what it is."""


def read(text: str, most: int = 0) -> Reading:
    """Read a text, of not more than `most` words (0: as many as there are)."""
    reader = _Reader(text, most)
    try:
        found = reader.commands()
    except _LostError:
        return Reading(_roughly(text, most), whole=False, bare=False)
    return Reading(tuple(found), bare=reader.bare)


def without_marks(text: str) -> str:
    """Return a text in which nothing looks like a hole that is none."""
    return text.replace(MARK, "").replace(END, "")


def _roughly(text: str, most: int) -> tuple[Command, ...]:
    """Read a text by its signs alone."""
    found: list[Command] = []
    words: list[Word] = []
    before = ""
    tokens = _ROUGH.findall(text)
    for token in [*(tokens[:most] if most else tokens), ";"]:
        if token[0] not in "();<>|&\n":
            words.append(Word(token, token))
            continue
        found.append(Command(tuple(words), before))
        words, before = [], token
    return tuple(found)


class _Reader:
    """Reads one text from its beginning; a place in it is where it stands."""

    def __init__(self, text: str, most: int = 0, depth: int = 0) -> None:
        self._text = text
        self._most = most
        self._depth = depth
        self._at = 0
        self._words = 0
        self._braced = False  # an open brace stood outside quotes in the present word
        self.bare = True

    def commands(self, closing: str = "") -> list[Command]:
        """Read up to the end, or to the sign that closes a substitution."""
        found: list[Command] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        before = ""

        def ends(sign: str) -> None:
            nonlocal before
            found.append(Command(tuple(words), before, tuple(redirects)))
            words.clear()
            redirects.clear()
            before = sign

        awaited: list[tuple[int, int]] = []  # bodies: of which command, which of its redirects
        while True:
            self._skip_blank()
            sign = self._text[self._at : self._at + 1]
            if not sign or (closing and sign == closing):
                if bool(closing) != bool(sign):
                    raise _LostError
                self._at += len(sign)
                ends("")
                return found
            if sign == "#":
                self._skip_comment()
            elif sign == "\n":
                self._at += 1
                ends("\n")
                for command, redirect in awaited:
                    found[command] = self._with_body(found[command], redirect)
                awaited.clear()
            elif not words and self._sum(self._at, "(("):
                words.append(self._summed())
            elif operator := _OPERATOR.match(self._text, self._at):
                self._at = operator.end()
                ends(operator[0])
            elif redirect_ := _REDIRECT.match(self._text, self._at):
                self._at = redirect_.end()
                self._skip_blank()
                if redirect_[0].endswith(("<<", "<<-")):
                    awaited.append((len(found), len(redirects)))
                target = self._word()
                body = target.text if redirect_[0].endswith("<<<") else None
                redirects.append(Redirect(redirect_[0], target, len(words), body))
            else:
                words.extend(self._words_of(self._word()))

    # ------------------------------------------------------------ words

    def _words_of(self, word: Word) -> list[Word]:
        """Expand a word's braces."""
        self._words += 1
        if self._most and self._words > self._most:
            raise _LostError
        if not self._braced:
            return [word]
        texts = [word.text]
        while any(_BRACED.search(text) for text in texts):
            texts = [one for text in texts for one in _expanded(text)]
            if len(texts) > _BRACES:
                raise _LostError
        return [replace(word, text=text) for text in texts]

    def _word(self) -> Word:
        begins, out, inner = self._at, list[str](), list[Command]()
        self._braced = False
        while self._at < len(self._text):
            sign = self._text[self._at]
            if sign in "<>" and self._text[self._at + 1 : self._at + 2] == "(":
                self._at += 2
                inner += self._deeper(lambda: self.commands(")"))
                out.append(f"{MARK}{sign}({END}")
            elif sign in " \t\r\n;|&()<>":
                break
            else:
                self._part(sign, out, inner)
        return Word("".join(out), self._text[begins : self._at], tuple(inner))

    def _part(self, sign: str, out: list[str], inner: list[Command]) -> None:
        """Read what stands next of a word."""
        if sign == "'":
            end = self._find("'", self._at + 1)
            out.append(self._text[self._at + 1 : end])
            self._at = end + 1
        elif sign == '"':
            self._at += 1
            self._expanding(out, inner, '"')
        elif sign == "\\":
            kept = self._text[self._at + 1 : self._at + 2]
            out.append(kept if kept != "\n" else "")
            self._at += 2
        elif sign == "$":
            self._dollar(out, inner, quoted=False)
        elif sign == "`":
            self._backtick(out, inner)
        elif sign == MARK:
            self._kept_hole(out)
        elif (run := _RUN.match(self._text, self._at)) is not None:
            out.append(run[0])
            self._at = run.end()
        else:
            self._braced |= sign == "{"
            out.append(sign)
            self._at += 1

    def _kept_hole(self, out: list[str]) -> None:
        hole = HOLE.match(self._text, self._at)
        out.append(hole[0] if hole else "")
        self._at = hole.end() if hole else self._at + 1

    def _expanding(self, out: list[str], inner: list[Command], closing: str = "") -> None:
        """Read what stands in double quotes, or in a body: only some signs are more than themselves."""
        while True:
            if (run := _IN_QUOTES.match(self._text, self._at)) is not None:
                out.append(run[0])
                self._at = run.end()
            sign = self._text[self._at : self._at + 1]
            if not sign or sign == closing:
                if closing and not sign:
                    raise _LostError
                self._at += len(sign)
                return
            if sign == "\\":
                after = self._text[self._at + 1 : self._at + 2]
                out.append("" if after == "\n" else after if after in '$`"\\' else f"\\{after}")
                self._at += 2
            elif sign == "$":
                self._dollar(out, inner, quoted=True)
            elif sign == "`":
                self._backtick(out, inner)
            else:
                out.append(sign)
                self._at += 1

    def _dollar(self, out: list[str], inner: list[Command], *, quoted: bool) -> None:
        after = self._text[self._at + 1 : self._at + 2]
        if self._sum(self._at, "$(("):
            self._at += 1
            summed = self._summed()
            out.append(summed.text)
            inner += summed.inner
        elif after == "(":
            self._at += 2
            printed = self._deeper(lambda: self.commands(")"))
            told = _only_told(printed)
            out.append(_PRINTED if told is None else told)
            inner += printed if told is None else ()
        elif after == "{":
            self._in_braces(out, inner)
        elif not quoted and (ansi := _ANSI.match(self._text, self._at)):
            out.append(_ESCAPE.sub(_unescaped, ansi[1]))
            self._at = ansi.end()
        elif not quoted and after == '"':
            self._at += 1
        elif (name := _NAME.match(self._text, self._at + 1)) is not None:
            out.append(f"{MARK}{name[0]}{END}")
            self._at = name.end()
        elif after and after in "0123456789@*#?$!-":
            out.append(MARK + END)
            self._at += 2
        else:
            out.append("$")
            self._at += 1

    def _in_braces(self, out: list[str], inner: list[Command]) -> None:
        """Read `${name}`, or one with more in it, which may run something."""
        at, deep = self._at + 2, 1
        while deep:
            at = self._find("[\\\\{}]", at, pattern=True)
            sign = self._text[at]
            deep += (sign == "{") - (sign == "}")
            at += 2 if sign == "\\" else 1
        told = self._text[self._at + 2 : at - 1]
        whole = _NAME.fullmatch(told) is not None
        out.append(f"{MARK}{told if whole else ''}{END}")
        if not whole:
            inner += self._within(told)[1]
        self._at = at

    def _backtick(self, out: list[str], inner: list[Command]) -> None:
        at = self._at + 1
        while (at := self._find("[\\\\`]", at, pattern=True)) and self._text[at] == "\\":
            at += 2
        told = re.sub(r"\\([\\`$])", r"\1", self._text[self._at + 1 : at])
        reader = _Reader(told, self._most, self._depth)
        inner += reader._deeper(reader.commands)
        out.append(_PRINTED)
        self._at = at + 1

    def _within(self, text: str) -> tuple[str, list[Command]]:
        """Read a text in which only what is expanded counts."""
        out, inner = list[str](), list[Command]()
        reader = _Reader(text, self._most, self._depth)
        reader._deeper(lambda: reader._expanding(out, inner))
        return "".join(out), inner

    # ------------------------------------------------------------ sums, bodies, places

    def _sum(self, at: int, opens: str) -> bool:
        return self._text.startswith(opens, at) and self._sum_end(at + len(opens)) > 0

    def _sum_end(self, at: int) -> int:
        """Return where a sum's two parentheses close; 0 where it is none."""
        deep = 2
        for place in range(at, min(len(self._text), at + _SUM)):
            deep += (self._text[place] == "(") - (self._text[place] == ")")
            if deep > _DEEP:
                break
            if deep == 0:
                return place + 1 if self._text[place - 1] == ")" else 0
        return 0

    def _summed(self) -> Word:
        end = self._sum_end(self._at + 2)
        raw = self._text[self._at : end]
        _, inner = self._within(raw[2:-2])
        self._at = end
        return Word(MARK + END, raw, tuple(inner))

    def _with_body(self, command: Command, which: int) -> Command:
        """Read the lines that a here-document is, and give them to their command."""
        redirect = command.redirects[which]
        name = redirect.target.text
        tabs = r"\t*" if redirect.sign.endswith("-") else ""
        last = re.compile(rf"^{tabs}{re.escape(name)}[ \t\r]*(?=\n|\Z)", re.MULTILINE)
        found = last.search(self._text, self._at)
        body = self._text[self._at : found.start() if found else len(self._text)]
        self._at = found.end() + 1 if found else len(self._text)
        inner: list[Command] = []
        if redirect.target.raw == name:  # not quoted: expanded
            body, inner = self._within(body)
        target = replace(redirect.target, inner=(*redirect.target.inner, *inner))
        told = list(command.redirects)
        told[which] = replace(redirect, target=target, body=body)
        return replace(command, redirects=tuple(told))

    def _deeper(self, reads: Callable[[], _T]) -> _T:
        self._depth += 1
        if self._depth > _DEEP:
            raise _LostError
        found = reads()
        self._depth -= 1
        return found

    def _find(self, sign: str, at: int, *, pattern: bool = False) -> int:
        found = re.compile(sign if pattern else re.escape(sign)).search(self._text, at)
        if found is None:
            raise _LostError
        return found.start()

    def _skip_blank(self) -> None:
        if (blank := _BLANK.match(self._text, self._at)) is not None:
            self.bare &= "\\" not in blank[0]
            self._at = blank.end()

    def _skip_comment(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end
        self.bare = False


def _expanded(text: str) -> list[str]:
    found = _BRACED.search(text)
    if found is None:
        return [text]
    return [text[: found.start()] + one + text[found.end() :] for one in found[1].split(",")]


def _unescaped(found: re.Match[str]) -> str:
    told = found[1]
    if told[0] in "xu" and len(told) > 1:
        return chr(int(told[1:], 16))
    return chr(int(told, 8)) if told[0] in "01234567" else _LETTERS.get(told, told)


def _only_told(commands: list[Command]) -> str | None:
    """Return what is printed where it stands there itself, `$(cat <<'E' …)`; None: it is worked out."""
    told = [command for command in commands if command.words or command.redirects]
    if len(told) != 1 or [word.text for word in told[0].words] != ["cat"]:
        return None
    bodies = [redirect.body for redirect in told[0].redirects]
    inner = told[0].redirects[0].target.inner if bodies else ()
    return None if len(bodies) != 1 or inner or bodies[0] is None else bodies[0].rstrip("\n")
