"""BR-56: what an agent says that nobody here knows is told once for each of its versions."""

from __future__ import annotations

from engine.rules.drift import KEPT
from engine.rules.effects import Say
from engine.rules.events import LinesUnknown
from engine.rules.fleet import Fleet, begin, decide


def after(*events: LinesUnknown) -> tuple[Fleet, list[str]]:
    fleet, said = begin(""), []
    for event in events:
        fleet, effects = decide(fleet, event)
        said += [(f"{e.goal}: {e.text}") for e in effects if isinstance(e, Say) and not e.sounds]
    return fleet, said


def unknown(version: str, *kinds: str, goal: str = "g-1") -> LinesUnknown:
    return LinesUnknown(agent="claude", version=version, kinds=kinds, goal=goal)


def test_a_version_that_says_unknown_lines_is_told_of_once_where_it_did() -> None:
    fleet, said = after(
        unknown("2.1.400", "system/new", "tool_progress"),
        unknown("2.1.400", "tool_progress", "another", goal="g-2"),
        unknown("2.1.401", "system/new", goal="g-3"),
    )
    assert said == [
        "g-1: claude 2.1.400 says 2 kinds of line not known here: system/new, tool_progress. "
        "Passed over; nothing else was lost.",
        "g-3: claude 2.1.401 says 1 kind of line not known here: system/new. Passed over; "
        "nothing else was lost.",
    ]
    assert fleet.drifts[0].kinds == ("system/new", "tool_progress", "another")


def test_an_agents_own_words_for_its_lines_are_tamed_and_few() -> None:
    fleet, said = after(
        unknown("2.1", "a\n\u202e<b>", *(f"kind{n}" for n in range(9))),
        unknown("2.1", *(f"more{n}" for n in range(90))),
    )
    assert "a???b?, kind0, kind1, kind2, kind3 and 5 more" in said[0]
    assert len(fleet.drifts[0].kinds) == KEPT
