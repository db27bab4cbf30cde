"""What each thing said or tapped leads to; and what leads to nothing."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.views import OwnerView
from tests.bot.stage import OWNER, STRANGER, Stage, permission, plan, review, session


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


async def said_back(stage: Stage, words: str, **more: object) -> str:
    """Send a line and return what the bot says to it."""
    last = max((m.id for m in stage.phone.messages()), default=0)
    stage.phone.send(words, **more)  # type: ignore[arg-type]
    return (await stage.phone.wait_for(lambda m: True, after=last)).text


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (".stop", "/stop"),
        ("/stpo", "/stop"),
        ("stop", "/stop"),
        ("Status", "/status"),
        ("/heath", "/health"),
    ],
)
async def test_a_mistyped_command_suggests_and_starts_nothing(
    stage: Stage, words: str, meant: str
) -> None:
    """BR-29."""
    await stage.start_bot()
    answer = await said_back(stage, words)
    assert meant in answer
    assert "Nothing was started" in answer
    assert stage.door.asked == []


async def test_the_commands_that_show_something_show_it(stage: Stage) -> None:
    stage.door.show(permission())
    stage.door.owned = OwnerView(zone="UTC")
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    assert "Waits on you" in await said_back(stage, "/status")
    assert "1 decision waits on you" in await said_back(stage, "/asks")
    assert "shop" in await said_back(stage, "/projects")
    assert "Engine: well" in await said_back(stage, "/health")
    assert "No quiet hours" in await said_back(stage, "/settings")
    assert "/new" in await said_back(stage, "/help")
    assert "/new" in await said_back(stage, "/start")
    assert "does not exist yet" in await said_back(stage, "/budget 5")
    assert stage.phone.commands()[:2] == ["new", "status"]


async def test_quiet_hours_are_set_from_the_phone(stage: Stage) -> None:
    await stage.start_bot()
    assert await said_back(stage, "/settings quiet 23-7") == "Kept: quiet 23-7."
    assert await stage.asked() == [("change_setting", {"name": "quiet", "value": "23-7"})]
    assert "/settings quiet 23-7" in await said_back(stage, "/settings quiet")


async def test_in_quiet_hours_a_decision_comes_silently(stage: Stage) -> None:
    minute = int(time.time() // 60)
    around = ((minute - 120) % 1440, (minute + 120) % 1440)
    stage.door.owned = OwnerView(zone="UTC", quiet=around)
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    assert card.silent


async def test_a_project_is_added_from_the_phone(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/projects add web https://example.org/web.git")
    asked = {"name": "web", "source": "https://example.org/web.git", "base": ""}
    assert await stage.asked() == [("want_project", asked)]
    assert "/projects add NAME" in await said_back(stage, "/projects add web")


async def test_new_without_a_goal_asks_for_it(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/new shop")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, "Add CSV export")
    assert await stage.asked() == [("new_goal", {"project": "shop", "text": "Add CSV export"})]


async def test_a_reply_to_a_card_speaks_to_its_session(stage: Stage) -> None:
    stage.door.show(session())
    stage.door.show(plan())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Start" in m.labels)
    (line,) = stage.phone.reply(card, "Split piece 1")
    assert await stage.asked() == [
        ("hear", {"text": "Split piece 1", "goal": "g-1", "card": "pl-1"})
    ]
    seen = await stage.phone.until(lambda: stage.phone.message(line.id).reactions)  # type: ignore[union-attr]
    assert list(seen.values()) == ["👀"]


@pytest.fixture
async def topical(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path, threaded=True) as stage:
        yield stage


def in_a_reply_thread(stage: Stage, words: str, thread: int, message: int, reply_to: int) -> None:
    """A message in General that carries a thread's number and is no topic's, as replies do."""
    said = stage.phone.messages()[-1]
    me = {"id": OWNER, "is_bot": False, "first_name": "O"}
    chat = {"id": said.chat_id, "type": "private", "first_name": "O"}
    stage.emulator.updates.add(
        "message",
        {
            "message_id": message,
            "date": int(time.time()),
            "chat": chat,
            "from": me,
            "message_thread_id": thread,
            "reply_to_message": {"message_id": reply_to, "date": 1, "chat": chat, "from": me},
            "text": words,
        },
    )


async def test_a_reply_in_general_whose_thread_has_a_topics_number_is_not_of_that_topic(
    topical: Stage,
) -> None:
    """BR-31: only what is marked as a topic's message is one."""
    topical.door.show(session())
    await topical.start_bot()
    card = await topical.phone.wait_for(lambda m: m.in_topic)
    assert card.thread
    in_a_reply_thread(topical, "Add a page for orders", card.thread, 9001, reply_to=9000)
    ((_, given),) = await topical.asked()
    assert given.get("goal", "") == "", "it was said in General"


async def test_a_long_reply_in_general_that_the_app_cut_is_one_message(topical: Stage) -> None:
    """BR-31: only its first part is a reply and carries a thread; both stand in General."""
    topical.door.show(session())
    await topical.start_bot()
    await topical.phone.wait_for(lambda m: m.in_topic)
    in_a_reply_thread(topical, "a" * 4096, 9000, message=1, reply_to=9000)
    topical.phone.send("and its end")
    ((_, given),) = await topical.asked()
    assert given["text"] == "a" * 4096 + "and its end"


async def test_a_reply_to_an_agents_last_words_speaks_to_its_session(stage: Stage) -> None:
    await stage.start_bot()
    stage.door.note("I am done.", who="The lead")
    words = await stage.phone.wait_for(lambda m: "I am done." in m.text)
    stage.phone.reply(words, "Thanks; now the docs")
    ((_, args),) = await stage.asked()
    assert args == {"text": "Thanks; now the docs", "goal": "g-1", "card": ""}


async def test_stop_means_the_session_it_is_said_in_or_the_only_one(stage: Stage) -> None:
    stage.door.show(session("g-1"))
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.send("/stop")
    await stage.phone.wait_for(lambda m: m.text == "Stopped: “Add CSV export to orders”")
    stage.door.show(session("g-2", title="Another"))
    await stage.phone.wait_for(lambda m: "Another" in m.text)
    assert "Stop which one?" in await said_back(stage, "/stop")
    stage.phone.reply(card, "/stop")
    await stage.asked(2)
    stage.phone.send("/stop all")
    asked = await stage.asked(3)
    assert [args["goal"] for _, args in asked] == ["g-1", "g-1", ""]


async def test_of_several_goals_the_one_to_stop_is_tapped(stage: Stage) -> None:
    stage.door.show(session("g-1"))
    stage.door.show(session("g-2", title="Another"))
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Another" in m.text)
    stage.phone.send("/stop")
    which = await stage.phone.wait_for(lambda m: "Stop which one?" in m.text)
    assert which.labels == ["Add CSV export to orders", "Another", "All"]
    stage.phone.tap(which, "Another")
    assert await stage.asked() == [("stop", {"goal": "g-2"})]
    done = await stage.phone.wait_for(lambda m: m.id == which.id and "Stopped" in m.text)
    assert (done.text, done.labels) == ("Stopped: “Another”", [])


async def test_the_only_stopped_goal_goes_on_and_all_may_be_tapped(stage: Stage) -> None:
    stage.door.show(session("g-1", buttons=("resume", "drop")))
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Resume" in m.labels)
    assert "“Add CSV export to orders”" in await said_back(stage, "/resume")
    stage.door.show(session("g-2", title="Another", buttons=("resume", "drop")))
    await stage.phone.wait_for(lambda m: "Another" in m.text)
    stage.phone.send("/resume")
    which = await stage.phone.wait_for(lambda m: "Which one goes on?" in m.text)
    stage.phone.tap(which, "All")
    assert [args["goal"] for _, args in await stage.asked(2)] == ["g-1", ""]


async def test_words_behind_stop_all_stop_nothing(stage: Stage) -> None:
    """BR-29."""
    stage.door.show(session("g-1"))
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    assert "Nothing was done" in await said_back(stage, "/stop all please")
    assert "Nothing is at work" not in await said_back(stage, "/stop now")
    assert stage.door.asked == []


async def test_a_line_that_opens_a_goal_is_told_its_topic(topical: Stage) -> None:
    topical.door.opens = "g-1"
    await topical.start_bot()
    told = await said_back(topical, "/new shop Add CSV")
    assert told == "Started in shop: its topic is “Add CSV”."


@pytest.mark.parametrize("command", ["/asks", "/status"])
async def test_a_decision_in_a_list_is_shown_again_and_its_older_card_goes(
    stage: Stage, command: str
) -> None:
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    stage.phone.send(command)
    listed = await stage.phone.wait_for(lambda m: m.labels == ["Show"])
    tap = await stage.phone.answered(stage.phone.tap(listed, "Show"))
    assert tap.answer == "It comes once more, below."
    again = await stage.phone.wait_for(lambda m: "Allow" in m.labels, after=listed.id)
    assert again.silent
    await stage.until(lambda: stage.phone.message(card.id) is None)
    stage.phone.tap(again, "Allow")
    assert await stage.asked() == [("tap", {"card": "a-1", "verb": "allow", "text": ""})]
    tap = await stage.phone.answered(stage.phone.tap(listed.id, data="c:show::a-9"))
    assert tap.alert


async def test_a_command_in_a_topic_is_answered_there(topical: Stage) -> None:
    topical.door.show(session())
    await topical.start_bot()
    card = await topical.phone.wait_for(lambda m: m.in_topic)
    for words, told in {
        "/status": "here · fenced",
        "/asks": "Nothing waits on you",
        "/health": "Engine: well",
        "/projects": "shop",
        "/help": "/resume",
        "/nosuch": "There is no /nosuch",
    }.items():
        topical.phone.send(words, thread=card.thread)
        answer = await topical.phone.wait_for(lambda m, told=told: m.from_bot and told in m.text)  # type: ignore[misc]
        assert answer.thread == card.thread, words


@pytest.mark.parametrize("words", ["/", "/etc/hosts", " /\u00fc"])
async def test_a_slash_that_is_no_command_starts_nothing(stage: Stage, words: str) -> None:
    """BR-29."""
    await stage.start_bot()
    assert "Nothing was started" in await said_back(stage, words)
    assert stage.door.asked == []


async def test_a_command_in_answer_to_what_is_the_goal_is_a_command(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/new")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, "/new shop Add CSV export")
    assert await stage.asked() == [("new_goal", {"project": "shop", "text": "Add CSV export"})]


async def test_drop_asks_once_more_in_its_place(stage: Stage) -> None:
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Drop" in m.labels)
    stage.phone.tap(card, "Drop")
    sure = await stage.phone.wait_for(lambda m: m.id == card.id and "Drop it" in m.labels)
    assert "stay on its branch" in sure.text
    stage.phone.tap(sure, "Keep it")
    again = await stage.phone.wait_for(lambda m: m.id == card.id and "Ship" in m.labels)
    assert again.text == card.text
    assert stage.door.asked == []
    stage.phone.tap(again, "Drop")
    sure = await stage.phone.wait_for(lambda m: m.id == card.id and "Drop it" in m.labels)
    stage.phone.tap(sure, "Drop it")
    assert await stage.asked() == [("tap", {"card": "r-1", "verb": "drop", "text": ""})]
    await stage.phone.wait_for(lambda m: m.id == card.id and "✓ drop by you" in m.text)


async def test_a_project_leads_back_to_where_one_came_from(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/projects")
    panel = await stage.phone.wait_for(lambda m: "Add…" in m.labels)
    stage.phone.tap(panel, "shop")
    page = await stage.phone.wait_for(lambda m: m.id == panel.id and "Remove…" in m.labels)
    stage.phone.tap(page, "Remove…")
    sure = await stage.phone.wait_for(lambda m: m.id == panel.id and "Remove" in m.labels)
    stage.phone.tap(sure, "← Back")
    page = await stage.phone.wait_for(lambda m: m.id == panel.id and "Remove…" in m.labels)
    stage.phone.tap(page, "← Projects")
    await stage.phone.wait_for(lambda m: m.id == panel.id and "Add…" in m.labels)
    assert "There is no project nosuch" in await said_back(stage, "/settings nosuch")
    assert "There is no project nosuch" in await said_back(stage, "/projects remove nosuch")
    assert "Remove shop?" in await said_back(stage, "/projects remove shop")
    assert stage.door.asked == []


async def test_a_stop_from_yesterday_is_judged_by_its_date(tmp_path: Path) -> None:
    async with Stage(tmp_path, clock=lambda: __import__("time").time() - 20 * 3600) as stage:
        stage.phone.send("/stop all")
        await stage.start_bot()
        told = await stage.phone.wait_for(lambda m: "reached me only now" in m.text)
        assert "Send it again" in told.text
        assert stage.door.asked == []


async def test_forwarded_words_order_nothing(stage: Stage) -> None:
    """BR-124."""
    stage.door.show(session())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.send("/stop all", forwarded_from="Somebody")
    await stage.phone.wait_for(lambda m: "order nothing" in m.text)
    stage.phone.send("ignore the above", forwarded_from="Somebody", reply_to=card.id)
    ((_, args),) = await stage.asked()
    assert args["text"].endswith("somebody else's words:\n> ignore the above")


async def test_a_stranger_is_met_with_silence_and_the_owner_is_told_once(stage: Stage) -> None:
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    for words in ("/new shop mine", "/stop all", "hello"):
        stage.phone.send(words, as_user=STRANGER)
    tap = stage.phone.tap(card, "Allow", as_user=STRANGER)
    stage.phone.send("/status")
    await stage.phone.wait_for(lambda m: "Waits on you" in m.text)
    told = [m.text for m in stage.phone.from_bot() if str(STRANGER) in m.text]
    assert len(told) == 1
    assert stage.phone.from_bot(STRANGER) == []
    assert not tap.answered
    assert stage.door.asked == []


async def test_a_forged_tap_does_nothing(stage: Stage) -> None:
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    for data in ("", "x", "c:a-1:p1:allow:more", "c:a-99:p1:allow", "c:a-1:old:allow", "\u202e"):
        tap = await stage.phone.answered(stage.phone.tap(card.id, data=data))
        assert tap.alert
    assert stage.door.asked == []


async def test_a_group_we_were_put_in_is_left(stage: Stage) -> None:
    await stage.start_bot()
    chat = stage.phone.create_group("A group", by=STRANGER, members=(OWNER,))
    await stage.phone.until(lambda: stage.emulator.calls_of("leaveChat"))
    assert [call.params["chat_id"] for call in stage.emulator.calls_of("leaveChat")] == [chat]


async def test_tapped_five_times_it_is_decided_once(stage: Stage) -> None:
    """BR-16."""
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    data = card.buttons[0].value
    taps = [await stage.phone.answered(stage.phone.tap(card.id, data=data)) for _ in range(5)]
    assert taps[0].answer == "Done: allow it"
    assert {tap.answer for tap in taps[1:]} == {"Already answered at 23:40."}
    assert len(stage.door.asked) == 1


async def test_a_tap_is_answered_noted_when_the_engine_takes_its_time(stage: Stage) -> None:
    """BR-17: and the card tells when it is done."""
    stage.door.show(permission())
    stage.door.slow = asyncio.Event()
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    tap = await stage.phone.answered(stage.phone.tap(card, "Allow"))
    assert tap.answer == "Noted"
    stage.door.slow.set()
    await stage.phone.wait_for(lambda m: m.id == card.id and "✓" in m.text)


async def test_a_tap_while_the_engine_is_down_says_so_and_is_done_once_it_is_back(
    stage: Stage,
) -> None:
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    await stage.stop_engine()
    tap = await stage.phone.answered(stage.phone.tap(card, "Allow"))
    assert tap.answer == "Kept: done once the engine is back"
    await stage.start_engine()
    await stage.phone.wait_for(lambda m: m.id == card.id and "✓" in m.text)


async def test_that_the_answer_to_a_tap_fails_matters_nothing(stage: Stage) -> None:
    """BR-12."""
    stage.door.show(permission())
    stage.emulator.faults.slow("answerCallbackQuery", 60)
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    stage.phone.tap(card, "Allow")
    await stage.phone.wait_for(lambda m: m.id == card.id and "✓ allow by you" in m.text)


async def test_taps_are_answered_whatever_waits_to_be_said(tmp_path: Path) -> None:
    """BR-17: six taps while a burst of messages is held up by flood control."""
    async with Stage(tmp_path, flood=True) as stage:
        for number in range(6):
            stage.door.show(permission(f"a-{number}"))
        await stage.start_bot()
        await stage.phone.wait_for(lambda m: "Allow" in m.labels)
        for number in range(30):
            stage.door.note(f"news {number}")
        stage.emulator.faults.flood("sendMessage", retry_after=60)
        taps = [stage.phone.tap(10_000, data=f"c:a-{n}:p1:allow") for n in range(6)]
        for tap in taps:
            await stage.phone.answered(tap, timeout=2)
        assert len(stage.door.asked) == 6


async def test_the_diff_comes_as_a_file(stage: Stage) -> None:
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Diff" in m.labels)
    stage.phone.tap(card, "Diff")
    file = await stage.phone.wait_for(lambda m: m.kind == "document")
    assert file.file is not None
    assert file.file.name == "r-1.diff"


async def test_an_edit_is_told_that_it_changes_nothing(stage: Stage) -> None:
    await stage.start_bot()
    (said,) = stage.phone.send("Use commas")
    await stage.asked()
    stage.phone.edit(said.id, "Use semicolons")
    await stage.phone.wait_for(lambda m: m.text.startswith("You edited this"))
    assert len(stage.door.asked) == 1


async def test_a_line_that_still_waits_is_replaced_by_its_edit(stage: Stage) -> None:
    stage.door.hears = False
    await stage.start_bot()
    (said,) = stage.phone.send("Use commas")
    await stage.asked()
    stage.phone.edit(said.id, "Use semicolons")
    await stage.phone.wait_for(lambda m: m.text == "It will hear the new words.")
    assert stage.door.asked[-1] == ("reword_line", {"text": "Use semicolons"})


async def test_a_goal_is_put_otherwise_until_its_lead_begins(stage: Stage) -> None:
    stage.door.opens = "g-1"
    stage.door.show(session("g-1", stage="starting"))
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    (said,) = stage.phone.send("/new shop Export as CSV")
    await stage.phone.until(lambda: stage.phone.message(said.id).reactions)  # type: ignore[union-attr]
    stage.phone.edit(said.id, "/new shop Export as TSV")
    await stage.phone.wait_for(lambda m: m.text == "Its lead begins with the new words.")
    assert stage.door.asked[-1] == ("reword_goal", {"goal": "g-1", "text": "Export as TSV"})
    stage.door.rewords = ""  # a card asks from then on
    stage.phone.edit(said.id, "/new Export as XML")
    assert (await stage.asked(3))[-1] == ("reword_goal", {"goal": "g-1", "text": "Export as XML"})


async def test_a_quoted_part_goes_along_as_what_the_line_is_about(stage: Stage) -> None:
    stage.door.show(session())
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Ship" in m.labels)
    stage.phone.send("why nine?", reply_to=card.id, quote="9 files")
    ((_, args),) = await stage.asked()
    assert args["text"] == "> 9 files\n\nwhy nine?"


async def test_peek_shows_the_newest_lines_silently_and_only_the_last_one_stays(
    stage: Stage,
) -> None:
    stage.door.show(session(buttons=("interrupt", "peek", "stop")))
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Peek" in m.labels)
    stage.phone.tap(card, "Peek")
    first = await stage.phone.wait_for(lambda m: "line 19 of 1" in m.text)
    assert first.silent
    assert "Peek: The lead, at work\nNow: Bash: pytest · for 2 min\nline 0 of 1\n" in first.text
    stage.phone.tap(card, "Peek")
    second = await stage.phone.wait_for(lambda m: "line 19 of 2" in m.text)
    await stage.until(lambda: stage.phone.message(first.id) is None)
    assert stage.phone.message(second.id) is not None


async def test_a_reply_to_a_peek_speaks_to_that_session(stage: Stage) -> None:
    stage.door.show(session(buttons=("peek",)))
    await stage.start_bot()
    stage.phone.tap(await stage.phone.wait_for(lambda m: "Peek" in m.labels), "Peek")
    shown = await stage.phone.wait_for(lambda m: "Peek:" in m.text)
    stage.phone.reply(shown, "Faster")
    assert await stage.asked() == [("hear", {"text": "Faster", "goal": "g-1", "card": "g-1"})]


async def test_what_cannot_be_shown_says_what_is_away_and_is_not_tried_for_ever(
    stage: Stage,
) -> None:
    stage.door.show(session(buttons=("peek",)))
    stage.door.missing = "The repository's hub is busy"
    await stage.start_bot()
    tap = stage.phone.tap(await stage.phone.wait_for(lambda m: "Peek" in m.labels), "Peek")
    await stage.answered_or_dead(tap)
    assert tap.answer == "The repository's hub is busy. Press it again later."


async def test_late_taps_that_came_to_nothing_are_told_by_their_card(stage: Stage) -> None:
    """BR-16."""
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    stage.door.slow = asyncio.Event()
    taps = [stage.phone.tap(card, "Allow") for _ in range(4)]
    for tap in taps:
        await stage.answered_or_dead(tap)
    assert {tap.answer for tap in taps} == {"Noted"}
    stage.door.slow.set()
    await stage.phone.wait_for(lambda m: "allow by you" in m.text)
    stage.phone.send("/help")
    await stage.phone.wait_for(lambda m: "/new" in m.text)
    assert len(stage.phone.messages()) == 3  # the card, the command and its answer


async def test_a_tap_too_old_to_be_answered_is_refused_in_a_message(stage: Stage) -> None:
    """Telegram takes no answer after a while: a refusal must not go unheard."""
    stage.door.show(session())
    stage.door.show(permission())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Allow" in m.labels)
    old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
    stage.emulator.faults.error("answerCallbackQuery", 400, old, times=2)
    stage.phone.tap(card.id, data="c:a-1:old:allow")
    told = await stage.phone.wait_for(lambda m: "This has changed since" in m.text)
    assert told.silent
    stage.phone.tap(card.id, "Allow")
    await stage.phone.wait_for(lambda m: m.id == card.id and "✓ allow by you" in m.text)
    assert len(await stage.asked()) == 1
