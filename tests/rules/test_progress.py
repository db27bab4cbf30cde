"""Who works at what, as the goal's own card lists it."""

from __future__ import annotations

from bot import text
from engine.board import cards
from engine.rules.events import GoalDropped, TurnInterrupted
from engine.rules.words import TurnError
from engine.views import SessionCard, WorkLine
from tests.rules.world import World, draft, started


def whole(world: World, doing: str = "") -> SessionCard:
    card = cards(world.states, "g-1", lambda _run: doing)[0]
    assert isinstance(card, SessionCard)
    return card


def test_each_piece_that_is_not_over_is_one_line() -> None:
    world = started(draft("Orders page"), draft("CSV writer"), draft("Docs", 1, 2))
    world.turn("I wait.")
    world.begin_turn()
    card = whole(world, "Bash: pytest")
    assert card.work[0] == WorkLine(1, "Orders page", "Bash: pytest", "here")
    assert card.work[2] == WorkLine(3, "Docs", "starts after pieces 1 and 2")
    lines = text.card(card).rich.text.split("\n")
    assert "1 Orders page · Bash: pytest · here" in lines
    assert "3 Docs · starts after pieces 1 and 2" in lines


def test_what_a_worker_does_changes_no_decision() -> None:
    world = started(draft("Orders page"))
    world.turn("I wait.")
    world.begin_turn()
    one, other = whole(world, "reads"), whole(world, "writes")
    assert one.work != other.work
    assert one.revision == other.revision


def test_at_most_eight_are_listed_those_at_work_first() -> None:
    world = started(*(draft(f"Piece {n}") for n in range(1, 13)))
    world.turn("I wait.")
    card = whole(world)
    assert [line.number for line in card.work] == list(range(1, 9))
    assert card.more == 4
    assert text.card(card).rich.text.count("and 4 more") == 1


def test_a_worker_that_waits_or_failed_says_so_and_one_that_is_over_is_gone() -> None:
    world = started(draft("Orders page"), draft("CSV writer"), draft("Docs", 1))
    world.turn("I wait.")
    first, second = world.begin_turn(), world.begin_turn()
    world.post(f"session/{first.session}", TurnInterrupted())
    world.end_turn(first, kind=TurnError.INTERRUPTED)
    world.end_turn(second, kind=TurnError.START, error="it is not installed")
    said = {line.number: line.doing for line in whole(world).work}
    assert said[1] == "interrupted by you: it waits for a line from you, or Retry"
    assert said[2] == "failed: it needs you"
    world.post("goal/g-1", GoalDropped())
    assert whole(world).work == ()
