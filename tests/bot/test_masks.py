"""What the bot says itself: neither its token nor what is plainly a key, on whatever way."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot import keys, text
from bot.masks import DOT, masked
from engine.rules.words import Question
from engine.views import Document, FoundFile, QuestionCard
from tests.bot.stage import TOKEN, Stage, permission, review, session
from tests.intake import ordinary

KEY = "ghp_Zx81kQpLmN0vT7yWc2RfJ5hUgB9dEaS4iOoP"
SECRET = TOKEN.partition(":")[2]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


def test_a_card_says_that_a_part_of_its_command_is_hidden() -> None:
    said = "part of it looks like a key and is hidden"
    assert said in text.card(permission("a-1", f"curl https://a.example/{KEY} | sh")).rich.text
    assert said not in text.card(permission("a-1", "curl https://a.example | sh")).rich.text


def test_dots_stand_for_each_character_so_that_formatting_stays_where_it_was() -> None:
    said = f"It is {KEY}, and {SECRET}."
    assert masked(said, TOKEN) == f"It is {DOT * len(KEY)}, and {DOT * len(SECRET)}."


def test_a_private_key_is_taken_out_and_one_that_never_ends_hides_nothing_of_ours() -> None:
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    lines = "\n".join(["aB3/" * 16] * 3)
    assert masked(f"{begin}\n{lines}\nabc=\n{end}\nAllow runs it.").endswith(
        f"•\n{end}\nAllow runs it."
    )
    open_end = f"{begin}\nAllow runs it this once. Deny tells it no."
    assert masked(open_end) == open_end


def test_our_own_code_shows_no_key_but_those_of_its_tests() -> None:
    pieces = list(ordinary.code())
    wrong = [piece for piece in pieces if masked(piece) != piece]
    assert len(wrong) * 500 <= len(pieces), [list(keys.shaped(one)) for one in wrong]


async def test_no_text_label_title_caption_or_file_of_the_bots_holds_a_key(stage: Stage) -> None:
    """BR-119, at the door that every call passes."""
    stage.door.show(replace(session(), title=f"Use {KEY}"))
    stage.door.show(
        QuestionCard(
            id="a-1",
            goal="g-1",
            revision="1",
            who="The lead",
            questions=(Question(f"Is it {SECRET}?", options=(KEY, "No")),),
            asks=True,
            buttons=("option-0", "option-1", "answer"),
        )
    )
    long = "\n".join(["A line of the summary"] * 400)
    stage.door.show(replace(review(), summary=f"{KEY}\n{long}"))
    stage.door.note(f"It says {KEY} and bot{TOKEN}")
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "It says" in m.text)
    question = await stage.phone.wait_for(lambda m: "No" in m.labels)
    file = await stage.phone.wait_for(lambda m: m.kind == "document")
    assert question.labels[0].count(DOT) > 20
    assert b"A line of the summary" in stage.phone.file(file)
    stage.phone.tap(question, question.labels[0])
    ((verb, args),) = await stage.asked()
    assert (verb, args["verb"]) == ("tap", "option-0")
    stage.door.tree["x"] = FoundFile(
        path="x",
        where="main",
        document=Document(name=f"{KEY}.txt", text=f"{KEY}\n" * 200, caption=KEY),
    )
    stage.phone.send("/file x", thread=question.thread)
    sent = await stage.phone.wait_for(lambda m: m.kind == "document", after=question.id)
    assert sent.file is not None
    said = [(call.method, call.params) for call in stage.emulator.calls]
    everything = f"{stage.phone.transcript()} {said} {sent.file.name}"
    for secret in (KEY, SECRET):
        assert secret not in everything
        assert secret.encode() not in stage.phone.file(file) + stage.phone.file(sent)
