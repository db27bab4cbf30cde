"""A lead's pieces: what makes a plan sound, and which pieces may start.

Pure functions over tuples of pieces; goal.py holds the plan and decides. A piece:

    PROPOSED -> WAITING -> WORKING -> COLLECTING -> LANDING -> LANDED
                              ^            |           |
                              +-- again ---+-----------+--> FAILED | PAUSED | STOPPED
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from engine.rules.words import Account, PieceDraft

MAX_PIECES = 20
MAX_TITLE = 100
MAX_ATTEMPTS = 3
SIZES = ("S", "M", "L")
# Ticks, crosses, warnings and lights, as cards begin their lines with, and how they are shown.
_OURS = re.compile(
    "[\u203c\u2611\u2705\u2713\u2714\u2717\u2718\u26a0\u26aa\u26ab\u26d4\u274c\u274e\u2755\u2757"
    "\U0001f534\U0001f535\U0001f5f8\U0001f5f9\U0001f6ab\U0001f6d1\U0001f7e0-\U0001f7eb][\ufe0e\ufe0f]?"
)


class Stage(StrEnum):
    PROPOSED = "proposed"
    WAITING = "waiting"
    WORKING = "working"
    COLLECTING = "collecting"
    LANDING = "landing"
    LANDED = "landed"
    FAILED = "failed"
    PAUSED = "paused"  # interrupted by the owner; a line to the worker goes on
    STOPPED = "stopped"


ACTIVE = (Stage.WORKING, Stage.COLLECTING, Stage.LANDING)
OPEN = (Stage.WAITING, *ACTIVE, Stage.FAILED, Stage.PAUSED)
OVER = (Stage.LANDED, Stage.STOPPED)


class Piece(Struct, frozen=True, kw_only=True):
    """One branch to be landed on its own."""

    id: str
    number: int
    title: str
    task: str
    size: str = "M"
    after: tuple[int, ...] = ()
    session: str = ""
    branch: str = ""
    agent: str = ""
    account: Account | None = None  # whose, where it is not the lead's
    model: str = ""
    machine: str = ""
    stage: Stage = Stage.PROPOSED
    opened: bool = False  # its session exists
    attempt: int = 1
    again_at: float = 0.0  # when its next attempt begins by itself
    conflicts: int = 0
    base: str = ""  # the lead's head it started from
    commit: str = ""  # the worker's, last collected
    why: str = ""  # of FAILED, STOPPED, or the last return
    report: str = ""
    summary: str = ""  # the worker's own words at done
    started_at: float = 0.0  # when its worker was first asked for
    landed_at: float = 0.0


def plain_title(title: str) -> str:
    """A title without signs before it, and without ours in it: a tick or a warning is ours to set.

    One of nothing else stands in quotes.
    """
    whole = title.strip()
    title = " ".join(_OURS.sub(" ", whole).split())
    while title and not title[0].isascii() and not title[0].isalnum():
        if unicodedata.category(title[0]) in ("Ps", "Pi", "Sc"):
            break
        title = title[1:].lstrip()
    return title or (f"“{whole}”" if whole else "")


def fault(drafts: tuple[PieceDraft, ...]) -> str:
    """Return what is wrong with a proposed plan, in a sentence for the lead; "" if it is sound."""
    if not drafts:
        return "The plan has no pieces: give at least one."
    if len(drafts) > MAX_PIECES:
        return f"The plan has {len(drafts)} pieces; {MAX_PIECES} is the most. Join some."
    for number, draft in enumerate(drafts, start=1):
        if not plain_title(draft.title):
            return f"Piece {number} has no title."
        if len(draft.title) > MAX_TITLE:
            return f"Piece {number}: its title is longer than {MAX_TITLE} characters."
        if not draft.task.strip():
            return f"Piece {number} has no task: say what its worker is to do."
        if draft.size not in SIZES:
            return f'Piece {number}: size is "S", "M" or "L", not "{draft.size}".'
        for before in draft.after:
            if before == number or not 1 <= before <= len(drafts):
                return (
                    f"Piece {number}: `after` names piece {before}; it may name other pieces of "
                    f"this plan, 1 to {len(drafts)}."
                )
    return circle({number: draft.after for number, draft in enumerate(drafts, start=1)})


def circle(after: Mapping[int, tuple[int, ...]]) -> str:
    """Say which pieces wait for each other, or ""; `after` is what each of them waits for."""
    landed: set[int] = set()
    while len(landed) < len(after):
        free = {
            number
            for number, before in after.items()
            if number not in landed and landed.issuperset(before)
        }
        if not free:
            left = ", ".join(str(number) for number in after if number not in landed)
            return f"Pieces {left} wait for each other: no one of them could ever start."
        landed |= free
    return ""


def ready(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The waiting pieces whose forerunners have all landed."""
    landed = {piece.number for piece in pieces if piece.stage is Stage.LANDED}
    return tuple(
        piece for piece in pieces if piece.stage is Stage.WAITING and landed.issuperset(piece.after)
    )


def waits_for(piece: Piece, pieces: tuple[Piece, ...]) -> str:
    """Why a waiting piece has not started: "pieces 1 and 2 (starts once landed)"."""
    by_number = {other.number: other for other in pieces}
    left = [by_number[n] for n in piece.after if by_number[n].stage is not Stage.LANDED]
    stuck = [other for other in left if other.stage in (Stage.STOPPED, Stage.FAILED)]
    if stuck:
        first = stuck[0]
        return f"piece {first.number} ({first.stage.value})"
    if not left:
        return ""
    return f"{numbers(tuple(other.number for other in left))} (starts once landed)"


def numbers(values: tuple[int, ...]) -> str:
    """ "piece 1", "pieces 1 and 2", "pieces 1, 2 and 3"."""
    texts = [str(value) for value in values]
    if len(texts) == 1:
        return f"piece {texts[0]}"
    return f"pieces {', '.join(texts[:-1])} and {texts[-1]}"
