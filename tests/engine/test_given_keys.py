"""What an owner does about a key that came: says it was none, renames it, forgets it, gives one by name.

All through the real bot, engine, vault and node. Promise 4; BR-119.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from bot import sealed_prompt
from bot.emulator import Message
from bot.outbox import Outbox
from engine.asker import BOX, Asker, on_behalf_of
from engine.requests.keys import Keys
from engine.rules.owner import LOCKED
from stores import vault
from stores.recovery import new_code
from tests.engine.chat import Chat, chatting
from tests.engine.test_planted_key import holding
from tests.fakes import git

PLAIN = "q7Lw2pXz9RtB4mKs8VnC"
KEY = "ghp_Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"
ODD = "correct horse battery staple"
SCENARIO = {
    "parts": [
        {"prompt": "was no secret", "steps": [{"say": "Given back: {prompt}"}]},
        {"prompt": "otherwise from now on", "steps": [{"say": "Renamed: {prompt}"}]},
        {"role": "lead", "prompt": "Rundown", "steps": [{"say": "I was told: {prompt}"}]},
        {"steps": [{"say": "Heard: {prompt}"}]},
    ]
}


def scenario(folder: Path) -> str:
    path = folder / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    return str(path)


async def with_goal(chat: Chat, folder: Path, words: str) -> None:
    """Give a goal in a project of a moment ago, and wait until its lead has heard it."""
    repository = folder / "shop"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    (repository / "README.md").write_text("A shop\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Open")
    await chat.engine.door.add_project("shop", str(repository), cause="project")
    await chat.engine.door.add_account("main", "rehearsal", cause="account")
    chat.phone.send(f"/new shop {words}")
    await chat.until("I was told:")


def value_of(message: Message, label: str) -> str:
    return next(button.value for button in message.buttons if button.label == label)


def times(chat: Chat, words: str) -> int:
    return sum(words in message.text for message in chat.phone.from_bot())


async def test_what_was_no_secret_goes_to_its_session_once_and_is_not_taken_again(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, scenario=scenario(tmp_path)) as chat:
        await with_goal(chat, tmp_path, f"Read the page with token={PLAIN}")
        stored = await chat.until("Stored as TOKEN", "May be used everywhere")
        assert PLAIN not in chat.phone.transcript()
        data = value_of(stored, "It was no secret")
        await chat.stop_bot()
        chat.start_bot()
        for _ in range(2):
            chat.phone.tap(stored, data=data)
        told = await chat.until("TOKEN was no secret", "Its session has the text now")
        assert told.id == stored.id
        await chat.until("Given back: {{TOKEN}} in what I wrote was no secret", PLAIN)
        chat.phone.tap(stored, data=data)
        await chat.stop_bot()
        chat.start_bot()
        assert await chat.engine.door.keys() == ()
        chat.phone.reply(await chat.until("Given back"), f"and once more token={PLAIN}")
        await chat.until(f"Heard: and once more token={PLAIN}")
        assert times(chat, "Given back") == 1
        assert times(chat, "was no secret: it is forgotten") == 1


async def test_the_shape_of_a_known_kind_is_handed_on_only_after_a_second_tap(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, scenario=scenario(tmp_path)) as chat:
        await with_goal(chat, tmp_path, f"Publish it with {KEY}")
        stored = await chat.until("Stored as GITHUB_TOKEN")
        asked = await chat.tapped(stored, "It was no secret", "shape of a real key")
        back = await chat.tapped(asked, "← Back", "Last used: never", label="It was no secret")
        assert [view.name for view in await chat.engine.door.keys()] == ["GITHUB_TOKEN"]
        asked = await chat.tapped(back, "It was no secret", "shape of a real key")
        await chat.tapped(asked, "Hand it on in clear", "GITHUB_TOKEN was no secret")
        await chat.until("Given back: {{GITHUB_TOKEN}} in what I wrote was no secret")
        assert KEY not in chat.phone.transcript(), "the session has it, the chat shows dots"
        spools = (chat.home.root / "runs").glob("*/out.jsonl")
        assert any(KEY in spool.read_text() for spool in spools)
        assert await chat.engine.door.keys() == ()


async def test_a_line_that_was_sent_on_by_a_tap_is_given_back_there(tmp_path: Path) -> None:
    async with chatting(tmp_path, scenario=scenario(tmp_path)) as chat:
        await with_goal(chat, tmp_path, "Look around")
        stored = await chat.sent(f"The page wants token={PLAIN}", "Stored as TOKEN")
        where = await chat.until("Which one is this for?", label="To: Look around")
        assert stored.id < where.id, "that it is safe comes first"
        await chat.tapped(where, "To: Look around", "Heard: The page wants token={{TOKEN}}")
        await chat.tapped(stored, "It was no secret", "Its session has the text now")
        await chat.until("Given back: {{TOKEN}}", PLAIN)


HALF, REST = "sk-ant-admin01-aB3dE5fG7hI9jK1lM3nO5pQ7", "rS9tU1vW3xY5zA7bC9dE1fG3hI5"


async def in_two_messages(chat: Chat, rest: str = REST) -> Message:
    """Send a key whose first half could be a whole one, and return what is said of the rest."""
    await chat.sent(f"use {HALF}", "Stored as ANTHROPIC_API_KEY")
    return await chat.sent(rest, "The rest of ANTHROPIC_API_KEY?", label="Join")


async def test_the_rest_of_a_key_that_could_be_whole_is_kept_and_joined_by_a_tap(
    tmp_path: Path,
) -> None:
    """BR-119: nothing of it is in clear, however it is answered."""
    async with chatting(tmp_path) as chat:
        asked = await in_two_messages(chat)
        assert "Stored as ANTHROPIC_API_KEY_REST; deleted from the chat." in asked.text
        data = value_of(asked, "Join")
        joined = await chat.tapped(asked, "Join", "ANTHROPIC_API_KEY is one key now")
        assert joined.id == asked.id
        chat.phone.tap(joined, data=data)  # once more, late
        assert await chat.engine.door.secret("ANTHROPIC_API_KEY") == HALF + REST
        assert [view.name for view in await chat.engine.door.keys()] == ["ANTHROPIC_API_KEY"]
        assert REST not in chat.phone.transcript()


async def test_what_is_no_rest_is_kept_apart_or_given_back(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        asked = await in_two_messages(chat)
        page = await chat.tapped(asked, "Keep apart", "Last used: never", label="Rename…")
        assert "Join" not in page.labels
        assert await chat.engine.door.secret("ANTHROPIC_API_KEY") == HALF
        assert await chat.engine.door.secret("ANTHROPIC_API_KEY_REST") == REST


async def test_a_key_in_three_messages_is_joined_piece_by_piece(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        second = await in_two_messages(chat, REST[:13])
        third = await chat.sent(
            REST[13:], "Stored as ANTHROPIC_API_KEY_REST_2", "The rest of ANTHROPIC_API_KEY?"
        )
        await chat.tapped(second, "Join", "ANTHROPIC_API_KEY is one key now")
        chat.phone.tap(third, "Join")
        await chat.until("ANTHROPIC_API_KEY is one key now", after=second.id)
        assert await chat.engine.door.secret("ANTHROPIC_API_KEY") == HALF + REST


async def test_a_half_that_is_gone_is_joined_to_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        asked = await in_two_messages(chat)
        await chat.engine.door.forget_key("ANTHROPIC_API_KEY", cause="forget")
        tap = await chat.phone.answered(chat.phone.tap(asked, "Join"))
        assert "send the whole key once more" in tap.answer
        assert await chat.engine.door.secret("ANTHROPIC_API_KEY_REST") == REST


async def test_asked_twice_the_rest_is_put_behind_it_once(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await in_two_messages(chat)
        door = chat.engine.door
        with on_behalf_of(Asker(who=BOX)):
            for _ in range(2):
                await door.join_keys("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_REST", cause="join")
        assert await door.secret("ANTHROPIC_API_KEY") == HALF + REST


async def test_a_key_that_is_only_handed_over_is_asked_nothing_about(tmp_path: Path) -> None:
    async with chatting(tmp_path, scenario=scenario(tmp_path)) as chat:
        await with_goal(chat, tmp_path, "Look around")
        await chat.sent(f"Here is my new API key: {KEY}", "Stored as GITHUB_TOKEN")
        await chat.sent("/health", "well")
        assert times(chat, "Which one is this for?") == 0
        assert times(chat, "Stored as") == 1


async def test_one_that_was_used_stays_a_secret(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        stored = await chat.sent(f"token={PLAIN}", "Stored as TOKEN")
        await chat.engine.door.secret("TOKEN")
        tap = await chat.phone.answered(chat.phone.tap(stored, "It was no secret"))
        assert "used by a command already" in tap.answer
        page = await chat.until("Last used: at")
        assert "It was no secret" not in page.labels
        assert await chat.engine.door.secret("TOKEN") == PLAIN
        assert PLAIN not in chat.phone.transcript()


async def test_a_stored_key_is_renamed_its_session_told_and_it_is_forgotten_after_a_second_tap(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, scenario=scenario(tmp_path)) as chat:
        await with_goal(chat, tmp_path, f"Publish it with {KEY}")
        await chat.sent(f"token={PLAIN}", "Stored as TOKEN")
        stored = await chat.until("Stored as GITHUB_TOKEN")
        chat.phone.tap(stored, "Rename…")
        prompt = await chat.until("What is it called from now on?")
        chat.phone.reply(prompt, "no good name!")
        again = await chat.until("2 to 40 letters", "another")
        chat.phone.reply(again, "path")
        again = await chat.until("No command could be given a key called PATH", "another")
        chat.phone.reply(again, "token")
        again = await chat.until("There is a key named TOKEN already", "another")
        await chat.stop_bot()
        chat.start_bot()
        chat.phone.reply(again, "shop_publish")
        page = await chat.until("SHOP_PUBLISH", "Last used: never", label="Forget…")
        assert page.id == stored.id
        await chat.until("Renamed:", "{{GITHUB_TOKEN}} otherwise from now on: {{SHOP_PUBLISH}}")
        assert await chat.engine.door.secret("SHOP_PUBLISH") == KEY
        asked = await chat.tapped(page, "Forget…", "Forget SHOP_PUBLISH?")
        gone = value_of(asked, "Forget")
        for _ in range(2):
            chat.phone.tap(asked, data=gone)
        await chat.until("SHOP_PUBLISH is forgotten, with every value it had.")
        assert [view.name for view in await chat.engine.door.keys()] == ["TOKEN"]
        assert times(chat, "Renamed:") == 1


async def asked_for(chat: Chat) -> int:
    """Have a key asked for by /keys; return the message that asks."""
    before = chat.phone.messages()[-1].id if chat.phone.messages() else 0
    chat.phone.send("/keys")
    panel = await chat.until("vault", label="Add…", after=before)
    chat.phone.tap(panel, "Add…")
    return (await chat.until("Type or paste the key", label="Cancel", after=panel.id)).id


async def test_what_is_typed_after_add_is_a_secret_however_it_looks(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.phone.send("/keys")
        panel = await chat.until("The vault is empty", label="Add…")
        asks = await chat.tapped(panel, "Add…", "Type or paste the key", "May be used everywhere")
        await chat.tapped(
            asks, "machine here only", "May be used machine here only", label="Cancel"
        )
        await chat.sent("/health", "well")
        await chat.stop_bot()
        chat.start_bot()
        picture = chat.phone.document("note.bin", b"\0\1", caption=ODD)
        await chat.until("Send the value as text", "next is the key", label="Cancel")
        assert chat.phone.message(picture.id) is None
        code = new_code()
        (sent,) = chat.phone.send(code)
        await chat.until("That is your recovery code", "next is the key", label="Cancel")
        assert chat.phone.message(sent.id) is None
        (typed,) = chat.phone.send(ODD)
        stored = await chat.until("Stored as SECRET", "May be used machine here only")
        assert stored.id > asks.id
        assert chat.phone.message(typed.id) is None
        await chat.until("SECRET was given, and is sealed.")
        prompt = await chat.tapped(stored, "Rename…", "What is it called from now on?")
        (no_name,) = chat.phone.reply(prompt, "door! code of mine")
        again = await chat.until("deleted and not kept", "2 to 40 letters")
        await chat.phone.until(lambda: chat.phone.message(no_name.id) is None)
        chat.phone.reply(again, "door_code")
        page = await chat.until("DOOR_CODE", "Last used: never", label="New value…")
        (view,) = await chat.engine.door.keys()
        assert (view.name, view.scope) == ("DOOR_CODE", "machine/here")
        assert not chat.engine.loop.states("goal")
        await chat.tapped(page, "New value…", "this becomes its version 2", "machine here only")
        chat.phone.send("/nonsense and more")
        stored = await chat.until("Stored as DOOR_CODE", after=again.id)
        assert await chat.engine.door._of_vault().get("DOOR_CODE") == "/nonsense and more"
        for typed_next, name in (
            (KEY, "GITHUB_TOKEN"),
            ("Hunter2pass", "SECRET"),
            (ODD, "SECRET_2"),
        ):
            await asked_for(chat)
            (typed,) = chat.phone.send(typed_next)  # a valid name, too, is the secret
            stored = await chat.until(f"Stored as {name};", after=stored.id)
            assert chat.phone.message(typed.id) is None
            assert typed_next not in chat.phone.transcript()
    for word in (ODD, KEY, "Hunter2pass"):
        assert holding(tmp_path / "home", word) == []
    assert holding(tmp_path / "home", "door! code") == []
    assert holding(tmp_path / "home", code) == []
    assert holding(tmp_path / "home", "/nonsense and") == []


async def test_a_question_for_a_value_can_be_cancelled_and_only_the_newest_is_open(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        first = await asked_for(chat)
        second = await asked_for(chat)
        await chat.until("Asked for another one")
        chat.phone.send(ODD)
        await chat.until("Stored as SECRET", after=second)
        chat.phone.send("what next")
        await chat.until("No project yet", after=second)
        message = chat.phone.message(await asked_for(chat))
        assert message is not None
        await chat.tapped(message, "Cancel", "Cancelled: nothing was kept")
        chat.phone.send("and now")
        await chat.until("No project yet", after=message.id)
        (late,) = chat.phone.reply(message, "typed to it all the same")
        await chat.until("That question is over", after=message.id)
        assert chat.phone.message(late.id) is None
        assert [view.name for view in await chat.engine.door.keys()] == ["SECRET"]
        assert first < second
    assert holding(tmp_path / "home", "typed to it") == []


async def test_two_owners_are_asked_at_once_and_each_gives_their_own(tmp_path: Path) -> None:
    other = 77
    async with chatting(tmp_path) as chat:
        chat.phone.send("hello", as_user=other)
        code = (await chat.engine.door.invite_owner(cause="invite"))["code"]
        chat.phone.start(code, as_user=other)
        await asked_for(chat)
        chat.phone.send("/keys", as_user=other)

        def there(*words: str) -> Message | None:
            said = chat.phone.from_bot(other)
            return next((m for m in said if all(word in m.text for word in words)), None)

        panel = await chat.phone.until(lambda: there("The vault is empty"))
        chat.phone.tap(panel, "Add…", as_user=other)
        await chat.phone.until(lambda: there("Type or paste the key"))
        chat.phone.send("another sentence of theirs", as_user=other)
        await chat.phone.until(lambda: there("Stored as SECRET;"))
        chat.phone.send(ODD)
        await chat.until("Stored as SECRET_2;")
        kept = chat.engine.door._of_vault()
        assert await kept.get("SECRET") == "another sentence of theirs"
        assert await kept.get("SECRET_2") == ODD
        assert not chat.engine.loop.states("goal")
    for word in (ODD, "another sentence"):
        assert holding(tmp_path / "home", word) == []


async def test_too_many_of_one_name_are_refused_with_a_sentence_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault, "MOST_NAMESAKES", 3)
    keys = [f"ghp_{letter * 3}1kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP" for letter in "ABC"]
    async with chatting(tmp_path) as chat:
        for key, said in zip(
            keys,
            ("Stored as GITHUB_TOKEN;", "GITHUB_TOKEN_2;", "forget some of them first"),
            strict=True,
        ):
            (sent,) = chat.phone.send(key)
            await chat.until(said)
            assert chat.phone.message(sent.id) is None
        await chat.sent("/health", "well")
        assert not any(key in chat.phone.transcript() for key in keys)
    assert [holding(tmp_path / "home", key) for key in keys] == [[], [], []]


async def test_a_question_that_nobody_answers_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed_prompt, "OPEN_S", 0.0)
    monkeypatch.setattr(sealed_prompt, "GRACE_S", 1.0)
    async with chatting(tmp_path) as chat:
        asks = await asked_for(chat)
        await chat.until("No key came within 10 minutes", after=asks)
        await chat.until("Not answered in time")
        await asyncio.sleep(1.0 - time.time() % 1.0)  # Telegram tells when in whole seconds
        chat.phone.send("what next")
        await chat.until("No project yet", after=asks)
        assert await chat.engine.door.keys() == ()


async def test_what_was_typed_in_time_is_a_secret_though_it_comes_when_that_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chatting(tmp_path) as chat:
        asks = await asked_for(chat)
        await chat.stop_bot()
        (typed,) = chat.phone.send(ODD)
        defaults = Outbox.__init__.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "wall", lambda: time.time() + 3600)  # away for an hour
        chat.start_bot()
        await chat.until("Stored as SECRET", after=asks)
        assert chat.phone.message(typed.id) is None
        assert not chat.engine.loop.states("goal")
    assert holding(tmp_path / "home", ODD) == []


async def test_while_locked_no_value_is_asked_for_and_a_typed_line_is_not_asked_for_again(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        await asked_for(chat)
        chat.phone.send("/keys")
        panel = await chat.until("The vault is empty", label="Add…")
        await chat.sent("/lock", "Locked: no tap")
        assert (await chat.phone.answered(chat.phone.tap(panel, "Add…"))).answer == LOCKED
        (typed,) = chat.phone.send(ODD)
        await chat.phone.until(lambda: chat.phone.message(typed.id) is None)
        last = await chat.until(LOCKED, after=typed.id)
        assert not last.asks_for_reply
        assert await Keys.keys(chat.engine.door) == ()
    assert holding(tmp_path / "home", ODD) == []
