"""The last net: a text without the secrets that stand in it, in the forms in which programs print them.

    Net([("SHOP_KEY", value)]).clean("it is " + value)  ->  "it is {{SHOP_KEY}}"

As it stands, all in small letters (a branch's name), escaped, percent-encoded, in hex or base64, and each
long line of a key of many lines. Against mishaps: who means to bring a secret out can write it in a form
nobody looks for. What is shorter than SHORTEST, or a word or number that texts hold by chance, is left
alone: to blank it would blank ordinary text. Pure.
Its cost does not grow with the number of secrets. Neighbours: vault.py (whose values these are), unlogged.py
(logs); engine/node/scrub.py is for the few keys of one command, and finds them broken into lines too.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote, quote_plus

SHORTEST: Final = 8
# Every form has SHORTEST characters or more; so among every STRIDE of its WINDOWs one begins where we look.
WINDOW: Final = 6
STRIDE: Final = SHORTEST - WINDOW + 1
BLOCK: Final = STRIDE * 20_000  # of a long text looked at together, so that it takes no room
LONG_WORD: Final = 16
LONG_NUMBER: Final = 13  # a time in milliseconds has as many digits
FEWEST_SIGNS: Final = 4  # different ones
_LINE_OF_A_KEY: Final = re.compile(r"[A-Za-z0-9+/=_-]{40,}")


def is_telling(value: str) -> bool:
    """Return whether a value would stand in no ordinary text by chance."""
    value = value.strip()
    if len(value) < SHORTEST or len(set(value)) < FEWEST_SIGNS:
        return False
    if value.isdigit():
        return len(value) > LONG_NUMBER
    one_word = value.isalpha() and (value.islower() or value.isupper() or value.istitle())
    return not one_word or len(value) >= LONG_WORD


class Net:
    """All that must not be shown. `secrets`: what each stands for in its place, and its value."""

    def __init__(self, secrets: Iterable[tuple[str, str]] = ()) -> None:
        self._names: dict[str, str] = {}
        for name, value in secrets:
            if is_telling(value):
                for form in forms(value.strip()):
                    self._names.setdefault(form, name)
        self._windows: dict[str, list[str]] = {}
        for form in self._names:
            for at in range(STRIDE):
                self._windows.setdefault(form[at : at + WINDOW], []).append(form)

    def held(self, text: str) -> list[str]:
        """Return the forms of secrets that stand in a text, the longest first."""
        windows = self._windows
        if not windows:
            return []
        there: set[str] = set()
        last = len(text) - WINDOW + 1
        for start in range(0, last, BLOCK):
            ends = range(start, min(start + BLOCK, last), STRIDE)
            there |= windows.keys() & {text[at : at + WINDOW] for at in ends}
        forms = {form for window in there for form in windows[window] if form in text}
        return sorted(forms, key=len, reverse=True)

    def clean(self, text: str) -> str:
        """Return the text with {{NAME}} where a secret stood."""
        for form in self.held(text):
            text = text.replace(form, f"{{{{{self._names[form]}}}}}")
        return text

    def clean_line(self, line: bytes, untouched: frozenset[str] = frozenset()) -> bytes:
        """Return a JSON value so, texts in fields named in `untouched` as they are."""
        if not self.held(line.decode("utf-8", "replace")):
            return line
        clean = self._within(json.loads(line), untouched)
        return json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode()

    def _within(self, value: Any, untouched: frozenset[str]) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, list):
            return [self._within(one, untouched) for one in value]
        if isinstance(value, dict):
            return {
                self.clean(name): one
                if name in untouched and isinstance(one, str)
                else self._within(one, untouched)
                for name, one in value.items()
            }
        return value


def forms(value: str) -> Iterator[str]:
    """Yield how programs print a value; each is at least SHORTEST characters long."""
    found = {value, value.lower(), value.upper(), *_LINE_OF_A_KEY.findall(value), *_encoded(value)}
    once = {written for form in found for written in _escaped(form)}
    twice = {written for form in once for written in _escaped(form)}
    yield from sorted(form for form in found | once | twice if len(form) >= SHORTEST)


def _encoded(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "replace")
    yield from (raw.hex(), raw.hex().upper())
    for safe in ("", "/"):
        percent = quote(value, safe=safe, errors="replace")
        yield from (percent, re.sub("%..", lambda found: found.group().lower(), percent))
    yield quote_plus(value, errors="replace")
    for before in range(3):
        # What stands before shifts all, and the signs at both edges hold bits of what is around.
        wide = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        inner = wide[-(-before * 4 // 3) : (before + len(raw)) * 4 // 3]
        yield from (inner, inner.translate(_OF_ADDRESSES))


_OF_ADDRESSES: Final = str.maketrans("+/", "-_")
_PLAIN: Final = frozenset(string.ascii_letters + string.digits + "+/=_-.~%")


def _escaped(form: str) -> Iterator[str]:
    if not _PLAIN.issuperset(form):
        yield json.dumps(form)[1:-1]
        yield json.dumps(form, ensure_ascii=False)[1:-1]
        yield repr(form)[1:-1]
