"""Photos, albums and documents: what of them reaches the engine, and what is said of the rest."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import telegram

from bot import keys
from bot.emulator import view
from bot.gate import Allowed
from bot.inbox import Arrived
from bot.sent import Sending
from engine.views import Attachment
from stores.attached import Attached
from tests.bot.stage import OWNER, TOKEN, Stage, review, session

KEY = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4" * 2


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


def png(width: int = 60, height: int = 40, grey: int = 0) -> bytes:
    """A picture of one grey."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    rows = (b"\0" + bytes([grey]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def body(stage: Stage, file: Attachment) -> bytes | None:
    return Attached(stage.home.attached).read(file.sha256)


async def files_of(stage: Stage, count: int = 1) -> tuple[Attachment, ...]:
    found: tuple[Attachment, ...] = (await stage.asked(count))[-1][1].get("files", ())
    return found


async def test_a_photo_with_its_caption_is_a_goal_with_a_file(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.photo(png(), caption="/new shop Build this")
    ((verb, args),) = await stage.asked()
    assert (verb, args["project"], args["text"]) == ("new_goal", "shop", "Build this")
    (file,) = args["files"]
    assert (file.name, file.kind, file.mime) == ("photo.jpg", "photo", "image/jpeg")
    assert body(stage, file) == png()
    largest = [call.params["file_id"] for call in stage.emulator.calls_of("getFile")]
    assert not [name for name in largest if name.endswith("-s")]


async def test_an_album_is_one_goal_with_all_its_photos(stage: Stage) -> None:
    """BR-06."""
    await stage.start_bot()
    for grey in range(4):
        stage.phone.photo(png(grey=grey), caption="" if grey else "Build this", album="7")
    ((_, args),) = await stage.asked()
    assert args["text"] == "Build this"
    assert [body(stage, file) for file in args["files"]] == [png(grey=grey) for grey in range(4)]


async def test_a_document_of_any_kind_goes_along_and_a_small_text_into_the_words(
    stage: Stage,
) -> None:
    await stage.start_bot()
    pdf = b"%PDF-1.4\n" + bytes(range(256)) * 3000
    stage.phone.document("spec.pdf", pdf, caption="As in here", mime="application/pdf", album="1")
    stage.phone.document("notes.md", b"# Notes\nuse tabs", album="1")
    stage.phone.document("long.csv", b"a,b\n" * 80_000, mime="text/csv", album="1")
    ((_, args),) = await stage.asked()
    assert args["text"] == "As in here\n\n[file notes.md]\n# Notes\nuse tabs"
    first, second = args["files"]
    assert (first.name, first.mime, body(stage, first)) == ("spec.pdf", "application/pdf", pdf)
    assert (second.name, body(stage, second)) == ("long.csv", b"a,b\n" * 80_000)


async def test_a_reply_and_a_correction_take_a_photo(stage: Stage) -> None:
    stage.door.show(session())
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Ship" in m.labels)
    stage.phone.photo(png(), caption="this button", reply_to=card.id)
    assert len(await files_of(stage)) == 1
    assert stage.door.asked[-1][1]["card"] == "r-1"
    stage.phone.tap(card, "Correct…")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.photo(png(grey=9), reply_to=prompt.id)
    (file,) = await files_of(stage, 2)
    (verb, args) = stage.door.asked[-1]
    assert (verb, args["verb"], args["text"]) == ("tap", "correct", "")
    assert body(stage, file) == png(grey=9)


async def test_a_photo_with_new_alone_waits_for_the_goal(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.photo(png(), caption="/new shop")
    prompt = await stage.phone.wait_for(lambda m: m.asks_for_reply)
    stage.phone.reply(prompt, "Build this")
    (file,) = await files_of(stage)
    assert body(stage, file) == png()


async def test_somebody_elses_file_is_passed_on_as_that(stage: Stage) -> None:
    """BR-124."""
    stage.door.show(session())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.document(
        "x.pdf",
        b"\0pdf",
        caption="do as it says",
        reply_to=card.id,
        forwarded_from="Somebody",
    )
    (file,) = await files_of(stage)
    assert file.forwarded
    assert stage.door.asked[-1][1]["text"].endswith("somebody else's words:\n> do as it says")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("voice", "I cannot hear voice messages."),
        ("video", "I cannot watch videos."),
        ("sticker", "says nothing to an agent"),
        ("location", "I cannot pass a location on."),
    ],
)
async def test_what_no_agent_can_read_is_said_and_the_words_beside_it_go_on(
    stage: Stage, kind: str, said: str
) -> None:
    await stage.start_bot()
    stage.phone.other(kind)
    alone = await stage.phone.wait_for(lambda m: said in m.text)
    assert alone.text.endswith("Nothing was passed on.")
    assert stage.door.asked == []
    stage.phone.other(kind, caption="Build this")
    told = await stage.phone.wait_for(lambda m: said in m.text, after=alone.id)
    assert told.text.endswith("The rest went on.")
    assert (await stage.asked())[0][1] == {"text": "Build this", "goal": "", "card": ""}


async def test_a_file_past_telegrams_limit_is_said_to_be_and_the_words_go_on(stage: Stage) -> None:
    await stage.start_bot()
    big = bytes(20 * 1024 * 1024 + 1)
    stage.phone.document("film.mov", big, caption="Build this")
    told = await stage.phone.wait_for(lambda m: "film.mov has 21.0 MB" in m.text)
    assert "20 MB at most" in told.text
    assert told.text.endswith("The rest went on.")
    assert (await stage.asked())[0][1]["text"] == "Build this"
    assert stage.emulator.calls_of("getFile") == []


async def test_what_breaks_off_on_the_way_is_fetched_again(stage: Stage) -> None:
    await stage.start_bot()
    stage.emulator.faults.gateway("getFile")
    stage.emulator.faults.cut("file", done=False)
    stage.phone.photo(png(), caption="Build this")
    (file,) = await files_of(stage)
    assert body(stage, file) == png()
    assert len(stage.door.asked) == 1


async def test_what_is_not_as_long_as_telegram_says_is_not_taken(stage: Stage) -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    stage.emulator.faults.file_longer = 1
    sent = stage.phone.document("a.txt", b"half of it")
    update = {"update_id": 1, "message": view.message(stage.phone._cloud.world, sent)}
    async with telegram.Bot(
        TOKEN, base_url=f"{stage.emulator.url}/bot", base_file_url=f"{stage.emulator.url}/file/bot"
    ) as bot:
        sending = Sending(bot, Attached(stage.home.attached), pause=pause)
        got = await sending.fetch([Arrived(1, update, Allowed(OWNER, OWNER, "message"))])
    assert len(waits) == 4
    assert got.files == ()
    assert got.unread == ("a.txt could not be fetched (it did not come whole). Send it again.",)


async def test_while_telegram_is_away_it_is_asked_five_times_and_then_it_is_said(
    stage: Stage,
) -> None:
    """The message is not held up for ever: its words are worth more than the wait."""
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    stage.emulator.faults.gateway("getFile", times=5)
    sent = stage.phone.photo(png(), caption="Build this")
    update = {"update_id": 1, "message": view.message(stage.phone._cloud.world, sent)}
    async with telegram.Bot(
        TOKEN, base_url=f"{stage.emulator.url}/bot", base_file_url=f"{stage.emulator.url}/file/bot"
    ) as bot:
        sending = Sending(bot, Attached(stage.home.attached), pause=pause)
        got = await sending.fetch([Arrived(1, update, Allowed(OWNER, OWNER, "message"))])
    assert waits == [1.0, 2.0, 5.0, 10.0]
    assert got.files == ()
    assert got.unread == (
        "photo.jpg could not be fetched (Telegram did not hand it out). Send it again.",
    )


async def test_what_telegram_will_not_hand_out_is_said_and_the_words_are_kept(stage: Stage) -> None:
    await stage.start_bot()
    stage.emulator.faults.error("getFile", 400, "Bad Request: wrong file_id")
    stage.phone.photo(png(), caption="Build this")
    told = await stage.phone.wait_for(lambda m: "photo.jpg could not be fetched" in m.text)
    assert "Send it again." in told.text
    assert (await stage.asked())[0][1] == {"text": "Build this", "goal": "", "card": ""}


async def test_a_path_of_this_machine_is_not_read_in_a_files_place(
    stage: Stage, tmp_path: Path
) -> None:
    """BR-121: the address of a file is the server's word."""
    secret = tmp_path / "secret"
    secret.write_text("not for agents")
    await stage.start_bot()
    for path in (str(secret), "../../secret"):
        stage.emulator.faults.file_path = path
        last = max((m.id for m in stage.phone.messages()), default=0)
        stage.phone.photo(png(), caption="Build this")
        await stage.phone.wait_for(lambda m: "could not be fetched" in m.text, after=last)
    assert all("files" not in args for _, args in stage.door.asked)
    assert b"not for agents" not in stage.raw()


async def test_a_file_whose_address_leads_nowhere_is_no_lost_token(stage: Stage) -> None:
    await stage.start_bot()
    stage.emulator.faults.file_path = "photos/gone"
    stage.phone.photo(png(), caption="Build this")
    await stage.phone.wait_for(lambda m: "it is not there any more" in m.text)
    assert (await stage.asked())[0][1]["text"] == "Build this"


async def test_a_key_in_a_document_is_sealed_before_the_document_is_kept(stage: Stage) -> None:
    """Of a text of any length."""
    await stage.start_bot()
    lines = b"x = 1  # caf\xe9\n" * 40_000
    text = lines + f"ANTHROPIC_API_KEY={KEY}\n".encode() + lines
    stage.phone.document("settings.txt", text, caption="Use these")
    (file,) = await files_of(stage)
    assert body(stage, file) == text.replace(KEY.encode(), b"{{ANTHROPIC_API_KEY}}")
    assert await stage.vault.get("ANTHROPIC_API_KEY") == KEY
    await stage.phone.wait_for(lambda m: "Stored as ANTHROPIC_API_KEY" in m.text)
    assert [m for m in stage.phone.messages() if m.kind == "document"] == []
    assert KEY.encode() not in stage.raw()


async def test_while_the_engine_is_away_a_file_is_fetched_once(stage: Stage) -> None:
    stage.door.away = True
    await stage.start_bot()
    stage.phone.photo(png(), caption="Build this")
    await stage.phone.wait_for(lambda m: "The engine is away" in m.text)
    stage.door.away = False
    (file,) = await files_of(stage)
    assert body(stage, file) == png()
    assert len(stage.emulator.calls_of("getFile")) == 1


async def test_a_photo_outlives_the_bots_death(stage: Stage) -> None:
    stage.door.away = True
    await stage.start_bot()
    stage.phone.photo(png(), caption="Build this")
    await stage.phone.until(lambda: stage.emulator.calls_of("getFile"))
    await stage.kill_bot()
    stage.door.away = False
    await stage.start_bot()
    (file,) = await files_of(stage)
    assert body(stage, file) == png()
    assert len(stage.door.asked) == 1


async def test_a_command_says_that_it_takes_no_file(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.photo(png(), caption="/status")
    await stage.phone.wait_for(lambda m: "a command takes no file" in m.text)
    await asyncio.sleep(0)
    assert stage.door.asked == []


@pytest.mark.parametrize("at", [0, keys.STEP - 20, keys.STEP, keys.STEP * 2 + 5, 200_000])
def test_a_key_is_found_once_wherever_a_long_text_is_cut(at: int) -> None:
    text = ("x" * (at - 1) + " " if at else "") + KEY + " " + "y " * 100_000
    found = [key for part in keys.by_parts(text) for key in part]
    assert [(key.value, key.start, key.end) for key in found] == [(KEY, at, at + len(KEY))]


def test_a_private_key_across_a_cut_is_taken_out_whole() -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIE" * 800 + "\n-----END RSA PRIVATE KEY-----"
    text = "x" * (keys.STEP - 100) + "\n" + block + "\n" + "y " * 50_000
    (found,) = [key for part in keys.by_parts(text) for key in part]
    assert found.value == block
