"""Which groups an owner is heard in: allowed by a link, taken away, thrown out, moved."""

import pytest

from engine.errors import Refused
from engine.rules import owner as rule
from engine.rules.effects import Say
from engine.rules.events import (
    GroupAllowed,
    GroupInvited,
    GroupLeft,
    GroupMoved,
    GroupTaken,
    OwnerInvited,
    OwnerJoined,
    OwnerLocked,
)
from engine.rules.groups import MOST
from engine.rules.owner import Owner

ALLOWED = GroupAllowed(chat=-5, title="Crew", by="42", at=10.0)


def ids(now: Owner) -> list[int]:
    return [group.id for group in now.groups.allowed]


def told(effects: tuple[object, ...]) -> str:
    return " ".join(one.text for one in effects if isinstance(one, Say) and one.sounds)


def test_all_owners_are_told_of_a_group_that_comes_and_of_one_that_goes() -> None:
    here, said = rule.decide(Owner(), ALLOWED)
    assert ids(here) == [-5]
    assert "heard in the group “Crew” (-5)" in told(said)
    gone, said = rule.decide(here, GroupTaken(chat=-5, by="42"))
    assert (ids(gone), "allowed no more" in told(said)) == ([], True)
    out, said = rule.decide(here, GroupLeft(chat=-5))
    assert (ids(out), "Nobody is heard there now" in told(said)) == ([], True)


def test_what_is_said_of_a_group_that_is_not_allowed_changes_nothing() -> None:
    here, _ = rule.decide(Owner(), ALLOWED)
    for event in (GroupLeft(chat=-6), GroupMoved(chat=-6, to=-7)):
        assert rule.decide(here, event) == (here, ())
    with pytest.raises(Refused, match="not allowed any more"):
        rule.decide(here, GroupTaken(chat=-6, by="42"))


def test_a_group_is_allowed_by_its_new_number() -> None:
    here, _ = rule.decide(Owner(), ALLOWED)
    moved, said = rule.decide(here, GroupMoved(chat=-5, to=-1007))
    assert (ids(moved), said) == ([-1007], ())
    assert moved.groups.allowed[0].title == "Crew"
    assert ids(rule.decide(moved, GroupMoved(chat=-5, to=-1007))[0]) == [-1007]


def test_there_are_so_many_groups_at_most_and_the_same_one_counts_once() -> None:
    now = Owner()
    for chat in range(MOST):
        now, _ = rule.decide(now, GroupAllowed(chat=-chat - 1, by="42"))
    assert len(ids(rule.decide(now, GroupAllowed(chat=-1, by="42"))[0])) == MOST
    for event in (GroupAllowed(chat=-99, by="42"), GroupInvited(by="42")):
        with pytest.raises(Refused, match="Take one away first"):
            rule.decide(now, event)


def test_who_was_let_in_today_allows_no_group() -> None:
    now, _ = rule.decide(Owner(), OwnerInvited(by="42", at=10.0))
    now, _ = rule.decide(now, OwnerJoined(owner=77, at=20.0))
    with pytest.raises(Refused, match="less than a day ago"):
        rule.decide(now, GroupInvited(by="77", at=30.0))


def test_while_locked_no_group_is_allowed_but_what_happened_to_one_is_heard() -> None:
    locked, _ = rule.decide(Owner(), OwnerLocked(at=5.0))
    for request in (GroupInvited(by="42"), ALLOWED, GroupTaken(chat=-5, by="42")):
        with pytest.raises(Refused, match="Locked"):
            rule.refuse_locked(locked, request)
    for fact in (GroupLeft(chat=-5), GroupMoved(chat=-5, to=-6)):
        rule.refuse_locked(locked, fact)
