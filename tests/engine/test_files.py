"""What the owner sends along reaches the agent as files, whatever happens on the way."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.errors import Refused
from engine.rules.words import Attachment
from engine.views import QuestionCard, ReviewCard, WhereCard
from stores.attached import Attached
from tests.engine.phone import PIECE, Phone, Step, held, lead, plan, waits, words, worker, write

# Where an agent has what it was sent: beside its own settings.
FOLDER = '"$CLAUDE_CONFIG_DIR"/../files/*'


def sent(phone: Phone, name: str, body: bytes, **more: Any) -> Attachment:
    """Keep a file as the bot does."""
    digest = Attached(phone.home.attached).keep(body)
    return Attachment(name=name, sha256=digest, size=len(body), **more)


def looks(*words: str) -> list[Step]:
    return [{"run": f"grep -hm1 '{word}' {FOLDER}", "expect": word} for word in words]


async def test_an_albums_files_are_found_by_the_lead_and_by_its_workers(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        both = looks("the sketch", "the notes")
        await phone.agent(
            *lead(*both, plan(PIECE)),
            worker(*both, write("work.txt"), {"commit": "Do the work"}),
        )
        project = await phone.project(check="true", remote=True)
        files = (
            sent(phone, "../../sketch.jpg", b"the sketch\n", kind="photo", mime="image/jpeg"),
            sent(phone, "notes.pdf", b"the notes\n" * 200_000),
        )
        answer = await phone.door.new_goal(project, "Build this", cause="update:g", files=files)
        goal = answer["goal"]
        phone.will(goal)
        await phone.shipped(goal)
        assert "2 files of yours" in waits(phone, goal)
        heard = phone.heard(phone.state(goal).session)
        photo = phone.home.root / f"sessions/{phone.state(goal).session}/files"
        assert f"Photo from the owner: {photo}/{files[0].sha256[:8]}-sketch.jpg" in heard
        told = phone.heard(phone.state(goal).pieces[0].session)
        assert "look at those that your piece needs" in told
        assert "File from the owner: " in told


async def test_what_was_lost_from_a_machine_is_brought_again(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(
            {"role": "lead", "turn": 1, "steps": [*looks("the sketch"), {"say": "Seen."}]},
            {"role": "lead", "steps": [*looks("the sketch", "the notes"), {"say": "Seen again."}]},
        )
        project = await phone.project()
        sketch = sent(phone, "sketch.jpg", b"the sketch\n", kind="photo")
        answer = await phone.door.new_goal(project, "Like this", cause="u:1", files=(sketch,))
        goal = answer["goal"]
        phone.will(goal)
        await phone.noted(goal, "Seen.")
        lead_session = phone.state(goal).session
        await phone.until(lambda: not phone.session(lead_session).live, "the turn to be over")
        shutil.rmtree(phone.home.root / f"sessions/{lead_session}/files")
        notes = sent(phone, "notes.txt", b"the notes\n")
        await phone.door.hear("And this", goal=goal, cause="u:2", files=(notes,))
        await phone.noted(goal, "Seen again.")


async def test_a_correction_and_an_answer_may_be_a_photo_alone(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        question: Step = {"question": {"question": "Which?", "header": "x", "options": ["A", "B"]}}
        await phone.agent(
            {"role": "lead", "turn": 1, "steps": [question, *looks("an answer"), plan(PIECE)]},
            {"role": "lead", "prompt": "asks for a correction", "steps": [*looks("a correction")]},
            *lead()[1:],
            worker(write("work.txt"), {"commit": "Do the work"}),
        )
        goal = await phone.goal(await phone.project(check="true", remote=True))
        phone.will(goal, "review")
        card = await phone.card(goal, QuestionCard)
        files = (sent(phone, "a.jpg", b"an answer\n", kind="photo"),)
        await phone.door.hear("", goal=goal, card=card.id, cause="u:1", files=files)
        review = await phone.card(goal, ReviewCard)
        files = (sent(phone, "b.jpg", b"a correction\n", kind="photo"),)
        await phone.door.tap(review.id, review.revision, "correct", "", cause="u:2", files=files)
        session = phone.state(goal).session
        await phone.until(lambda: "b.jpg" in phone.heard(session), "the lead to get it")
        assert "(I sent this without words.)" in phone.heard(session)
        await phone.until(lambda: not phone.session(session).live, "the turn to be over")
        assert "a correction" not in waits(phone, goal)
        assert phone.session(session).why == ""


async def test_where_it_is_for_is_asked_with_its_files_kept(tmp_path: Path) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead(*looks("the sketch"), {"say": "Seen."}))
        projects = sorted([await phone.project(), await phone.project()])
        files = (sent(phone, "sketch.jpg", b"the sketch\n", kind="photo"),)
        await phone.door.hear("Build this", cause="u:1", files=files)
        (card,) = [card for card in phone.door.cards() if isinstance(card, WhereCard)]
        assert "With it: sketch.jpg" in words(card)
        await phone.tap(card, "option-0")
        goal = phone.newest(projects[0])
        phone.will(goal)
        await phone.noted(goal, "Seen.")


async def test_a_file_alone_starts_nothing_and_one_that_is_not_whole_is_refused(
    tmp_path: Path,
) -> None:
    async with held(tmp_path) as phone:
        await phone.agent(*lead())
        await phone.project()
        photo = sent(phone, "sketch.jpg", b"the sketch\n", kind="photo")
        with pytest.raises(Refused, match="A file alone starts nothing"):
            await phone.door.hear("", cause="u:1", files=(photo,))
        other = Attachment(name="x", sha256="0" * 64, size=3)
        with pytest.raises(Refused, match="did not arrive whole"):
            await phone.door.hear("Build this", cause="u:2", files=(photo, other))
        odd = Attachment(name="x", sha256="../../secrets/bot-token", size=3)
        with pytest.raises(Refused, match="did not arrive whole"):
            await phone.door.hear("Build this", cause="u:3", files=(odd,))
        assert not phone.engine.loop.states("goal")
