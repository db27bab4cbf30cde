"""Values of keys taken out of what a command printed, in whatever form they stand there.

    Scrubber({"STRIPE_KEY": value}).clean(text)   ->  the text with {{STRIPE_KEY}} in its place

Looked for are the value as it is, its lines if it has several, and the value in base64 (at any place
within a longer one), hexadecimal, percent and JSON escapes; each also broken into lines, or with colours
or zero bytes between its characters. A part of a value, or one that was reversed or encrypted, is not
found: who may use a key can read it, and the owner's card says so.

A node scrubs before anything is stored (printed.py), the engine once more what it was told, and its logs.
Standard library only.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

LEAST = 6  # characters: of a shorter value only the value itself is looked for
_LINE = 16  # characters of one line of a value, below which it may be anybody's
_BETWEEN = re.compile(rb"[\s\0]+|\x1b\[[0-9;?]*[A-Za-z]")
_ESCAPED = re.compile(rb"[\s\0]+|\x1b\[[0-9;?]*[A-Za-z]|\\[nrt]")
_HEX_BETWEEN = re.compile(rb"[\s\0:,-]+|\x1b\[[0-9;?]*[A-Za-z]|\\[nrtx]|0x")
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")


class Scrubber:
    """Knows some keys' values, and takes them out of text."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._forms: dict[bytes, str] = {}
        self._hex: dict[bytes, str] = {}
        # The longest value first: one that holds another is told by its own name.
        for name, value in sorted(values.items(), key=lambda pair: -len(pair[1])):
            for form in forms(value):
                self._forms.setdefault(form, name)
            if len(value) >= LEAST:
                self._hex.setdefault(value.encode("utf-8", "replace").hex().encode(), name)
        self.longest = max((len(form) for form in (*self._forms, *self._hex)), default=0)

    def clean(self, data: bytes) -> bytes:
        """Return `data` with each value's name in its place."""
        found = [
            *_found(data, _BETWEEN, self._forms),
            *_found(data, _ESCAPED, self._forms),
            *_found(data, _HEX_BETWEEN, self._hex, lower=True),
        ]
        made, at = [], 0
        for start, end, name in _joined(found):
            made += [data[at:start], b"{{%s}}" % name.encode("utf-8", "replace")]
            at = end
        return b"".join([*made, data[at:]])

    def words(self, text: str) -> str:
        """Return a text likewise."""
        data = text.encode("utf-8", "surrogatepass")
        clean = self.clean(data)
        return text if clean == data else clean.decode("utf-8", "replace")


def forms(value: str) -> Iterator[bytes]:
    """Yield a value as it may stand in what a program prints, without the space between characters."""
    plain = value.encode("utf-8", "replace")
    whole = [plain]
    if len(value) >= LEAST:
        whole += [line.strip() for line in plain.splitlines() if len(line.strip()) >= _LINE]
        for escaped in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
            whole += [escaped[1:-1].encode("utf-8", "replace")]
            whole += [escaped[1:-1].replace("/", "\\/").encode("utf-8", "replace")]
        for told in (quote(value, safe=""), quote_plus(value), quote(value), _all_escaped(plain)):
            whole += [told.encode()]
        whole += [part for part in _in_base64(plain) if len(part) >= LEAST]
    for form in dict.fromkeys(whole):
        for between in (_BETWEEN, _ESCAPED):
            if bare := _with_small_escapes(between.sub(b"", form)):
                yield bare


def _in_base64(plain: bytes) -> Iterator[bytes]:
    """Yield what any base64 that holds these bytes must hold, by where in it they begin."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + plain).rstrip(b"=")
        first = (before * 8 + 5) // 6  # characters that what comes before has a part in
        last = ((before + len(plain)) * 8) // 6  # and those that what follows has
        part = coded[first:last]
        yield part
        yield part.translate(bytes.maketrans(b"+/", b"-_"))


def _all_escaped(plain: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in plain)


def _with_small_escapes(data: bytes) -> bytes:
    return _PERCENT.sub(lambda found: found[0].lower(), data)


def _found(
    data: bytes, between: re.Pattern[bytes], forms: Mapping[bytes, str], *, lower: bool = False
) -> Iterator[tuple[int, int, str]]:
    """Yield where forms stand in `data`, whatever of `between` lies within them."""
    bare, gaps = _without(data, between)
    searched = bare.lower() if lower else _with_small_escapes(bare)
    for form, name in forms.items():
        at = searched.find(form)
        while at >= 0:
            yield _place(gaps, at), _place(gaps, at + len(form) - 1) + 1, name
            at = searched.find(form, at + 1)


def _without(data: bytes, between: re.Pattern[bytes]) -> tuple[bytes, list[tuple[int, int]]]:
    """Return `data` without what matches, and (place in it, bytes left out before that), in order."""
    kept, gaps, at, out, length = [], [(0, 0)], 0, 0, 0
    for gap in between.finditer(data):
        kept.append(data[at : gap.start()])
        length += gap.start() - at
        out += gap.end() - gap.start()
        at = gap.end()
        gaps.append((length, out))
    kept.append(data[at:])
    return b"".join(kept), gaps


def _place(gaps: list[tuple[int, int]], at: int) -> int:
    """Return where in the whole a byte of the bare text lies."""
    low, high = 0, len(gaps)
    while low < high:  # the last gap that begins at or before it
        middle = (low + high) // 2
        if gaps[middle][0] <= at:
            low = middle + 1
        else:
            high = middle
    return at + gaps[low - 1][1]


def _joined(found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield what was found in order; what overlaps is one, and is told by the name of the longest."""
    start, end, name, longest = -1, -1, "", 0
    for first, last, of in sorted(found):
        if first >= end:
            if end >= 0:
                yield start, end, name
            start, end, name, longest = first, last, of, last - first
            continue
        end = max(end, last)
        if last - first > longest:
            name, longest = of, last - first
    if end >= 0:
        yield start, end, name
