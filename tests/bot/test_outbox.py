"""The one sender on a set clock, against a Bot API that enforces its limits.

Nothing waits in real time: a test takes steps and moves the clock by what a step says.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import telegram
from telegram.error import InvalidToken
from telegram.request import HTTPXRequest

from bot import text
from bot.emulator import Emulator, Message
from bot.entities import Rich, Span
from bot.lane import Lane
from bot.outbox import Outbox
from bot.text import Words
from bot.unsaid import Delete, Edit, Prompt, React, Say, Wanted, Weight
from engine.views import Document
from stores.cards import CardStore, Told
from stores.database import Database
from tests.bot.stage import OWNER, TOKEN, permission, session


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """An outbox on a real file, that can be thrown away and opened anew."""

    def __init__(self, emulator: Emulator, clock: Clock, path: Path, *, topics: bool) -> None:
        self.emulator = emulator
        self.clock = clock
        self.topics = topics
        self.database = Database(path, "bot", secure_delete=True)
        self.bot = telegram.Bot(
            TOKEN,
            base_url=f"{emulator.url}/bot",
            request=HTTPXRequest(read_timeout=1.0, connect_timeout=5.0),
        )
        self.outbox: Outbox

    async def open(self) -> None:
        self.outbox = Outbox(
            self.bot,
            CardStore(self.database),
            [OWNER],
            topics=self.topics,
            clock=self.clock,
            wall=self.clock,
        )
        await self.outbox.open()

    @property
    def lane(self) -> Lane:
        return self.outbox.lanes[OWNER]

    async def all_said(self, within_s: float = 3600.0) -> None:
        """Say all there is, moving the clock by each wait."""
        end, steps = self.clock.now + within_s, 0
        while (wait_s := await self.lane.step()) is not None:
            self.clock.now += wait_s
            steps += 1
            assert self.clock.now <= end, "it never ends"
            assert steps < 1000, "it spins"

    async def due_said(self) -> None:
        """Say what may be said without any waiting."""
        for _ in range(1000):
            if await self.lane.step() != 0:
                return
        raise AssertionError("it spins")

    def shown(self) -> list[Message]:
        return self.emulator.phone.from_bot()

    def texts(self) -> list[str]:
        return [message.text for message in self.shown()]


async def desk_on(path: Path, *, topics: bool = False) -> AsyncIterator[Desk]:
    clock = Clock()
    emulator = Emulator(token=TOKEN, owner_id=OWNER, threaded=topics, clock=clock)
    await emulator.start()
    desk = Desk(emulator, clock, path / "bot.sqlite3", topics=topics)
    async with desk.database, desk.bot:
        await desk.open()
        yield desk
    await emulator.stop()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path):
        yield desk
        assert desk.emulator.ignored_waits == 0


@pytest.fixture
async def topical(tmp_path: Path) -> AsyncIterator[Desk]:
    async for desk in desk_on(tmp_path, topics=True):
        yield desk


def line(words: str, **more: object) -> Say:
    return Say(words=text.said(words), **more)  # type: ignore[arg-type]


def wanted(card: str, words: str, weight: Weight = Weight.PROGRESS, **more: object) -> Wanted:
    given: dict[str, object] = {"goal": "", "chat": OWNER, "revision": "r"}
    shown = Words(Rich(words), ((text.Button("Stop", "stop"),),))
    return Wanted(card=card, words=shown, weight=weight, **{**given, **more})  # type: ignore[arg-type]


async def test_a_burst_goes_at_the_pace_of_the_chat_and_is_never_told_off(desk: Desk) -> None:
    """BR-09."""
    for number in range(30):
        await desk.outbox.say(OWNER, Weight.WORDS, line(f"news {number}"))
    began = desk.clock.now
    await desk.all_said()
    assert desk.texts() == [f"news {number}" for number in range(30)]
    assert desk.clock.now - began < 30
    assert all(call.code == 200 for call in desk.emulator.calls)


async def test_a_decision_overtakes_answers_words_and_progress(desk: Desk) -> None:
    """BR-09: whatever was queued before it."""
    desk.outbox.show(wanted("s-1", "progress"))
    await desk.outbox.say(OWNER, Weight.WORDS, line("words"))
    await desk.outbox.say(OWNER, Weight.ANSWER, line("answer"))
    desk.outbox.show(wanted("a-1", "decide", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    assert desk.texts() == ["decide", "answer", "words", "progress"]
    assert [message.text for message in desk.emulator.phone.heard()] == ["decide"]


async def test_an_answered_card_loses_its_buttons_before_anything_else_is_shown(
    desk: Desk,
) -> None:
    """BR-21: whatever was queued before the tap; only a new question goes first."""
    desk.outbox.show(wanted("a-1", "asked", Weight.DECISION, asks=True))
    desk.outbox.show(wanted("r-1", "review", Weight.DECISION, asks=True))
    await desk.all_said()
    desk.clock.now += 60
    for number in range(5):
        await desk.outbox.say(OWNER, Weight.ANSWER, line(f"answer {number}"))
        await desk.outbox.say(OWNER, Weight.WORDS, line(f"words {number}"))
        desk.outbox.show(wanted(f"p-{number}", f"worker {number}", Weight.ANSWER))
    desk.outbox.show(Wanted(card="a-1", goal="", chat=OWNER, words=text.said("allowed")))
    desk.outbox.show(wanted("r-1", "shipping", Weight.ANSWER))
    desk.outbox.show(wanted("sh-1", "proceed?", Weight.DECISION, asks=True))
    desk.outbox.show(wanted("a-2", "asked anew", Weight.DECISION, asks=True, sounds=True))
    before = len(desk.emulator.calls)
    await desk.all_said()
    calls = list(desk.emulator.calls)[before:]
    assert [call.params["text"] for call in calls[:4]] == [
        "asked anew",
        "allowed",
        "shipping",
        "proceed?",
    ]


async def test_a_decision_that_scrolled_away_is_shown_once_more_in_silence(desk: Desk) -> None:
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    desk.clock.now += 60
    await desk.outbox.say(OWNER, Weight.ANSWER, line("much else"))
    await desk.all_said()
    for words in ("allow? it is waited for", "allow? as before"):
        later = wanted("a-1", words, Weight.ANSWER, asks=True, sounds=True, since=desk.clock.now)
        desk.outbox.show(later)
        await desk.all_said()
    assert desk.texts() == ["much else", "allow? as before"]
    assert [message.text for message in desk.emulator.phone.heard()] == []


async def test_room_is_left_for_what_was_just_tapped(desk: Desk) -> None:
    """BR-21: progress alone never uses the chat's pace up."""
    desk.outbox.show(wanted("a-1", "asked", Weight.DECISION, asks=True))
    await desk.all_said()
    desk.clock.now += 60
    for number in range(9):
        desk.outbox.show(wanted(f"p-{number}", f"step {number}"))
    await desk.due_said()
    desk.outbox.show(Wanted(card="a-1", goal="", chat=OWNER, words=text.said("allowed")))
    assert (desk.lane.next_due(desk.clock.now) or 0) <= 0.55
    desk.clock.now += 0.55
    await desk.due_said()
    assert "allowed" in desk.texts()


async def test_a_settled_card_that_goes_keeps_what_was_decided(desk: Desk) -> None:
    desk.outbox.show(wanted("r-1", "Ready for your review", Weight.DECISION, asks=True))
    await desk.all_said()
    desk.outbox.show(wanted("r-1", "Corrected by you", Weight.ANSWER))
    desk.outbox.strip("r-1")
    await desk.all_said()
    (card,) = desk.shown()
    assert (card.text, card.labels) == ("Corrected by you", [])


async def spoken(desk: Desk, *said: str) -> None:
    for one in said:
        (words,) = text.spoken("The lead", one)
        say = Say(words=words, goal="g-1", speaker="The lead", routine=text.routine(one))
        await desk.outbox.say(OWNER, Weight.WORDS, say)


async def test_words_that_wait_become_one_message_and_nothing_long_is_lost(desk: Desk) -> None:
    desk.outbox.titles["g-1"] = "CSV"
    await spoken(desk, "The plan is with you.", "Noted.", "Port 8080 it is.", "Noted.")
    await desk.all_said()
    assert desk.texts() == ["CSV\nThe lead:\nThe plan is with you.\nPort 8080 it is."]
    assert await desk.outbox.store.lines() == []


async def test_routine_words_that_newer_things_have_overtaken_are_left_out(desk: Desk) -> None:
    await spoken(desk, "Noted.", "Heard, thanks.")
    desk.clock.now += 1
    desk.outbox.show(wanted("r-1", "review", Weight.DECISION, asks=True, goal="g-1"))
    await desk.all_said()
    assert desk.texts() == ["g-1\nreview"]
    assert await desk.outbox.store.lines() == []
    await spoken(desk, "Noted.")
    await desk.all_said()
    assert desk.texts()[1:] == ["g-1\nThe lead:\nNoted."]


async def test_words_too_long_for_one_message_are_not_joined(desk: Desk) -> None:
    await spoken(desk, "a " * 1000, "b " * 1000)
    await desk.all_said()
    assert len(desk.texts()) == 2


async def test_many_changes_of_a_card_become_few_edits_and_the_newest_stands(desk: Desk) -> None:
    """BR-09: an event every 100 ms for three minutes."""
    for tick in range(1800):
        desk.outbox.show(wanted("s-1", f"step {tick}"))
        await desk.due_said()
        desk.clock.now += 0.1
    await desk.all_said()
    edits = [call for call in desk.emulator.calls if call.method == "editMessageText"]
    assert len(edits) <= 180 / 2.5 + 1
    assert desk.texts() == ["step 1799"]


async def test_after_a_429_the_chat_is_left_alone_for_as_long_as_asked(desk: Desk) -> None:
    desk.emulator.faults.flood("sendMessage", retry_after=37)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    began = desk.clock.now
    await desk.all_said()
    assert desk.clock.now - began >= 37
    assert desk.texts() == ["one"]


async def test_a_chat_that_must_wait_holds_up_no_other(desk: Desk) -> None:
    desk.emulator.phone.start(as_user=77)
    await desk.outbox.say(77, Weight.ANSWER, line("to the other"))
    await desk.outbox.say(OWNER, Weight.ANSWER, line("to the owner"))
    desk.emulator.faults.flood("sendMessage", retry_after=600)
    assert await desk.lane.step() == 0
    assert (await desk.lane.step() or 0) > 599
    assert await desk.outbox.lanes[77].step() == 0
    assert [m.text for m in desk.emulator.phone.from_bot(77)] == ["to the other"]


@pytest.mark.parametrize("done", [True, False])
async def test_a_lost_answer_is_repeated_later_and_makes_one_duplicate_at_most(
    desk: Desk, done: bool
) -> None:
    desk.emulator.faults.cut("sendMessage", done=done)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    await desk.due_said()
    assert desk.texts() == (["one"] if done else [])
    assert (await desk.lane.step() or 0) > 5
    await desk.all_said()
    assert desk.texts() == (["one", "one"] if done else ["one"])


async def test_a_gateway_page_loses_nothing(desk: Desk) -> None:
    desk.emulator.faults.gateway("sendMessage", 502, done=False)
    desk.emulator.faults.gateway("editMessageText", 500, done=True)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("the final word"))
    desk.outbox.show(wanted("s-1", "one"))
    await desk.all_said()
    desk.outbox.show(wanted("s-1", "two"))
    await desk.all_said()
    assert sorted(desk.texts()) == ["the final word", "two"]


async def test_a_server_that_never_answers_is_no_loss_either(desk: Desk) -> None:
    desk.emulator.faults.silence("sendMessage", done=False)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    await desk.all_said()
    assert desk.texts() == ["one"]


async def test_what_was_not_said_is_said_after_a_restart(desk: Desk) -> None:
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"), line("two"))
    await desk.lane.step()
    await desk.open()
    await desk.all_said()
    assert desk.texts() == ["one", "two"]


async def test_a_card_that_lags_is_edited_after_a_restart_and_one_that_does_not_is_left(
    desk: Desk,
) -> None:
    """BR-42."""
    desk.outbox.show(wanted("s-1", "running"))
    desk.outbox.show(wanted("s-2", "done"))
    await desk.all_said()
    await desk.open()
    desk.outbox.show(wanted("s-1", "interrupted"))
    desk.outbox.show(wanted("s-2", "done"))
    await desk.all_said()
    assert desk.texts() == ["interrupted", "done"]
    assert len([c for c in desk.emulator.calls if c.method == "editMessageText"]) == 1


async def test_a_card_whose_revision_moved_gets_new_buttons_though_it_reads_the_same(
    desk: Desk,
) -> None:
    desk.outbox.show(wanted("a-1", "same", revision="r1"))
    await desk.all_said()
    desk.outbox.show(wanted("a-1", "same", revision="r2"))
    await desk.all_said()
    (card,) = desk.shown()
    assert [button.value for button in card.buttons] == ["c:a-1:r2:stop"]


async def test_a_card_deleted_by_the_owner_is_posted_anew_when_it_changes(desk: Desk) -> None:
    desk.outbox.show(wanted("s-1", "one"))
    await desk.all_said()
    desk.emulator.phone.delete(desk.shown()[0].id)
    desk.outbox.show(wanted("s-1", "two"))
    await desk.all_said()
    assert desk.texts() == ["two"]


async def test_a_card_that_now_needs_the_owner_is_a_new_message_and_the_old_one_goes(
    desk: Desk,
) -> None:
    """BR-21: one live card per decision; and an edit would make no sound."""
    desk.outbox.show(wanted("p-1", "working"))
    await desk.all_said()
    desk.outbox.show(wanted("p-1", "failed", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    assert desk.texts() == ["failed"]
    assert [message.text for message in desk.emulator.phone.heard()] == ["failed"]


async def test_a_card_that_is_gone_loses_its_buttons_and_keeps_its_words(desk: Desk) -> None:
    desk.outbox.show(wanted("a-1", "asked"))
    await desk.all_said()
    desk.outbox.strip("a-1")
    await desk.all_said()
    (card,) = desk.shown()
    assert (card.text, card.labels) == ("asked", [])
    desk.outbox.strip("a-1")
    assert await desk.lane.step() is None


async def test_not_modified_is_success(desk: Desk) -> None:
    desk.outbox.show(wanted("s-1", "one"))
    await desk.all_said()
    desk.emulator.faults.cut("editMessageText", done=True)
    desk.outbox.show(wanted("s-1", "two"))
    await desk.all_said()
    assert desk.texts() == ["two"]
    assert [c.code for c in desk.emulator.calls_of("editMessageText")][-1] == 400


async def test_a_reply_to_a_message_that_is_gone_is_sent_without(desk: Desk) -> None:
    """BR-27."""
    said = desk.emulator.phone.send("hello")[0]
    desk.emulator.phone.delete(said.id)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("yes", reply_to=said.id))
    await desk.all_said()
    assert desk.texts() == ["yes"]


async def test_refused_formatting_comes_plain_and_the_owner_is_told(desk: Desk) -> None:
    """BR-02."""
    broken = Words(Rich("😀bold", (Span("bold", 1, 2),)))
    await desk.outbox.say(OWNER, Weight.ANSWER, Say(words=broken))
    desk.outbox.show(Wanted(card="s-1", goal="", chat=OWNER, words=broken))
    await desk.all_said()
    assert desk.texts().count("😀bold") == 2
    assert any("it comes plain" in said for said in desk.texts())


async def test_a_message_telegram_will_not_have_is_given_up_and_said(desk: Desk) -> None:
    desk.emulator.faults.error("sendMessage", 400, "Bad Request: nonsense", times=2)
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    await desk.all_said()
    assert desk.texts() == ["Telegram refused a message of mine; the log says why."]


async def test_a_file_follows_its_message(desk: Desk) -> None:
    words = Words(Rich("look"), file=Document(name="words.md", text="# all of it"))
    await desk.outbox.say(OWNER, Weight.WORDS, Say(words=words))
    await desk.all_said()
    first, second = desk.shown()
    assert (first.text, second.kind) == ("look", "document")
    assert desk.emulator.phone.file(second) == b"# all of it"


async def test_a_cards_file_comes_once_however_often_the_card_changes(desk: Desk) -> None:
    file = Document(name="plan.md", text="plan")
    for words in ("one", "two"):
        desk.outbox.show(
            Wanted(card="pl-1", goal="", chat=OWNER, words=Words(Rich(words), file=file))
        )
        await desk.all_said()
    assert [message.kind for message in desk.shown()] == ["text", "document"]


async def test_the_owner_is_told_when_a_key_is_gone_from_the_chat(desk: Desk) -> None:
    said = desk.emulator.phone.send("sk-…")[0]
    await desk.outbox.say(
        OWNER, Weight.DECISION, Delete(message_id=said.id, names=("OPENAI_API_KEY",))
    )
    await desk.all_said()
    assert desk.emulator.phone.message(said.id) is None
    assert desk.texts() == ["Stored as OPENAI_API_KEY; deleted from the chat."]


async def test_a_key_that_cannot_be_deleted_is_said_loudly(desk: Desk) -> None:
    said = desk.emulator.phone.send("sk-…")[0]
    desk.clock.now += 3 * 86400  # Telegram lets nothing older than 48 hours be deleted
    await desk.outbox.say(OWNER, Weight.DECISION, Delete(message_id=said.id, names=("KEY",)))
    await desk.all_said()
    (told,) = desk.emulator.phone.heard()
    assert told.text.startswith("Your message is still in the chat.")


async def test_a_receipt_is_a_reaction_and_never_retried(desk: Desk) -> None:
    said = desk.emulator.phone.send("hello")[0]
    desk.emulator.faults.error("setMessageReaction", 400, "Bad Request: REACTION_INVALID")
    await desk.outbox.say(OWNER, Weight.ANSWER, React(message_id=said.id))
    await desk.outbox.say(OWNER, Weight.ANSWER, React(message_id=said.id))
    await desk.all_said()
    assert desk.shown() == []
    assert len(desk.emulator.calls_of("setMessageReaction")) == 2


async def test_a_prompt_opens_the_reply_field_and_is_remembered(desk: Desk) -> None:
    prompt = Prompt("correct", "r-1", "abc")
    await desk.outbox.say(OWNER, Weight.ANSWER, line("What?", prompt=prompt, placeholder="Here"))
    await desk.all_said()
    (message,) = desk.shown()
    assert message.asks_for_reply
    told = await desk.outbox.store.told(OWNER, message.id)
    assert told is not None
    assert told.prompt is not None


async def test_without_topics_the_goals_name_is_on_the_message(desk: Desk) -> None:
    desk.outbox.titles["g-1"] = "Add CSV export"
    await desk.outbox.say(OWNER, Weight.WORDS, line("news", goal="g-1"))
    card = text.card(permission())
    desk.outbox.show(Wanted(card="a-1", goal="g-1", chat=OWNER, words=card, asks=True, sounds=True))
    await desk.all_said()
    card_text, news = sorted(desk.texts())
    assert card_text.startswith("Add CSV export\nnews")
    assert news.startswith("Allow a command?\nAdd CSV export\n")


async def test_a_goal_gets_one_topic_and_all_of_it_goes_there(topical: Desk) -> None:
    topical.outbox.titles["g-1"] = "Add CSV export"
    for number in range(3):
        await topical.outbox.say(OWNER, Weight.WORDS, line(f"n{number}", goal="g-1"))
    await topical.all_said()
    await topical.open()
    topical.outbox.show(Wanted(card="g-1", goal="g-1", chat=OWNER, words=text.card(session())))
    await topical.all_said()
    (topic,) = topical.emulator.phone.topics()
    assert topic.name == "Add CSV export"
    assert {message.thread for message in topical.shown()} == {topic.id}
    assert topical.outbox.goal_of_thread(OWNER, topic.id) == "g-1"


async def test_general_is_addressed_by_no_thread_at_all(topical: Desk) -> None:
    """BR-32."""
    await topical.outbox.say(OWNER, Weight.ANSWER, line("hello"))
    await topical.all_said()
    (call,) = topical.emulator.calls_of("sendMessage")
    assert "message_thread_id" not in call.params


async def test_a_topic_the_owner_deleted_is_told_of_once_and_nothing_is_lost(
    topical: Desk,
) -> None:
    await topical.outbox.say(OWNER, Weight.WORDS, line("one", goal="g-1"))
    await topical.all_said()
    topical.emulator.phone.delete_topic(topical.emulator.phone.topics()[0].id)
    await topical.outbox.say(OWNER, Weight.WORDS, line("two", goal="g-1"), line("3", goal="g-1"))
    await topical.all_said()
    said = topical.texts()
    assert "g-1\ntwo" in said
    assert "g-1\n3" in said
    assert len([one for one in said if one.startswith("There is no topic")]) == 1
    assert topical.emulator.phone.topics() == []


async def test_topics_that_cannot_be_made_are_done_without(topical: Desk) -> None:
    topical.emulator.faults.error("createForumTopic", 400, "Bad Request: the chat is not a forum")
    await topical.outbox.say(OWNER, Weight.WORDS, line("one", goal="g-1"))
    await topical.all_said()
    assert "g-1\none" in topical.texts()


async def test_blocked_by_the_owner_it_waits_and_keeps_all(desk: Desk) -> None:
    desk.emulator.phone.block()
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    assert await desk.lane.step() == 0
    assert (await desk.lane.step() or 0) > 200
    desk.emulator.phone.unblock()
    await desk.all_said()
    assert desk.texts() == ["one"]


async def test_a_revoked_token_ends_the_sender(desk: Desk) -> None:
    desk.emulator.faults.revoked = True
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    with pytest.raises(InvalidToken):
        await desk.lane.step()


async def test_the_parts_of_one_message_keep_their_order_through_a_lost_answer(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=False)
    await desk.outbox.say(OWNER, Weight.WORDS, line("1", goal="g"), line("2", goal="g"))
    await desk.all_said()
    assert [said.rpartition("\n")[2] for said in desk.texts()] == ["1", "2"]


async def test_a_tap_on_a_copy_we_did_not_know_of_makes_it_the_card(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("a-1", "asked", Weight.DECISION, asks=True))
    await desk.due_said()
    (copy,) = desk.shown()
    await desk.outbox.seen("a-1", OWNER, copy.id)
    await desk.all_said()
    assert [message.id for message in desk.shown()] == [copy.id]


async def test_a_tap_on_a_second_copy_takes_that_copy_away(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("a-1", "asked", Weight.DECISION, asks=True))
    await desk.all_said()
    extra, card = desk.shown()
    await desk.outbox.seen("a-1", OWNER, extra.id)
    await desk.all_said()
    assert [message.id for message in desk.shown()] == [card.id]


async def test_a_tap_on_a_copy_that_became_a_line_meanwhile_leaves_that_line(desk: Desk) -> None:
    desk.emulator.faults.cut("sendMessage", done=True)
    desk.outbox.show(wanted("a-1", "asked", Weight.DECISION, asks=True))
    await desk.due_said()
    (copy,) = desk.shown()
    await desk.outbox.store.said(9, OWNER, copy.id, Told("g-1", "", None))
    await desk.outbox.seen("a-1", OWNER, copy.id)
    await desk.all_said()
    assert copy.id in [message.id for message in desk.shown()]
    assert "a-1" in desk.outbox.shown
    assert desk.outbox.shown["a-1"].message_id != copy.id


async def test_it_runs_by_itself_and_wakes_for_what_comes(desk: Desk) -> None:
    running = asyncio.create_task(desk.outbox.run())
    await desk.outbox.say(OWNER, Weight.ANSWER, line("one"))
    await desk.emulator.phone.wait_for(lambda m: m.text == "one")
    desk.outbox.show(wanted("s-1", "two"))
    await desk.emulator.phone.wait_for(lambda m: m.text == "two")
    running.cancel()
    await asyncio.wait([running])


def edit(message_id: int, words: str) -> Edit:
    return Edit(message_id=message_id, words=text.said(words), card="settings")


async def test_of_the_edits_of_a_message_that_wait_only_the_newest_is_made(desk: Desk) -> None:
    await desk.outbox.say(OWNER, Weight.ANSWER, line("first"))
    await desk.all_said()
    (shown,) = desk.shown()
    edits = [edit(shown.id, words) for words in ("second", "third", "fourth")]
    await desk.outbox.say(OWNER, Weight.ANSWER, line("other words"), *edits)
    made = len(desk.emulator.calls)
    await desk.all_said()
    assert [call.method for call in list(desk.emulator.calls)[made:]] == [
        "editMessageText",
        "sendMessage",
    ]
    assert desk.texts() == ["fourth", "other words"]
    assert await desk.outbox.store.lines() == []


async def test_an_edit_of_a_message_that_was_deleted_is_let_go(desk: Desk) -> None:
    await desk.outbox.say(OWNER, Weight.ANSWER, line("first"))
    await desk.all_said()
    (shown,) = desk.shown()
    desk.emulator.phone.delete(shown.id)
    await desk.outbox.say(OWNER, Weight.ANSWER, edit(shown.id, "second"))
    await desk.all_said()
    assert desk.texts() == []
    assert await desk.outbox.store.lines() == []


async def test_an_edit_whose_answer_got_lost_is_made_again(desk: Desk) -> None:
    await desk.outbox.say(OWNER, Weight.ANSWER, line("first"))
    await desk.all_said()
    (shown,) = desk.shown()
    desk.emulator.faults.cut("editMessageText", done=False)
    await desk.outbox.say(OWNER, Weight.ANSWER, edit(shown.id, "second"))
    await desk.all_said()
    assert desk.texts() == ["second"]


async def test_what_must_be_decided_comes_first_once_a_wait_is_over(desk: Desk) -> None:
    """BR-09: a wait Telegram named holds up all of the chat, and then the permission goes first."""
    desk.emulator.faults.flood("sendMessage", retry_after=40)
    await desk.outbox.say(OWNER, Weight.WORDS, *(line(f"news {n}") for n in range(5)))
    await desk.due_said()
    for number in range(5):
        desk.outbox.show(wanted(f"p-{number}", f"step {number}"))
    desk.outbox.show(wanted("a-1", "allow?", Weight.DECISION, asks=True, sounds=True))
    await desk.all_said()
    assert desk.texts()[0] == "allow?"


@pytest.mark.parametrize(("off_s", "how"), [(-7200.0, "2 hours behind"), (400.0, "ahead of")])
async def test_a_wrong_clock_of_the_box_is_said_once(desk: Desk, off_s: float, how: str) -> None:
    desk.outbox.wall = lambda: desk.clock.now + off_s
    for number in range(3):
        await desk.outbox.say(OWNER, Weight.ANSWER, line(f"news {number}"))
    await desk.all_said()
    (told,) = [one for one in desk.texts() if "clock" in one]
    assert how in told
