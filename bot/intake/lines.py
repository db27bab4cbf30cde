"""A key that was wrapped: its pieces stand at the end of one line and at the beginning of the next.

    ghp_4tQ…      "ghp_4tQ…" \\      > ghp_4tQ…
    9xZ…          "9xZ…"              > 9xZ…

A line is taken for going on only where the next one is nothing but what no person wrote, up to its end,
and no key by itself, since two lines mostly are two things. Pure. Neighbour: bot/keys.py tries each shape on what is joined.
"""

import re
from typing import Final

from msgspec import Struct

from bot.intake.shapes import SHAPES

MOST_LINES: Final = 12
_PIECE: Final = re.compile(r"[A-Za-z0-9_.+/=~$-]+")
_WRAP: Final = re.compile(r"(?P<quote>[\"'`]?)[ \t]*[+\\]?[ \t]*\r?\n[ \t>|+]*(?P<again>[\"'`]?)")
_REST: Final = re.compile(r"[A-Za-z0-9_.+/~$-]+={0,2}")
_LAST: Final = re.compile(r"[\"'`]?[,;.)\]}]*[ \t]*[+\\]?[ \t]*(?=\r?\n|\Z)")


class Joined(Struct, frozen=True):
    """A run of pieces put together; `ends`: (how long it is up to a piece's end, where that is).

    plainly   it was wrapped for certain: marked as such, or alone on lines of which no later one is longer
    """

    text: str
    ends: tuple[tuple[int, int], ...]
    plainly: bool = False

    def place(self, length: int) -> int:
        """Return where in the whole text the first `length` characters of the run end."""
        for upto, end in self.ends:
            if length <= upto:
                return end - (upto - length)
        return self.ends[-1][1]


def joined(text: str, start: int) -> Joined | None:
    """Return the wrapped run that begins at `start`; None where nothing goes on."""
    first = _PIECE.match(text, start)
    if first is None:
        return None
    run, end = first[0], first.end()
    ends = [(len(run), end)]
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t>|\"'`")
    plainly = True
    for _ in range(MOST_LINES):
        wrap = _WRAP.match(text, end)
        if wrap is None or wrap["quote"] != wrap["again"]:
            break
        piece = _REST.match(text, wrap.end())
        if piece is None or not made_up(piece[0]) or not _LAST.match(text, piece.end()):
            break
        if shaped_at(text, piece.start()):
            break
        marked = bool(wrap["quote"]) or re.search(r"[+\\]", wrap[0].split("\n")[0]) is not None
        plainly &= marked or (alone and len(piece[0]) <= len(first[0]) + 1)
        run, end = run + piece[0], piece.end()
        ends.append((len(run), end))
    return Joined(run, tuple(ends), plainly) if len(ends) > 1 else None


def shaped_at(text: str, at: int) -> bool:
    """Return whether a whole key of a known shape begins here."""
    return any(
        shape.form.match(text, at) is not None
        for shape in SHAPES
        if not shape.word or text.startswith(shape.word, at)
    )


def at_line_end(text: str, end: int) -> bool:
    """Return whether nothing but what wraps a line stands between here and the next one."""
    return _WRAP.match(text, end) is not None


def made_up(piece: str) -> bool:
    """Return whether no person would write this: digits among letters, or cases all mixed up."""
    if len(piece) < 4 or not re.search(r"[A-Za-z]", piece):
        return bool(re.fullmatch(r"[0-9]{4,}", piece))
    if re.fullmatch(r"[A-Za-z]+[-_.]?[0-9]{1,4}\.?", piece):  # step-2, port8080
        return False
    switches = len(re.findall(r"[a-z][A-Z]|[A-Z]{2}[a-z]", piece))
    return bool(re.search(r"[0-9]", piece)) or (switches >= 2 and switches * 5 >= len(piece))
