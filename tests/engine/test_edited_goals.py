"""A goal edited in the chat, through the door: the lead begins with the new words, or a card asks."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from engine.errors import Refused
from engine.requests.edits import BEGINS, REPLACED
from engine.rules.session_state import Stage
from engine.views import PlanCard, SessionCard, WhereCard
from tests.engine.phone import PIECE, Phone, held, labels, lead, plan, waits, words

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    async with held(tmp_path_factory.mktemp("edits")) as phone:
        yield phone


async def reword(phone: Phone, goal: str, words: str) -> str:
    return (await phone.door.reword_goal(goal, words, cause=phone.cause()))["verdict"]


async def test_a_lead_that_waits_for_its_turn_begins_with_the_new_words(phone: Phone) -> None:
    await phone.agent(*lead(plan(PIECE), {"say": "Planned."}))
    project = await phone.project()
    await phone.door.stop(cause=phone.cause())  # nothing at all starts
    goal = await phone.goal(project, "Export as CSV")
    lead_id = phone.state(goal).session
    await phone.until(
        lambda: phone.session(lead_id).stage is Stage.WANTING, "the lead to wait for a place"
    )
    assert await reword(phone, goal, "Export as TSV") == BEGINS
    (card,) = phone.of(goal, SessionCard)
    assert card.title == "Export as TSV"
    await phone.door.resume(cause=phone.cause())
    await phone.card(goal, PlanCard)
    assert phone.heard(lead_id).endswith("The owner's goal:\n\nExport as TSV")


async def test_a_line_that_waits_is_heard_as_it_was_edited(phone: Phone) -> None:
    await phone.agent(*lead(plan(PIECE), {"say": "Planned."}))
    goal = await phone.goal(await phone.project(), "Export as CSV")
    await phone.card(goal, PlanCard)
    lead_id = phone.state(goal).session
    await phone.until(lambda: bool(phone.session(lead_id).said), "the lead to have ended its turn")
    await phone.door.stop(goal, cause=phone.cause())
    await phone.door.hear("Use tabs", goal=goal, cause=phone.cause(), line="42:7")
    told = await phone.door.reword_line("42:7", "Use spaces", cause=phone.cause())
    assert told == {"verdict": REPLACED}
    await phone.door.resume(goal, cause=phone.cause())
    await phone.until(lambda: "Use spaces" in phone.heard(lead_id), "the line to be heard")
    assert "Use tabs" not in phone.heard(lead_id)
    with pytest.raises(Refused, match="heard already"):
        await phone.door.reword_line("42:7", "Use both", cause=phone.cause())


async def test_an_edit_after_that_is_offered_as_a_correction(phone: Phone) -> None:
    await phone.agent(*lead(plan(PIECE), {"say": "Planned."}))
    goal = await phone.goal(await phone.project(), "Export as CSV")
    await phone.card(goal, PlanCard)
    lead_id = phone.state(goal).session
    await phone.until(lambda: bool(phone.session(lead_id).said), "the lead to have ended its turn")
    assert await reword(phone, goal, "Export as TS") == ""
    assert await reword(phone, goal, "Export as TSV") == ""
    card = await phone.card(goal, WhereCard, lambda card: "TSV" in card.text)
    assert words(card).startswith("Your edit goes to the lead as a correction?\n")
    assert labels(card) == ["Give it to the lead", "Leave it"]
    (before,) = [other for other in phone.of(goal, WhereCard) if other.id != card.id]
    assert "you edited it again" in before.decided
    assert phone.state(goal).text == "Export as CSV"
    assert "Waits for you" in waits(phone, goal)
    await phone.tap(card, "option-0")
    await phone.until(lambda: phone.session(lead_id).turn == 2, "the lead to hear of it")
    await phone.until(lambda: phone.session(lead_id).said == "Noted.", "its answer")
    heard = phone.heard(lead_id)
    assert "I edited the goal after you had begun" in heard
    assert heard.endswith("It now reads:\n\nExport as TSV")
    assert not [card for card in phone.of(goal, WhereCard) if card.asks]


async def test_an_edit_that_changes_nothing_asks_nothing(phone: Phone) -> None:
    goal = next(iter(phone.engine.loop.states("goal").values())).id
    before = len(phone.of(goal, WhereCard))
    assert await reword(phone, goal, phone.state(goal).text) == ""
    assert len(phone.of(goal, WhereCard)) == before
    with pytest.raises(Refused, match="Nothing is left of that goal"):
        await reword(phone, goal, " ")


async def test_an_edit_left_open_ends_with_its_goal(phone: Phone) -> None:
    await phone.agent(*lead({"say": "I look."}))
    goal = await phone.goal(await phone.project(), "Export as CSV")
    lead_id = phone.state(goal).session
    await phone.until(lambda: bool(phone.session(lead_id).said), "the lead to have ended its turn")
    await reword(phone, goal, "Export as TSV")
    card = await phone.card(goal, WhereCard)
    await phone.door.stop(goal, cause=phone.cause())
    (whole,) = phone.of(goal, SessionCard)
    await phone.tap(whole, "drop")
    (card,) = phone.of(goal, WhereCard)
    assert (card.asks, card.decided) == (False, "The goal is over")
    assert not [row for row in await phone.door.asks() if row.goal == goal]
    with pytest.raises(Refused, match="That goal is over"):
        await reword(phone, goal, "Export as XML")
