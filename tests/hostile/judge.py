"""What a message may look like that holds somebody else's words.

    its first line is ours, or names who speaks
    those words stand in a quote or as code, or in a line that begins with words of ours
    nothing in them can be tapped; where a link leads is what is read
    its buttons are those the card has anyway

Toward agents: they stand within our fence, under our label, capped. Neighbours: texts.py, ways.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot import text
from bot.emulator.texts import inside, units
from bot.lookalikes import quoted
from engine.rules import fenced

QUOTES = frozenset({"blockquote", "expandable_blockquote", "pre", "code", "spoiler"})
TAPPED = frozenset({"bot_command", "text_link", "text_mention"})
# How a line of ours begins in which a few of their words may stand.
OURS = re.compile(
    r"(?:Peek: )?(?:Worker \d+|The lead|The chief)\b|Now: |Waits for |Its next attempt: |\d+\.? |• |Landed: |check: |Check "
    r"|“|It conflicts in |Its login said |Down: |claude: |⚠ |✓ |✗ |○ |… |↻ |To: |At: |shop|here|A question|Answered: |By you: |Stopped|System: |It says: |Goal "
)
OUR_LABELS = frozenset(text.LABELS.values())
_QUOTED = re.compile(r"its turn ended with “[^”]*” \(its agent's words\)")
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
        at = start + units(line[: line.index(mark)])
        if not any(first <= at < last for first, last in quotes) and not OURS.match(line):
            found.append(f"a line of its own: {line[:120]!r}")
        if number == 0 and not re.match(r"(?:Peek: )?(?:Worker \d+|The lead)\b", line):
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


def unfenced(heard: str, mark: str) -> list[str]:
    """Return the lines an agent was told in which the mark stands outside of a fence of ours."""
    found, within, labelled = [], False, False
    for line in heard.split("\n"):
        if line == "```":
            if not within and not labelled:
                found.append("a fence without our label")
            within = not within
        elif mark in line and not within and mark in _QUOTED.sub("", line):
            found.append(line[:200])
        labelled = line.endswith(FENCE)
    return found


def _lines(said: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in said.split("\n"):
        yield at, line
        at += units(line) + 1
