"""A file asked for by a line: sent as it is, and no agent hears of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import file_back
from engine.rules.words import Question
from engine.views import Document, FoundFile, QuestionCard
from stores.attached import Attached
from tests.bot.stage import Stage, review, session

WHERE = "quarterdeck/g-1 at 1a2b3c4"
PICTURE = bytes(range(256)) * 8


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path) as stage:
        yield stage


def has(stage: Stage, path: str, data: bytes) -> None:
    """Have the engine find some bytes at a path."""
    kept = Attached(stage.home.attached).keep(data)
    name = path.rpartition("/")[2]
    document = Document(name=name, text="", caption=f"{path} · {WHERE}", held=kept, size=len(data))
    stage.door.tree[path] = FoundFile(where=WHERE, path=path, document=document)


@pytest.mark.parametrize(
    ("line", "path", "sure"),
    [
        ("send me docs/plan.md", "docs/plan.md", True),
        ("Send docs/plan.md.", "docs/plan.md", True),
        ("please send me the file `docs/my plan.md`", "docs/my plan.md", True),
        ("send .env", ".env", True),
        ("send me README", "README", False),
        ("send it", "it", False),
    ],
)
def test_a_line_that_wants_a_file_is_known(line: str, path: str, sure: bool) -> None:
    assert file_back.wish(line) == file_back.Wish(path, sure)


@pytest.mark.parametrize(
    "line",
    [
        "send the invoice by mail",
        "send me docs/plan.md and then stop",
        "send me http://example.org/x.md",
        "send bob@example.org",
        "resend docs/plan.md",
        "docs/plan.md",
    ],
)
def test_a_line_that_wants_more_than_a_file_is_for_the_agent(line: str) -> None:
    assert file_back.wish(line) is None


@pytest.mark.parametrize(
    "line", ["send me img/logo.png", "send img/logo.png", "/file img/logo.png"]
)
async def test_a_file_comes_as_a_document_with_its_bytes(stage: Stage, line: str) -> None:
    has(stage, "img/logo.png", PICTURE)
    stage.door.show(session())
    stage.door.show(review())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Ship" in m.labels)
    stage.phone.send(line, reply_to=card.id)
    sent = await stage.phone.wait_for(lambda m: m.kind == "document")
    assert stage.phone.file(sent) == PICTURE
    assert sent.file is not None
    assert sent.file.name == "logo.png"
    assert f"img/logo.png · {WHERE}" in sent.text
    assert stage.door.wished == [("img/logo.png", "g-1", "r-1")]
    assert stage.door.asked == []


async def test_what_is_not_there_names_what_is_near_and_no_agent_is_asked(stage: Stage) -> None:
    near = ("docs/plan.md", "web/plan.md")
    stage.door.tree["plan.md"] = FoundFile(where=WHERE, near=near)
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.send("send me plan.md")  # the only goal there is
    said = await stage.phone.wait_for(lambda m: "There is no plan.md" in m.text)
    assert "• “docs/plan.md”\n• “web/plan.md”" in said.text
    assert "send docs/plan.md" in said.text
    assert stage.door.asked == []


async def test_a_word_that_is_no_file_is_a_line_like_any_other(stage: Stage) -> None:
    stage.door.show(session())
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.send("send it", reply_to=card.id)
    assert (await stage.asked())[0][1]["text"] == "send it"


async def test_the_answer_to_a_question_is_no_wish(stage: Stage) -> None:
    stage.door.show(session())
    question = QuestionCard(
        id="a-1",
        goal="g-1",
        revision="q1",
        asks=True,
        buttons=("answer",),
        who="The lead",
        questions=(Question("What shall the button do?"),),
    )
    stage.door.show(question)
    await stage.start_bot()
    card = await stage.phone.wait_for(lambda m: "What shall the button do?" in m.text)
    stage.phone.send("send invoice.pdf", reply_to=card.id)
    assert (await stage.asked())[0][1]["text"] == "send invoice.pdf"
    assert stage.door.wished == []


async def test_without_a_goal_it_is_asked_whose_and_nothing_is_started(stage: Stage) -> None:
    await stage.start_bot()
    stage.phone.send("send me docs/plan.md")
    await stage.phone.wait_for(lambda m: "Whose file?" in m.text)
    stage.phone.send("/file docs/plan.md")
    await stage.phone.wait_for(lambda m: "Whose file?" in m.text)
    assert stage.door.asked == []


async def test_a_folder_comes_as_its_lines_and_an_empty_file_as_a_sentence(stage: Stage) -> None:
    stage.door.tree["docs"] = FoundFile(
        where=WHERE, path="docs", folder=("img/", "plan.md  1.2 kB")
    )
    has(stage, "empty.txt", b"")
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.send("/file docs")
    listed = await stage.phone.wait_for(lambda m: "plan.md  1.2 kB" in m.text)
    assert f"docs/ · {WHERE}\nimg/\n" in listed.text
    stage.phone.send("/file empty.txt")
    await stage.phone.wait_for(lambda m: "empty.txt is empty" in m.text)


async def test_what_is_not_kept_any_more_is_said_to_be(stage: Stage) -> None:
    has(stage, "a.bin", PICTURE)
    document = stage.door.tree["a.bin"].document
    assert document is not None
    Attached(stage.home.attached).path(document.held).unlink()
    stage.door.show(session())
    await stage.start_bot()
    await stage.phone.wait_for(lambda m: "Stop" in m.labels)
    stage.phone.send("/file a.bin")
    await stage.phone.wait_for(lambda m: "a.bin could not be sent: it is not kept" in m.text)
