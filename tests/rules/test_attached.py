"""Files of the owner's on their way through the rules: what they are called, who is told of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import ask, attached, goal, news, session
from engine.rules.effects import AnswerRun, StartRun, Tell
from engine.rules.events import (
    Answered,
    Asked,
    AskSettled,
    FilesSent,
    LinesLeft,
    Placed,
    Prompted,
    SessionOpened,
    SessionStopped,
)
from engine.rules.session_state import OpenAsk, Session, Stage
from engine.rules.words import Account, AskKind, Attachment, Decision, Question, Role
from tests.rules.world import draft, started

PHOTO = Attachment(
    name="sketch.jpg", sha256="ab" * 32, size=34_000, kind="photo", mime="image/jpeg"
)
NOTES = Attachment(name="sketch.jpg", sha256="cd" * 32, size=120)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("plan.md", "plan.md"),
        ("../../.bashrc", "bashrc"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/passwd", "passwd"),
        (".env", "env"),
        ("..", "file"),
        ("", "file"),
        ("a\0b\n.txt", "ab.txt"),
        ("gpj.\u202eexe.txt", "gpj.exe.txt"),
        ("Entwürfe für März.pdf", "Entwürfe für März.pdf"),
        ("$(rm -rf ~);`x`.sh", "(rm -rf _)__x_.sh"),
        ("x" * 300 + ".png", "x" * 56 + ".png"),
    ],
)
def test_a_senders_name_becomes_a_plain_name_and_never_a_path(sent: str, kept: str) -> None:
    """BR-121."""
    assert attached.tidy_name(sent) == kept


@given(st.text(max_size=400))
def test_no_name_leads_out_of_its_folder(sent: str) -> None:
    """BR-121."""
    name = attached.tidy_name(sent)
    assert name
    assert not name.startswith(("-", "."))
    assert not set(name) & set("/\\\0\n\r\u202e\u200b")
    assert len(f".{'0' * 8}-{name}.new".encode()) <= 255
    assert attached.tidy_name(name) == name


def opened(role: Role = Role.LEAD, *files: Attachment) -> Session:
    event = SessionOpened(
        goal="g-1",
        role=role,
        project="shop",
        account=Account("main", "claude"),
        model="",
        mode="edit",
        branch="b",
        commit="c" * 40,
        preface="",
        prompt="Build this",
        files=files,
    )
    return session.decide(session.begin("s-1"), event)[0]


def turn(now: Session) -> tuple[Session, StartRun]:
    after, effects = session.decide(now, Placed(run=now.run, machine="here", why="only machine"))
    (start,) = [effect for effect in effects if isinstance(effect, StartRun)]
    return after, start


def test_a_goals_files_go_with_the_first_turn_of_its_lead_and_its_words_stay_whole() -> None:
    _, start = turn(opened(Role.LEAD, PHOTO, NOTES))
    assert start.sent == start.files == (PHOTO, NOTES)
    assert start.prompt == "Build this"


def test_a_later_turn_names_its_own_files_and_still_has_the_earlier_ones() -> None:
    now, _ = turn(opened(Role.LEAD, PHOTO))
    now, _ = session.decide(now, Prompted(text="And this", source="owner", files=(NOTES,)))
    assert now.queue[0].files == (NOTES,)
    assert now.files == (PHOTO, NOTES)


def test_among_several_lines_it_is_told_which_file_came_with_which() -> None:
    now = opened(Role.LEAD, PHOTO)
    now, _ = session.decide(now, Prompted(text="Not like this", source="owner", files=(NOTES,)))
    _, start = turn(now)
    assert f"Build this\n(sent with this: {PHOTO.place})" in start.prompt
    assert f"[From the owner]\nNot like this\n(sent with this: {NOTES.place})" in start.prompt
    assert PHOTO.place != NOTES.place  # of one name, and no other file


def test_what_its_lead_is_sent_reaches_the_workers_to_come() -> None:
    now = opened()
    now, effects = session.decide(now, Prompted(text="Like this", source="owner", files=(PHOTO,)))
    assert Tell(stream="goal/g-1", event=FilesSent(files=(PHOTO,))) in effects
    world = started(draft("Orders"))
    after, _ = goal.decide(world.states["goal/g-1"], FilesSent(files=(PHOTO,)))
    assert after.files == (PHOTO,)


def test_what_a_worker_is_sent_stays_with_it() -> None:
    now = opened(Role.WORKER)
    _, effects = session.decide(now, Prompted(text="Like this", source="owner", files=(PHOTO,)))
    assert not [e for e in effects if isinstance(e, Tell) and isinstance(e.event, FilesSent)]


def test_an_answers_photo_goes_to_the_run_that_waits_for_it() -> None:
    waiting = OpenAsk(
        ask="a-1",
        request="q",
        kind=AskKind.QUESTION,
        title="Which?",
        detail="Which?",
        tool="AskUserQuestion",
        input_json="{}",
    )
    now = Session(id="s-1", stage=Stage.RUNNING, run="s-1-t1", machine="here", asks=(waiting,))
    answer = AskSettled(
        ask="a-1", decision=Decision.ANSWER, answers=(("Which?", "This"),), files=(PHOTO,)
    )
    after, effects = session.decide(now, answer)
    assert after.files == (PHOTO,)
    assert [e.files for e in effects if isinstance(e, AnswerRun)] == [(PHOTO,)]


def test_the_files_of_all_answers_of_one_card_go_together() -> None:
    asked = Asked(
        kind=AskKind.QUESTION,
        goal="g-1",
        teller="session/s-1",
        title="",
        detail="",
        questions=(Question("Which?"), Question("Where?")),
    )
    now, _ = ask.decide(ask.begin("a-1"), asked)
    first = Answered(decision=Decision.ANSWER, text="This", index=0, files=(PHOTO,))
    now, _ = ask.decide(now, first)
    second = Answered(decision=Decision.ANSWER, text="There", index=1, files=(NOTES,))
    _, (told,) = ask.decide(now, second)
    assert isinstance(told, Tell)
    assert isinstance(told.event, AskSettled)
    assert told.event.files == (PHOTO, NOTES)


def test_files_a_worker_never_took_up_go_to_its_lead() -> None:
    now = Session(id="s-2", stage=Stage.IDLE, role=Role.WORKER, goal="g-1")
    now, _ = session.decide(now, SessionStopped(why="stopped by you"))
    now, _ = session.decide(now, Prompted(text="Like this", source="owner", files=(PHOTO,)))
    _, effects = session.decide(now, SessionStopped(why="landed", final=True))
    left = [e.event for e in effects if isinstance(e, Tell) and isinstance(e.event, LinesLeft)]
    assert [event.files for event in left] == [(PHOTO,)]


def test_the_prompt_says_where_each_file_lies_and_whose_it_is() -> None:
    theirs = Attachment(name="mail.pdf", sha256="ef" * 32, size=2000, forwarded=True)
    said = news.with_files("Build this", "/h/files", (PHOTO, theirs), {theirs.place})
    first, *_, photo, mail = said.splitlines()
    assert first == "Build this"
    assert photo == f"Photo from the owner: /h/files/{PHOTO.place} (image/jpeg, 34 kB)"
    assert mail.startswith("File forwarded by the owner, of somebody else: mail.pdf is not kept")
    assert news.with_files("Build this", "/h/files", (), set()) == "Build this"
