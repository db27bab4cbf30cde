"""A shell's text parted into what it runs and what it only carries: comments, and here-documents' bodies.

    cat > notes <<'E' …   ->   (cat > notes) runs, … is carried
    sudo bash <<'E' …     ->   … is a command as well and stays in its place

Quotes are followed as a shell does, lines that go on are joined. Pure. Neighbour: stakes.py judges both.
"""

from __future__ import annotations

import re
from typing import Final

_OPENS: Final = re.compile(r"<<(-?)[ \t]*(?:'([\w.-]+)'|\"([\w.-]+)\"|\\?([A-Za-z_][\w.-]*))")
_WITHIN: Final = re.compile(r"(?<!\\)\$\((?:cat|/bin/cat)[ \t]*$")
_RUNS: Final = re.compile(
    r"(?:^|[\s/;|&({\"'])(?:sh|bash|zsh|dash|ksh|fish|eval|ssh|su|xargs|parallel|source)(?=\s|$)"
    r"|^\s*\.\s"
)
_MOST: Final = 50  # here-documents that are parted; the rest stays where it is
_BEFORE: Final = " \t\n;|&()"  # what a comment's sign stands behind


def apart(text: str) -> tuple[str, list[str]]:
    """Return the text that is run, and each piece that is only carried."""
    runs: list[str] = []
    carried: list[str] = []
    quote, at, seen = "", 0, 0
    bodies: list[tuple[re.Match[str], str]] = []
    line_from = 0  # where in `runs` the present line begins
    while at < len(text):
        sign = text[at]
        if sign == "\\" and quote != "'":
            if text[at + 1 : at + 2] != "\n":
                runs.append(text[at : at + 2])
            at += 2
            continue
        if sign == "#" and not quote and (at == 0 or text[at - 1] in _BEFORE):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            carried.append(text[at:end])
            at = end
            continue
        if sign == "<" and quote != "'" and seen < _MOST and (found := _opened(text, at, quote)):
            seen += 1
            bodies.append((found, quote))
            runs.append(found[0])
            at = found.end()
            continue
        if sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        runs.append(sign)
        at += 1
        if sign == "\n":
            if bodies:
                line = "".join(runs[line_from:])
                for opened, within in bodies:
                    at = _body(text, at, opened, within, line, runs, carried)
                bodies = []
            line_from = len(runs)
    return "".join(runs), carried


def _opened(text: str, at: int, quote: str) -> re.Match[str] | None:
    if text[at - 1 : at] == "<" or text[at + 2 : at + 3] == "<":
        return None
    found = _OPENS.match(text, at)
    begins = text.rfind("\n", 0, at) + 1
    if found is None or (quote and not _WITHIN.search(text[max(begins, at - 80) : at])):
        return None
    return None if text.find("((", begins, at) >= 0 else found


def _body(
    text: str,
    at: int,
    opened: re.Match[str],
    within: str,
    line: str,
    runs: list[str],
    carried: list[str],
) -> int:
    """Put a body where it belongs, and return where the text goes on."""
    name = opened[2] or opened[3] or opened[4]
    tabs = r"\t*" if opened[1] else ""
    end = re.compile(rf"^{tabs}{re.escape(name)}(?=\n|$)", re.MULTILINE).search(text, at)
    if end is None:
        return at
    body = text[at : end.start()]
    before, _, after = line.partition(opened[0])
    reader = before if within else re.split(r"[;|&]", before)[-1]
    if _RUNS.search(reader) or "|" in after.replace("||", ""):
        runs.append(body.replace("\\\n", ""))
    elif not within or (opened[4] and re.search(r"\$\(|`", body)):
        carried.append(body)
    return end.end()
