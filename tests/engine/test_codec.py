"""Values to tagged JSON and back."""

from __future__ import annotations

import msgspec
import pytest

from engine.codec import Codec
from engine.errors import Broken
from engine.rules.effects import AnyEffect, CloseRun, Tell
from engine.rules.events import AnyEvent, GoalDropped, GoalStopped, LimitReached, PlanDiscarded

EVENTS: Codec[AnyEvent] = Codec(AnyEvent)


def test_events_without_fields_are_not_taken_for_each_other() -> None:
    for event in (GoalStopped(), GoalDropped(), GoalStopped(at=3.0)):
        read = EVENTS.load(EVENTS.dump(event))
        assert read == event
        assert type(read) is type(event)


class Untagged(msgspec.Struct, frozen=True):
    name: str


class Other(msgspec.Struct, frozen=True):
    name: str


@pytest.mark.parametrize("of", [Untagged, Untagged | Other, GoalStopped | Untagged, dict])
def test_a_class_whose_name_would_not_be_stored_is_refused(of: object) -> None:
    with pytest.raises(TypeError, match="would not be stored"):
        Codec(of)


def test_an_effect_carries_its_event_whole() -> None:
    effects: Codec[AnyEffect] = Codec(AnyEffect)
    told = Tell(stream="goal/g-1", event=PlanDiscarded(plan="pl-1", at=1.5), due_at=9.0)
    assert effects.load(effects.dump(told)) == told


def test_a_newer_releases_field_is_ignored_and_an_older_ones_missing_field_has_its_default() -> (
    None
):
    newer = b'{"type":"CloseRun","run":"r-1","patience":3,"due_at":0}'
    assert Codec[AnyEffect](AnyEffect).load(newer) == CloseRun(run="r-1", machine="here")
    older = b'{"type":"LimitReached","run":"r-1","resets_at":7}'
    assert EVENTS.load(older) == LimitReached(run="r-1", resets_at=7.0)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"type":"GoalTeleported"}', "GoalTeleported"),
        (b'{"type":"RunExited"}', "RunExited"),
        (b"{}", "value without a class name"),
        (b"\x00\x00\x00", "value that is no JSON"),
        (b"[1,2]", "value that is no JSON"),
    ],
)
def test_what_cannot_be_read_is_broken_and_named(body: bytes, named: str) -> None:
    with pytest.raises(Broken, match=f"a stored {named} cannot be read"):
        EVENTS.load(body)
