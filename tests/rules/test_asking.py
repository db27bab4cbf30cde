"""A worker that asks the owner and ends its turn, as it is told to."""

from __future__ import annotations

from engine.rules.effects import Collect, StartRun
from engine.rules.events import Answered, AskRaised
from engine.rules.words import AskKind, Decision, Question
from engine.views import WorkerCard
from tests.rules.world import World, draft, started


def asking() -> World:
    """A worker has asked by its desk and ended its turn."""
    world = started(draft("Orders"))
    world.turn("Noted.")  # the lead hears that its plan was started
    start = world.begin_turn()
    asked = AskRaised(
        run=start.run,
        ask="a-1",
        request="",
        kind=AskKind.QUESTION,
        title="Which currency?",
        detail="Which currency?",
        questions=(Question("Which currency?", options=("Euro", "Pound")),),
        call=f"{start.run}#c1",
    )
    world.post(f"session/{start.session}", asked)
    world.end_turn(start, "I asked.")
    return world


def test_its_work_is_left_alone_until_the_owner_has_answered() -> None:
    world = asking()
    assert world.owes(Collect) == []
    assert world.owes(StartRun) == []
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert [wait.what for wait in card.waits] == ["your answer"]


def test_the_answer_opens_its_next_turn_and_costs_no_attempt() -> None:
    world = asking()
    world.post("ask/a-1", Answered(decision=Decision.ANSWER, text="Pound", index=0))
    assert "A: Pound" in world.turn("Done.")
    assert [collect.piece for collect in world.owes(Collect)] == ["p-1"]
    card = world.card("p-1")
    assert isinstance(card, WorkerCard)
    assert (card.attempt, card.waits) == (1, ())
