"""A repository, and which of its commands may run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules.effects import Tell
from engine.rules.events import (
    Asked,
    CommandChanged,
    CommandDecided,
    CommandSettled,
    CommandWanted,
    ProjectAdded,
    ProjectRebased,
    ProjectRemoved,
)
from engine.rules.project import Project, begin, decide
from engine.rules.words import AskKind, Command

CHECK = Command("check", "make test")
SETUP = Command("setup", "make venv")
ADDED = ProjectAdded(source="/shop", push_url="/shop.git", base="main")


def known() -> Project:
    return decide(begin("shop"), ADDED)[0]


def wanted(goal: str, ask: str, command: Command = CHECK) -> CommandWanted:
    return CommandWanted(goal=goal, command=command, ask=ask)


def settled(goal: str, *, allowed: bool) -> Tell:
    return Tell(stream=f"goal/{goal}", event=CommandSettled(command=CHECK, allowed=allowed))


def test_a_command_is_asked_for_word_for_word() -> None:
    _, effects = decide(known(), wanted("g-1", "a-1"))
    (tell,) = effects
    assert isinstance(tell, Tell)
    assert tell.stream == "ask/a-1"
    assert isinstance(tell.event, Asked)
    assert (tell.event.detail, tell.event.kind) == ("make test", AskKind.CHECK)


def test_two_goals_wait_for_one_answer() -> None:
    project, _ = decide(known(), wanted("g-1", "a-1"))
    project, effects = decide(project, wanted("g-2", "a-2"))
    assert effects == ()
    project, effects = decide(project, CommandDecided(command=CHECK, allowed=True))
    assert effects == (settled("g-1", allowed=True), settled("g-2", allowed=True))
    assert (project.asking, project.waiting) == ((), ())


@pytest.mark.parametrize("allowed", [True, False])
def test_an_answer_holds_for_later_goals_and_for_no_other_command(allowed: bool) -> None:
    project, _ = decide(known(), wanted("g-1", "a-1"))
    project, _ = decide(project, CommandDecided(command=CHECK, allowed=allowed))
    assert decide(project, wanted("g-2", "a-2"))[1] == (settled("g-2", allowed=allowed),)
    _, effects = decide(project, wanted("g-2", "a-3", Command("check", "make test ")))
    assert isinstance(effects[0], Tell)
    assert effects[0].stream == "ask/a-3"


def test_a_check_that_is_decided_leaves_the_setup_open() -> None:
    project, _ = decide(known(), wanted("g-1", "a-1"))
    project, _ = decide(project, wanted("g-1", "a-2", SETUP))
    project, _ = decide(project, CommandDecided(command=CHECK, allowed=True))
    assert project.asking == ((SETUP, "a-2"),)


def test_a_name_that_is_taken_is_not_given_to_another_repository() -> None:
    with pytest.raises(Refused, match="project remove shop"):
        decide(known(), ProjectAdded(source="/other", push_url="", base="main"))
    assert decide(known(), ADDED)[0] == known()


def test_a_project_that_was_removed_may_come_back() -> None:
    removed, _ = decide(known(), ProjectRemoved())
    with pytest.raises(Refused, match="no project shop"):
        decide(removed, ProjectRemoved())
    assert decide(removed, ADDED)[0].known


@pytest.mark.parametrize("allowed", [True, False])
def test_a_word_on_a_command_can_be_taken_back(allowed: bool) -> None:
    project, _ = decide(known(), wanted("g-1", "a-1"))
    project, _ = decide(project, CommandDecided(command=CHECK, allowed=not allowed))
    changed = CommandChanged(command=CHECK, allowed=allowed, goals=("g-1",))
    project, effects = decide(project, changed)
    assert effects == (settled("g-1", allowed=allowed),)
    assert decide(project, wanted("g-2", "a-2"))[1] == (settled("g-2", allowed=allowed),)
    forgotten, effects = decide(project, CommandChanged(command=CHECK, allowed=None))
    assert effects == ()
    (asked,) = decide(forgotten, wanted("g-3", "a-3"))[1]
    assert isinstance(asked, Tell)
    assert isinstance(asked.event, Asked)


def test_a_word_on_a_command_nobody_decided_is_refused() -> None:
    with pytest.raises(Refused, match="not there any more"):
        decide(known(), CommandChanged(command=CHECK, allowed=True))


def test_new_goals_start_from_another_base() -> None:
    assert decide(known(), ProjectRebased(base="develop"))[0].base == "develop"
    with pytest.raises(Refused, match="no project web"):
        decide(begin("web"), ProjectRebased(base="develop"))


def test_a_project_that_comes_back_asks_anew() -> None:
    """Another repository may take the name: what was allowed in the one before is not."""
    project, _ = decide(known(), wanted("g-1", "a-1"))
    project, _ = decide(project, CommandDecided(command=CHECK, allowed=True))
    project, _ = decide(project, ProjectRemoved())
    project, _ = decide(project, replace(ADDED, source="/other"))
    (asked,) = decide(project, wanted("g-2", "a-2"))[1]
    assert isinstance(asked, Tell)
    assert isinstance(asked.event, Asked)
