"""A pasted key: sealed before it is written, in no file, no log and no agent's words. BR-119."""

import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot import keys
from stores.recovery import new_code
from tests.bot.stage import OWNER, TOKEN, Stage, review, session

KEY = "sk-ant-api03-Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoPqXzVnM"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


def clear(stage: Stage, key: str = KEY) -> bool:
    """Return whether the key is in no file of the home and in no message of the chat."""
    raw, said = stage.raw(), stage.phone.transcript()
    return key.encode() not in raw and key not in said and key[12:40].encode() not in raw


async def test_it_is_sealed_deleted_and_stands_as_its_name_in_what_is_heard(stage: Stage) -> None:
    await stage.start_bot()
    (said,) = stage.phone.send(f"Deploy with {KEY} please")
    ((_, args),) = await stage.asked()
    assert args["text"] == "Deploy with {{ANTHROPIC_API_KEY}} please"
    told = await stage.phone.wait_for(lambda m: m.text.startswith("Stored as"))
    assert told.text == (
        "Stored as ANTHROPIC_API_KEY; deleted from the chat.\n"
        "May be used everywhere, each time you allow it."
    )
    assert told.labels == ["It was no secret", "Where…", "Rename…", "Forget…"]
    assert stage.phone.message(said.id) is None
    assert await stage.vault.get("ANTHROPIC_API_KEY") == KEY
    await stage.stop_bot()
    assert clear(stage)


async def test_a_bare_key_starts_nothing(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send(f"ANTHROPIC_API_KEY={KEY}")
    await stage.phone.wait_for(lambda m: m.text.startswith("Stored as"))
    await stage.stop_bot()
    assert stage.door.asked == []


async def test_killed_while_the_engine_is_away_it_lies_sealed_and_is_kept_later(
    stage: Stage,
) -> None:
    await stage.stop_engine()
    await stage.start_bot()
    (said,) = stage.phone.send(f"use {KEY}")
    await stage.phone.until(lambda: stage.phone.message(said.id) is None)
    await stage.kill_bot()
    assert clear(stage)
    await stage.start_engine()
    await stage.start_bot()
    ((_, args),) = await stage.asked()
    assert args["text"] == "use {{ANTHROPIC_API_KEY}}"
    assert await stage.vault.get("ANTHROPIC_API_KEY") == KEY
    assert clear(stage)


async def test_a_key_cut_in_two_by_the_app_is_found_and_both_messages_go(stage: Stage) -> None:
    await stage.start_bot()
    sent = stage.phone.send("w" * 4070 + " " + KEY + " is the key")
    assert len(sent) == 2
    ((_, args),) = await stage.asked()
    assert args["text"].endswith(" {{ANTHROPIC_API_KEY}} is the key")
    await stage.phone.wait_for(lambda m: m.text.startswith("Stored as"))
    assert [stage.phone.message(part.id) for part in sent] == [None, None]
    await stage.stop_bot()
    assert clear(stage)


async def test_captions_documents_edits_and_goals_are_looked_through_too(stage: Stage) -> None:
    await stage.start_bot()
    sent = [
        stage.phone.document(".env", f"ANTHROPIC_API_KEY={KEY}\nPORT=1\n".encode()),
        stage.phone.document("a.txt", b"hello", caption=f"with {KEY}"),
        stage.phone.send(f"/new shop Deploy with {KEY}")[0],
    ]
    harmless = stage.phone.send("harmless")[0]
    await stage.asked(4)
    stage.phone.edit(harmless.id, f"not so: {KEY}")
    for said in (*sent, harmless):
        await stage.phone.until(lambda said=said: stage.phone.message(said.id) is None)  # type: ignore[misc]
    await stage.stop_bot()
    assert clear(stage)
    assert all(KEY not in str(args) for _, args in stage.door.asked)
    assert "{{ANTHROPIC_API_KEY}}" in str(stage.door.asked[0])


async def test_a_key_in_a_correction_is_taken_out_of_it(stage: Stage) -> None:
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Correct…" in m.labels)
    stage.phone.tap(card, "Correct…")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, f"call it with {KEY}")
    assert await stage.asked() == [
        ("tap", {"card": "r-1", "verb": "correct", "text": "call it with {{ANTHROPIC_API_KEY}}"})
    ]


async def test_a_message_too_old_to_delete_is_said_loudly(stage: Stage) -> None:
    stage.emulator.faults.error(
        "deleteMessage", 400, "Bad Request: message can't be deleted for everyone", times=9
    )
    await stage.start_bot()
    stage.phone.send(f"use {KEY}")
    told = await stage.phone.wait_for(lambda m: "still in the chat" in m.text)
    assert not told.silent
    assert "ANTHROPIC_API_KEY" in told.text
    assert KEY not in told.text


async def test_neither_token_nor_key_is_in_any_log_line(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """BR-119: at debug, with an HTTP error and a wrong token."""
    caplog.set_level(logging.DEBUG)
    stage.emulator.faults.gateway("sendMessage", 502, done=False)
    stage.emulator.faults.cut("setMyCommands", done=False)
    await stage.start_bot()
    stage.phone.send(f"use {KEY}")
    await stage.asked()
    logging.getLogger("httpx").critical("POST https://api/bot%s/getMe", TOKEN)
    try:
        raise ValueError(f"https://api/bot{TOKEN}/getMe")
    except ValueError:
        logging.getLogger("anybody").exception("with %s", TOKEN.partition(":")[2])
    await stage.stop_bot()
    written = caplog.text
    assert TOKEN.partition(":")[2] not in written
    assert KEY not in written
    assert "bot<token>" in written


async def test_keys_in_several_messages_keep_their_own_names(stage: Stage) -> None:
    stage.door.show(session())
    await stage.start_bot()
    other = KEY[:-3] + "123"
    stage.phone.send(f"use {KEY}")
    await stage.asked()
    stage.phone.send(f"use {other} and {KEY}")
    asked = await stage.asked(2)
    assert asked[1][1]["text"] == "use {{ANTHROPIC_API_KEY_2}} and {{ANTHROPIC_API_KEY}}"
    assert stage.phone.owner == OWNER


ODD = "correct-horse-battery-staple"


async def test_a_reply_with_a_token_is_sealed_whole_even_while_the_engine_is_away(
    stage: Stage,
) -> None:
    await stage.start_bot()
    stage.phone.send("/accounts add main claude")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    await stage.stop_engine()
    (said,) = stage.phone.reply(prompt, ODD)
    await stage.phone.until(lambda: stage.phone.message(said.id) is None)
    await stage.kill_bot()
    assert clear(stage, ODD)
    await stage.start_engine()
    await stage.start_bot()
    assert await stage.asked() == [("sign_in", {"name": "main", "agent": "claude"})]
    await stage.phone.wait_for(lambda m: "deleted from the chat" in m.text)
    assert await stage.vault.get("main") == ODD
    await stage.stop_bot()
    assert clear(stage, ODD)


async def test_a_token_that_comes_as_a_file_is_taken_out_and_asked_for_as_text(
    stage: Stage,
) -> None:
    await stage.start_bot()
    stage.phone.send("/accounts add main claude")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    said = stage.phone.document("token.txt", ODD.encode(), caption="here", reply_to=prompt.id)
    await stage.phone.wait_for(lambda m: "Send the token as text" in m.text)
    assert stage.phone.message(said.id) is None
    await stage.stop_bot()
    assert stage.door.asked == []
    assert clear(stage, ODD)


async def test_a_key_in_a_documents_name_is_taken_out_whether_or_not_it_can_be_had(
    stage: Stage,
) -> None:
    """In the name of a small text, of a kept file, and of one that is too large."""
    await stage.start_bot()
    sent = [
        stage.phone.document(f"{KEY}.txt", b"hello", caption="one"),
        stage.phone.document(f"old_{KEY}.pdf", b"%PDF\0\1\2\3\4", caption="two"),
        stage.phone.document(
            "x" * 60 + f" {KEY}.mov", bytes(20 * 1024 * 1024 + 1), caption="three"
        ),
    ]
    asked = await stage.asked(3)
    for said in sent:
        await stage.phone.until(lambda said=said: stage.phone.message(said.id) is None)  # type: ignore[misc]
    await stage.phone.wait_for(lambda m: "20 MB at most" in m.text)
    await stage.stop_bot()
    assert asked[0][1]["text"] == "one\n\n[file {{ANTHROPIC_API_KEY}}.txt]\nhello"
    (file,) = asked[1][1]["files"]
    assert file.name == "old_{{ANTHROPIC_API_KEY}}.pdf"
    assert clear(stage)
    assert KEY[:30] not in stage.phone.transcript()
    assert await stage.vault.get("ANTHROPIC_API_KEY") == KEY


@pytest.mark.parametrize(
    "data",
    [
        f"PORT=1\0\nANTHROPIC_API_KEY={KEY}\n".encode(),
        f"ANTHROPIC_API_KEY={KEY}\r\n".encode("utf-16-le"),
        f"ANTHROPIC_API_KEY={KEY}\r\n".encode("utf-16-be"),
        f"ANTHROPIC_API_KEY={KEY}\r\n".encode("utf-16") + b"\n",
        b"".join(bytes([byte, 0, 0, 0]) for byte in f"with {KEY} ".encode()),
    ],
    ids=["a NUL", "little endian", "big endian", "an odd end", "four bytes a letter"],
)
async def test_a_key_is_found_however_a_text_was_saved(stage: Stage, data: bytes) -> None:
    await stage.start_bot()
    said = stage.phone.document("settings.txt", data, caption="use it")
    ((_, args),) = await stage.asked()
    await stage.phone.until(lambda: stage.phone.message(said.id) is None)
    await stage.stop_bot()
    raw = stage.raw()
    assert clear(stage)
    assert KEY.encode("utf-16-le") not in raw
    assert KEY.encode("utf-16-be") not in raw
    assert data not in raw
    assert "files" in args
    assert await stage.vault.get("ANTHROPIC_API_KEY") == KEY


async def test_a_key_in_a_topics_name_is_not_kept_and_that_is_said(tmp_path: Path) -> None:
    async with Stage(tmp_path, threaded=True) as stage:
        stage.door.show(session())
        await stage.start_bot()
        await stage.phone.wait_for(lambda m: "Stop" in m.labels)
        (topic,) = stage.phone.topics()
        stage.phone.rename_topic(topic.id, f"Orders {KEY}")
        told = await stage.phone.wait_for(lambda m: "holds a key" in m.text)
        assert KEY not in told.text
        await stage.stop_bot()
        raw = stage.raw()
        assert KEY.encode() not in raw
        assert KEY[12:40].encode() not in raw


async def asked_for_token(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/accounts add main claude")
    await stage.phone.wait_for(lambda m: m.asks_for_reply)


async def test_a_token_typed_without_reply_while_it_is_asked_for_is_taken(stage: Stage) -> None:
    await asked_for_token(stage)
    (said,) = stage.phone.send(ODD)
    assert await stage.asked() == [("sign_in", {"name": "main", "agent": "claude"})]
    await stage.phone.wait_for(lambda m: "deleted from the chat" in m.text)
    assert stage.phone.message(said.id) is None
    assert await stage.vault.get("main") == ODD
    await stage.stop_bot()
    assert clear(stage, ODD)


async def test_other_lines_are_lines_while_a_token_is_asked_for(stage: Stage) -> None:
    await asked_for_token(stage)
    for words in ("what is a token anyway", "short", "https://example.org/a/b/c"):
        stage.phone.send(words)
    asked = await stage.asked(3)
    assert [verb for verb, _ in asked] == ["hear"] * 3


async def test_a_question_for_a_token_takes_one_answer(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("/accounts add main claude")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, ODD)
    await stage.phone.wait_for(lambda m: "is added" in m.text)
    other = "another-horse-battery"
    (said,) = stage.phone.reply(prompt, other)
    await stage.phone.wait_for(lambda m: "answered already" in m.text)
    await stage.phone.until(lambda: stage.phone.message(said.id) is None)
    assert await stage.asked() == [("sign_in", {"name": "main", "agent": "claude"})]
    assert await stage.vault.get("main") == ODD
    stage.phone.send("internationalisation")  # no question is open: it is a line
    assert (await stage.asked(2))[1][0] == "hear"
    await stage.stop_bot()
    assert clear(stage, other)


@pytest.mark.parametrize("form", ["{}", "my recovery code is {}, keep it", "RECOVERY_CODE={}"])
@pytest.mark.parametrize("typed", [str, str.lower, lambda code: code.replace("-", " ")])
def test_the_recovery_code_is_known_however_it_was_typed(
    form: str, typed: Callable[[str], str]
) -> None:
    for _ in range(50):
        code = typed(new_code())
        (found,) = keys.find(form.format(code))
        assert (found.name, found.value) == (keys.RECOVERY, code)


async def test_the_recovery_code_is_deleted_and_kept_nowhere_and_another_key_beside_it_is(
    stage: Stage,
) -> None:
    await stage.start_bot()
    code = new_code()
    (bare,) = stage.phone.send(code)
    await stage.phone.wait_for(lambda m: "That is your recovery code" in m.text)
    await stage.phone.until(lambda: stage.phone.message(bare.id) is None)
    assert stage.door.asked == []
    (both,) = stage.phone.send(f"take {KEY} or {code}")
    ((_, args),) = await stage.asked()
    assert args["text"] == "take {{ANTHROPIC_API_KEY}} or {{RECOVERY_CODE}}"
    await stage.phone.wait_for(lambda m: m.text.startswith("Stored as ANTHROPIC_API_KEY;"))
    await stage.phone.until(lambda: stage.phone.message(both.id) is None)
    assert await stage.vault.get(keys.RECOVERY) is None
    await stage.stop_bot()
    assert clear(stage)
    assert code.encode() not in stage.raw()
    assert code not in stage.phone.transcript()
