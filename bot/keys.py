"""Finds keys in what the owner pastes, so that none of them goes any further.

Only what is plainly a key: a provider's own prefix, a private key block, a password in an address, a
value that the words around it give away (bot/intake/ has the rules, `python -m tests.intake`
measures them). pasted.py takes them out before anything else is done with a text; each is sealed,
and `{{NAME}}` stands in its place. Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from bot.intake.calls import called
from bot.intake.checked import read
from bot.intake.chosen import chosen
from bot.intake.commands import commanded
from bot.intake.groups import grouped
from bot.intake.halves import begun, full
from bot.intake.lines import at_line_end, joined
from bot.intake.makers import of_makers
from bot.intake.nearby import Near, near
from bot.intake.shapes import SHAPES, Shape, stands_in
from bot.intake.tied import tied
from bot.intake.tongues import in_tongues
from bot.intake.unlisted import unlisted
from stores.recovery import codes_in

STEP = 32 * 1024  # characters of a long text looked through at a time
REACH = 16 * 1024  # and beyond: the longest key there is lies whole in one look

# Without its end, everything behind the beginning counts: the rest may be in the next message.
_BLOCK = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9 ]*PRIVATE KEY[A-Z ]*|OpenVPN Static key V1) ?-{4,5}(?!-|[ \t]+[a-z]+[ \t])"
    r".*?(?:-{4,5} ?END [A-Za-z0-9 ]*-{4,5}|\Z)"
    r"|PuTTY-User-Key-File-\d:.*?(?:Private-MAC: [0-9a-f]+|\Z)",
    re.S,
)
_NAMED_BEFORE = re.compile(r"\b([A-Za-z][A-Za-z0-9_]{1,60})[\"']?\s*[=:]\s*[\"'`]?\Z")
# Names that say what a sentence is about, not what the key is for.
_NO_NAMES = frozenset({"key", "token", "secret", "password", "is", "here", "use", "this", "it"})
# What stands around a key that is no more than given; a word more, and somebody is asked to do something.
_HANDING = re.compile(
    r"(?i)(?<![\w{])(?:hi|hello|please|here|it|this|that|these|is|are|s|the|my|our|your|a|an|and|new|"
    r"api|access|secret|keys?|tokens?|passwords?|keep|store|save|for|you|later)(?![\w}])"
)
RECOVERY = "RECOVERY_CODE"  # what the vault's own code is called where it stood


class Key(Struct, frozen=True):
    """One found: the name it would go by, and where it stands in the text.

    sure   its own shape tells it, not the words around it
    """

    name: str
    value: str
    start: int
    end: int
    sure: bool = False


def find(text: str) -> list[Key]:
    """Return all keys in a text, in order, none overlapping another."""
    codes = list(_codes(text))
    found = [Key("PRIVATE_KEY", m.group(), *m.span(), sure=True) for m in _BLOCK.finditer(text)]
    found += [*shaped(text), *_half(text)]
    found += [
        Key(_tidy(one.name) or "SECRET", one.value, one.start, one.end)
        for one in map(
            partial(_wrapped_on, text),
            chain(
                near(text),
                tied(text),
                commanded(text),
                chosen(text),
                called(text),
                of_makers(text),
                in_tongues(text),
            ),
        )
    ]
    found += [
        Key(one.name, one.value, one.start, one.end) for one in chain(grouped(text), read(text))
    ]
    sure = [key for key in found if key.sure]
    found += [
        Key(_named(text, one.start) or one.name, one.value, one.start, one.end)
        for one in unlisted(text)
        if not any(one.start < key.end and key.start < one.end for key in sure)
    ]
    apart = [
        one
        for one in found
        if not any(one.start < code.end and code.start < one.end for code in codes)
    ]
    return in_order([*apart, *codes])


def is_recovery(value: str) -> bool:
    """Return whether a value is the vault's own recovery code, or holds it."""
    return any(codes_in(value))


def _codes(text: str) -> Iterator[Key]:
    for start, end in codes_in(text):
        yield Key(RECOVERY, text[start:end], start, end, sure=True)


def shaped(text: str) -> Iterator[Key]:
    """Yield those that their provider's shape tells, whatever stands around them."""
    yield from _codes(text)
    for key in _shaped(text):
        if stands_in(key.value):
            continue
        yield Key(_named(text, key.start) or key.name, key.value, key.start, key.end, sure=True)


def in_order(found: list[Key]) -> list[Key]:
    """Return them as they stand in the text, without those that begin within another."""
    kept: list[Key] = []
    for key in sorted(found, key=lambda key: (key.start, -key.end)):
        if not kept or key.start >= kept[-1].end:
            kept.append(key)
    return kept


def _half(text: str) -> list[Key]:
    """Find what broke off at the end of a text, where so much of it is there that it is a secret."""
    end = len(text.rstrip())
    half = begun(text[:end])
    if half is None or not half.enough:
        return []
    name = _named(text, half.start) or half.name
    return [Key(name, text[half.start : end], half.start, end, sure=True)]


def _shaped(text: str) -> Iterator[Key]:
    """Find what a provider's shape fits, where its word stands; wrapped ones whole."""
    for shape in SHAPES:
        if not shape.word:
            for found in shape.form.finditer(text):
                yield Key(shape.name, found[0], *found.span())
            continue
        at = text.find(shape.word)
        while at >= 0:
            end = at + len(shape.word)
            if (key := _at(text, at, shape)) is not None:
                yield key
                end = key.end
            at = text.find(shape.word, end)


def _at(text: str, at: int, shape: Shape) -> Key | None:
    found = shape.form.match(text, at)
    key = Key(shape.name, found[0], *found.span()) if found is not None else None
    if text[at - 1 : at].isalnum() or (key is not None and not at_line_end(text, key.end)):
        return key
    run = joined(text, at)
    if run is None or (key is not None and (not run.plainly or full(key.value))):
        return key
    whole = shape.form.match(run.text)
    if whole is None or (key is not None and len(whole[0]) <= len(key.value)):
        return key
    return Key(shape.name, whole[0], at, run.place(len(whole[0])))


def _wrapped_on(text: str, one: Near) -> Near:
    """Return a value with the rest of it, where that stands on the next line."""
    run = joined(text, one.start)
    if run is None or not run.plainly or len(run.ends) != 2 or not run.text.startswith(one.value):
        return one
    if run.ends[0][0] != len(one.value) or len(run.text) < 2 * len(one.value) - 8:
        return one
    return Near(one.name, run.text, one.start, run.ends[-1][1])


def by_parts(text: str) -> Iterator[list[Key]]:
    """Yield what `find` gives, part by part of a long text: each part takes some tens of milliseconds.

    Each key belongs to the part it begins in; what is looked at reaches past that part's end.
    """
    if len(text) <= STEP + REACH:
        yield find(text)
        return
    done = 0
    for start in range(0, len(text), STEP):
        last = start + STEP + REACH >= len(text)
        found = find(text[start : start + STEP + REACH])
        kept = [
            replace(key, start=start + key.start, end=start + key.end)
            for key in found
            if start + key.start >= done and (last or key.start < STEP)
        ]
        done = max((key.end for key in kept), default=done)
        yield kept
        if last:
            return


def replaced(text: str, keys: Sequence[Key], name_of: Callable[[Key], str]) -> str:
    """Return the text with `{{NAME}}` in the place of each key."""
    parts, at = [], 0
    for key in keys:
        parts += [text[at : key.start], "{{", name_of(key), "}}"]
        at = key.end
    return "".join([*parts, text[at:]])


def masked(text: str) -> str:
    """Return a short text as it may be said and kept where nothing is to be stored of it."""
    return replaced(text, find(text), lambda key: key.name)


def only_keys(text: str) -> bool:
    """Return whether nothing but names and `{{NAME}}`s is left: then it says nothing to anybody."""
    rest = re.sub(
        r"(?:export\s+)?(?:[A-Za-z][A-Za-z0-9_]*[\"']?\s*[=:]\s*)?[\"'`]?\{\{\w+\}\}", "", text
    )
    return "{{" in text and not re.search(r"\w", rest)


def only_handed_over(text: str) -> bool:
    """Return whether nothing is left but keys, their names and words that hand them over."""
    return only_keys(_HANDING.sub("", text))


def _named(text: str, start: int) -> str:
    before = _NAMED_BEFORE.search(text, max(0, start - 80), start)
    return _tidy(before[1]) if before and before[1].lower() not in _NO_NAMES else ""


def _tidy(name: str) -> str:
    return re.sub(r"[^A-Z0-9_]", "_", name.upper())[:60]
