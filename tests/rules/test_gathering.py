"""What a lead hears, and when: news gathers for a moment, what it must act on comes at once."""

from __future__ import annotations

from engine.rules.effects import Collect, Land, Merge, StartRun
from engine.rules.events import Landed, Merged, Prompted
from engine.rules.piece import BATCH_S
from engine.views import SessionCard
from tests.rules.world import World, collected, draft, started


def landed(world: World, piece: str, commit: str) -> None:
    """A worker's turn ended, and its work lands."""
    world.take(Collect)
    collected(world, piece, commit)
    merge = world.take(Merge)
    onto = world.states["goal/g-1"].head
    made = f"{onto}+{merge.commit}"
    world.post("landing/g-1", Merged(piece=piece, commit=made, onto=onto))
    world.take(Land)
    world.post("landing/g-1", Landed(piece=piece, commit=made, head=made))


def three_built() -> World:
    """Three workers have ended their turns; their lead has nothing to do."""
    world = started(draft("Orders"), draft("Page"), draft("Tests"))
    for _ in range(4):
        world.turn("Done.")
    return world


def test_landings_close_together_wake_a_lead_at_rest_once() -> None:
    world = three_built()
    landed(world, "p-1", "c1")
    world.pass_time(BATCH_S / 2)
    landed(world, "p-2", "c2")
    assert world.owes(StartRun) == []
    card = world.card("g-1")
    assert isinstance(card, SessionCard)
    assert (card.doing, card.waits) == ("news is gathered for it", ())
    world.pass_time(BATCH_S / 2)
    (start,) = world.owes(StartRun)
    assert "Orders" in start.prompt
    assert "Page" in start.prompt


def test_the_last_landing_is_heard_at_once_with_what_was_gathered() -> None:
    world = three_built()
    for number in (1, 2, 3):
        landed(world, f"p-{number}", f"c{number}")
    (start,) = world.owes(StartRun)
    assert "Every piece of the plan has landed" in start.prompt
    assert "Orders" in start.prompt
    world.take(StartRun)
    world.pass_time(BATCH_S)
    assert world.owes(StartRun) == []


def test_the_owners_line_waits_for_no_news_and_takes_it_along() -> None:
    world = three_built()
    landed(world, "p-1", "c1")
    world.post("session/s-1", Prompted(text="How far are you?", source="owner"))
    (start,) = world.owes(StartRun)
    assert "How far are you?" in start.prompt
    assert "Orders" in start.prompt
