"""Messages in which there is nothing to find: said.txt by hand, machine.py by lot."""

from __future__ import annotations

from pathlib import Path

from tests.intake.second.ordinary import Ordinary
from tests.intake.third import machine


def ordinary() -> list[Ordinary]:
    """Return all messages, none of them twice."""
    found: dict[str, Ordinary] = {}
    said = (Path(__file__).parent / "said.txt").read_text(encoding="utf-8")
    for line in said.splitlines():
        text = line.replace("\\n", "\n").replace("\\t", "\t")
        found.setdefault(text, Ordinary("said", text, made=False))
    for family, text in machine.messages("ordinary"):
        found.setdefault(text, Ordinary(f"family {family}", text, made=True))
    return list(found.values())
