"""A key in two goes: its owner, or the app, split it over two messages of one chat.

    "use ghp_4tQ9"                "9xZ…"        too little to be a secret: the inbox holds it for a moment
    "use ghp_4tQ9kL2mW8xZr…"      "9xZ…"        a secret already: sealed at once, and gone on with here

    "use sk_live_4eC39HqLyj…"     "9xZ…"        maybe whole: the second is sealed by itself, its owner may join them

Only what is certainly not whole is gone on with: a shape whose length is not reached, an open block, a
name at the end. So nobody waits for an ordinary line, and a half that could be used is never written in clear. What was
sealed last in a chat is known for a minute. Where it could be whole, a next message that is one word no person would
write is kept apart: joined unasked it would spoil a key that was whole, left in clear it would be half of one. Pure. Neighbours: intake/halves.py (what a
half looks like), inbox.py (holds and joins), pasted.py (goes on with what it sealed).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from bot import keys
from bot.entities import TEXT_LIMIT, units
from bot.intake.halves import ENOUGH, announced, begun, block_open, is_short
from bot.intake.judge import HEX, made, no_secret
from bot.intake.lines import made_up, shaped_at

HOLD_S = 20.0  # so long a short half waits for the other
GOES_ON_S = 60.0  # so long a sealed one may be gone on with
# Characters of a text that are looked at where it meets another: a message holds less.
_ENDS = 5_000
_WORD = re.compile(r"[^\s\"'`]+\Z")
_WORD_MOST = 80
_A_WORD = re.compile(r"[A-Za-z]?[a-z]{2,}[.,!?:)]*|[0-9]{1,4}[.%]?|[^A-Za-z0-9]+")
_ALONE = re.compile(r"[\s\"'`]*(?P<run>[A-Za-z0-9_.+/=~$%-]{8,})[\s\"'`]*")
_RUN = re.compile(r"[\"'`>\s]*(?P<run>[^\s\"'`]+)[\"'`\s]*")


REST = "_REST"  # what the rest of a key is named by, behind the key's own name


def waits(text: str) -> bool:
    """Return whether a text ends in so little of a key that it would go on in clear alone."""
    end = text.rstrip()
    half = begun(end)
    if half is not None:
        return not half.enough
    if not announced(end):
        return False
    return not any(key.end >= len(end) for key in keys.find(end[-_ENDS:]))


def together(first: str, second: str) -> str | None:
    """Return two texts as the one they were, where a key lies across; None: they are two."""
    head, rest = first.rstrip(), second.lstrip()
    run = _RUN.match(rest)
    if run is None or not head:
        return None
    alone = {key.value for key in keys.find(rest[:_ENDS])}
    is_block = block_open(head[-_ENDS:])
    if not is_block and (shaped_at(rest, run.start("run")) or run.end() != len(rest)):
        return None  # a key by itself, or words: judged alone
    for between in ("\n",) if is_block else ("", " ", "\n"):
        at = len(head[-_ENDS:]) + len(between)
        glued = head[-_ENDS:] + between + rest[:_ENDS]
        for key in keys.find(glued):
            if key.end <= at or key.start > at or (key.start == at and key.value in alone):
                continue
            ends_there = key.end >= at + run.start("run") + len(run["run"].rstrip(".,;:!?)"))
            whole = begun(glued[: key.end]) is None
            goes_on = _goes_on(run["run"], whole=whole) if key.start < at else whole
            if is_block or (ends_there and (goes_on or made_up(run["run"]))):
                return head + between + rest
    return None


def _goes_on(run: str, *, whole: bool) -> bool:
    """Return whether so few letters may be a key's last: no name made of words."""
    return whole and len(run) < ENOUGH and run.isalnum() and not _A_WORD.fullmatch(run)


def joined(texts: Sequence[str]) -> str:
    """Put a message's texts together: where the app cut at its limit, nothing was in between."""
    whole, before = "", ""
    for part in filter(None, texts):
        glued = whole + part
        halves = together(whole, part) if whole and waits(whole) else None
        if not whole or units(before) >= TEXT_LIMIT:
            whole = glued
        elif halves is not None:
            whole = halves
        else:
            spans = any(key.start < len(whole) < key.end for key in keys.find(glued))
            whole = glued if spans else f"{whole}\n{part}"
        before = part
    return whole


class Tail(Struct, frozen=True):
    """A key on which a message ended: known for a while, since the rest of it may be in the next one.

    before   what stands before it, as far as that tells it from a word
    name     what it is kept as; "" for what went on in clear: a word, or too few letters of a key
    is_open  it is surely not whole: a shape that broke off, a block without its end
    """

    before: str
    value: str
    name: str = ""
    is_open: bool = True


def tail_of(text: str, found: list[keys.Key], names: dict[str, str]) -> Tail | None:
    """Return the key a text ends on; `names`: what each is kept as."""
    end = text.rstrip().rstrip("\"'`")
    if not found or found[-1].end < len(end):
        ends_on = _WORD.search(end[-_WORD_MOST:])
        return Tail("", ends_on[0]) if ends_on is not None else None
    last = found[-1]
    is_open = (last.sure and is_short(last.value)) or block_open(last.value)
    before = text[max(0, last.start - 100) : last.start]
    return Tail(before, last.value, names.get(last.value, ""), is_open)


def gone_on(tail: Tail, text: str) -> keys.Key | None:
    """Return the whole key, and where the rest of it stands in this text; None: this is something else."""
    start = len(text) - len(text.lstrip())
    if not tail.is_open:
        return None  # whole, or known by the words around it alone: what follows is something else
    head = tail.before + tail.value
    glued = together(head, text)
    if glued is None:
        return None
    shift = len(glued) - len(text[start:])
    for key in keys.find(glued):
        fits = key.start <= len(tail.before) if tail.name else key.start < len(head) and key.sure
        if fits and key.end > shift:
            end = start + key.end - shift
            return keys.Key(tail.name or key.name, key.value, start, end, sure=key.sure)
    return None


def maybe_rest(tail: Tail, text: str) -> keys.Key | None:
    """Return the one word that a message is, where it may be the rest of a key that was sealed before it."""
    alone = _ALONE.fullmatch(text)
    if alone is None or not tail.name or not _by_a_machine(alone["run"]):
        return None
    return keys.Key(f"{tail.name}{REST}", alone["run"], *alone.span("run"))


def _by_a_machine(word: str) -> bool:
    """Return whether no person would write a word, and so soon behind a key it is none of something else."""
    if HEX.fullmatch(word):
        return made_up(word) and not word.isdigit()
    return made(word, 8) and not no_secret(word.rstrip("="))
