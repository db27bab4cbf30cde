"""A send whose answer got lost is looked for in the chat: nothing is doubled, nothing is missing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import text
from bot.cards import Cards
from bot.emulator import Emulator
from bot.lost import KEPT, REACH, Lost
from bot.text_away import MOVED
from bot.unsaid import Prompt, Say, Weight
from engine.api import Ready
from tests.bot.stage import OWNER, permission
from tests.bot.test_outbox import Desk, desk_on, line, wanted


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path):
        await desk.outbox.say(OWNER, Weight.ANSWER, line("before"))
        await desk.all_said()
        yield desk
        assert desk.emulator.ignored_waits == 0


def _lose(emulator: Emulator, how: str, *, done: bool) -> None:
    if how == "gateway":
        emulator.faults.gateway("sendMessage", 504, done=done)
    else:
        getattr(emulator.faults, how)("sendMessage", done=done)


@pytest.mark.parametrize("how", ["cut", "tear", "gateway", "silence"])
@pytest.mark.parametrize("done", [True, False])
async def test_a_card_whose_answer_got_lost_is_there_once(desk: Desk, how: str, done: bool) -> None:
    _lose(desk.emulator, how, done=done)
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    assert desk.texts() == ["before", "allow?"]
    card = desk.shown()[1]
    assert [button.value for button in card.buttons] == ["c:a-1:r:stop"]
    assert desk.outbox.shown["a-1"].message_id == card.id
    assert len(desk.emulator.phone.heard()) == 1


@pytest.mark.parametrize("done", [True, False])
async def test_a_line_whose_answer_got_lost_is_there_once(desk: Desk, done: bool) -> None:
    desk.emulator.faults.cut("sendMessage", done=done)
    await desk.outbox.say(OWNER, Weight.WORDS, line("one", goal="g"), line("two", goal="g"))
    await desk.all_said()
    assert [said.rpartition("\n")[2] for said in desk.texts()] == ["before", "one", "two"]
    assert await desk.outbox.store.lines() == []


async def test_it_is_found_though_the_card_changed_and_the_owner_wrote_meanwhile(
    desk: Desk,
) -> None:
    (mine,) = desk.emulator.phone.send("a line the bot has not heard yet")
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("s-1", "running"))
    await desk.due_said()
    desk.emulator.phone.send("and another")
    desk.outbox.show(wanted("s-1", "done"))
    await desk.all_said()
    assert desk.texts() == ["before", "done"]
    assert desk.emulator.phone.message(mine.id) == mine


@pytest.mark.parametrize("done", [True, False])
async def test_a_topic_whose_making_was_never_answered_is_there_once(
    tmp_path: Path, done: bool
) -> None:
    async for desk in desk_on(tmp_path, topics=True):
        await desk.outbox.say(OWNER, Weight.ANSWER, line("before"))
        await desk.all_said()
        desk.emulator.faults.cut("createForumTopic", done=done)
        await desk.outbox.say(OWNER, Weight.WORDS, line("words", goal="g-1"))
        await desk.all_said()
        (topic,) = desk.emulator.phone.topics()
        assert desk.shown()[-1].thread == topic.id


async def test_after_a_restart_there_is_still_something_to_go_by(desk: Desk) -> None:
    await desk.open()
    desk.emulator.faults.cut("sendMessage", done=True)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("after"))
    await desk.all_said()
    assert desk.texts() == ["before", "after"]


async def test_several_that_got_lost_in_a_row_are_there_once_each(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.emulator.faults.cut("sendMessage", done=False)
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("a-1", "first", Weight.DECISION, asks=True, sounds=True))
    await desk.outbox.say(OWNER, Weight.ANSWER, line("second"))
    await desk.outbox.say(OWNER, Weight.WORDS, line("third"))
    await desk.all_said()
    assert sorted(desk.texts()) == ["before", "first", "second", "third"]


async def test_what_was_being_sent_as_we_died_is_looked_for_by_the_next_start(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.emulator.faults.cut("sendMessage", done=True)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("a line"))
    card = wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True)
    desk.outbox.show(card)
    await desk.due_said()
    await desk.open()
    desk.outbox.show(card)
    await desk.all_said()
    assert sorted(desk.texts()) == ["a line", "allow?", "before"]
    assert await desk.outbox.store.sends(OWNER) == {}


async def test_while_one_is_looked_for_nothing_else_is_sent(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    await desk.outbox.say(OWNER, Weight.WORDS, line("one", goal="g"))
    await desk.due_said()
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.due_said()
    assert [text for text in desk.texts() if "allow?" in text] == []
    await desk.all_said()
    assert [text.rpartition("\n")[2] for text in desk.texts()] == ["before", "one", "allow?"]


async def test_a_prompt_sent_again_does_not_take_what_was_being_sent_for_its_copy(
    desk: Desk,
) -> None:
    desk.emulator.faults.cut("sendMessage", done=False)
    asking = Say(words=text.said("Which?"), prompt=Prompt("name"), placeholder="name")
    await desk.outbox.say(OWNER, Weight.ANSWER, asking)
    await desk.due_said()
    desk.clock.now += 2.0
    desk.emulator.faults.cut("sendMessage", done=True)
    card = wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True)
    desk.outbox.show(card)
    while "Which?" not in desk.texts():
        desk.clock.now += await desk.lane.step() or 0.0
    await desk.open()  # as after a death
    desk.outbox.show(card)
    await desk.all_said()
    assert sorted(desk.texts()) == ["Which?", "allow?", "before"]
    (there,) = [message for message in desk.shown() if message.text == "allow?"]
    told = await desk.outbox.store.told(OWNER, there.id)
    assert told is not None
    assert told.card == "a-1"


async def test_a_tap_on_what_was_being_sent_as_we_died_says_where_it_is(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    card = wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True)
    desk.outbox.show(card)
    await desk.due_said()
    await desk.open()
    (copy,) = [message for message in desk.shown() if "allow?" in message.text]
    await desk.outbox.seen("a-1", OWNER, copy.id)  # before the engine has told of the card
    desk.outbox.show(card)
    await desk.all_said()
    assert sorted(desk.texts()) == ["allow?", "before"]
    assert desk.outbox.shown["a-1"].message_id == copy.id
    assert await desk.outbox.store.sends(OWNER) == {}


async def test_a_wait_telegram_named_is_kept_by_the_next_start_too(desk: Desk) -> None:
    desk.emulator.faults.flood("sendMessage", retry_after=50)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    await desk.due_said()
    await desk.open()
    assert 40 < (await desk.lane.step() or 0) < 60


async def test_a_card_shown_anew_whose_answer_got_lost_is_found_though_it_asks_no_more(
    desk: Desk,
) -> None:
    desk.outbox.show(wanted("a-1", "one"))
    await desk.all_said()
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("a-1", "two", Weight.DECISION, asks=True, sounds=True))
    await desk.due_said()
    desk.outbox.show(wanted("a-1", "three"))
    await desk.all_said()
    assert desk.texts() == ["before", "three"]


async def test_an_old_copy_that_nobody_may_delete_any_more_loses_words_and_buttons(
    desk: Desk,
) -> None:
    desk.outbox.show(wanted("a-1", "one"))
    await desk.all_said()
    desk.clock.now += 3 * 86_400
    desk.outbox.show(wanted("a-1", "two", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    assert desk.texts() == ["before", MOVED, "two"]
    assert desk.shown()[1].labels == []


def test_what_was_sent_later_ends_the_search_at_once() -> None:
    lost = Lost()
    lost.saw(10)
    lost.mark("a")
    lost.saw(11, sent=True)
    assert lost.candidate("a") == 0


def test_ids_that_are_somebody_elses_are_not_looked_at() -> None:
    lost = Lost()
    lost.saw(10)
    lost.mark("a")
    lost.saw(11)
    looked = []
    while one := lost.candidate("a"):
        looked.append(one)
        lost.missed("a", one)
    assert looked == [12, 13, 14, 15]
    assert len(looked) == REACH


def test_without_any_id_to_go_by_it_is_sent_again() -> None:
    lost = Lost()
    lost.mark("a")
    assert lost.candidate("a") == 0


def test_what_is_known_does_not_grow_for_ever() -> None:
    lost = Lost()
    for number in range(1, 5 * KEPT):
        lost.saw(number)
    lost.mark("a")
    assert lost.candidate("a") == 5 * KEPT


# ---------------------------------------------------------------- prompts, which nobody can look for


async def _asked(desk: Desk) -> None:
    prompt = Prompt("correct", "r-1", "rev")
    say = Say(words=text.said("What should be different?"), prompt=prompt, placeholder="Reply")
    await desk.outbox.say(OWNER, Weight.ANSWER, say)


async def test_a_prompt_that_was_sent_again_is_answered_by_a_reply_to_either(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    await _asked(desk)
    await desk.all_said()
    first, second = [said.id for said in desk.shown()[1:]]
    for copy in (first, second):
        told = await desk.outbox.told(OWNER, copy)
        assert told is not None
        assert told.prompt is not None
        assert await desk.outbox.prompted(OWNER, copy)


async def test_a_reply_that_comes_before_the_prompt_is_sent_again_answers_it(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.emulator.faults.cut("sendMessage", done=True)
    await _asked(desk)
    await desk.due_said()
    await desk.open()  # as after a death
    copy = desk.shown()[1].id
    told = await desk.outbox.told(OWNER, copy)
    assert told is not None
    assert told.prompt is not None
    assert await desk.outbox.told(OWNER, desk.shown()[0].id) != told
    await desk.all_said()
    assert await desk.outbox.told(OWNER, copy) == told


async def test_nothing_older_than_a_lost_prompt_is_taken_for_it(desk: Desk) -> None:
    (mine,) = desk.emulator.phone.send("a line the bot has not heard yet")
    desk.outbox.alive(OWNER, mine.id)
    desk.emulator.faults.cut("sendMessage", done=False)
    await _asked(desk)
    await desk.due_said()
    assert await desk.outbox.told(OWNER, mine.id) is None


# ---------------------------------------------------------------- cards that went meanwhile


async def test_a_card_that_was_being_sent_as_we_died_and_is_no_more_loses_its_buttons(
    desk: Desk,
) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.due_said()
    await desk.open()
    assert desk.outbox.perhaps() == {"a-1"}
    desk.outbox.strip("a-1")
    await desk.all_said()
    assert desk.texts() == ["before", "allow?"]
    assert desk.shown()[1].labels == []
    assert await desk.outbox.store.sends(OWNER) == {}
    assert desk.outbox.perhaps() == set()


async def test_a_card_that_never_came_and_is_no_more_is_looked_for_once(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=False)
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.due_said()
    await desk.open()
    desk.outbox.strip("a-1")
    await desk.all_said()
    assert desk.texts() == ["before"]
    assert await desk.outbox.store.sends(OWNER) == {}


@pytest.mark.parametrize("done", [True, False])
async def test_an_ask_that_was_being_sent_as_we_died_and_is_settled_shows_no_button(
    desk: Desk, done: bool
) -> None:
    desk.emulator.faults.cut("sendMessage", done=done)
    cards = Cards(desk.outbox, desk.outbox.store, OWNER)
    await cards.take(permission("a-1"))
    await desk.due_said()
    await desk.open()
    cards = Cards(desk.outbox, desk.outbox.store, OWNER)
    settled = permission("a-1", asks=False, buttons=(), decided="Withdrawn", decided_at=1e9)
    await cards.take(settled)
    await cards.take(Ready())
    await desk.all_said()
    assert [message.labels for message in desk.shown()] == [[], []]
    assert "Withdrawn" in desk.texts()[1]


async def test_an_ask_that_is_gone_when_we_are_back_shows_no_button(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    await Cards(desk.outbox, desk.outbox.store, OWNER).take(permission("a-1"))
    await desk.due_said()
    await desk.open()
    await Cards(desk.outbox, desk.outbox.store, OWNER).take(Ready())
    await desk.all_said()
    assert [message.labels for message in desk.shown()] == [[], []]
