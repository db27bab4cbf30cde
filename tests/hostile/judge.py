"""What a message may look like that holds somebody else's words, told by structure alone.

    each mark in it stands in a quote, in code, or on a line of ours between quotes that it cannot close
    never in the first line, but to name who speaks
    nothing in it can be tapped; where a link leads is what is read
    its buttons are those the card has anyway, or such words in quotes

How a line begins counts for nothing: an agent writes ✓, To: or Check as well as we do. texts.py plants
the marks, before each line and within it. Toward agents: they stand within our fence, under our label,
capped. Neighbours: texts.py, ways.py, test_judge.py (what it must see).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot import text
from bot.emulator.texts import inside, units
from bot.lookalikes import quoted
from engine.rules import fenced

QUOTES = frozenset({"blockquote", "expandable_blockquote", "pre", "code"})
TAPPED = frozenset({"bot_command", "text_link", "text_mention"})
OUR_LABELS = frozenset(text.LABELS.values())
SPEAKER = re.compile(r"(?:Peek: )?(?:Worker \d+|The lead)\b")
# Where a line of ours holds a few words of theirs: between quotes, as code, as a branch's plain name.
_SLOTS = re.compile(r"“[^”]*”|\"[^\"]*\"|`[^`]*`|\bquarterdeck/[\w-]+")
FENCE = f" {fenced.OUTSIDE}:"


def offences(
    said: str,
    entities: Sequence[dict[str, Any]],
    labels: Sequence[str],
    mark: str,
    *,
    ours: frozenset[str] = OUR_LABELS,
) -> list[str]:
    """Return what is wrong with a message; `ours`: what may stand on buttons beside an agent's options."""
    found = []
    quotes = [(e["offset"], e["offset"] + e["length"]) for e in entities if e["type"] in QUOTES]
    for number, (start, line) in enumerate(_lines(said)):
        if mark not in line:
            continue
        for place in re.finditer(re.escape(mark), line):
            first = start + units(line[: place.start()])
            last = first + units(mark)
            within = any(begin <= first and last <= end for begin, end in quotes)
            if not within and not _between_quotes(line, place.start()):
                found.append(f"outside of any quote: {line[:160]!r}")
                break
        if number == 0 and not SPEAKER.match(line):
            found.append(f"the first line: {line[:120]!r}")
        found += [
            f"{entity['type']} to be tapped: {inside(said, entity)!r}"
            for entity in entities
            if entity["type"] in TAPPED and start <= entity["offset"] < start + units(line)
        ]
    found += [
        f"a link to {e['url']}"
        for e in entities
        if e["type"] == "text_link" and inside(said, e) != e["url"]
    ]
    found += [
        f"a button {label!r}"
        for label in labels
        if label not in ours and quoted(label.strip("“”"), OUR_LABELS) != label
    ]
    return found


def _between_quotes(line: str, at: int) -> bool:
    """Whether our words come first, then a quote that nothing has closed before here."""
    opened = line.rfind("“", 0, at)
    return opened > 0 and line[:opened].strip() != "" and "”" not in line[opened:at]


def unfenced(heard: str, mark: str) -> list[str]:
    """Return the lines an agent was told in which the mark stands outside of a fence of ours."""
    found, fence, labelled = [], "", False
    for line in heard.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif re.fullmatch("`{3,}", line):
            fence = line
            if not labelled:
                found.append("a fence without our label")
        elif mark in _SLOTS.sub("", line):
            found.append(line[:200])
        labelled = line.endswith(FENCE)
    return [*found, "a fence that stays open"] if fence else found


def _lines(said: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in said.split("\n"):
        yield at, line
        at += units(line) + 1
