"""Which ports of a machine a project's runs may reach: how they are said, and what is kept."""

import pytest
from msgspec.structs import replace

from engine.errors import Refused
from engine.rules import ports
from engine.rules.events import ProjectAdded, ProjectPorts, ProjectRemoved
from engine.rules.project import Project, begin, decide

ADDED = ProjectAdded(source="/shop", push_url="", base="main")


def known() -> Project:
    return decide(begin("shop"), ADDED)[0]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("5432", (5432,)),
        ("6379, 5432", (5432, 6379)),
        (" 5432 5432 ", (5432,)),
        ("none", ()),
        ("None", ()),
        ("off", ()),
    ],
)
def test_ports_are_read_as_they_are_typed(said: str, meant: tuple[int, ...]) -> None:
    assert ports.named(said) == meant


@pytest.mark.parametrize(
    "said",
    ["postgres", "0", "65536", "5432:5433", "-1", "5432 all", "٥٤٣٢", "999999999999", "", ","],
)
def test_what_is_no_port_is_refused_with_what_to_say(said: str) -> None:
    with pytest.raises(Refused, match="such as 5432 6379, or none"):
        ports.named(said)


def test_more_ports_than_any_test_needs_are_refused() -> None:
    with pytest.raises(Refused, match="16 ports"):
        ports.named(" ".join(map(str, range(1000, 1017))))


def test_what_was_said_last_holds_and_goes_with_the_project() -> None:
    project, effects = decide(known(), ProjectPorts(ports=(6379, 5432)))
    assert (project.ports, effects) == ((5432, 6379), ())
    project, _ = decide(project, ProjectPorts(ports=()))
    assert project.ports == ()
    project, _ = decide(project, ProjectPorts(ports=(5432,)))
    project, _ = decide(project, ProjectRemoved())
    again, _ = decide(project, replace(ADDED, source="/other"))
    assert again.ports == ()


def test_a_project_nobody_knows_and_a_port_there_is_not_are_refused() -> None:
    with pytest.raises(Refused, match="no project web"):
        decide(begin("web"), ProjectPorts(ports=(5432,)))
    with pytest.raises(Refused, match="1 to 65535"):
        decide(known(), ProjectPorts(ports=(70000,)))
