"""A repository on its way in: what the phone is asked, and what a late or second word does."""

import pytest
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.adding import Stage
from engine.rules.effects import TakeIn
from engine.rules.events import (
    GaveUp,
    ProjectBarred,
    ProjectBases,
    ProjectCheck,
    ProjectEvent,
    ProjectLeft,
    ProjectNotTaken,
    ProjectRemoved,
    ProjectRetried,
    ProjectTaken,
    ProjectWanted,
)
from engine.rules.project import Project, decide
from engine.rules.words import Command

SOURCE = "git@forge:shop.git"
WANTED = ProjectWanted(card="pr-1", source=SOURCE, at=10.0)
TAKEN = ProjectTaken(
    card="pr-1", source=SOURCE, push_url=SOURCE, base="main", guess="make test", at=20.0
)
BARRED = ProjectBarred(card="pr-1", why="no", public="ssh-ed25519 A", host="f", fingerprint="S:1")


def after(*events: ProjectEvent, project: Project | None = None) -> Project:
    now = project or Project(name="shop")
    for event in events:
        now, _ = decide(now, event)
    return now


def stage(now: Project) -> Stage:
    assert now.adding is not None
    return now.adding.stage


def test_what_is_wanted_is_looked_at() -> None:
    now, effects = decide(Project(name="shop"), WANTED)
    assert stage(now) is Stage.READING
    assert effects == (TakeIn(project="shop", card="pr-1", source=SOURCE),)
    assert not now.known


def test_what_was_read_is_a_project_and_its_check_is_asked_for_once() -> None:
    now = after(WANTED, TAKEN)
    assert (stage(now), now.known, now.base, now.push_url) == (Stage.CHECK, True, "main", SOURCE)
    now = after(ProjectCheck(text=" make test "), project=now)
    assert (stage(now), now.check, now.no_check) == (Stage.DONE, "make test", False)
    assert now.allowed == (Command("check", "make test"),), "what they set they need not allow"
    again = after(replace(WANTED, card="pr-2"), replace(TAKEN, card="pr-2"), project=now)
    assert stage(again) is Stage.DONE


def test_not_this_is_an_answer_too() -> None:
    now = after(WANTED, TAKEN, ProjectCheck(text=""))
    assert (stage(now), now.check, now.no_check) == (Stage.DONE, "", True)
    again = after(replace(WANTED, card="pr-2"), replace(TAKEN, card="pr-2"), project=now)
    assert stage(again) is Stage.DONE


def test_a_check_of_its_own_settings_is_not_asked_for() -> None:
    assert stage(after(WANTED, replace(TAKEN, check="make", guess=""))) is Stage.DONE


def test_retry_accepts_the_host_key_that_was_shown() -> None:
    now = after(WANTED, BARRED)
    assert stage(now) is Stage.BARRED
    now, effects = decide(now, ProjectRetried())
    assert effects == (TakeIn(project="shop", card="pr-1", source=SOURCE, trust="S:1"),)
    with pytest.raises(Refused, match="read already"):
        decide(now, ProjectRetried())


def test_only_a_branch_that_was_offered_is_taken() -> None:
    now = after(WANTED, ProjectBases(card="pr-1", branches=("main", "develop")))
    with pytest.raises(Refused, match="Tap the branch"):
        decide(now, ProjectRetried(base="other"))
    now, effects = decide(now, ProjectRetried(base="develop"))
    assert effects == (TakeIn(project="shop", card="pr-1", source=SOURCE, base="develop"),)


def test_what_could_not_be_read_may_be_tried_again() -> None:
    for fault in (
        ProjectNotTaken(card="pr-1", why="no such host"),
        GaveUp(effect="TakeIn", why="no such host"),
    ):
        now = after(WANTED, fault)
        assert stage(now) is Stage.FAILED
        assert stage(after(ProjectRetried(), project=now)) is Stage.READING


def test_what_was_left_stays_out_whatever_is_read_later() -> None:
    now = after(WANTED, ProjectLeft())
    assert after(TAKEN, project=now) == now
    assert not now.known
    with pytest.raises(Refused, match="remove"):
        decide(after(WANTED, TAKEN), ProjectLeft())


def test_news_of_an_earlier_card_changes_nothing() -> None:
    now = after(WANTED, replace(WANTED, card="pr-2", source="git@forge:other.git"))
    assert after(TAKEN, project=now) == now


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    known = Project(name="shop", source="/shop", base="main")
    with pytest.raises(Refused, match=r"/projects remove shop"):
        decide(known, WANTED)
    added_meanwhile = replace(after(WANTED), source="/shop", base="main")
    now = after(TAKEN, project=added_meanwhile)
    assert (stage(now), now.source) == (Stage.FAILED, "/shop")


def test_a_check_is_one_line_of_a_project_that_is_there() -> None:
    with pytest.raises(Refused, match="There is no project shop"):
        decide(Project(name="shop"), ProjectCheck(text="make"))
    with pytest.raises(Refused, match="one line"):
        decide(after(WANTED, TAKEN), ProjectCheck(text="make\nrm -rf /"))


def test_a_removed_project_asks_nothing_and_forgets_its_check() -> None:
    now = after(WANTED, TAKEN, ProjectCheck(text="make"), ProjectRemoved())
    assert (now.adding, now.check, now.known) == (None, "", False)
